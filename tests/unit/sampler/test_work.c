/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events that users name: how they are written, and where they lie in a file, which this program itself is. */
#include "sampler/live/listening.h"
#include "sampler/live/work_event.h"
#include "tests/unit/support/unit_test.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_PROGRAM_BYTES = 1 << 26 };

/* What <sys/sdt.h> makes of DTRACE_PROBE(tests, here). */
void meet_probe(void);
__attribute__((noinline)) void meet_probe(void)
{
	__asm__ volatile("990: nop\n"
			 ".pushsection .note.stapsdt,\"\",\"note\"\n"
			 ".balign 4\n"
			 ".4byte 992f-991f, 994f-993f, 3\n"
			 "991: .asciz \"stapsdt\"\n"
			 "992: .balign 4\n"
			 "993: .8byte 990b, _.stapsdt.base, 0\n"
			 ".asciz \"tests\"\n"
			 ".asciz \"here\"\n"
			 ".asciz \"\"\n"
			 "994: .balign 4\n"
			 ".popsection\n"
			 ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
			 ".weak _.stapsdt.base\n"
			 ".hidden _.stapsdt.base\n"
			 "_.stapsdt.base: .space 1\n"
			 ".size _.stapsdt.base, 1\n"
			 ".popsection\n");
}

static void what_may_be_written(void **state)
{
	static const char *const good[] = { "sched:sched_switch", "raw_syscalls:sys-enter", "uprobe:/bin/a:main",
		"uprobe:./a:b:main+0x10", "uprobe:a:main+16", "usdt:/usr/bin/node:node:http__server__request",
		"usdt:a:b:c:d" };
	static const char *const bad[] = { "", ":", "a:", ":b", "a:b:c", "sched", "../a:b", "a:b/../c", "a:b c",
		"uprobe:", "uprobe:main", "uprobe::main", "uprobe:/bin/a:", "uprobe:/bin/a:+5", "uprobe:/bin/a:main+",
		"uprobe:/bin/a:main+-1", "uprobe:/bin/a:main+5x", "uprobe:/bin/a:main+99999999999999999999",
		"usdt:/bin/a:b", "usdt::a:b", "usdt:/bin/a::b" };
	struct error err;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!work_event_check(good[i], &err))
			fail_msg("'%s' is refused", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (work_event_check(bad[i], &err))
			fail_msg("'%s' is taken", bad[i]);
		assert_int_equal(err.code, ERROR_USAGE);
	}
}

/* Neither names nor paths are longer than there is room for. */
static void long_texts_are_refused(void **state)
{
	static char text[3 * PATH_MAX];
	struct error err;

	for (size_t size = 100; size < sizeof(text) - 1; size += 50) {
		memset(text, 'a', size);
		memcpy(text, "uprobe:", 7);
		text[size] = '\0';
		text[size - 5] = ':';
		assert_true(work_event_check(text, &err) == (size < PATH_MAX));
		memset(text + 7, 'a', size - 7);
		text[10] = ':';
		assert_true(work_event_check(text, &err) == (size - 11 < 256));
		text[10] = 'a';
		memcpy(text, "events", 6);
		assert_true(work_event_check(text, &err) == (size - 7 < 256));
	}
}

static struct elf_image *open_self(void)
{
	struct elf_image *image;
	struct error err;

	if (!elf_image_open_path("/proc/self/exe", &image, &err))
		fail_msg("%s", err.message);
	return image;
}

static void functions_and_probes_are_found(void **state)
{
	struct elf_image *image = open_self();
	struct work_place function, places[WORK_MOST_PLACES];
	struct error err;
	size_t count;

	if (!work_places_of_function(image, "meet_probe", &function, &err) ||
		!work_places_of_probe(image, "tests", "here", places, &count, &err))
		fail_msg("%s", err.message);
	assert_int_equal(count, 1);
	/* The probe is within the function. */
	assert_in_range(places[0].offset, function.offset, function.offset + 64);
	assert_int_equal(places[0].semaphore, 0);
	assert_false(work_places_of_function(image, "meet_probe_", &function, &err));
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	/* One that is called, but is in a library. */
	assert_false(work_places_of_function(image, "memcpy_of_nobody", &function, &err));
	assert_false(work_places_of_probe(image, "tests", "her", places, &count, &err));
	assert_false(work_places_of_probe(image, "test", "here", places, &count, &err));
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	elf_image_unref(image);
}

/* Each byte of the notes is spoilt in turn: what is found lies within the file, or nothing is. */
static void damaged_notes_lead_nowhere(void **state)
{
	static const uint8_t values[] = { 0x00, 0x7f, 0xff };
	struct elf_image *image = open_self(), *damaged;
	struct elf_section notes;
	CLEANUP(buffer_deinit) struct buffer file = { 0 };
	struct error err;
	uint8_t *at;

	buffer_init(&file, MAX_PROGRAM_BYTES);
	assert_true(file_read("/proc/self/exe", &file, &err));
	assert_true(elf_image_section(image, ".note.stapsdt", &notes));
	at = memmem(file.data, file.size, notes.bytes, notes.size);
	assert_non_null(at);
	for (size_t i = 0; i < notes.size; i++)
		for (size_t j = 0; j < sizeof(values); j++) {
			struct work_place places[WORK_MOST_PLACES];
			uint8_t right = at[i];
			size_t count;

			at[i] = values[j];
			assert_true(elf_image_open_memory(file.data, file.size, "damaged", &damaged, &err));
			if (work_places_of_probe(damaged, "tests", "here", places, &count, &err))
				assert_true(places[0].offset < file.size && places[0].semaphore < file.size);
			elf_image_unref(damaged);
			at[i] = right;
		}
	elf_image_unref(image);
}

/* Only sockets that listen make a process one that answers. */
static void who_listens_is_known(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0), pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_false(listening_has_socket(getpid()));
	assert_int_equal(listen(fd, 1), 0);
	assert_true(listening_has_socket(getpid()));
	close(fd);
	assert_false(listening_has_socket(getpid()));
	/* Without a name, the kernel chooses one. */
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, &(struct sockaddr){ .sa_family = AF_UNIX }, sizeof(sa_family_t)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_true(listening_has_socket(getpid()));
	close(fd);
	close(pair[0]);
	close(pair[1]);
	assert_false(listening_has_socket(-1));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_may_be_written),
		cmocka_unit_test(long_texts_are_refused),
		cmocka_unit_test(functions_and_probes_are_found),
		cmocka_unit_test(damaged_notes_lead_nowhere),
		cmocka_unit_test(who_listens_is_known),
	};

	meet_probe();
	return cmocka_run_group_tests_name("sampler.work", tests, NULL, NULL);
}
