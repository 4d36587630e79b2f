/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programs as the kernel runs them: real events of real children, of which samples are kept or dropped. */
#include "kernel_objects_fixture.h"
#include "refusal_fixture.h"
#include "sampler/ebpf/ebpf.h"
#include "sampler/live/forks.h"
#include "tests/unit/support/unit_test.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PERIOD_NS = 1000000, PERIODS = 50, DATA_PAGES = 8 };

/* A child that waits to be told, and then uses the CPU for PERIODS periods of the event. */
struct child {
	pid_t pid;
	int go;
};

static long used_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000000000 + used.tv_nsec;
}

static struct child start_child(void)
{
	struct child child;
	int ends[2];
	char byte;

	assert_int_equal(pipe(ends), 0);
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (child.pid == 0) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) != 1)
			_exit(1);
		while (used_ns() < (long)PERIODS * PERIOD_NS)
			;
		_exit(0);
	}
	close(ends[0]);
	child.go = ends[1];
	return child;
}

static int open_event(pid_t pid, const struct ebpf_process_set *set)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_TID,
	};
	int event = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	assert_true(event >= 0);
	assert_int_equal(ioctl(event, PERF_EVENT_IOC_SET_BPF, ebpf_process_set_program(set)), 0);
	return event;
}

/* The records fit into the ring, so that none of them lies across its end. */
static size_t count_samples(const void *pages, size_t page_bytes)
{
	const struct perf_event_mmap_page *page = pages;
	size_t samples = 0;

	for (uint64_t at = 0; at < page->data_head;) {
		const struct perf_event_header *header = (const void *)((const char *)pages + page_bytes + at);

		samples += header->type == PERF_RECORD_SAMPLE;
		at += header->size;
	}
	assert_true(page->data_head < DATA_PAGES * page_bytes);
	return samples;
}

/* Lets the child run, and waits for its end. */
static size_t samples_of(struct child child, const struct ebpf_process_set *set)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = (1 + DATA_PAGES) * page_bytes, samples;
	int status, event = open_event(child.pid, set);
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(write(child.go, "", 1), 1);
	assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
	assert_int_equal(status, 0);
	samples = count_samples(pages, page_bytes);
	munmap(pages, bytes);
	close(event);
	close(child.go);
	return samples;
}

static struct ebpf_process_set *create_set(void)
{
	struct ebpf_process_set *set = NULL;
	struct error err;

	if (!ebpf_process_set_create(&set, &err))
		fail_msg("%s", err.message);
	ebpf_process_set_filter(set, true);
	return set;
}

static void test_samples_of_other_processes_are_dropped(void **state)
{
	struct ebpf_process_set *set = create_set();
	struct child child;

	assert_int_equal(samples_of(start_child(), set), 0);
	child = start_child();
	ebpf_process_set_add(set, child.pid);
	assert_true(samples_of(child, set) > 0);
	child = start_child();
	ebpf_process_set_add(set, child.pid);
	ebpf_process_set_remove(set, child.pid);
	assert_int_equal(samples_of(child, set), 0);
	ebpf_process_set_destroy(set);
}

/* Samples of a child are kept when its parent was in the set as it forked, and dropped otherwise. */
static void check_following(struct ebpf_process_set *set)
{
	assert_int_equal(samples_of(start_child(), set), 0);
	ebpf_process_set_add(set, getpid());
	assert_true(samples_of(start_child(), set) > 0);
	ebpf_process_set_remove(set, getpid());
	assert_int_equal(samples_of(start_child(), set), 0);
}

static void test_forks_are_followed(void **state)
{
	struct ebpf_process_set *set = create_set();

	ebpf_process_set_add(set, getpid());
	assert_int_equal(samples_of(start_child(), set), 0);
	ebpf_process_set_remove(set, getpid());
	if (!forks_follow(set)) {
		ebpf_process_set_destroy(set);
		skip();
	}
	check_following(set);
	ebpf_process_set_destroy(set);
}

/* Mounts tracefs where it is not mounted; only this process sees the mount. */
static void mount_tracefs(void)
{
	if (access("/sys/kernel/tracing/events", F_OK) == 0 || unshare(CLONE_NEWNS) != 0)
		return;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		(void)mount("none", "/sys/kernel/tracing", "tracefs", 0, NULL);
}

/* One field of tracefs's description of the tracepoint. */
static bool find_field(const char *name, uint16_t *offset)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen("/sys/kernel/tracing/events/task/task_newtask/format", "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, name))
			return sscanf(strstr(line, "offset:"), "offset:%hu", offset) == 1;
	return false;
}

static void test_forks_are_followed_by_records(void **state)
{
	struct ebpf_process_set *set = create_set();
	struct ebpf_newtask_record record;
	struct error err;

	mount_tracefs();
	if (!find_field(" pid;", &record.pid_offset) || !find_field(" clone_flags;", &record.clone_flags_offset)) {
		ebpf_process_set_destroy(set);
		skip();
	}
	if (!ebpf_process_set_follow_records(set, &record, &err))
		fail_msg("%s", err.message);
	check_following(set);
	ebpf_process_set_destroy(set);
}

/* Memory far behind a task does not hold its id, and may not be readable at all. */
static void test_a_wrong_offset_adds_no_child(void **state)
{
	struct ebpf_process_set *set = create_set();
	struct error err;

	assert_true(ebpf_process_set_follow_tasks(set, UINT16_MAX - 3, &err));
	ebpf_process_set_add(set, getpid());
	assert_int_equal(samples_of(start_child(), set), 0);
	ebpf_process_set_destroy(set);
}

/* For a user without rights, creating fails with a reason; nothing is printed, and no limit is changed. */
static void refuse_in_child(void)
{
	struct rlimit before = { 0 }, after = { 0 };
	struct ebpf_process_set *set = NULL;
	struct ebpf_kernel_names *names = NULL;
	struct error err = { 0 }, names_err = { 0 };

	getrlimit(RLIMIT_MEMLOCK, &before);
	if (ebpf_process_set_create(&set, &err) || ebpf_kernel_names_create(&names, &names_err) || set || names)
		_exit(2);
	getrlimit(RLIMIT_MEMLOCK, &after);
	if (memcmp(&before, &after, sizeof(before)) != 0)
		_exit(3);
	_exit(err.code == ERROR_PERMISSION && names_err.code == ERROR_PERMISSION &&
				strstr(err.message, "keeps the samples")
			? 0
			: 4);
}

static void test_a_refusal_is_an_error(void **state)
{
	expect_refusal(refuse_in_child);
}

static pid_t start_holder(void)
{
	int ends[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct ebpf_process_set *set = NULL;
		struct ebpf_kernel_names *names = NULL;
		struct error err;

		if (!ebpf_process_set_create(&set, &err) || !forks_follow(set) ||
			(!ebpf_kernel_names_create(&names, &err) && err.code == ERROR_PERMISSION))
			_exit(1);
		if (write(ends[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	return pid;
}

/* The kernel frees them a moment after the last descriptor is closed. */
static void assert_gone(const struct kernel_object *object)
{
	enum { TRIES = 6000, WAIT_NS = 10000000 };
	const struct timespec wait = { .tv_nsec = WAIT_NS };

	for (int i = 0; i < TRIES && kernel_object_exists(object); i++)
		nanosleep(&wait, NULL);
	assert_false(kernel_object_exists(object));
}

static void test_all_goes_with_a_killed_process(void **state)
{
	struct kernel_object objects[KERNEL_OBJECTS_MOST];
	pid_t holder = start_holder();
	size_t count = kernel_objects_of(holder, objects);
	int status;

	assert_true(kernel_objects_count(objects, count, KERNEL_OBJECT_PROGRAM) >= 2);
	assert_true(kernel_objects_count(objects, count, KERNEL_OBJECT_MAP) >= 1);
	assert_int_equal(kernel_objects_count(objects, count, KERNEL_OBJECT_LINK), 1);
	for (size_t i = 0; i < count; i++)
		assert_true(kernel_object_exists(&objects[i]));
	kill(holder, SIGKILL);
	assert_int_equal(waitpid(holder, &status, 0), holder);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	for (size_t i = 0; i < count; i++)
		assert_gone(&objects[i]);
}

/* linux/proc_ns.h: PROC_PID_INIT_INO. In other namespaces getpid() differs from the id that programs see. */
static bool is_initial_namespace(void)
{
	enum { INITIAL_PID_NAMESPACE = 0xeffffffc };
	struct stat status;

	return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == INITIAL_PID_NAMESPACE;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_of_other_processes_are_dropped),
		cmocka_unit_test(test_forks_are_followed),
		cmocka_unit_test(test_forks_are_followed_by_records),
		cmocka_unit_test(test_a_wrong_offset_adds_no_child),
		cmocka_unit_test(test_a_refusal_is_an_error),
		cmocka_unit_test(test_all_goes_with_a_killed_process),
	};
	struct ebpf_process_set *set = NULL;
	struct error err;

	if (!is_initial_namespace()) {
		fprintf(stderr, "process ids are not those of the initial pid namespace here\n");
		return 77;
	}
	if (!ebpf_process_set_create(&set, &err) && err.code == ERROR_PERMISSION) {
		fprintf(stderr, "%s\n", err.message);
		return 77;
	}
	ebpf_process_set_destroy(set);
	return cmocka_run_group_tests_name("ebpf.process_set", tests, NULL, NULL);
}
