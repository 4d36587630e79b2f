/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/hotspot/loop.h"

#include "sampler/process/reader.h"

#include <stdlib.h>
#include <string.h>

void hotspot_loop_deinit(struct hotspot_loop *loop)
{
	free(loop->entries);
	*loop = (struct hotspot_loop){ 0 };
}

/*
 * Offset behind the instructions with which a frame begins, push %rbp and mov %rsp,%rbp; `size`: there are none
 * (MacroAssembler::enter() in src/hotspot/cpu/x86/macroAssembler_x86.cpp).
 */
static size_t find_frame_start(const uint8_t *code, size_t size)
{
	static const uint8_t enter[] = { 0x55, 0x48, 0x8b, 0xec };
	const uint8_t *found = memmem(code, size, enter, sizeof(enter));

	return found ? (size_t)(found - code) + sizeof(enter) : size;
}

static bool is_method_entry(const struct hotspot_image *image, uint64_t description)
{
	static const char start[] = "method entry point";
	const char *text = hotspot_image_text(image, description);

	return text && strncmp(text, start, strlen(start)) == 0;
}

/* The interpreter as it was read. */
struct loop_bytes {
	const struct hotspot_image *image;
	uint64_t bias;
	const uint8_t *bytes;
	size_t size;
};

static void take_codelets(struct hotspot_loop *loop, const struct hotspot_layout *layout, const struct loop_bytes *read)
{
	for (size_t at = 0, size; read->size - at >= layout->codelet_bytes; at += size) {
		const uint8_t *codelet = read->bytes + at;
		uint64_t description = hotspot_field(&layout->codelet_description, codelet, layout->codelet_bytes);

		size = (uint32_t)hotspot_field(&layout->codelet_size, codelet, layout->codelet_bytes);
		if (size < layout->codelet_bytes || size > read->size - at || loop->count == HOTSPOT_MOST_ENTRIES)
			return;
		if (is_method_entry(read->image, description + read->bias))
			loop->entries[loop->count++] = (struct hotspot_codelet){ loop->start + at,
				loop->start + at + size, loop->start + at + find_frame_start(codelet, size) };
	}
}

/* Reads the interpreter's pieces of code: without memory for them, all code is taken to have a frame. */
static void read_codelets(struct hotspot_loop *loop, const struct hotspot_target *target,
	const struct hotspot_image *image, uint64_t bias)
{
	uint64_t size = loop->end - loop->start;
	uint8_t *bytes;

	if (size > READER_MOST_BYTES)
		return;
	bytes = malloc(size);
	loop->entries = calloc(HOTSPOT_MOST_ENTRIES, sizeof(*loop->entries));
	if (bytes && loop->entries) {
		const struct loop_bytes read = { image, bias, bytes,
			hotspot_read_some(&target->memory, loop->start, bytes, size) };

		take_codelets(loop, &target->layout, &read);
	}
	free(bytes);
}

/* Its code is made in more room than it needs, which is given back. */
void hotspot_loop_read(struct hotspot_loop *loop, const struct hotspot_target *target,
	const struct hotspot_image *image, uint64_t bias)
{
	const struct hotspot_layout *layout = &target->layout;
	uint64_t queue = 0, words[2], addresses[2], end;

	hotspot_read_words(&target->memory, &layout->interpreter_code, 1, &queue);
	addresses[0] = queue + layout->queue_buffer.offset;
	addresses[1] = queue + layout->queue_limit.offset;
	hotspot_read_words(&target->memory, addresses, 2, words);
	end = words[0] + (uint32_t)words[1];
	if (words[0] == 0 || (loop->start == words[0] && loop->end == end && loop->count > 0))
		return;
	hotspot_loop_deinit(loop);
	loop->start = words[0];
	loop->end = end;
	if (loop->start < loop->end)
		read_codelets(loop, target, image, bias);
}

bool hotspot_loop_is_framed(const struct hotspot_loop *loop, uint64_t address)
{
	for (size_t i = 0; i < loop->count; i++)
		if (address >= loop->entries[i].start && address < loop->entries[i].end)
			return address >= loop->entries[i].framed;
	return true;
}
