/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the frames of a process from outside. */
#include "sampler/interpret/php/php.h"

/* A process whose frames are read. */
struct php_frame_reading {
	const struct process_host *host;
	int32_t pid;
};

static bool php_frames_read_at(const struct php_frame_reading *reading, uint64_t address, void *into, size_t size)
{
	const struct iovec piece = interpreter_piece(address, size);

	return interpreter_read(reading->host, reading->pid, &piece, 1, into) == size;
}

static uint32_t php_frames_line_of(const struct php_frame_reading *reading, uint64_t instruction)
{
	uint32_t line;

	return php_frames_read_at(reading, instruction + PHP_INSTRUCTION_LINE, &line, sizeof(line)) &&
			       line < EBPF_FRAME_NO_POSITION
		       ? line
		       : EBPF_FRAME_NO_POSITION;
}

/* Adds the word of a frame, if it stands for a function. False: it could not be read, or there is no room. */
static bool add_word(
	const struct php_frame_reading *reading, const uint8_t *frame, uint64_t *words, size_t room, size_t *count)
{
	uint64_t function = interpreter_word(frame, PHP_FRAME_FUNCTION), header[2], word;
	uint32_t flags = (uint32_t)interpreter_word(frame, PHP_FRAME_FLAGS);

	if (!function)
		return true;
	if (!php_frames_read_at(reading, function, header, sizeof(header)))
		return false;
	if (PHP_IS_USER_CODE(header[PHP_FUNCTION_TYPE / 8]))
		word = ebpf_frame_word(function,
			php_frames_line_of(reading, interpreter_word(frame, PHP_FRAME_INSTRUCTION)),
			(flags & PHP_IS_TOP) != 0);
	else if (header[PHP_FUNCTION_NAME / 8])
		word = ebpf_frame_word(function, EBPF_FRAME_NO_POSITION, false);
	else
		return true;
	if (*count == room)
		return false;
	words[(*count)++] = word;
	return true;
}

bool php_read_frames(const struct process_host *host, const struct ebpf_php *php, int32_t pid, uint64_t *words,
	size_t room, struct ebpf_frames *frames)
{
	const struct php_frame_reading reading = { host, pid };
	uint8_t frame[PHP_FRAME_BYTES] = { 0 };
	uint64_t address;
	size_t count = 0;
	bool is_cut = false;

	if (!php_frames_read_at(&reading, php->frame, &address, sizeof(address)))
		return false;
	for (size_t i = 0; address && !is_cut; i++) {
		is_cut = i == 2 * room || !php_frames_read_at(&reading, address, frame, sizeof(frame)) ||
			 !add_word(&reading, frame, words, room, &count);
		address = interpreter_word(frame, PHP_FRAME_PREVIOUS);
	}
	*frames = (struct ebpf_frames){ .words = words, .count = count, .kind = EBPF_PHP, .is_cut = is_cut };
	return count > 0;
}
