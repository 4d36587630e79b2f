/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perf_data_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/* Waits as `perf record` leaves them, by hand: what a wait stands for, and how it is classed, is known. */

enum { SLEEPS = 1, DISK = 2, STOPPED = 4, DEAD = 0x10, IDLE_OF_KERNEL = 0x80, PREEMPTED = 0x100 };
enum { RECORD_BYTES = 64, STATE_AT = 32, NEXT_AT = 56 };

static const uint64_t chain[] = { PERF_CONTEXT_USER, 0x401010, 0x401100 };
static const uint64_t fake_ns = 0xffffffff00000000;

static struct perf_event_attr off_cpu_attr(uint64_t with)
{
	struct perf_event_attr attr = perf_bytes_attr();

	attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	attr.sample_period = 1;
	attr.freq = 0;
	attr.sample_type |= with;
	return attr;
}

static struct perf_event_attr switch_attr(void)
{
	struct perf_event_attr attr = perf_bytes_attr();

	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = 316;
	attr.sample_period = 1;
	attr.freq = 0;
	attr.sample_type |= PERF_SAMPLE_RAW;
	return attr;
}

/* A file of one event, whose name perf has written beside it; `formats` is what tracefs said, "" for nothing. */
static void finish_file(
	struct fixture *fixture, const struct perf_event_attr *attr, const char *name, const char *formats)
{
	struct perf_event_bytes event = { *attr, 1 };
	CLEANUP(buffer_deinit) struct buffer description = { 0 }, tracing = { 0 };
	struct perf_feature_bytes features[] = { { PERF_FEATURE_TRACING_DATA, &tracing },
		{ PERF_FEATURE_EVENT_DESC, &description } };

	buffer_init(&tracing, MAX_BYTES);
	buffer_init(&description, MAX_BYTES);
	buffer_append(&tracing, formats, strlen(formats));
	put_u32(&description, 1);
	put_u32(&description, attr->size);
	buffer_append(&description, attr, attr->size);
	put_u32(&description, 1);
	put_text(&description, name);
	put_u64(&description, 1);
	put_file(&fixture->file, &event, 1, &fixture->records, features, 2);
}

/* The record of sched:sched_switch when a thread leaves its CPU to another one. */
static void put_switch_sample(struct fixture *fixture, const struct perf_event_attr *attr, uint32_t tid, uint64_t state,
	uint32_t next, uint64_t time_ns)
{
	/* The kernel pads the size and the bytes behind it to a multiple of 8. */
	uint8_t raw[RECORD_BYTES + sizeof(uint32_t)] = { 0 };
	struct perf_sample_bytes sample = { .pid = tid,
		.time_ns = time_ns,
		.ip = 0x401010,
		.id = 1,
		.chain = chain,
		.chain_count = 3,
		.period = 1,
		.raw = raw,
		.raw_bytes = sizeof(raw) };

	memcpy(raw + STATE_AT, &state, sizeof(state));
	memcpy(raw + NEXT_AT, &next, sizeof(next));
	put_sample(&fixture->records, attr, &sample);
}

static int64_t time_of_class(const struct profile *profile, enum profile_wait_class wait_class)
{
	struct profile_wait_values types = profile_wait_values(profile);
	uint32_t type = wait_class == PROFILE_WAIT_IDLE ? types.idle : types.off_cpu;
	int64_t sum = 0;

	for (size_t i = 0; i < profile->sample_count; i++)
		if (profile_wait_class_of_stack(profile, profile->samples[i].stack) == wait_class)
			sum += profile->values[i * profile->value_type_count + type];
	return sum;
}

static int64_t time_of_all(const struct profile *profile)
{
	int64_t sum = 0;

	for (int i = 0; i < PROFILE_WAIT_COUNT; i++)
		sum += time_of_class(profile, (enum profile_wait_class)i);
	return sum;
}

static void sums_at_the_end_of_the_file_are_waits(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_attr attr = off_cpu_attr(0);
	struct perf_sample_bytes sample = { 7, fake_ns, 0x401010, 1, chain, 3, .period = 40000000 };

	put_comm(&fixture->records, &attr, 7, "waiter", 1000);
	put_comm(&fixture->records, &attr, 8, "other", 90000000);
	put_sample(&fixture->records, &attr, &sample);
	sample.time_ns++;
	sample.period = 2000000;
	put_sample(&fixture->records, &attr, &sample);
	finish_file(fixture, &attr, "off-cpu-time", "");
	expect_read(fixture);
	assert_int_equal(time_of_class(fixture->result.profile, PROFILE_WAIT_OTHER), 42000000);
	assert_int_equal(time_of_all(fixture->result.profile), 42000000);
	assert_int_equal(fixture->result.profile->event_count, 2);
	assert_int_equal(fixture->result.profile->runs[0].duration_ns, 90000000 - 1000);
	assert_string_equal(event_comm(fixture->result.profile, 0), "waiter");
	assert_int_equal(depth_of(fixture->result.profile, fixture->result.profile->samples[0].stack), 1);
}

/* perf 6.16 writes long waits when they end, in the thread that comes next: what they are of stands in the raw part. */
static void put_direct(struct fixture *fixture, const struct perf_event_attr *attr, uint32_t first, uint32_t second,
	uint64_t count, uint64_t time_ns)
{
	uint64_t words[] = { (uint64_t)second << 32 | first, 600000000, count, PERF_CONTEXT_USER, 0x401010, 0x401100,
		0 };
	uint8_t raw[sizeof(words) + sizeof(uint32_t)] = { 0 };
	struct perf_sample_bytes sample = {
		.pid = 99, .time_ns = time_ns, .id = 1, .period = 1, .raw = raw, .raw_bytes = sizeof(raw)
	};

	memcpy(raw, words, sizeof(words));
	put_sample(&fixture->records, attr, &sample);
}

static void direct_samples_are_waits(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_attr attr = off_cpu_attr(PERF_SAMPLE_RAW);
	const struct profile *profile;

	attr.sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	put_comm(&fixture->records, &attr, 7, "waiter", 1000);
	put_mmap(&fixture->records, &attr, 7, 0x401000, 0x1000, "/no/such/program", 1000);
	put_direct(fixture, &attr, 9, 7, 3, 700000000);
	put_direct(fixture, &attr, 7, 9, 3, fake_ns);
	finish_file(fixture, &attr, "off-cpu-time", "");
	expect_read(fixture);
	profile = fixture->result.profile;
	assert_int_equal(time_of_class(profile, PROFILE_WAIT_OTHER), 1200000000);
	assert_int_equal(profile->sample_count, 1);
	assert_int_equal(profile->threads[profile->samples[0].thread].pid, 7);
	assert_int_equal(profile->threads[profile->samples[0].thread].tid, 9);
	assert_int_equal(depth_of(profile, profile->samples[0].stack), 3);
}

static void direct_samples_that_lie_about_their_size_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_attr attr = off_cpu_attr(PERF_SAMPLE_RAW);

	attr.sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	put_direct(fixture, &attr, 9, 7, UINT64_MAX / 8, 700000000);
	finish_file(fixture, &attr, "off-cpu-time", "");
	expect_failure(fixture, ERROR_FORMAT, "off-cpu-time is cut short");
}

static void switches_are_waits_by_their_state(void **state)
{
	static const struct {
		uint64_t state;
		enum profile_wait_class wait_class;
	} cases[] = { { SLEEPS, PROFILE_WAIT_OTHER }, { DISK, PROFILE_WAIT_IO }, { STOPPED, PROFILE_WAIT_OTHER },
		{ 0, PROFILE_WAIT_RUN_QUEUE }, { PREEMPTED, PROFILE_WAIT_RUN_QUEUE },
		{ IDLE_OF_KERNEL, PROFILE_WAIT_IDLE } };
	struct fixture *fixture = *state;
	struct perf_event_attr attr = switch_attr();
	int64_t expected[PROFILE_WAIT_COUNT] = { 0 };

	fixture->event = "off-cpu";
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t begin_ns = (i + 1) * 1000000;
		uint32_t tid = (uint32_t)(10 + i);

		put_switch_sample(fixture, &attr, tid, cases[i].state, 0, begin_ns);
		put_switch_sample(fixture, &attr, 0, 0, tid, begin_ns + 1000 + i);
		expected[cases[i].wait_class] += (int64_t)(1000 + i);
	}
	/* A thread that ends waits for nothing; that of a CPU without work does not wait. */
	put_switch_sample(fixture, &attr, 10, DEAD, 0, 8000000);
	put_switch_sample(fixture, &attr, 11, SLEEPS, 0, 9000000);
	put_switch_sample(fixture, &attr, 0, 0, 20, 9700000);
	expected[PROFILE_WAIT_OTHER] += 700000;
	finish_file(fixture, &attr, "sched:sched_switch", "");
	expect_read(fixture);
	for (int i = 0; i < PROFILE_WAIT_COUNT; i++)
		assert_int_equal(time_of_class(fixture->result.profile, (enum profile_wait_class)i), expected[i]);
}

static void fields_are_found_by_their_names(void **state)
{
	static const char formats[] =
		"name: sched_stat\nID: 1\n\tfield:long prev_state;\toffset:8;\tsize:8;\tsigned:1;\n"
		"name: sched_switch\nID: 316\nformat:\n"
		"\tfield:pid_t next_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:long prev_state;\toffset:16;\tsize:8;\tsigned:1;\n";
	struct fixture *fixture = *state;
	struct perf_event_attr attr = switch_attr();
	uint64_t words[] = { 0, 0, DISK, 0 };
	struct perf_sample_bytes sample = { .pid = 7,
		.time_ns = 1000,
		.ip = 0x401010,
		.id = 1,
		.chain = chain,
		.chain_count = 3,
		.period = 1,
		.raw = (const uint8_t *)words,
		.raw_bytes = sizeof(words) - 4 };

	fixture->event = "off-cpu";
	put_sample(&fixture->records, &attr, &sample);
	words[1] = 7;
	sample.time_ns = 5000;
	sample.pid = 0;
	put_sample(&fixture->records, &attr, &sample);
	finish_file(fixture, &attr, "sched:sched_switch", formats);
	expect_read(fixture);
	assert_int_equal(time_of_class(fixture->result.profile, PROFILE_WAIT_IO), 4000);
}

/* A sampled switch stands for as many as its period says. */
static void records_of_switches_end_waits(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_attr attr = perf_bytes_attr();
	struct perf_sample_bytes sample = { 7, 1000000, 0x401010, 1, chain, 3, .period = 3 };

	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	fixture->event = "off-cpu";
	put_sample(&fixture->records, &attr, &sample);
	put_switch(&fixture->records, 7, PERF_RECORD_MISC_SWITCH_OUT, 1000001);
	put_switch(&fixture->records, 8, 0, 1000500);
	put_switch(&fixture->records, 7, 0, 1001000);
	sample.time_ns = 2000000;
	sample.period = 1;
	put_sample(&fixture->records, &attr, &sample);
	put_switch(&fixture->records, 7, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 2000001);
	put_switch(&fixture->records, 7, 0, 2000700);
	finish_file(fixture, &attr, "context-switches", "");
	expect_read(fixture);
	assert_int_equal(time_of_class(fixture->result.profile, PROFILE_WAIT_OTHER), 3000);
	assert_int_equal(time_of_class(fixture->result.profile, PROFILE_WAIT_RUN_QUEUE), 700);
}

static void waits_without_an_end_are_left_out(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_attr attr = switch_attr();

	fixture->event = "off-cpu";
	for (uint64_t i = 1; i <= 4; i++)
		put_switch_sample(fixture, &attr, 7, SLEEPS, 0, i * 1000000);
	put_switch_sample(fixture, &attr, 8, SLEEPS, 9, 5000000);
	put_switch_sample(fixture, &attr, 9, SLEEPS, 8, 5000300);
	put_switch_sample(fixture, &attr, 7, SLEEPS, 0, 9000000);
	finish_file(fixture, &attr, "sched:sched_switch", "");
	expect_read(fixture);
	assert_int_equal(time_of_all(fixture->result.profile), 300);
	expect_notice(fixture,
		"4 waits are left out, because the file does not tell when they ended: record with --switch-events");
}

static void switches_are_counted_unless_waits_are_asked_for(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_attr attr = switch_attr();

	put_switch_sample(fixture, &attr, 7, SLEEPS, 0, 1000000);
	put_switch_sample(fixture, &attr, 0, 0, 7, 2000000);
	finish_file(fixture, &attr, "sched:sched_switch", "");
	expect_read(fixture);
	assert_false(profile_has_waits(fixture->result.profile));
	assert_int_equal(fixture->result.profile->quality.samples, 2);
}

/* The end of a wait that lies before its beginning, and times that no sum can hold. */
static void hostile_times_are_bounded(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_attr attr = perf_bytes_attr();
	struct perf_sample_bytes sample = { 7, 1000000, 0x401010, 1, chain, 3, .period = UINT64_MAX / 2 };

	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	fixture->event = "off-cpu";
	put_sample(&fixture->records, &attr, &sample);
	put_switch(&fixture->records, 7, 0, 999999);
	put_switch(&fixture->records, 7, 0, 2000000);
	finish_file(fixture, &attr, "context-switches", "");
	expect_failure(fixture, ERROR_FORMAT, "more than can be added up");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sums_at_the_end_of_the_file_are_waits, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(direct_samples_are_waits, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			direct_samples_that_lie_about_their_size_are_refused, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(switches_are_waits_by_their_state, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(fields_are_found_by_their_names, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(records_of_switches_end_waits, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(waits_without_an_end_are_left_out, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			switches_are_counted_unless_waits_are_asked_for, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(hostile_times_are_bounded, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
