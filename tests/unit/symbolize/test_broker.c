/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/broker.h"
#include "tests/unit/support/unit_test.h"

#include <elf.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Which files the broker opens for a binary of another user, where root runs it. Each request is made by a process that
 * has become the broker, as it cannot go back.
 */

enum { USER = 54321, OTHER = 54322 };

static char folder[] = "/tmp/kelvin-test-broker-XXXXXX";

static const char *at(const char *name)
{
	static char paths[4][PATH_MAX];
	static size_t next;
	char *path = paths[next++ % 4];

	snprintf(path, PATH_MAX, "%s/%s", folder, name);
	return path;
}

static void make_file_of(const char *name, uid_t owner, mode_t mode, const char *bytes)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
	assert_int_equal(fchown(fd, owner, owner), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void make_file(const char *name, uid_t owner, mode_t mode)
{
	make_file_of(name, owner, mode, ELFMAG);
}

static void make_folder(const char *name, uid_t owner)
{
	assert_int_equal(mkdir(at(name), 0755), 0);
	assert_int_equal(chown(at(name), owner, owner), 0);
}

/* A binary of the user in bin/, and files around it. */
static int make_all(void **state)
{
	struct error err;
	struct buffer bytes;

	if (!mkdtemp(folder) || chmod(folder, 0755) != 0)
		return -1;
	make_folder("bin", geteuid() == 0 ? USER : geteuid());
	buffer_init(&bytes, 1 << 24);
	assert_true(file_read(PROGRAMS "/c-gcc-5", &bytes, &err));
	assert_true(file_write(at("bin/program"), bytes.data, bytes.size, 0755, &err));
	buffer_deinit(&bytes);
	if (geteuid() != 0)
		return 0;
	assert_int_equal(chown(at("bin/program"), USER, USER), 0);
	make_folder("bin/.debug", USER);
	make_folder("else", OTHER);
	make_folder("debug", 0);
	make_file("bin/own.debug", USER, 0600);
	make_file("bin/.debug/own.debug", USER, 0600);
	make_file("bin/others.debug", OTHER, 0644);
	make_file("bin/secret.debug", 0, 0600);
	make_file("else/readable", OTHER, 0644);
	make_file("else/built.dwo", USER, 0600);
	make_file("else/others.dwo", OTHER, 0644);
	make_file("else/roots.dwo", 0, 0644);
	make_file("else/own", USER, 0600);
	make_file("bin/roots.debug", 0, 0644);
	make_file("bin/writable.debug", USER, 0666);
	make_file_of("bin/password.debug", USER, 0600, "root:*:0:0");
	make_file_of("debug/password.debug", 0, 0644, "root:*:0:0");
	make_file("debug/installed.debug", 0, 0644);
	make_file("debug/secret.debug", 0, 0600);
	assert_int_equal(symlink("../else/readable", at("bin/out.debug")), 0);
	assert_int_equal(symlink("own.debug", at("bin/in.debug")), 0);
	assert_int_equal(mkfifo(at("bin/fifo.debug"), 0666), 0);
	return 0;
}

static int remove_all(void **state)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

/* Of the binary in bin/, in the debug directory debug/. */
static int open_as_broker(const struct broker *broker, enum elf_file_use use, const char *name)
{
	int status;
	pid_t pid = child_fork(CHILD_IS_QUIET);

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(broker_become(broker) && broker_open(broker, 0, use, at(name)) >= 0 ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void expect(enum elf_file_use use, const char *name, bool is_opened)
{
	const char *directories[] = { at("debug") };
	const struct symbolize_options options = { .debug = { .directories = directories, .directory_count = 1 } };
	struct elf_image *image;
	struct broker broker = { .images = &image, .image_count = 1, .options = &options, .socket = -1 };
	struct error err;

	assert_true(elf_image_open_path(at("bin/program"), &image, &err));
	broker.owner = file_owner_of_image(image);
	broker_open_root(&broker);
	if ((open_as_broker(&broker, use, name) == 0) != is_opened)
		fail_msg("%s is %s", name, is_opened ? "refused" : "opened");
	broker_close_root(&broker);
	elf_image_unref(image);
}

static void files_of_the_user_beside_the_binary_are_opened(void **state)
{
	expect(ELF_FILE_LINK, "bin/own.debug", true);
	expect(ELF_FILE_LINK, "bin/.debug/own.debug", true);
	expect(ELF_FILE_LINK, "bin/in.debug", true);
	expect(ELF_FILE_LINK, "bin/roots.debug", true);
	expect(ELF_FILE_SPLIT, "bin/own.debug", true);
}

/* Others may put files there, as into /tmp; theirs say nothing of the user's binary. */
static void files_of_others_beside_the_binary_are_not(void **state)
{
	expect(ELF_FILE_LINK, "bin/others.debug", false);
	expect(ELF_FILE_LINK, "bin/writable.debug", false);
}

static void what_is_no_elf_file_is_not_opened(void **state)
{
	expect(ELF_FILE_LINK, "bin/password.debug", false);
	expect(ELF_FILE_SPLIT, "bin/password.debug", false);
	expect(ELF_FILE_BUILD_ID, "debug/password.debug", false);
}

static void what_the_user_may_not_read_is_not_opened(void **state)
{
	expect(ELF_FILE_LINK, "bin/secret.debug", false);
	expect(ELF_FILE_LINK, "debug/secret.debug", false);
	expect(ELF_FILE_BUILD_ID, "debug/secret.debug", false);
}

static void nothing_leads_out_of_the_directory(void **state)
{
	expect(ELF_FILE_LINK, "bin/../else/readable", false);
	expect(ELF_FILE_LINK, "else/readable", false);
	expect(ELF_FILE_LINK, "bin/out.debug", false);
	expect(ELF_FILE_LINK, "bin/..", false);
	expect(ELF_FILE_SPLIT, "bin/out.debug", false);
	expect(ELF_FILE_SPLIT, "else/readable", false);
}

static void only_regular_files_are_opened(void **state)
{
	expect(ELF_FILE_LINK, "bin/fifo.debug", false);
	expect(ELF_FILE_LINK, "bin/.debug", false);
}

static void debug_files_are_where_they_are_kept(void **state)
{
	expect(ELF_FILE_BUILD_ID, "debug/installed.debug", true);
	expect(ELF_FILE_LINK, "debug/installed.debug", true);
	expect(ELF_FILE_LINK, "bin/../debug/installed.debug", true);
	expect(ELF_FILE_BUILD_ID, "bin/own.debug", false);
}

static void split_files_may_lie_where_the_user_built_them(void **state)
{
	expect(ELF_FILE_SPLIT, "else/built.dwo", true);
	expect(ELF_FILE_LINK, "else/built.dwo", false);
	expect(ELF_FILE_SPLIT, "else/others.dwo", false);
	expect(ELF_FILE_SPLIT, "else/roots.dwo", false);
	expect(ELF_FILE_SPLIT, "else/own", false);
}

/* A file of root that others may write to may say what they want. */
static void what_others_may_write_is_nobodys(void **state)
{
	assert_int_equal(chown(at("bin/program"), 0, 0), 0);
	expect(ELF_FILE_LINK, "bin/secret.debug", true);
	assert_int_equal(chmod(at("bin/program"), 0777), 0);
	expect(ELF_FILE_LINK, "bin/secret.debug", false);
	expect(ELF_FILE_LINK, "bin/others.debug", false);
	expect(ELF_FILE_LINK, "bin/roots.debug", true);
	expect(ELF_FILE_SPLIT, "else/built.dwo", false);
	assert_int_equal(chmod(at("bin/program"), 0755), 0);
	assert_int_equal(chown(at("bin/program"), USER, USER), 0);
}

/* What a process that has become the broker tells of itself. */
struct told {
	unsigned long user;
	char groups[64];
	bool has_become, opens_secret, writes;
};

/* What the broker may still do: read a file. */
static void read_identity(struct told *told)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "Uid:", 4) == 0)
			told->user = strtoul(line + 4, NULL, 10);
		if (strncmp(line, "Groups:", 7) == 0)
			snprintf(told->groups, sizeof(told->groups), "%.*s", (int)strspn(line + 7, "\t0123456789"),
				line + 7);
	}
	if (file)
		fclose(file);
}

static void tell(struct told *told, const struct broker *broker)
{
	told->has_become = broker_become(broker);
	read_identity(told);
	told->opens_secret = open("/etc/shadow", O_RDONLY) >= 0;
	told->writes = open(at("bin/own.debug"), O_WRONLY) >= 0 || open(at("written"), O_WRONLY | O_CREAT, 0600) >= 0;
}

static struct told become(struct file_owner owner)
{
	const struct symbolize_options options = { 0 };
	const struct broker broker = { .owner = owner, .options = &options, .socket = -1 };
	struct told told,
		*shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	assert_ptr_not_equal(shared, MAP_FAILED);
	pid = child_fork(CHILD_IS_QUIET);
	assert_true(pid >= 0);
	if (pid == 0) {
		tell(shared, &broker);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	told = *shared;
	munmap(shared, sizeof(*shared));
	return told;
}

/* Root's groups, as adm or docker, open files that the owner may not read. */
static void the_broker_is_the_owner(void **state)
{
	const gid_t mine[] = { 4, 27 };
	struct told told;

	assert_int_equal(setgroups(2, mine), 0);
	told = become((struct file_owner){ .is_known = true, .user = USER });
	assert_true(told.has_become);
	assert_int_equal(told.user, USER);
	assert_string_equal(told.groups, "\t");
	assert_false(told.opens_secret);
	assert_false(told.writes && !child_is_sanitized());
	told = become((struct file_owner){ 0 });
	assert_true(told.has_become);
	assert_true(told.user >= 65520 && told.user != 65534);
	assert_string_equal(told.groups, "\t");
	assert_false(told.opens_secret);
	assert_int_equal(setgroups(0, NULL), 0);
}

/* Asks as a child would whom somebody has taken over; the broker ends when it is asked for what is not the child's. */
static ssize_t ask(uint32_t number, const char *path, int *fd)
{
	const struct symbolize_options options = { 0 };
	struct broker_shares *shares = calloc(1, sizeof(*shares) + sizeof(shares->bytes[0]));
	struct broker broker = {
		.image_count = 1, .owner = { .is_known = true }, .options = &options, .shares = shares
	};
	struct {
		int32_t use;
		uint32_t number;
		char path[256];
	} request = { .use = ELF_FILE_SPLIT, .number = number };
	char answer[PATH_MAX + 8] = "";
	struct elf_image *image;
	struct error err;
	int sockets[2];
	ssize_t got;
	pid_t pid;

	assert_non_null(shares);
	assert_true(elf_image_open_path("/bin/true", &image, &err));
	broker.images = &image;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
	broker.socket = sockets[1];
	broker_open_root(&broker);
	snprintf(request.path, sizeof(request.path), "%s", path);
	pid = child_fork(CHILD_IS_QUIET);
	assert_true(pid >= 0);
	if (pid == 0) {
		close(sockets[0]);
		if (broker_become(&broker))
			broker_serve(&broker);
		_exit(0);
	}
	close(sockets[1]);
	assert_true(message_send(sockets[0], &request, sizeof(request), -1));
	got = message_receive(sockets[0], answer, sizeof(answer), 0, fd);
	close(sockets[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	broker_close_root(&broker);
	elf_image_unref(image);
	free(shares);
	return got;
}

static void roots_broker_opens_what_is_beside_its_own_binaries(void **state)
{
	int fd;

	assert_true(ask(0, "/bin/../bin/ls", &fd) > 0);
	assert_true(fd >= 0);
	close(fd);
	assert_true(ask(0, "/etc/shadow", &fd) > 0);
	assert_int_equal(fd, -1);
	assert_true(ask(0, "/bin/../etc/shadow", &fd) > 0);
	assert_int_equal(fd, -1);
	assert_true(ask(1, "/bin/ls", &fd) <= 0);
	assert_int_equal(fd, -1);
	assert_true(ask(UINT32_MAX, "/bin/ls", &fd) <= 0);
	assert_int_equal(fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_the_user_beside_the_binary_are_opened),
		cmocka_unit_test(what_the_user_may_not_read_is_not_opened),
		cmocka_unit_test(nothing_leads_out_of_the_directory),
		cmocka_unit_test(only_regular_files_are_opened),
		cmocka_unit_test(debug_files_are_where_they_are_kept),
		cmocka_unit_test(split_files_may_lie_where_the_user_built_them),
		cmocka_unit_test(files_of_others_beside_the_binary_are_not),
		cmocka_unit_test(what_is_no_elf_file_is_not_opened),
		cmocka_unit_test(what_others_may_write_is_nobodys),
		cmocka_unit_test(the_broker_is_the_owner),
		cmocka_unit_test(roots_broker_opens_what_is_beside_its_own_binaries),
	};

	if (geteuid() != 0) {
		print_message("the broker has root's rights only where root runs it\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, make_all, remove_all);
}
