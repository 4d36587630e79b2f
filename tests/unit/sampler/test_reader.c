/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/reader.h"

#include "tests/unit/support/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reads of other processes, of which some never answer. */

static const char text[] = "what a process has in its memory";

static int setup(void **state)
{
	struct error err;

	return process_reader_create((struct process_reader **)state, &err) ? 0 : -1;
}

static int teardown(void **state)
{
	process_reader_destroy(*state);
	return 0;
}

/* A page that is registered with userfaultfd(2), whose faults nobody handles; MAP_FAILED if that is not permitted. */
static void *map_missing_page(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = { .range = { (uint64_t)(uintptr_t)page, size },
		.mode = UFFDIO_REGISTER_MODE_MISSING };

	return fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &range) == 0 ? page
												      : MAP_FAILED;
}

struct child {
	pid_t pid;
	void *missing; /* MAP_FAILED: the machine has no such memory */
};

static struct child start_child(void)
{
	struct child child;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child.pid = fork();
	if (child.pid == 0) {
		void *page = map_missing_page();

		(void)!write(ends[1], &page, sizeof(page));
		for (;;)
			pause();
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &child.missing, sizeof(child.missing)), sizeof(child.missing));
	close(ends[0]);
	return child;
}

static void end_child(const struct child *child)
{
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
}

static ssize_t read_from(struct process_reader *reader, pid_t pid, const void *address, void *into)
{
	struct iovec here = { into, sizeof(text) }, there = { (void *)(uintptr_t)address, sizeof(text) };

	return process_reader_memory(reader, pid, &here, &there, 1);
}

static void expect_notice(const struct process_reader *reader, const char *part)
{
	CLEANUP(buffer_deinit) struct buffer notices = { 0 };

	buffer_init(&notices, 4096);
	process_reader_describe(reader, &notices);
	buffer_append_byte(&notices, 0);
	if (part)
		assert_non_null(strstr(notices.data, part));
	else
		assert_string_equal(notices.data, "");
}

static void memory_is_copied(void **state)
{
	struct child child = start_child();
	char got[sizeof(text)];
	struct iovec many = { got, READER_MOST_BYTES + 1 }, there = { (void *)(uintptr_t)text, sizeof(text) };

	assert_int_equal(read_from(*state, child.pid, text, got), sizeof(text));
	assert_string_equal(got, text);
	assert_int_equal(read_from(*state, child.pid, NULL, got), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(process_reader_memory(*state, child.pid, &many, &there, 1), -1);
	expect_notice(*state, NULL);
	end_child(&child);
	assert_int_equal(read_from(*state, child.pid, text, got), -1);
}

/* It costs reads of its own memory alone, also those that would be answered. */
static void memory_that_never_arrives_is_left_alone(void **state)
{
	struct child hostile = start_child(), innocent = start_child();
	const useconds_t rest_us[] = { 10000, 30000, 100000, 400000 }; /* longer each time */
	char got[sizeof(text)], part[64];
	struct buffer maps;
	bool is_denied;

	if (hostile.missing != MAP_FAILED) {
		assert_int_equal(read_from(*state, hostile.pid, text, got), sizeof(text));
		for (size_t i = 0; i < 4; i++) {
			usleep(i > 0 ? rest_us[i - 1] : 0);
			assert_int_equal(read_from(*state, hostile.pid, hostile.missing, got), -1);
			assert_int_equal(errno, EAGAIN);
		}
		assert_int_equal(read_from(*state, hostile.pid, text, got), -1);
		assert_int_equal(errno, EAGAIN);
		assert_int_equal(read_from(*state, innocent.pid, text, got), sizeof(text));
		snprintf(part, sizeof(part), "memory of pid %d did not", (int)hostile.pid);
		expect_notice(*state, part);
		buffer_init(&maps, 1 << 24);
		assert_true(process_reader_maps(*state, hostile.pid, &maps, &is_denied));
		assert_true(maps.size > 0);
		buffer_deinit(&maps);
		/* It may have been late by chance: after a while it is asked again, and answers. */
		usleep(rest_us[3]);
		assert_int_equal(read_from(*state, hostile.pid, text, got), sizeof(text));
	}
	end_child(&hostile);
	end_child(&innocent);
	if (hostile.missing == MAP_FAILED)
		skip();
}

static bool find_own_code(void *context, const struct elf_maps_entry *entry, struct error *err)
{
	uint64_t address = (uint64_t)(uintptr_t)find_own_code;

	*(bool *)context |=
		entry->executable && address - entry->mapping.start < entry->mapping.end - entry->mapping.start;
	return true;
}

/* More text than one job brings. */
static void maps_are_read_to_their_end(void **state)
{
	enum { PIECES = 4000 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *range = mmap(NULL, 2 * PIECES * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CLEANUP(buffer_deinit) struct buffer maps = { 0 };
	struct error err;
	bool is_denied, is_found = false;

	assert_ptr_not_equal(range, MAP_FAILED);
	for (size_t i = 0; i < PIECES; i++)
		assert_int_equal(mprotect(range + 2 * i * page, page, PROT_READ | PROT_WRITE), 0);
	buffer_init(&maps, 1 << 24);
	assert_true(process_reader_maps(*state, getpid(), &maps, &is_denied));
	munmap(range, 2 * PIECES * page);
	assert_false(is_denied);
	assert_in_range(maps.size, 1 << 18, 1 << 24);
	maps.data[maps.size - 1] = '\0';
	assert_true(elf_maps_parse(maps.data, getpid(), find_own_code, &is_found, &err));
	assert_true(is_found);
	maps.size = 0;
	assert_true(process_reader_maps(*state, 0x7ffffff0, &maps, &is_denied));
	assert_int_equal(maps.size, 0);
}

static bool count_line(void *context, const struct elf_maps_entry *entry, struct error *err)
{
	(void)entry, (void)err;
	++*(int *)context;
	return true;
}

/* It costs its process one mapping, and the recording nothing. */
static void a_malformed_line_of_maps_is_passed_over(void **state)
{
	char lines_of_maps[] = "1000-2000 r-xp 00000000 08:01 7 /bin/a\n"
			       "a line that no kernel writes\n"
			       "3000-4000 r-xp 00000000 08:01 8 /bin/b";
	int lines = 0;
	struct error err;

	assert_true(elf_maps_parse(lines_of_maps, 1, count_line, &lines, &err));
	assert_int_equal(lines, 2);
}

static void a_file_is_opened(void **state)
{
	char path[4096] = "";
	struct elf_mapping mapping = { .path = path };
	struct elf_image *image;
	struct error err;

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_true(process_reader_open(*state, &mapping, &image, &err));
	assert_string_equal(elf_image_path(image), path);
	assert_false(elf_image_is_deleted(image));
	elf_image_unref(image);
	assert_false(process_reader_is_32bit(*state, getpid()));
	mapping.path = "/nowhere/at/all";
	assert_false(process_reader_open(*state, &mapping, &image, &err));
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_non_null(strstr(err.message, "/nowhere/at/all"));
}

/* ---- Copies ---- */

/* A process that has laid an overlay of its own over a directory with a program, in namespaces of its own. */
static pid_t start_overlay(const char *directory)
{
	char options[128], byte = 0;
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		snprintf(options, sizeof(options), "lowerdir=%s:/usr", directory);
		byte = unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
		       mount("overlay", directory, "overlay", MS_RDONLY, options) == 0;
		(void)!write(ends[1], &byte, 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	close(ends[1]);
	if (byte)
		return pid;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return -1;
}

/* The descriptor of the only copy that this process has. */
static bool find_copy(struct stat *info)
{
	char path[64], target[64];

	for (int fd = 0; fd < 256; fd++) {
		ssize_t size;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		size = readlink(path, target, sizeof(target) - 1);
		target[size > 0 ? size : 0] = '\0';
		if (strncmp(target, "/memfd:kelvin", 13) == 0)
			return fstat(fd, info) == 0;
	}
	return false;
}

/* Who may lay anything over anything gives no file an owner: the copy is not root's. */
static void a_copy_is_not_roots(void **state)
{
	char directory[] = "/tmp/kelvin-reader-XXXXXX", command[128], program[64];
	struct elf_mapping mapping = { .path = program };
	struct elf_image *image;
	struct stat info;
	struct error err;
	bool is_open, is_copy;

	assert_non_null(mkdtemp(directory));
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s/program", (int)getpid(), directory);
	assert_int_equal(system(command), 0);
	snprintf(program, sizeof(program), "%s/program", directory);
	mapping.pid = start_overlay(directory);
	is_open = mapping.pid > 0 && process_reader_open(*state, &mapping, &image, &err);
	is_copy = is_open && find_copy(&info);
	if (is_open)
		elf_image_unref(image);
	if (mapping.pid > 0) {
		kill(mapping.pid, SIGKILL);
		waitpid(mapping.pid, NULL, 0);
	}
	assert_int_equal(unlink(program), 0);
	assert_int_equal(rmdir(directory), 0);
	if (mapping.pid < 0)
		skip();
	assert_true(is_open);
	assert_true(is_copy);
	assert_int_equal(info.st_mode & 07777, 0666);
	if (geteuid() == 0)
		assert_int_equal(info.st_uid, 65534);
}

/* ---- Roots ---- */

/* A process whose root has a program, and lies on a file system that is mounted for it. -1: that is not permitted. */
static pid_t start_in_root(const char *directory)
{
	char command[128], byte = 0;
	int ends[2];
	pid_t pid;

	if (mount("kelvin", directory, "tmpfs", 0, NULL) != 0)
		return -1;
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s/program", (int)getpid(), directory);
	assert_int_equal(system(command), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		byte = chroot(directory) == 0 && chdir("/") == 0;
		(void)!write(ends[1], &byte, 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_true(byte);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

/* Opens the program in the root of a process, whose file system is gone afterwards; NULL: that is not permitted. */
static struct elf_image *open_in_root(struct process_reader *reader, const char *directory)
{
	struct elf_mapping mapping = { .path = "/program", .pid = start_in_root(directory) };
	struct elf_image *image = NULL;
	struct error err;

	if (mapping.pid > 0) {
		if (!process_reader_open(reader, &mapping, &image, &err))
			image = NULL;
		kill(mapping.pid, SIGKILL);
		waitpid(mapping.pid, NULL, 0);
		umount2(directory, MNT_DETACH);
	}
	return image;
}

/* A container that is started anew has the numbers of the one before, and other files. */
static void a_root_is_not_taken_for_an_earlier_one(void **state)
{
	char directory[] = "/tmp/kelvin-reader-XXXXXX";
	struct elf_image *images[2];
	struct stat roots[2];

	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		skip();
	assert_non_null(mkdtemp(directory));
	for (size_t i = 0; i < 2; i++) {
		images[i] = open_in_root(*state, directory);
		if (images[i])
			assert_int_equal(fstat(elf_image_root(images[i]), &roots[i]), 0);
	}
	assert_int_equal(rmdir(directory), 0);
	if (!images[0] || !images[1])
		skip();
	assert_int_not_equal(roots[0].st_dev, roots[1].st_dev);
	elf_image_unref(images[0]);
	elf_image_unref(images[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(memory_is_copied, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_that_never_arrives_is_left_alone, setup, teardown),
		cmocka_unit_test(a_malformed_line_of_maps_is_passed_over),
		cmocka_unit_test_setup_teardown(maps_are_read_to_their_end, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_is_opened, setup, teardown),
		cmocka_unit_test_setup_teardown(a_copy_is_not_roots, setup, teardown),
		cmocka_unit_test_setup_teardown(a_root_is_not_taken_for_an_earlier_one, setup, teardown),
	};

	return cmocka_run_group_tests_name("sampler.reader", tests, NULL, NULL);
}
