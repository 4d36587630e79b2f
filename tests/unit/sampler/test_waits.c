/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What becomes of the samples of waits in a profile. */
#include "sampler/collect/waits.h"

#include "process_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A thread, and two stacks. */
struct counting {
	struct profile *profile;
	struct wait_counter *waits;
	uint32_t stack, other_stack, thread;
};

static void ok(bool done, const struct error *err)
{
	if (!done)
		fail_msg("%s", err->message);
}

static uint32_t add_stack(struct profile *profile, uint64_t address)
{
	uint32_t location, stack;
	struct error err;

	ok(profile_add_location(profile, PROFILE_NONE, address, &location, &err) &&
			profile_add_stack(profile, 0, location, &stack, &err),
		&err);
	return stack;
}

static int set_up(void **state)
{
	static struct counting fixture;
	struct profile_run run = { .exit_status = -1 };
	struct profile_thread thread = { .pid = getpid(), .tid = getpid() };
	struct error err;

	ok(profile_create(&fixture.profile, &err) &&
			profile_add_value_type(fixture.profile, "cpu", "nanoseconds", &err) &&
			profile_add_wait_values(fixture.profile, &err) &&
			profile_add_run(fixture.profile, &run, &thread.run, &err) &&
			profile_add_thread(fixture.profile, &thread, &fixture.thread, &err) &&
			wait_counter_create(fixture.profile, machine_named("x86_64"), &fixture.waits, &err),
		&err);
	fixture.stack = add_stack(fixture.profile, 0x1000);
	fixture.other_stack = add_stack(fixture.profile, 0x2000);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct counting *fixture = *state;

	wait_counter_destroy(fixture->waits);
	profile_destroy(fixture->profile);
	return 0;
}

static struct wait_counter_sample wait_for(const struct counting *fixture, int64_t system_call, uint64_t argument)
{
	return (struct wait_counter_sample){
		.wait = { .tid = (uint32_t)getpid(),
			.process = (uint32_t)getpid(),
			.state = 1,
			.blocked_weight_ns = 30000000,
			.system_call = system_call,
			.arguments = { argument } },
		.stack = fixture->stack,
		.thread = fixture->thread,
		.pid = getpid(),
		.end_ns = 50000000,
	};
}

static void add(struct counting *fixture, const struct wait_counter_sample *sample)
{
	struct error err;

	ok(wait_counter_add(fixture->waits, sample, &err), &err);
}

static int64_t sum_of(const struct profile *profile, uint32_t value_type)
{
	int64_t sum = 0;

	for (size_t i = 0; i < profile->sample_count; i++)
		sum += profile->values[i * profile->value_type_count + value_type];
	return sum;
}

static void test_both_times_of_a_wait_count(void **state)
{
	struct counting *fixture = *state;
	const struct profile *profile = fixture->profile;
	struct profile_wait_values at = profile_wait_values(profile);
	struct wait_counter_sample sample = wait_for(fixture, SYS_futex, 0x100);

	sample.wait.queued_weight_ns = 60000000;
	add(fixture, &sample);
	assert_int_equal(profile->sample_count, 2);
	assert_int_equal(profile->event_count, 2);
	assert_int_equal(sum_of(profile, at.off_cpu), 90000000);
	assert_int_equal(sum_of(profile, at.wall), 90000000);
	assert_int_equal(sum_of(profile, at.cpu), 0);
	/* An event begins when its weight did, but not before the recording. */
	assert_int_equal(profile->events[0].time_ns, 20000000);
	assert_int_equal(profile_event_weight(profile, 0), 30000000);
	assert_int_equal(profile->events[1].time_ns, 0);
	assert_int_equal(profile_event_weight(profile, 1), 60000000);
}

static void test_a_lock_is_known_by_process_and_address(void **state)
{
	struct counting *fixture = *state;
	struct wait_counter_sample sample = wait_for(fixture, SYS_futex, 0x100);

	add(fixture, &sample);
	add(fixture, &sample);
	sample.pid++;
	add(fixture, &sample);
	sample.wait.arguments[0] = 0x200;
	add(fixture, &sample);
	assert_int_equal(fixture->profile->lock_count, 3);
	assert_int_equal(fixture->profile->release_count, 4);
	assert_int_equal(fixture->profile->releases[0].lock, fixture->profile->releases[1].lock);
}

/* One account has more locks than there is room for. Those of another one all are locks beside it. */
static void test_an_account_has_a_share_of_the_locks(void **state)
{
	enum { ROOM = 65536, OTHERS = 200 };
	struct counting *fixture = *state;
	struct wait_counter_sample sample = wait_for(fixture, SYS_futex, 0);
	struct process_space spaces[2];
	struct process *process;
	struct fixture *processes;
	void *made;
	struct error err;

	fixture_setup(&made);
	processes = made;
	for (int i = 0; i < 2; i++) {
		assert_true(process_table_get(&processes->table, PID + i, &process, &err));
		process->owner = owners_find(&processes->table.owners, (uint64_t)(1000 + i));
		spaces[i] = (struct process_space){ .table = &processes->table, .process = process };
	}
	sample.space = &spaces[0];
	sample.pid = PID;
	for (uint64_t i = 0; i < ROOM; i++) {
		sample.wait.arguments[0] = 8 * i;
		add(fixture, &sample);
	}
	assert_int_equal(fixture->profile->lock_count, ROOM / 2);
	sample.space = &spaces[1];
	sample.pid = PID + 1;
	for (uint64_t i = 0; i < OTHERS; i++) {
		sample.wait.arguments[0] = 8 * i;
		add(fixture, &sample);
	}
	assert_int_equal(fixture->profile->lock_count, ROOM / 2 + OTHERS);
	fixture_teardown(&made);
}

static void test_a_release_is_joined_to_its_wait(void **state)
{
	struct counting *fixture = *state;
	struct wait_counter_sample release = wait_for(fixture, SYS_futex, 0x100), sample = release;

	release.stack = fixture->other_stack;
	release.wait.kind = EBPF_WAIT_RELEASE;
	release.wait.blocked_weight_ns = 0;
	release.wait.sequence = sample.wait.sequence = 77;
	add(fixture, &release);
	assert_int_equal(fixture->profile->sample_count, 0);
	add(fixture, &sample);
	assert_int_equal(fixture->profile->releases[0].releaser, fixture->other_stack);
	assert_int_equal(fixture->profile->releases[0].weight_ns, 30000000);
	/* It is of one wait. */
	add(fixture, &sample);
	assert_int_equal(fixture->profile->releases[1].releaser, 0);
	/* Another thread's is none, whatever its number, and neither is that of an interrupt. */
	release.wait.tid++;
	add(fixture, &release);
	add(fixture, &sample);
	assert_int_equal(fixture->profile->releases[2].releaser, 0);
	release.wait.tid--;
	release.wait.system_call = -1;
	add(fixture, &release);
	add(fixture, &sample);
	assert_int_equal(fixture->profile->releases[3].releaser, 0);
}

static void test_the_clock_releases_who_sleeps(void **state)
{
	struct counting *fixture = *state;
	struct wait_counter_sample release = wait_for(fixture, SYS_nanosleep, 0), sample = release;

	release.stack = fixture->other_stack;
	release.wait.kind = EBPF_WAIT_RELEASE;
	release.wait.sequence = sample.wait.sequence = 78;
	add(fixture, &release);
	add(fixture, &sample);
	assert_int_equal(fixture->profile->sample_count, 1);
	assert_int_equal(fixture->profile->release_count, 0);
}

/*
 * An interrupt delivers what was sent: whoever sends it ends a wait at a socket. Other waits it ends for a
 * device, and in other calls it has come from elsewhere.
 */
static void test_a_delivery_is_of_whoever_sends(void **state)
{
	static const struct {
		int64_t waits_in, released_in;
		bool is_known;
	} cases[] = {
		{ SYS_recvfrom, SYS_sendto, true },
		{ SYS_epoll_wait, SYS_write, true },
		{ SYS_recvfrom, SYS_futex, false },
		{ SYS_fsync, SYS_write, false },
		{ SYS_futex, SYS_sendto, false },
	};
	struct counting *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wait_counter_sample sample = wait_for(fixture, cases[i].waits_in, 0x100), release = sample;
		size_t known = 0, before = fixture->profile->release_count;

		release.stack = fixture->other_stack;
		release.wait.kind = EBPF_WAIT_RELEASE;
		release.wait.system_call = cases[i].released_in;
		release.wait.sequence = sample.wait.sequence = 100 + i;
		release.wait.is_interrupt = 1;
		add(fixture, &release);
		add(fixture, &sample);
		for (size_t k = before; k < fixture->profile->release_count; k++)
			known += fixture->profile->releases[k].releaser != 0;
		assert_int_equal(known, cases[i].is_known);
	}
}

/* The function at the leaf of a sample's stack. */
static const char *leaf_of(const struct profile *profile, size_t sample)
{
	const struct profile_location *location =
		&profile->locations[profile->stacks[profile->samples[sample].stack].location];

	return profile_string(profile, profile->functions[profile->lines[location->first_line].function].name);
}

/* The class of a wait for a descriptor follows from what it is, also when it becomes something else. */
static void test_a_descriptor_decides_the_class(void **state)
{
	struct counting *fixture = *state;
	struct wait_counter_sample sample;
	int ends[2], file;

	assert_int_equal(pipe(ends), 0);
	sample = wait_for(fixture, SYS_read, (uint64_t)ends[0]);
	add(fixture, &sample);
	assert_string_equal(leaf_of(fixture->profile, fixture->profile->sample_count - 1),
		profile_wait_info(PROFILE_WAIT_IO)->frame);
	file = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_true(file >= 0);
	assert_int_equal(dup2(file, ends[0]), ends[0]);
	/* What is known of a descriptor is believed for a second. */
	sample.end_ns += 2000000000;
	add(fixture, &sample);
	assert_string_equal(leaf_of(fixture->profile, fixture->profile->sample_count - 1),
		profile_wait_info(PROFILE_WAIT_NETWORK)->frame);
	close(file);
	close(ends[0]);
	close(ends[1]);
}

static void test_other_bytes_are_no_wait(void **state)
{
	const struct ebpf_wait written = { .tid = 5 };
	struct record_sample sample = { .raw = (const uint8_t *)&written, .raw_bytes = sizeof(written) - 1 };
	struct ebpf_wait wait;

	assert_false(wait_counter_read(&sample, &wait));
	sample.raw_bytes = sizeof(written);
	assert_true(wait_counter_read(&sample, &wait));
	assert_int_equal(wait.tid, 5);
	assert_false(wait_counter_read(&(struct record_sample){ 0 }, &wait));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_both_times_of_a_wait_count, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_lock_is_known_by_process_and_address, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_an_account_has_a_share_of_the_locks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_release_is_joined_to_its_wait, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_clock_releases_who_sleeps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_delivery_is_of_whoever_sends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_descriptor_decides_the_class, set_up, tear_down),
		cmocka_unit_test(test_other_bytes_are_no_wait),
	};

	return cmocka_run_group_tests_name("sampler.waits", tests, NULL, NULL);
}
