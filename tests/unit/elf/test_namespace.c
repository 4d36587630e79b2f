/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binaries_fixture.h"
#include "mapping_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77 };

/* A process whose library lies on a file system that only it sees, as in a container. */
struct contained {
	pid_t pid;
	uint64_t start, size, inode;
	char folder[64];
};

static void be_contained(struct contained self, int out)
{
	char path[256];
	struct stat status;
	void *bytes;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("none", self.folder, "tmpfs", 0, NULL) != 0)
		_exit(SKIPPED);
	snprintf(path, sizeof(path), "%s", binary_copy("liboriginal.so", self.folder, "lib.so"));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) != 0)
		_exit(1);
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	self.pid = getpid();
	self.start = (uint64_t)(uintptr_t)bytes;
	self.size = ((uint64_t)status.st_size + 4095) & ~(uint64_t)4095;
	self.inode = status.st_ino;
	if (bytes == MAP_FAILED || write(out, &self, sizeof(self)) != sizeof(self))
		_exit(1);
	for (;;)
		pause();
}

/* False when this process may not make namespaces. */
static bool start_contained(struct contained *contained)
{
	int ends[2], status = 0;
	pid_t child;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	if (child == 0)
		be_contained(*contained, ends[1]);
	close(ends[1]);
	if (read(ends[0], contained, sizeof(*contained)) != sizeof(*contained)) {
		close(ends[0]);
		waitpid(child, &status, 0);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != SKIPPED)
			fail_msg("the contained process ended with %#x", (unsigned int)status);
		return false;
	}
	close(ends[0]);
	return true;
}

static void expect_the_library(const struct elf_mapping *mapping)
{
	struct elf_image *expected = binary_open("liboriginal.so"), *image = NULL;
	struct error err = { 0 };

	if (!open_mapping(mapping, &image, &err))
		fail_msg("%s", err.message);
	assert_memory_equal(elf_image_build_id(image), elf_image_build_id(expected), sizeof(struct elf_build_id));
	assert_string_equal(elf_image_path(image), mapping->path);
	elf_image_unref(image);
	elf_image_unref(expected);
}

static void a_file_of_another_namespace_is_opened(void **state)
{
	const struct contained *contained = *state;
	char path[256];
	struct elf_mapping mapping = {
		.pid = contained->pid,
		.start = contained->start,
		.end = contained->start + contained->size,
		.inode = contained->inode,
		.path = path,
	};
	struct elf_image *image = NULL;
	struct error err = { 0 };

	snprintf(path, sizeof(path), "%s/lib.so", contained->folder);
	expect_the_library(&mapping);
	/* By its name, where the mapping itself cannot be opened. */
	mapping.start = 0x10000;
	mapping.end = 0x20000;
	expect_the_library(&mapping);
	/* Under the same name of ours lies nothing, or another file: neither is taken for it. */
	mapping.pid = getpid();
	assert_false(open_mapping(&mapping, &image, &err));
}

/* A separate debug file is looked for where the process sees it. */
static void the_root_of_the_process_is_searched(void **state)
{
	const struct contained *contained = *state;
	char root[64], path[256];
	struct elf_image *image = NULL;
	struct elf_root *held;
	enum elf_debug_source source;
	struct error err = { 0 };

	snprintf(root, sizeof(root), "/proc/%d/root", contained->pid);
	snprintf(path, sizeof(path), "%s%s", root, contained->folder);
	binary_copy("libstripped.debug", path, "libstripped.debug");
	snprintf(path, sizeof(path), "%s", binary_copy("libstripped.so", path, "stripped.so") + strlen(root));
	if (!open_mapping(&(struct elf_mapping){ .pid = contained->pid, .path = path }, &image, &err))
		fail_msg("%s", err.message);
	assert_int_equal(elf_image_root(image), -1);
	held = elf_root_create(open(root, O_PATH | O_DIRECTORY | O_CLOEXEC));
	assert_non_null(held);
	elf_image_set_root(image, held);
	elf_root_unref(held);
	assert_ptr_not_equal(elf_image_debug(image, NULL, &source, NULL), image);
	assert_int_equal(source, ELF_DEBUG_LINK);
	elf_image_unref(image);
}

int main(void)
{
	struct contained contained = { 0 };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(a_file_of_another_namespace_is_opened, &contained),
		cmocka_unit_test_prestate(the_root_of_the_process_is_searched, &contained),
	};
	int failed = SKIPPED;

	strcpy(contained.folder, folder_create());
	if (start_contained(&contained)) {
		failed = cmocka_run_group_tests(tests, NULL, NULL);
		kill(contained.pid, SIGKILL);
		waitpid(contained.pid, NULL, 0);
	}
	folder_remove(contained.folder);
	return failed;
}
