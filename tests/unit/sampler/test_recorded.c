/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "process_fixture.h"

#include "sampler/process/recorded.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The ids of a recording are those of other processes now: of these nothing is asked, as they run here. */
static void test_processes_of_a_recording_are_not_asked(void **state)
{
	const uint64_t start = (uint64_t)(uintptr_t)test_processes_of_a_recording_are_not_asked & ~(uint64_t)0xfff;
	struct record record = { .kind = RECORD_EXIT, .pid = getpid(), .tid = getpid() };
	struct fixture recorded = { 0 };
	struct process_space space = { .table = &recorded.table };
	struct recorded_files files;
	struct machine_code code;
	struct process *process;
	struct error err;
	uint32_t name;

	recorded_files_init(&files, NULL);
	files.kernel = (struct elf_build_id){ .size = 2, .bytes = { 0xab, 0xcd } };
	assert_true(profile_create(&recorded.profile, &err));
	process_table_init(&recorded.table, recorded.profile, recorded_files_host(&files), NULL);
	assert_true(process_table_get(&recorded.table, getpid(), &process, &err));
	assert_int_equal(process->mappings.count, 0);
	assert_true(process_table_thread_name(&recorded.table, getpid(), getpid(), &name, &err));
	assert_string_equal(profile_string(recorded.profile, name), "");
	tell_mapping(&recorded, getpid(), start, start + 0x1000, "//anon");
	assert_string_equal(path_at(&recorded, getpid(), start), "//anon");
	space.process = process;
	assert_false(process_space_read(&space, start, sizeof(code), &code));
	process->has_threads = true;
	tell_record(&recorded, &record);
	assert_true(process_table_get(&recorded.table, getpid(), &process, &err));
	assert_false(process->is_alive);
	assert_true(process_table_kernel(&recorded.table, &name, &err));
	assert_string_equal(profile_string(recorded.profile, recorded.profile->mappings[name].build_id), "abcd");
	process_table_deinit(&recorded.table);
	profile_destroy(recorded.profile);
	recorded_files_deinit(&files);
}

/* perf.data tells the idle task's name under pid 0; here 0 is whoever has no pid in our namespace. */
static void test_pid_0_is_a_process_of_recordings_alone(void **state)
{
	const struct record record = { .kind = RECORD_COMM, .comm = { .name = "swapper" } };
	struct fixture *live = *state, recorded = { 0 };
	struct recorded_files files;
	struct error err;

	tell_record(live, &record);
	assert_int_equal(live->table.count, 0);
	recorded_files_init(&files, NULL);
	assert_true(profile_create(&recorded.profile, &err));
	process_table_init(&recorded.table, recorded.profile, recorded_files_host(&files), NULL);
	tell_record(&recorded, &record);
	assert_int_equal(recorded.table.count, 1);
	assert_string_equal(recorded.table.processes[0].name, "swapper");
	process_table_deinit(&recorded.table);
	profile_destroy(recorded.profile);
	recorded_files_deinit(&files);
}

static void expect_refused(const struct recording_file *recording, enum recording_use use, const char *path)
{
	struct error err;

	assert_int_equal(recording_open(recording, use, path, &err), -1);
}

/* Who reads a recording and was taken over gets nothing else by any use. */
static void test_a_use_opens_what_it_is_about_alone(void **state)
{
	const struct recording_file recording = { .directory = "/etc", .cache_directory = "/tmp/cache" };
	static const char *const opened[] = { "/proc/self/exe", "/proc/kallsyms", "/etc/passwd" };
	static const enum recording_use uses[] = { RECORDING_BINARY, RECORDING_KERNEL, RECORDING_STREAM };
	struct error err;

	for (size_t i = 0; i < 3; i++)
		for (size_t use = 1; use < 3; use++) {
			int fd = recording_open(&recording, uses[use], opened[i], &err);

			assert_true((fd >= 0) == (use == i));
			if (fd >= 0)
				close(fd);
		}
	expect_refused(&recording, RECORDING_BINARY, "/etc/passwd");
	expect_refused(&recording, RECORDING_BINARY, "/proc/kallsyms");
	expect_refused(&recording, RECORDING_MAP, "/etc/passwd");
	expect_refused(&recording, RECORDING_MAP, "/tmp/perf-1.map/../../etc/passwd");
	expect_refused(&recording, RECORDING_KERNEL, "/tmp/cache/.build-id/../../etc/kallsyms");
	expect_refused(&recording, RECORDING_KERNEL, "/etc/kallsyms");
	expect_refused(&recording, RECORDING_STREAM, "/etc/security/limits.conf");
	expect_refused(&recording, RECORDING_STREAM, "/etc/../proc/kallsyms");
	expect_refused(&recording, (enum recording_use)77, "/etc/passwd");
}

/* Whoever owns the cache of perf may put anything there: a pipe into which nobody writes, a line without an end. */
static void test_copies_of_kernel_symbols_are_files(void **state)
{
	char folder[] = "/tmp/kelvin-test-kallsyms-XXXXXX", path[128];
	struct recorded_files files;
	struct recorded_kernel kernel;
	struct error err;
	FILE *file;

	recorded_files_init(&files, &(const struct recording_file){ .cache_directory = folder });
	files.kernel = (struct elf_build_id){ .size = 2, .bytes = { 0xab, 0xcd } };
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/.build-id/ab/cd/kallsyms", folder);
	for (char *slash = path + strlen(folder); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(20);
	assert_true(recorded_kernel_find(&files, NULL, 0x1000, "_text", &kernel, &err));
	alarm(0);
	assert_null(kernel.kallsyms);
	assert_int_equal(unlink(path), 0);
	file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file, "%5000s\nffffffff81000000 T _text\n", "x");
	fclose(file);
	assert_true(recorded_kernel_find(&files, NULL, 0x1000, "_text", &kernel, &err));
	assert_string_equal(kernel.kallsyms, path);
	assert_int_equal(kernel.moved, 0xffffffff81000000 - 0x1000);
	free(kernel.kallsyms);
	recorded_files_deinit(&files);
	unlink(path);
	for (char *slash = strrchr(path, '/'); strlen(path) > strlen("/tmp/"); slash = strrchr(path, '/')) {
		*slash = '\0';
		if (rmdir(path) != 0)
			break;
	}
}

static void expect_not_opened(struct recorded_files *files, const char *path, const char *why)
{
	struct elf_image *image;
	struct error err;

	assert_false(recorded_files_open(files, path, NULL, &image, &err));
	if (!strstr(err.message, why))
		fail_msg("%s: %s", path, err.message);
}

/*
 * A file may name anything: what does something when it is opened, or when a name on its way is walked through, is not
 * opened. Files of the kernel are regular ones.
 */
static void test_paths_of_a_file_change_nothing(void **state)
{
	char folder[] = "/tmp/kelvin-test-told-XXXXXX", fifo[64], link[64];
	struct recorded_files files;

	recorded_files_init(&files, NULL);
	assert_non_null(mkdtemp(folder));
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(symlink("/sys/kernel/notes", link), 0);
	alarm(20);
	expect_not_opened(&files, fifo, "not a regular file");
	alarm(0);
	expect_not_opened(&files, "/dev/null", "not a regular file");
	expect_not_opened(&files, folder, "not a regular file");
	expect_not_opened(&files, "/proc/self/maps", "is empty");
	expect_not_opened(&files, "/sys/kernel/notes", "a file of the kernel");
	expect_not_opened(&files, link, "a file of the kernel");
	expect_not_opened(&files, "a.out", "not an absolute path");
	if (access("/sys/kernel/tracing/free_buffer", F_OK) == 0)
		expect_not_opened(&files, "/sys/kernel/tracing/free_buffer", "/sys/kernel/tracing/free_buffer is");
	recorded_files_deinit(&files);
	unlink(fifo);
	unlink(link);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_processes_of_a_recording_are_not_asked),
		PROCESS_TEST(test_pid_0_is_a_process_of_recordings_alone),
		cmocka_unit_test(test_a_use_opens_what_it_is_about_alone),
		cmocka_unit_test(test_copies_of_kernel_symbols_are_files),
		cmocka_unit_test(test_paths_of_a_file_change_nothing),
	};

	return cmocka_run_group_tests_name("sampler.recorded", tests, NULL, NULL);
}
