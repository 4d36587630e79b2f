/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/naming_request.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names that one process asks another one for: here both are one, and what goes to and fro are the same bytes. */

struct asking {
	struct file_opened own; /* this program, handed out */
	size_t file_count;
	uint8_t *request; /* the last one */
	size_t request_size;
	struct symbolize_namer namer;
	struct symbolize_options options;
	struct naming_task task;
	uint64_t address;
};

static const char *own_name;

static int ask(void *context, const void *bytes, size_t size, struct error *err)
{
	static const struct symbolize_options here = { .threads = 1 };
	struct asking *asking = context;

	free(asking->request);
	asking->request = malloc(size);
	assert_non_null(asking->request);
	memcpy(asking->request, bytes, size);
	asking->request_size = size;
	return symbolize_name_answer(&here, &asking->own, asking->file_count, bytes, size, err);
}

extern const char __executable_start[]; /* of this program, which the linker sets */

/* The image address of a function of this program. */
static uint64_t address_in(const struct elf_image *elf)
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(elf, &count);

	assert_true(count > 0);
	return (uint64_t)((uintptr_t)address_in - (uintptr_t)__executable_start) + segments[0].address;
}

static int setup(void **state)
{
	struct asking *asking = calloc(1, sizeof(*asking));
	struct error err;

	assert_non_null(asking);
	asking->own = (struct file_opened){ (char *)(uintptr_t)own_name, open("/proc/self/exe", O_RDONLY | O_CLOEXEC) };
	asking->file_count = 1;
	asking->namer = (struct symbolize_namer){ .ask = ask, .context = asking };
	asking->options.namer = &asking->namer;
	assert_true(elf_image_open_descriptor(dup(asking->own.fd), "/proc/self/exe", &asking->task.image, &err));
	asking->address = address_in(asking->task.image);
	asking->task.label = "this program";
	asking->task.addresses = &asking->address;
	asking->task.count = 1;
	*state = asking;
	return 0;
}

static int teardown(void **state)
{
	struct asking *asking = *state;

	naming_task_deinit(&asking->task);
	elf_image_unref(asking->task.image);
	close(asking->own.fd);
	free(asking->request);
	free(asking);
	return 0;
}

static void run(struct asking *asking, struct buffer *notices)
{
	buffer_init(notices, 1 << 16);
	naming_run(&asking->task, 1, &asking->options, notices);
	buffer_append_byte(notices, '\0');
}

static void names_come_from_who_has_opened_the_file(void **state)
{
	struct asking *asking = *state;
	struct symbolize_frames frames = { 0 };
	struct buffer notices;
	struct arena arena;
	struct error err;

	run(asking, &notices);
	assert_non_null(asking->task.bytes);
	arena_init(&arena, 0);
	assert_true(named_frames_find(&asking->task.table, asking->address, &arena, &frames, &err));
	assert_true(frames.count > 0);
	assert_string_equal(frames.frames[frames.count - 1].name, "address_in");
	arena_deinit(&arena);
	buffer_deinit(&notices);
}

/* A path comes with no task: what was not handed out is named by nobody. */
static void a_file_that_was_not_handed_out_is_not_read(void **state)
{
	struct asking *asking = *state;
	struct buffer notices;

	asking->file_count = 0;
	run(asking, &notices);
	assert_true(!asking->task.bytes || asking->task.table.address_count == 0);
	buffer_deinit(&notices);
}

static int refuse(void *context, const void *bytes, size_t size, struct error *err)
{
	(void)context;
	(void)bytes;
	(void)size;
	error_set(err, ERROR_PERMISSION, "nobody answers");
	return -1;
}

static void what_is_not_answered_is_told(void **state)
{
	struct asking *asking = *state;
	struct buffer notices;

	asking->namer.ask = refuse;
	run(asking, &notices);
	assert_null(asking->task.bytes);
	assert_string_equal(notices.data, "nobody answers: functions stay unnamed\n");
	buffer_deinit(&notices);
}

/* Who asks may have been taken over. */
static void any_request_is_borne(void **state)
{
	static const struct symbolize_options here = { .threads = 1 };
	struct asking *asking = *state;
	struct buffer notices;
	struct error err;
	uint8_t *bytes;

	run(asking, &notices);
	buffer_deinit(&notices);
	bytes = malloc(asking->request_size);
	assert_non_null(bytes);
	for (size_t size = 0; size < asking->request_size; size += sizeof(uint32_t)) {
		memcpy(bytes, asking->request, size);
		assert_int_equal(symbolize_name_answer(&here, &asking->own, 1, bytes, size, &err), -1);
		assert_true(err.message[0]);
	}
	for (size_t at = 0; at < asking->request_size; at += sizeof(uint64_t)) {
		static const uint64_t wild[] = { 0, 1, UINT32_MAX, INT64_MAX, UINT64_MAX };

		for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
			int fd;

			memcpy(bytes, asking->request, asking->request_size);
			memcpy(bytes + at, &wild[i], sizeof(wild[i]));
			fd = symbolize_name_answer(&here, &asking->own, 1, bytes, asking->request_size, &err);
			if (fd >= 0)
				close(fd);
		}
	}
	free(bytes);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_come_from_who_has_opened_the_file, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_that_was_not_handed_out_is_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_answered_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(any_request_is_borne, setup, teardown),
	};

	(void)argc;
	own_name = argv[0];
	return cmocka_run_group_tests_name("symbolize.naming_request", tests, NULL, NULL);
}
