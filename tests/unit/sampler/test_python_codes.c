/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hostile_python_fixture.h"
#include "process_fixture.h"
#include "python_process_fixture.h"

#include "sampler/interpret/python/code.h"
#include "tests/unit/support/unit_test.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Names are cut at 512 and 1024 bytes, of which a character that does not fit takes up to 4. */
enum { CUT_NAME = 508, CUT_FILE = 1020, MOST_WORDS = 6 };

static const uint64_t second_ns = 1000000000;

struct codes {
	struct fixture *fixture;
	struct interpreter_names names;
	struct interpreter_codes *codes;
	struct python_process process;
	uint64_t clock_ns;
};

static void start(struct codes *codes, void **state)
{
	struct python_code_reader *reader;
	struct error err;

	codes->fixture = *state;
	codes->clock_ns = 10 * second_ns;
	interpreter_names_init(&codes->names, &codes->fixture->table);
	assert_true(python_code_reader_create(&codes->fixture->table.host, &reader, &err));
	assert_true(interpreter_codes_create(&codes->names, &python_code_reads, reader, &codes->codes, &err));
}

static void end(struct codes *codes)
{
	interpreter_codes_destroy(codes->codes);
	interpreter_names_deinit(&codes->names);
}

/* The function and line of an instruction of a process. */
static struct profile_line find(struct codes *codes, int32_t pid, uint64_t address, uint32_t unit)
{
	struct profile_line line;
	struct error err;

	assert_true(interpreter_codes_find(codes->codes, codes->process.python, pid,
		ebpf_frame_word(address, unit, false), codes->clock_ns, &line, &err));
	return line;
}

static const char *name_of(struct codes *codes, struct profile_line line)
{
	const struct profile *profile = codes->fixture->profile;

	return profile_string(profile, profile->functions[line.function].name);
}

/* ---- What a process tells of a code object is what is found ---- */

/* "py::NAME:FILE": as far as they are not cut, which depends on where characters end. */
static void expect_name(struct codes *codes, struct profile_line line, const char *name, const char *file)
{
	const struct profile *profile = codes->fixture->profile;
	const char *found = name_of(codes, line), *found_file;
	char *expected;

	found_file = profile_string(profile, profile->functions[line.function].file);
	assert_int_equal(strncmp(found_file, file, strlen(found_file)), 0);
	assert_true(strlen(found_file) == strlen(file) || strlen(found_file) > CUT_FILE);
	if (strlen(name) <= CUT_NAME && strlen(file) <= CUT_FILE) {
		assert_true(asprintf(&expected, "py::%s:%s", name, file) > 0);
		assert_string_equal(found, expected);
		free(expected);
	} else {
		assert_true(strlen(found) > CUT_NAME);
		assert_int_equal(
			strncmp(found + strlen("py::"), name, strlen(name) < CUT_NAME ? strlen(name) : CUT_NAME), 0);
	}
}

static void expect_code(struct codes *codes, char **words)
{
	uint64_t address = strtoull(words[1], NULL, 10);
	uint32_t first_line = (uint32_t)strtoul(words[2], NULL, 10), unit = 0;
	struct profile_line line = find(codes, codes->process.pid, address, 0);
	const char *file = strcmp(words[4], "-") == 0 ? "" : decode_text(words[4]);
	uint32_t function = line.function;
	char *rest;

	expect_name(codes, line, decode_text(words[3]), file);
	assert_int_equal(codes->fixture->profile->functions[function].start_line, first_line);
	for (char *told = strtok_r(words[5], ",", &rest); told; told = strtok_r(NULL, ",", &rest)) {
		line = find(codes, codes->process.pid, address, unit++);
		assert_int_equal(line.function, function);
		assert_int_equal(line.line, strtoul(told, NULL, 10));
	}
	assert_int_equal(find(codes, codes->process.pid, address, unit).line, 0);
	assert_int_equal(find(codes, codes->process.pid, address, EBPF_FRAME_NO_POSITION).line, 0);
}

static void expect_codes(struct codes *codes)
{
	char *words[MOST_WORDS];
	size_t count = 0;

	while (read_words(&codes->process, words, MOST_WORDS) == MOST_WORDS) {
		assert_string_equal(words[0], "code");
		expect_code(codes, words);
		count++;
	}
	assert_string_equal(words[0], "end");
	assert_true(count > 60);
	assert_int_equal(interpreter_codes_gone(codes->codes), 0);
}

/* ---- Frames ---- */

/* Reads the frames once the process has come to wait in the frame that it has told of, so that they do not change. */
static void read_frames(struct codes *codes, const struct ebpf_python *python, uint64_t innermost, uint64_t *room,
	struct ebpf_frames *frames)
{
	const struct process_host *host = &codes->fixture->table.host;
	uint32_t tid = (uint32_t)codes->process.pid;

	do {
		usleep(1000);
		assert_true(python_read_frames(host, python, codes->process.pid, tid, room, EBPF_MOST_FRAMES, frames));
	} while (ebpf_frame_code(frames->words[0]) != innermost);
	assert_false(frames->is_cut);
}

/* Passes over the words of activations that end, each further out on the stack than those that it has called. */
static size_t pass_activations(const struct ebpf_frames *frames, size_t at, uint64_t *address, size_t *count)
{
	for (; at < frames->count && ebpf_python_is_activation(frames->words[at]); at++) {
		uint64_t own = ebpf_python_activation_address(frames->words[at]);

		/* Since 3.15 the thread's state has a last one, which runs nothing. */
		if (*count > 0 && at + 1 == frames->count && own < *address)
			break;
		assert_true(own > *address);
		*address = own;
		(*count)++;
	}
	return at;
}

/* The frames that a process tells of, from the innermost one, and how often C code has called the loop. */
static void compare_frames(const struct ebpf_frames *frames, char *told_frames, size_t told_activations)
{
	size_t at = 0, activations = 0;
	uint64_t address = 0;
	char *rest, *unit;

	for (char *told = strtok_r(told_frames, ",", &rest); told; told = strtok_r(NULL, ",", &rest)) {
		assert_true(at < frames->count);
		assert_int_equal(ebpf_frame_code(frames->words[at]), strtoull(told, &unit, 10));
		if (at > 0)
			assert_int_equal(ebpf_frame_position(frames->words[at]), strtoul(unit + 1, NULL, 10));
		at = pass_activations(frames, at + 1, &address, &activations);
	}
	assert_in_range(frames->count - at, 0, 1);
	assert_int_equal(activations, told_activations);
	assert_true(ebpf_python_is_activation(frames->words[frames->count - 1]));
}

static void expect_frames(struct codes *codes)
{
	const struct process_host *host = &codes->fixture->table.host;
	struct ebpf_python python = codes->process.python->read;
	uint64_t room[EBPF_MOST_FRAMES];
	struct ebpf_frames frames = { 0 };
	int32_t pid = codes->process.pid;
	char *words[3];
	size_t count;

	python.runtime = codes->process.python->runtime - codes->process.bias;
	assert_int_equal(read_words(&codes->process, words, 3), 3);
	assert_string_equal(words[0], "frames");
	read_frames(codes, &python, strtoull(words[2], NULL, 10), room, &frames);
	compare_frames(&frames, words[2], strtoul(words[1], NULL, 10));
	count = frames.count;
	assert_true(python_read_frames(host, &python, pid, (uint32_t)pid, room, 1, &frames));
	assert_int_equal(frames.count, 1);
	assert_int_equal(frames.is_cut, count > 1);
	assert_false(python_read_frames(host, &python, pid, 1, room, EBPF_MOST_FRAMES, &frames));
}

/* ---- Time ---- */

/* Another code object at the same address is found after a second, and not before that is over. */
static void expect_reuse(struct codes *codes)
{
	char *words[MOST_WORDS];
	uint64_t address = 0;
	bool is_reused = false;

	command_python(&codes->process, "reuse");
	while (!is_reused && read_words(&codes->process, words, MOST_WORDS) == MOST_WORDS) {
		struct profile_line line;

		assert_string_equal(words[0], "before");
		address = strtoull(words[1], NULL, 10);
		line = find(codes, codes->process.pid, address, 0);
		expect_name(codes, line, decode_text(words[3]), "first.py");
		command_python(&codes->process, "again");
		assert_int_equal(read_words(&codes->process, words, MOST_WORDS), MOST_WORDS);
		is_reused = strtoull(words[1], NULL, 10) == address;
		if (is_reused)
			assert_int_equal(find(codes, codes->process.pid, address, 0).function, line.function);
		codes->clock_ns += 2 * second_ns;
		line = find(codes, codes->process.pid, strtoull(words[1], NULL, 10), 0);
		expect_name(codes, line, decode_text(words[3]), "second.py");
	}
	assert_true(is_reused);
	assert_int_equal(read_words(&codes->process, words, MOST_WORDS), MOST_WORDS);
	command_python(&codes->process, "stop");
	expect_frames(codes);
}

/* An address that is no code object's is gone, and looked at again when a second is over. */
static void expect_gone(struct codes *codes)
{
	const uint64_t addresses[] = { 16, codes->process.python->runtime - codes->process.bias,
		UINT64_MAX >> 20 << 3 };
	uint64_t before = interpreter_codes_gone(codes->codes);

	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++)
		for (size_t time = 0; time < 2; time++) {
			struct profile_line line = find(codes, codes->process.pid, addresses[i], 1);

			assert_string_equal(name_of(codes, line), PROFILE_PYTHON_GONE);
			assert_int_equal(line.line, 0);
			codes->clock_ns += 2 * second_ns;
		}
	assert_int_equal(interpreter_codes_gone(codes->codes), before + 6);
}

/* A child that cannot be read has what its parent had read, as has its own child, but none that is not its. */
static void expect_inherited(struct codes *codes, uint64_t address, const char *name)
{
	interpreter_codes_fork(codes->codes, codes->process.pid, PID);
	interpreter_codes_fork(codes->codes, PID, CHILD);
	assert_string_equal(name_of(codes, find(codes, CHILD, address, 0)), name);
	assert_string_equal(name_of(codes, find(codes, PID, address, 0)), name);
	interpreter_codes_forget(codes->codes, CHILD);
	assert_string_equal(name_of(codes, find(codes, CHILD, address, 0)), PROFILE_PYTHON_GONE);
	codes->clock_ns += 2 * second_ns;
	assert_string_equal(name_of(codes, find(codes, CHILD, address, 0)), PROFILE_PYTHON_GONE);
	assert_string_equal(name_of(codes, find(codes, PID, address, 0)), name);
	interpreter_codes_fork(codes->codes, PID, CHILD);
	assert_string_equal(name_of(codes, find(codes, CHILD, address, 0)), name);
	interpreter_codes_forget(codes->codes, PID);
	assert_string_equal(name_of(codes, find(codes, CHILD, address, 0)), name);
	assert_string_equal(name_of(codes, find(codes, PID, address, 0)), PROFILE_PYTHON_GONE);
}

/* A copy of a code object as the program in the kernel makes it; `bytes` has room for its pieces. */
enum { COPIED_BYTES = 256 };
static struct ebpf_code copy_code(const struct codes *codes, uint64_t address, uint8_t bytes[][COPIED_BYTES])
{
	const struct python_image *python = codes->process.python;
	const uint32_t members[EBPF_CODE_PIECES] = { 0, python->qualname, python->filename, python->line_table };
	struct ebpf_code copy = { .pid = codes->process.pid };

	for (size_t i = 0; i < EBPF_CODE_PIECES; i++) {
		struct iovec into = { bytes[i], COPIED_BYTES }, from = { (void *)(uintptr_t)address, COPIED_BYTES };

		if (i > 0)
			memcpy(&from.iov_base, bytes[0] + members[i], sizeof(from.iov_base));
		copy.pieces[i] = (struct ebpf_piece){ (uintptr_t)from.iov_base, bytes[i], COPIED_BYTES };
		assert_int_equal(process_vm_readv(copy.pid, &into, 1, &from, 1, 0), COPIED_BYTES);
	}
	return copy;
}

/* What was copied has its names when its process has ended; an address with another object before has those of this. */
static void expect_learned(struct codes *codes, const struct ebpf_code *copy, const char *name)
{
	struct error err;

	interpreter_codes_forget(codes->codes, copy->pid);
	assert_string_equal(name_of(codes, find(codes, copy->pid, copy->pieces[0].address, 0)), PROFILE_PYTHON_GONE);
	assert_true(interpreter_codes_learn(codes->codes, codes->process.python, copy, codes->clock_ns, &err));
	assert_string_equal(name_of(codes, find(codes, copy->pid, copy->pieces[0].address, 0)), name);
}

static void expect_all(struct codes *codes, const char *path)
{
	uint8_t bytes[EBPF_CODE_PIECES][COPIED_BYTES];
	char *words[MOST_WORDS], *name;
	struct ebpf_code copy;
	uint64_t address;

	if (!start_python(path, &codes->process))
		return;
	expect_codes(codes);
	expect_frames(codes);
	command_python(&codes->process, "c");
	expect_frames(codes);
	expect_reuse(codes);
	expect_gone(codes);
	command_python(&codes->process, "code");
	assert_int_equal(read_words(&codes->process, words, MOST_WORDS), MOST_WORDS);
	address = strtoull(words[1], NULL, 10);
	name = strdup(name_of(codes, find(codes, codes->process.pid, address, 0)));
	expect_inherited(codes, address, name);
	copy = copy_code(codes, address, bytes);
	end_python(&codes->process);
	/* It has ended: what was read is believed. */
	codes->clock_ns += 2 * second_ns;
	assert_string_equal(name_of(codes, find(codes, codes->process.pid, address, 0)), name);
	codes->clock_ns += 2 * second_ns;
	assert_string_equal(name_of(codes, find(codes, codes->process.pid, address, 0)), name);
	expect_learned(codes, &copy, name);
	free_python(&codes->process);
	free(name);
}

static void test_processes_are_read_as_they_are(void **state)
{
	char *paths[MOST_PYTHONS];
	size_t count = list_pythons(paths);

	for (size_t i = 0; i < count; i++) {
		struct codes codes = { 0 };

		print_message("%s\n", paths[i]);
		start(&codes, state);
		expect_all(&codes, paths[i]);
		end(&codes);
		free(paths[i]);
	}
}

/* ---- Location tables ---- */

static void test_location_tables_are_decoded_to_their_damage(void **state)
{
	/* One of each kind: 2 units of line 10; 1 of 12; none; long, 3 lines before; without columns, 1 line on; short.
	 */
	static const uint8_t table[] = { 0x81, 0x00, 0xe0, 0x01, 0x02, 0xf9, 0xf0, 0x07, 0x41, 0x01, 0x02, 0x03, 0xef,
		0x02, 0xc8, 0x11 };
	static const struct interpreter_line expected[] = { { 0, 10 }, { 2, 12 }, { 3, 0 }, { 5, 9 }, { 6, 10 },
		{ 15, 0 } };
	static const uint8_t endless[] = { 0xf0, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f };
	struct interpreter_line lines[sizeof(table) + 1];

	assert_int_equal(python_lines_decode(table, sizeof(table), 10, lines), 6);
	assert_memory_equal(lines, expected, sizeof(expected));
	for (size_t size = 0; size < sizeof(table); size++) {
		size_t count = python_lines_decode(table, size, 10, lines);

		assert_in_range(count, 1, 6);
		for (size_t i = 0; i + 1 < count; i++)
			assert_memory_equal(&lines[i], &expected[i], sizeof(*expected));
		assert_int_equal(lines[count - 1].line, 0);
		assert_true(lines[count - 1].position <= expected[count - 1].position);
	}
	assert_int_equal(python_lines_decode(endless, sizeof(endless), 10, lines), 1);
	assert_int_equal(lines[0].line, 0);
}

/* ---- Processes that mean harm ---- */

/* Endless code objects cost so many reads in a second, and so much memory. */
static void test_endless_code_objects_have_an_end(void **state)
{
	static const struct process_host_functions functions = { .read_memory = hostile_python_read };
	struct hostile_python hostile = { 0 };
	struct codes codes = { .process.python = (struct python_image *)&hostile_python_image };
	struct process_host host = { &functions, &hostile }, before;
	uint64_t reads;

	codes.fixture = *state;
	before = codes.fixture->table.host;
	codes.fixture->table.host = host;
	start(&codes, state);
	for (uint64_t i = 0; i < 100000; i++)
		(void)find(&codes, PID, i << 4, 1);
	reads = hostile.reads;
	assert_in_range(reads, 1 << 14, 3 << 14);
	for (size_t second = 0; second < 4; second++) {
		codes.clock_ns += second_ns;
		for (uint64_t i = 0; i < 20000; i++)
			(void)find(&codes, PID, (i << 4) + (second << 32), 1);
		assert_in_range(hostile.reads - reads, 1 << 11, 5 << 12);
		reads = hostile.reads;
	}
	/* A process that is not there any more has left its room to others. */
	interpreter_codes_forget(codes.codes, PID);
	for (uint64_t i = 0; i < 1000; i++)
		assert_string_not_equal(name_of(&codes, find(&codes, CHILD, i << 4, 1)), PROFILE_PYTHON_GONE);
	end(&codes);
	codes.fixture->table.host = before;
}

/* A steady process is looked at with few calls: many of its code objects at once. */
static void test_many_code_objects_are_looked_at_with_one_call(void **state)
{
	static const struct process_host_functions functions = { .read_memory = hostile_python_read };
	struct hostile_python hostile = { .is_steady = true };
	struct codes codes = { .process.python = (struct python_image *)&hostile_python_image };
	struct process_host host = { &functions, &hostile }, before;

	codes.fixture = *state;
	before = codes.fixture->table.host;
	codes.fixture->table.host = host;
	start(&codes, state);
	for (size_t second = 0; second < 3; second++) {
		uint64_t reads = hostile.reads;

		for (uint64_t i = 0; i < 640; i++)
			(void)find(&codes, PID, i << 4, 1);
		/* At first the marks, the start of the objects, and the rest of their text. */
		assert_in_range(hostile.reads - reads, 1, second == 0 ? 3 * 640 : 20);
		codes.clock_ns += 2 * second_ns;
	}
	assert_int_equal(interpreter_codes_gone(codes.codes), 0);
	end(&codes);
	codes.fixture->table.host = before;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROCESS_TEST(test_processes_are_read_as_they_are),
		cmocka_unit_test(test_location_tables_are_decoded_to_their_damage),
		PROCESS_TEST(test_endless_code_objects_have_an_end),
		PROCESS_TEST(test_many_code_objects_are_looked_at_with_one_call),
	};

	return cmocka_run_group_tests_name("python_codes", tests, NULL, NULL);
}
