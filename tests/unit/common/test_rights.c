/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "tests/unit/support/unit_test.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/*
 * Rights that were taken are gone: each attack runs in a child process of its own, once without the function under
 * test, where it has to succeed, and once behind it.
 */

enum { ANYBODY = 12345 };

/* What stands ready for the attacks, in the current directory of the children and in their descriptors. */
struct scene {
	char directory[32];
	int read_fd, write_fd; /* of the file "there" */
	int directory_fd;
	int tcp_listener, tcp_socket, abstract_listener;
	struct sockaddr_in tcp_place;
	struct sockaddr_un abstract_place;
	socklen_t abstract_size;
};

typedef bool attack_fn(const struct scene *scene);
typedef unsigned int take_fn(void);

static void make_sockets(struct scene *scene)
{
	socklen_t size = sizeof(scene->tcp_place);

	scene->tcp_listener = socket(AF_INET, SOCK_STREAM, 0);
	scene->tcp_place = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	assert_int_equal(bind(scene->tcp_listener, (struct sockaddr *)&scene->tcp_place, size), 0);
	assert_int_equal(listen(scene->tcp_listener, 1), 0);
	assert_int_equal(getsockname(scene->tcp_listener, (struct sockaddr *)&scene->tcp_place, &size), 0);
	scene->tcp_socket = socket(AF_INET, SOCK_STREAM, 0);
	/* The kernel chooses a name for a socket that is bound to none. */
	scene->abstract_place.sun_family = AF_UNIX;
	scene->abstract_size = sizeof(scene->abstract_place);
	scene->abstract_listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(
		bind(scene->abstract_listener, (struct sockaddr *)&scene->abstract_place, sizeof(sa_family_t)), 0);
	assert_int_equal(
		getsockname(scene->abstract_listener, (struct sockaddr *)&scene->abstract_place, &scene->abstract_size),
		0);
	assert_int_equal(listen(scene->abstract_listener, 1), 0);
}

static void make_scene(struct scene *scene)
{
	*scene = (struct scene){ .directory = "/tmp/kelvin-rights-XXXXXX" };
	assert_non_null(mkdtemp(scene->directory));
	scene->directory_fd = open(scene->directory, O_RDONLY | O_DIRECTORY);
	scene->write_fd = openat(scene->directory_fd, "there", O_WRONLY | O_CREAT, 0600);
	assert_true(scene->write_fd >= 0);
	assert_int_equal(write(scene->write_fd, "there\n", 6), 6);
	scene->read_fd = openat(scene->directory_fd, "there", O_RDONLY);
	make_sockets(scene);
}

static void remove_scene(struct scene *scene)
{
	static const char *const names[] = { "there", "new", "elsewhere" };
	const int descriptors[] = { scene->read_fd, scene->write_fd, scene->directory_fd, scene->tcp_listener,
		scene->tcp_socket, scene->abstract_listener };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)!(unlinkat(scene->directory_fd, names[i], 0) == 0 ||
			unlinkat(scene->directory_fd, names[i], AT_REMOVEDIR) == 0);
	for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++)
		close(descriptors[i]);
	assert_int_equal(rmdir(scene->directory), 0);
}

static bool child_said_yes(pid_t pid)
{
	int status;

	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_in_range(WEXITSTATUS(status), 0, 1);
	return WEXITSTATUS(status) == 1;
}

/* Whether the attack succeeds in a child process behind take(); NULL: with all rights. The scene is removed. */
static bool succeeds_in(struct scene *scene, take_fn *take, attack_fn *attack)
{
	bool success;
	pid_t pid = fork();

	if (pid == 0) {
		if (fchdir(scene->directory_fd) != 0)
			_exit(2);
		if (take)
			(void)!take();
		_exit(attack(scene));
	}
	success = child_said_yes(pid);
	remove_scene(scene);
	return success;
}

static bool succeeds(take_fn *take, attack_fn *attack)
{
	struct scene scene;

	make_scene(&scene);
	return succeeds_in(&scene, take, attack);
}

/* What the function cannot take on this kernel, by a child's word. */
static unsigned int left_by(take_fn *take)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit((int)take());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return (unsigned int)WEXITSTATUS(status);
}

/* ---- Attacks on files, and what else Landlock refuses ---- */

static bool reads_file(const struct scene *scene)
{
	return open("there", O_RDONLY) >= 0;
}

static bool reads_from_directory(const struct scene *scene)
{
	return openat(scene->directory_fd, "there", O_RDONLY) >= 0;
}

static bool reads_proc(const struct scene *scene)
{
	return open("/proc/self/status", O_RDONLY) >= 0;
}

static bool lists_directory(const struct scene *scene)
{
	return opendir("/etc") != NULL;
}

static bool writes_file(const struct scene *scene)
{
	return open("there", O_WRONLY) >= 0 || open("there", O_RDWR | O_APPEND) >= 0;
}

/* The descriptor that can only be read is opened again, and the file by other paths. */
static bool writes_by_another_path(const struct scene *scene)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", scene->read_fd);
	if (open(path, O_WRONLY) >= 0)
		return true;
	snprintf(path, sizeof(path), "/proc/self/root%s/there", scene->directory);
	return open(path, O_WRONLY) >= 0 || openat(scene->directory_fd, "there", O_WRONLY) >= 0;
}

static bool creates_file(const struct scene *scene)
{
	return open("new", O_WRONLY | O_CREAT, 0600) >= 0 || open(".", O_TMPFILE | O_RDWR, 0600) >= 0 ||
	       mkdir("new", 0700) == 0 || symlink("there", "new") == 0 || link("there", "new") == 0 ||
	       mkfifo("new", 0600) == 0;
}

static bool removes_file(const struct scene *scene)
{
	return rename("there", "elsewhere") == 0 || unlink("there") == 0;
}

static bool cuts_file(const struct scene *scene)
{
	return truncate("there", 0) == 0;
}

static bool executes(const struct scene *scene)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		(void)execl("/bin/true", "true", NULL);
		_exit(9);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool uses_tcp(const struct scene *scene)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	/* One socket was made before. */
	return bind(scene->tcp_socket, (struct sockaddr *)&any, sizeof(any)) == 0 ||
	       connect(scene->tcp_socket, (const struct sockaddr *)&scene->tcp_place, sizeof(scene->tcp_place)) == 0 ||
	       connect(fd, (const struct sockaddr *)&scene->tcp_place, sizeof(scene->tcp_place)) == 0;
}

/* /dev/null knows no such order, and says so if it is asked. */
static bool orders_device(const struct scene *scene)
{
	int fd = open("/dev/null", O_RDONLY);
	struct termios ignored;

	return fd >= 0 && ioctl(fd, TCGETS, &ignored) != 0 && errno == ENOTTY;
}

static bool signals_others(const struct scene *scene)
{
	return kill(getppid(), 0) == 0;
}

static bool connects_to_others(const struct scene *scene)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return connect(fd, (const struct sockaddr *)&scene->abstract_place, scene->abstract_size) == 0;
}

static bool uses_descriptors(const struct scene *scene)
{
	char byte;

	return read(scene->read_fd, &byte, 1) == 1 && write(scene->write_fd, "", 1) == 1;
}

static const struct file_attack {
	const char *name;
	attack_fn *attack;
	unsigned int left; /* the bit that says that it succeeds here */
	bool only_reads;
} file_attacks[] = {
	{ "reads a file", reads_file, RIGHTS_LEFT_FILES, true },
	{ "reads a file from an open directory", reads_from_directory, RIGHTS_LEFT_FILES, true },
	{ "reads /proc", reads_proc, RIGHTS_LEFT_FILES, true },
	{ "lists a directory", lists_directory, RIGHTS_LEFT_FILES, true },
	{ "writes a file", writes_file, RIGHTS_LEFT_FILES, false },
	{ "writes by another path", writes_by_another_path, RIGHTS_LEFT_FILES, false },
	{ "creates a file", creates_file, RIGHTS_LEFT_FILES, false },
	{ "removes a file", removes_file, RIGHTS_LEFT_FILES, false },
	{ "executes", executes, RIGHTS_LEFT_FILES, false },
	{ "cuts a file", cuts_file, RIGHTS_LEFT_TRUNCATE, false },
	{ "uses TCP", uses_tcp, RIGHTS_LEFT_TCP, false },
	{ "signals others", signals_others, RIGHTS_LEFT_OTHERS, false },
	{ "connects to others", connects_to_others, RIGHTS_LEFT_OTHERS, false },
};

static void check_attacks(take_fn *take, bool may_read)
{
	unsigned int left = left_by(take);

	for (size_t i = 0; i < sizeof(file_attacks) / sizeof(file_attacks[0]); i++) {
		const struct file_attack *attack = &file_attacks[i];
		bool is_allowed = (attack->only_reads && may_read) || (left & attack->left);

		if (!succeeds(NULL, attack->attack))
			fail_msg("the attack is none: %s", attack->name);
		if (succeeds(take, attack->attack) != is_allowed)
			fail_msg("%s: %s", is_allowed ? "refused" : "allowed", attack->name);
	}
	assert_true(succeeds(take, uses_descriptors));
}

static void files_can_only_be_read(void **state)
{
	check_attacks(rights_read_only, true);
	assert_true(succeeds(NULL, orders_device));
	assert_int_equal(
		succeeds(rights_read_only, orders_device), (left_by(rights_read_only) & RIGHTS_LEFT_DEVICES) != 0);
}

static void no_file_can_be_opened(void **state)
{
	check_attacks(rights_no_files, false);
}

/* Where Landlock is, as on every kernel of the CI, the list of what is missing is that of its version. */
static void what_is_left_is_told(void **state)
{
	unsigned int left = left_by(rights_no_files);

	assert_int_equal(left, left_by(rights_read_only));
	if (left & RIGHTS_LEFT_FILES)
		assert_int_equal(left, RIGHTS_LEFT_FILES | RIGHTS_LEFT_TRUNCATE | RIGHTS_LEFT_TCP |
					       RIGHTS_LEFT_DEVICES | RIGHTS_LEFT_OTHERS);
	if (left & RIGHTS_LEFT_TCP)
		assert_true(left & RIGHTS_LEFT_OTHERS);
}

/* ---- Attacks on capabilities ---- */

static unsigned int keep_nothing(void)
{
	return rights_keep(0);
}

static unsigned int keep_reading(void)
{
	return rights_keep(RIGHTS_CAPABILITY(CAP_DAC_READ_SEARCH) | RIGHTS_CAPABILITY(CAP_SYS_PTRACE));
}

static unsigned int keep_nothing_of_anybody(void)
{
	if (setresgid(ANYBODY, ANYBODY, ANYBODY) != 0 || setresuid(ANYBODY, ANYBODY, ANYBODY) != 0)
		_exit(2);
	return rights_keep(0);
}

static unsigned int become_anybody(void)
{
	if (setresgid(ANYBODY, ANYBODY, ANYBODY) != 0 || setresuid(ANYBODY, ANYBODY, ANYBODY) != 0)
		_exit(2);
	return 0;
}

/* Whether a line of the text that a program prints begins so. */
static bool prints(const char *const command[], const char *begin)
{
	char text[8192], line[64];
	size_t size = 0;
	ssize_t got;
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0 || (pid = fork()) < 0)
		_exit(2);
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		(void)execv(command[0], (char **)(uintptr_t)command);
		_exit(9);
	}
	close(ends[1]);
	while ((got = read(ends[0], text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)got;
	text[size] = '\0';
	waitpid(pid, NULL, 0);
	snprintf(line, sizeof(line), "\n%s", begin);
	return strstr(text, line) != NULL;
}

static const char *const status_of_program[] = { "/bin/cat", "/proc/self/status", NULL };

/* Root's programs have root's capabilities again, as a rule. */
static bool program_has_capabilities(const struct scene *scene)
{
	return !prints(status_of_program, "CapPrm:\t0000000000000000") ||
	       !prints(status_of_program, "CapEff:\t0000000000000000");
}

static bool program_may_get_capabilities(const struct scene *scene)
{
	return !prints(status_of_program, "CapBnd:\t0000000000000000") || !prints(status_of_program, "NoNewPrivs:\t1");
}

static bool others_file_is_written(const struct scene *scene)
{
	return open("there", O_WRONLY) >= 0;
}

static bool others_file_is_read(const struct scene *scene)
{
	return open("there", O_RDONLY) >= 0;
}

static bool user_is_changed(const struct scene *scene)
{
	return setresuid(ANYBODY, ANYBODY, ANYBODY) == 0;
}

static bool mounts(const struct scene *scene)
{
	return mount("none", ".", "tmpfs", 0, NULL) == 0 && umount2(".", MNT_DETACH) == 0;
}

static bool secure_bits_are_changed(const struct scene *scene)
{
	return prctl(PR_SET_SECUREBITS, 0, 0, 0, 0) == 0;
}

static bool succeeds_on_others_file(take_fn *take, attack_fn *attack)
{
	struct scene scene;

	make_scene(&scene);
	assert_int_equal(chmod(scene.directory, 0755), 0);
	assert_int_equal(fchown(scene.write_fd, ANYBODY, ANYBODY), 0);
	return succeeds_in(&scene, take, attack);
}

static bool lacks_root(void)
{
	if (geteuid() == 0)
		return false;
	print_message("not run as root: there are no capabilities to drop\n");
	return true;
}

static void capabilities_do_not_come_back(void **state)
{
	static attack_fn *const attacks[] = { program_has_capabilities, program_may_get_capabilities, user_is_changed,
		mounts, secure_bits_are_changed };

	if (lacks_root())
		skip();
	assert_int_equal(left_by(keep_nothing), 0);
	for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		assert_true(succeeds(NULL, attacks[i]));
		assert_false(succeeds(keep_nothing, attacks[i]));
	}
}

static void kept_capabilities_are_these(void **state)
{
	if (lacks_root())
		skip();
	assert_int_equal(left_by(keep_reading), 0);
	assert_true(succeeds_on_others_file(NULL, others_file_is_written));
	assert_true(succeeds_on_others_file(keep_reading, others_file_is_read));
	assert_false(succeeds_on_others_file(keep_reading, others_file_is_written));
	assert_false(succeeds_on_others_file(keep_nothing, others_file_is_read));
}

/* A set-user-id copy of cat, whose effective user would be root. */
static bool set_user_id_works(const struct scene *scene)
{
	const char *const command[] = { "./new", "/proc/self/status", NULL };

	return prints(command, "Uid:\t12345\t0\t");
}

static bool succeeds_by_set_user_id(take_fn *take)
{
	static const char copy[] = "cp /bin/cat new && chmod 4755 new";
	struct scene scene;
	bool success;
	pid_t pid;

	make_scene(&scene);
	assert_int_equal(chmod(scene.directory, 0755), 0);
	pid = fork();
	if (pid == 0) {
		if (fchdir(scene.directory_fd) != 0 || system(copy) != 0)
			_exit(2);
		(void)!take();
		_exit(set_user_id_works(&scene));
	}
	success = child_said_yes(pid);
	remove_scene(&scene);
	return success;
}

/* In a child: 0 if it is somebody else for good, without groups and capabilities. */
static int become_nobody(void)
{
	const gid_t groups[] = { 0, 4 };
	uid_t user;

	if (setgroups(2, groups) != 0 ||
		confined_enter(&(struct confinement){ .user = CONFINED_NOBODY, .calls = CONFINED_ANY_CALLS }) &
			(RIGHTS_LEFT_USER | RIGHTS_LEFT_CAPABILITIES))
		return 1;
	user = getuid();
	if (user < 65520 || user == 65534 || geteuid() != user || getgid() != user || getegid() != user)
		return 2;
	if (getgroups(0, NULL) != 0)
		return 3;
	return setuid(0) == 0 || setgid(0) == 0 || setgroups(1, groups) == 0 ? 4 : 0;
}

static void root_becomes_nobody(void **state)
{
	int status;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	pid = fork();
	if (pid == 0)
		_exit(become_nobody());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void set_user_id_gives_nothing(void **state)
{
	if (lacks_root())
		skip();
	assert_false(succeeds_by_set_user_id(keep_nothing_of_anybody));
	if (!succeeds_by_set_user_id(become_anybody))
		print_message("/tmp is mounted nosuid: the attack is none\n");
}

/* ---- Attacks on memory ---- */

/* Core files go into the current directory as a rule; the kernel says by itself whether there was one. */
static bool crash_is_dumped(const struct scene *scene)
{
	const struct rlimit most = { RLIM_INFINITY, RLIM_INFINITY };
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		/* Who may raises the limit again. */
		(void)setrlimit(RLIMIT_CORE, &most);
		signal(SIGSEGV, SIG_DFL);
		(void)raise(SIGSEGV);
		_exit(3);
	}
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WCOREDUMP(status);
}

static unsigned int undumpable(void)
{
	return rights_undumpable();
}

static unsigned int undumpable_anybody(void)
{
	return become_anybody() | rights_undumpable();
}

static unsigned int dumpable_anybody(void)
{
	return become_anybody() | (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0 ? 0 : 1U);
}

/* A process of the same user looks into the child, which is its parent. */
static bool memory_is_seen(const struct scene *scene)
{
	pid_t victim = getpid(), pid = fork();
	char path[32];

	if (pid == 0) {
		(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
		snprintf(path, sizeof(path), "/proc/%d/mem", (int)victim);
		_exit(open(path, O_RDONLY) >= 0);
	}
	return child_said_yes(pid);
}

/* The soft limit becomes 0; the hard one stays. */
static bool core_limit_is_kept(const struct scene *scene)
{
	const struct rlimit own = { 8192, 16384 };
	struct rlimit now;

	if (setrlimit(RLIMIT_CORE, &own) != 0 || rights_undumpable() != 0)
		_exit(2);
	return getrlimit(RLIMIT_CORE, &now) != 0 || now.rlim_cur != 0 || now.rlim_max != own.rlim_max;
}

/* Whether the kernel lists the mapping of the address as one that is left out of core dumps. */
static bool is_left_out(const void *address)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	unsigned long long start, end;
	bool is_here = false;
	char line[512];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx-%llx ", &start, &end) == 2)
			is_here = (uintptr_t)address >= start && (uintptr_t)address < end;
		if (is_here && strncmp(line, "VmFlags:", 8) == 0)
			break;
	}
	fclose(file);
	return is_here && strstr(line, " dd");
}

static void copies_are_left_out_of_dumps(void **state)
{
	uint8_t *memory = undumped_alloc(5000);

	assert_non_null(memory);
	assert_int_equal(memory[0] | memory[4999], 0);
	memory[4999] = 1;
	assert_true(is_left_out(memory));
	assert_true(is_left_out(memory + 4999));
	undumped_free(memory, 5000);
	undumped_free(NULL, 1);
	memory = undumped_alloc(0);
	assert_non_null(memory);
	undumped_free(memory, 0);
	assert_null(undumped_alloc(SIZE_MAX / 2));
}

static void memory_goes_nowhere(void **state)
{
	assert_false(succeeds(undumpable, crash_is_dumped));
	assert_false(succeeds(NULL, core_limit_is_kept));
	if (lacks_root())
		skip();
	assert_true(succeeds(dumpable_anybody, memory_is_seen));
	assert_false(succeeds(undumpable_anybody, memory_is_seen));
}

/* ---- Programs that start no other ---- */

static void *do_nothing(void *context)
{
	return context;
}

/* What is executed behind the filter is held by it, too: a shell makes no process for what it is to start. */
static int be_alone(bool is_filtered)
{
	pthread_t thread;
	int fd, flags = 0;
	pid_t pid;

	if (is_filtered && !filter_enter_alone())
		return 77;
	pid = fork();
	if (pid == 0)
		_exit(0);
	flags |= pid > 0 ? 1 : 0;
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	flags |= fd >= 0 ? 2 : 0;
	flags |= pthread_create(&thread, NULL, do_nothing, NULL) == 0 && pthread_join(thread, NULL) == 0 ? 0 : 4;
	if (flags == (is_filtered ? 0 : 3))
		execl("/bin/sh", "sh", "-c", "exec 2>/dev/null; test \"$(/bin/echo started)\" = started", (char *)NULL);
	return 100 + flags;
}

static int how_alone(bool is_filtered)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(be_alone(is_filtered));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void programs_start_no_other(void **state)
{
	int code = how_alone(true);

	assert_int_equal(how_alone(false), 0);
	if (code == 77)
		skip();
	assert_in_range(code, 1, 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_can_only_be_read),
		cmocka_unit_test(no_file_can_be_opened),
		cmocka_unit_test(what_is_left_is_told),
		cmocka_unit_test(capabilities_do_not_come_back),
		cmocka_unit_test(kept_capabilities_are_these),
		cmocka_unit_test(root_becomes_nobody),
		cmocka_unit_test(set_user_id_gives_nothing),
		cmocka_unit_test(memory_goes_nowhere),
		cmocka_unit_test(copies_are_left_out_of_dumps),
		cmocka_unit_test(programs_start_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
