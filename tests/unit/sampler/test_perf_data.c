/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perf_data_fixture.h"

#include "sampler/perf_data/events.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

/* Where the data of a file with one event begin: behind its header, id and attributes. */
#define DATA_AT "224"

/* What the example records say, in order of time. */
static void expect_example(const struct fixture *fixture)
{
	const struct profile *profile = fixture->result.profile;

	assert_int_equal(profile->quality.samples, 3);
	assert_int_equal(profile->event_count, 3);
	assert_string_equal(event_comm(profile, 0), "before");
	assert_string_equal(event_comm(profile, 1), "after");
	assert_int_equal(profile->events[0].time_ns, 0);
	assert_int_equal(profile->events[1].time_ns, 2000);
	assert_int_equal(profile->events[2].time_ns, 3000);
	assert_int_equal(event_leaf(profile, 0), 0x10);
	assert_int_equal(event_leaf(profile, 1), 0x20);
	assert_int_equal(profile->runs[0].duration_ns, 3000);
	assert_int_equal(profile->runs[0].start_unix_ns, 0);
	assert_string_equal(profile_string(profile, profile->facts.event), "cpu-clock");
	assert_int_equal(profile->facts.frequency_hz, 1000);
	assert_int_equal(profile->values[1], 1000000);
}

static void test_records_of_a_file_are_taken_in_order_of_time(void **state)
{
	make_example(*state);
	expect_read(*state);
	expect_example(*state);
}

static void test_a_stream_is_read_from_a_pipe_whose_head_was_read(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();
	uint8_t head[10];
	struct recording_file recorded = { .head = head, .head_bytes = sizeof(head), .name = "pipe" };
	int ends[2];

	put_example_records(&fixture->records, &event.attr);
	put_pipe(&fixture->file, &event, 1, &fixture->records);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], fixture->file.data, fixture->file.size), fixture->file.size);
	close(ends[1]);
	assert_int_equal(read(ends[0], head, sizeof(head)), sizeof(head));
	recorded.fd = ends[0];
	if (!sampler_read_perf_data(&recorded, &fixture->result, &fixture->notices, &fixture->err))
		fail_msg("%s", fixture->err.message);
	close(ends[0]);
	expect_example(fixture);
}

static void make_stream_of(struct fixture *fixture, const struct perf_event_bytes *event)
{
	put_example_records(&fixture->records, &event->attr);
	put_pipe(&fixture->file, event, 1, &fixture->records);
}

static void make_stream(struct fixture *fixture)
{
	const struct perf_event_bytes event = example_event();

	make_stream_of(fixture, &event);
}

/* Only then the times of a jitdump are those of samples. */
static void test_clock_monotonic_is_known_where_perf_was_told_to_use_it(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();

	event.attr.use_clockid = 1;
	event.attr.clockid = CLOCK_MONOTONIC;
	make_stream_of(fixture, &event);
	expect_read(fixture);
	assert_int_equal(fixture->result.symbols.clock_ns, 1000);
}

static void test_other_clocks_are_not_taken_for_clock_monotonic(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();

	event.attr.use_clockid = 1;
	event.attr.clockid = CLOCK_MONOTONIC_RAW;
	make_stream_of(fixture, &event);
	expect_read(fixture);
	assert_int_equal(fixture->result.symbols.clock_ns, 0);
}

static void test_what_stands_behind_a_stream_is_left_out(void **state)
{
	static const char *const behind[] = { "done\n", "1,234 requests served in 12.5 s, 0 of them failed\n",
		"\1\0\0\0\0\0\3\0\0\0\0\0" };
	static const size_t sizes[] = { 5, 20000, 12 };
	struct fixture *fixture = *state;
	char offset[64];
	size_t size;

	make_stream(fixture);
	size = fixture->file.size;
	snprintf(offset, sizeof(offset), "from offset %zu on, the stream has no whole record", size);
	for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
		fixture->file.size = size;
		while (fixture->file.size < size + sizes[i])
			buffer_append(&fixture->file, behind[i], sizes[i] == 20000 ? strlen(behind[i]) : sizes[i]);
		expect_read(fixture);
		expect_example(fixture);
		expect_notice(fixture, offset);
		recording_deinit(&fixture->result);
		fixture->result = (struct recording){ 0 };
		fixture->notices.size = 0;
	}
}

static void test_a_stream_that_was_cut_is_read_as_far_as_it_goes(void **state)
{
	struct fixture *fixture = *state;

	make_stream(fixture);
	fixture->file.size -= 8;
	expect_read(fixture);
	assert_int_equal(fixture->result.profile->quality.samples, 2);
	expect_notice(fixture, "the stream has no whole record of perf");
}

static void test_a_stream_may_lie_in_a_file(void **state)
{
	make_stream(*state);
	expect_read(*state);
	expect_example(*state);
}

/* One zstd stream over several records, cut anywhere: also within a record. */
static void put_compressed(struct buffer *out, const struct buffer *records, uint32_t type)
{
	char packed[1 << 12];
	size_t size = ZSTD_compress(packed, sizeof(packed), records->data, records->size, 3);
	size_t half = size / 2;

	assert_false(ZSTD_isError(size));
	for (size_t i = 0; i < 2; i++) {
		CLEANUP(buffer_deinit) struct buffer body = { 0 };
		size_t bytes = i ? size - half : half;

		buffer_init(&body, MAX_BYTES);
		if (type == PERF_TYPE_COMPRESSED2)
			put_u64(&body, bytes);
		buffer_append(&body, packed + (i ? half : 0), bytes);
		while (type == PERF_TYPE_COMPRESSED2 && body.size % 8 != 0)
			buffer_append_byte(&body, 0);
		put_record(out, NULL, type, 0, &body, 0, 0);
	}
}

static void read_compressed(struct fixture *fixture, uint32_t type)
{
	struct perf_event_bytes event = example_event();
	struct buffer packed;

	buffer_init(&packed, MAX_BYTES);
	put_example_records(&fixture->records, &event.attr);
	put_compressed(&packed, &fixture->records, type);
	put_file(&fixture->file, &event, 1, &packed, NULL, 0);
	buffer_deinit(&packed);
	expect_read(fixture);
	expect_example(fixture);
}

static void test_compressed_records_are_inflated(void **state)
{
	read_compressed(*state, PERF_TYPE_COMPRESSED);
}

static void test_padded_compressed_records_are_inflated(void **state)
{
	read_compressed(*state, PERF_TYPE_COMPRESSED2);
}

static void test_bytes_that_are_not_zstd_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();
	struct buffer body;

	buffer_init(&body, MAX_BYTES);
	buffer_append(&body, "not compressed", 14);
	put_record(&fixture->records, NULL, PERF_TYPE_COMPRESSED, 0, &body, 0, 0);
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
	buffer_deinit(&body);
	expect_failure(fixture, ERROR_FORMAT, "record at offset " DATA_AT ": compressed records: ");
}

static void test_every_file_that_was_cut_is_refused(void **state)
{
	struct fixture *fixture = *state;

	make_example(fixture);
	for (size_t size = 0; size < fixture->file.size; size++) {
		assert_false(read_bytes(fixture, fixture->file.data, size));
		assert_int_equal(fixture->err.code, ERROR_FORMAT);
		assert_non_null(strstr(fixture->err.message, "cut short"));
		assert_non_null(strstr(fixture->err.message, "offset"));
	}
}

static void test_a_file_that_perf_did_not_finish_is_read_as_far_as_it_goes(void **state)
{
	struct fixture *fixture = *state;
	static const uint64_t zero = 0;
	enum { DATA_SIZE_AT = 48 };

	make_example(fixture);
	memcpy(fixture->file.data + DATA_SIZE_AT, &zero, sizeof(zero));
	fixture->file.size -= 20;
	expect_read(fixture);
	assert_int_equal(fixture->result.profile->quality.samples, 2);
	expect_notice(fixture, "perf record was killed");
}

static void test_the_other_byte_order_is_named(void **state)
{
	struct fixture *fixture = *state;

	make_example(fixture);
	memcpy(fixture->file.data, "2ELIFREP", 8);
	expect_failure(fixture, ERROR_UNSUPPORTED, "other byte order");
}

static void test_a_record_without_a_size_is_named_with_its_place(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();

	put_comm(&fixture->records, &event.attr, 1, "a", 1);
	put_u64(&fixture->records, PERF_RECORD_COMM);
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
	expect_failure(fixture, ERROR_FORMAT, "is shorter than its own header");
}

static void test_a_record_that_lies_is_named_with_its_place(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();
	enum { COUNT_AT = 8 + 5 * 8 };
	static const uint64_t many = UINT64_MAX / 4;

	put_sample(&fixture->records, &event.attr, &(struct perf_sample_bytes){ 7, 1000, 0x10, 1, NULL, 0 });
	memcpy(fixture->records.data + COUNT_AT, &many, sizeof(many));
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
	expect_failure(fixture, ERROR_FORMAT, "record at offset " DATA_AT ": record of type 9");
}

/* Two events: page-faults, then the clock. */
static void make_two_events(struct fixture *fixture, bool has_faults, uint64_t id_bits)
{
	struct perf_event_bytes events[2] = { example_event(), example_event() };
	uint64_t chain[] = { PERF_CONTEXT_USER, 0x401010 };

	for (size_t i = 0; i < 2; i++) {
		events[i].id = i + 1;
		events[i].attr.sample_type &= ~(uint64_t)PERF_SAMPLE_IDENTIFIER;
		events[i].attr.sample_type |= id_bits;
	}
	events[0].attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	put_comm(&fixture->records, &events[0].attr, 7, "program", 0);
	if (has_faults)
		put_sample(&fixture->records, &events[0].attr,
			&(struct perf_sample_bytes){ 7, 1000, 0x401010, 1, chain, 2 });
	put_sample(&fixture->records, &events[1].attr, &(struct perf_sample_bytes){ 7, 2000, 0x401010, 2, chain, 2 });
	put_sample(&fixture->records, &events[1].attr, &(struct perf_sample_bytes){ 7, 3000, 0x401010, 2, chain, 2 });
	put_file(&fixture->file, events, 2, &fixture->records, NULL, 0);
}

static void test_of_several_events_the_first_is_read(void **state)
{
	struct fixture *fixture = *state;

	make_two_events(fixture, true, PERF_SAMPLE_IDENTIFIER);
	expect_read(fixture);
	assert_int_equal(fixture->result.profile->quality.samples, 1);
	assert_string_equal(
		profile_string(fixture->result.profile, fixture->result.profile->value_types[1].type), "page-faults");
	expect_notice(
		fixture, "2 samples of cpu-clock are left out: only page-faults is read; '--metric cpu' reads them");
}

static void test_of_several_events_the_one_that_is_asked_for_is_read(void **state)
{
	struct fixture *fixture = *state;

	make_two_events(fixture, true, PERF_SAMPLE_IDENTIFIER);
	fixture->event = "cpu";
	expect_read(fixture);
	assert_int_equal(fixture->result.profile->quality.samples, 2);
	assert_string_equal(
		profile_string(fixture->result.profile, fixture->result.profile->value_types[1].type), "cpu");
	expect_notice(fixture,
		"1 sample of page-faults is left out: only cpu-clock is read; '--metric page-faults' reads it");
}

static void test_two_events_may_have_one_name(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes events[2] = { example_event(), example_event() };
	uint64_t chain[] = { PERF_CONTEXT_USER, 0x401010 };

	events[1].id = 2;
	events[1].attr.exclude_kernel = 1;
	put_comm(&fixture->records, &events[0].attr, 7, "program", 0);
	for (uint64_t i = 0; i < 5; i++)
		put_sample(&fixture->records, &events[0].attr,
			&(struct perf_sample_bytes){ 7, 1000 + i, 0x401010, 1 + i % 2, chain, 2 });
	put_file(&fixture->file, events, 2, &fixture->records, NULL, 0);
	expect_read(fixture);
	assert_int_equal(fixture->result.profile->quality.samples, 3);
	expect_notice(fixture, "2 samples of another cpu-clock are left out: only cpu-clock is read");
}

static void expect_name(uint32_t type, const char *told, const char *expected)
{
	struct perf_event_attr attr = { .type = type, .size = sizeof(attr) };
	uint64_t id = 7;
	struct byte_reader ids = byte_reader_over(&id, sizeof(id));
	struct perf_data_events events;
	struct error err;

	perf_data_events_init(&events);
	assert_true(perf_data_events_add(&events, (const uint8_t *)&attr, sizeof(attr), &err) &&
		    perf_data_events_add_ids(&events, &ids, &err));
	perf_data_events_name(&events, id, told, strlen(told));
	assert_string_equal(events.items[0].name, expected);
	perf_data_events_deinit(&events);
}

static void test_modifiers_and_terms_are_no_part_of_a_name(void **state)
{
	expect_name(PERF_TYPE_SOFTWARE, "cpu-clock:ppp", "cpu-clock");
	expect_name(PERF_TYPE_SOFTWARE, "cpu-clock/call-graph=dwarf/u", "cpu-clock");
	expect_name(PERF_TYPE_SOFTWARE, "mine", "mine");
	expect_name(PERF_TYPE_SOFTWARE, "", "cpu-clock");
	expect_name(PERF_TYPE_RAW, "cpu/event=0x3c/u", "cpu/event=0x3c/u");
	expect_name(PERF_TYPE_TRACEPOINT, "sched:sched_switch", "sched:sched_switch");
}

static void test_an_event_without_samples_gives_way_to_one_that_has_some(void **state)
{
	struct fixture *fixture = *state;

	make_two_events(fixture, false, PERF_SAMPLE_ID);
	expect_read(fixture);
	assert_int_equal(fixture->result.profile->quality.samples, 2);
	assert_string_equal(profile_string(fixture->result.profile, fixture->result.profile->facts.event), "cpu-clock");
}

static void test_events_that_cannot_be_told_apart_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes events[2] = { example_event(), example_event() };

	events[1].id = 2;
	events[1].attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	put_example_records(&fixture->records, &events[0].attr);
	put_file(&fixture->file, events, 2, &fixture->records, NULL, 0);
	expect_failure(fixture, ERROR_UNSUPPORTED, "cannot be told apart");
}

static void test_records_without_ids_and_times_are_taken_as_they_come(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();

	event.attr.sample_id_all = 0;
	event.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	put_comm(&fixture->records, &event.attr, 7, "program", 0);
	put_mmap(&fixture->records, &event.attr, 7, 0x401000, 0x1000, "/no/such/program", 0);
	put_sample(&fixture->records, &event.attr, &(struct perf_sample_bytes){ .pid = 7, .ip = 0x401010 });
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
	expect_read(fixture);
	assert_int_equal(fixture->result.profile->quality.samples, 1);
	assert_int_equal(event_leaf(fixture->result.profile, 0), 0x10);
	assert_string_equal(event_comm(fixture->result.profile, 0), "program");
}

static void test_last_branches_are_a_stack(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();
	static const uint64_t branches[] = { 0x401100, 0x401000, 0, 0x401200, 0x401090, 0 };

	event.attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	event.attr.branch_sample_type = 1 << 11;
	put_mmap(&fixture->records, &event.attr, 7, 0x401000, 0x1000, "/no/such/program", 0);
	put_sample(&fixture->records, &event.attr,
		&(struct perf_sample_bytes){ 7, 1000, 0x401010, 1, .branches = branches, .branch_count = 2 });
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
	expect_read(fixture);
	assert_int_equal(depth_of(fixture->result.profile, fixture->result.profile->samples[0].stack), 3);
	assert_int_equal(event_leaf(fixture->result.profile, 0), 0x10);
	assert_string_equal(profile_string(fixture->result.profile, fixture->result.profile->facts.call_graph), "lbr");
}

/* perf asks for flags and segments as well: the stack pointer stands elsewhere than in our own records. */
static void test_registers_are_found_by_the_mask_of_the_file(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();
	uint64_t registers[20] = { 0 };

	event.attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	event.attr.sample_regs_user = 0xff0fff;
	event.attr.sample_stack_user = 64;
	registers[7] = 0x7ff000000000;
	registers[8] = 0x401010;
	put_mmap(&fixture->records, &event.attr, 7, 0x401000, 0x1000, "/no/such/program", 0);
	put_sample(&fixture->records, &event.attr,
		&(struct perf_sample_bytes){ 7, 1000, 0x401010, 1, .registers = registers, .dump_bytes = 64 });
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
	expect_read(fixture);
	assert_int_equal(event_leaf(fixture->result.profile, 0), 0x10);
	assert_string_equal(
		profile_string(fixture->result.profile, fixture->result.profile->facts.call_graph), "dwarf,64");
}

/* A mark ought to stand in a chain once: between two of a kind there is nothing, and behind the last nothing is read.
 */
static void test_a_mark_that_stands_twice_in_a_chain_ends_it(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();
	static const uint64_t doubled[] = { PERF_CONTEXT_USER, 0x401010, PERF_CONTEXT_USER, 0x401020,
		PERF_CONTEXT_USER };
	static const uint64_t bare[] = { PERF_CONTEXT_KERNEL, PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER,
		PERF_CONTEXT_USER };
	const struct profile *profile;

	put_mmap(&fixture->records, &event.attr, 7, 0x401000, 0x1000, "/no/such/program", 0);
	put_sample(&fixture->records, &event.attr, &(struct perf_sample_bytes){ 7, 1000, 0x401010, 1, doubled, 5 });
	put_sample(&fixture->records, &event.attr, &(struct perf_sample_bytes){ 7, 2000, 0x401030, 1, bare, 4 });
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
	expect_read(fixture);
	profile = fixture->result.profile;
	assert_int_equal(profile->quality.samples, 2);
	assert_int_equal(depth_of(profile, profile->samples[profile->events[0].sample].stack), 1);
	assert_int_equal(event_leaf(profile, 0), 0x10);
	assert_int_equal(depth_of(profile, profile->samples[profile->events[1].sample].stack), 1);
}

static void put_architecture(struct fixture *fixture, const struct perf_event_bytes *event, const char *name)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };
	struct perf_feature_bytes feature = { PERF_FEATURE_ARCH, &text };

	buffer_init(&text, MAX_BYTES);
	put_text(&text, name);
	put_file(&fixture->file, event, 1, &fixture->records, &feature, 1);
}

static void test_stacks_of_another_machine_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();

	event.attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	event.attr.sample_regs_user = 0x1ff;
	put_comm(&fixture->records, &event.attr, 7, "program", 0);
	put_architecture(fixture, &event, "m68k");
	expect_failure(fixture, ERROR_UNSUPPORTED, "recorded on m68k");
}

/* Build ids: of the feature section, with the path of our own program, which is another build. */
static void test_a_binary_that_is_another_build_stays_unnamed(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();
	struct perf_feature_bytes feature = { PERF_FEATURE_BUILD_ID, NULL };
	CLEANUP(buffer_deinit) struct buffer ids = { 0 }, body = { 0 };
	char own[4096] = "";

	assert_true(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0);
	buffer_init(&ids, MAX_BYTES);
	buffer_init(&body, MAX_BYTES);
	put_u32(&body, UINT32_MAX);
	for (size_t i = 0; i < 3; i++)
		put_u64(&body, 0x1122334455667788);
	buffer_append(&body, own, strlen(own) + 1);
	put_record(&ids, NULL, PERF_TYPE_BUILD_ID, PERF_RECORD_MISC_USER, &body, 0, 0);
	feature.body = &ids;
	put_mmap(&fixture->records, &event.attr, 7, 0x401000, 0x1000, own, 0);
	put_sample(&fixture->records, &event.attr, &(struct perf_sample_bytes){ 7, 1000, 0x401010, 1, NULL, 0 });
	put_file(&fixture->file, &event, 1, &fixture->records, &feature, 1);
	expect_read(fixture);
	expect_notice(fixture, "is another build");
	expect_notice(fixture, "8877665544332211");
	assert_null(fixture->result.symbols.images[fixture->result.profile->locations[0].mapping]);
}

static void put_loss(struct buffer *out, const struct perf_event_attr *attr, uint32_t type, uint64_t count, uint64_t id)
{
	CLEANUP(buffer_deinit) struct buffer body = { 0 };

	buffer_init(&body, MAX_BYTES);
	if (type == PERF_RECORD_LOST)
		put_u64(&body, 1);
	put_u64(&body, count);
	put_record(out, attr, type, 0, &body, 5000, id);
}

/* perf record -c: every sample stands for the same, which only the event tells. */
static void test_samples_that_do_not_tell_their_period_have_the_one_of_the_event(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();

	event.attr.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	event.attr.freq = 0;
	event.attr.sample_period = 250000;
	put_example_records(&fixture->records, &event.attr);
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
	expect_read(fixture);
	assert_int_equal(fixture->result.profile->quality.samples, 3);
	assert_int_equal(fixture->result.profile->values[1], 250000);
}

static void test_a_loss_that_is_told_in_two_ways_counts_once(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();

	put_example_records(&fixture->records, &event.attr);
	put_loss(&fixture->records, &event.attr, PERF_RECORD_LOST, 3, 1);
	put_loss(&fixture->records, &event.attr, PERF_RECORD_LOST, 4, 1);
	put_loss(&fixture->records, &event.attr, PERF_RECORD_LOST_SAMPLES, 6, 1);
	put_record(&fixture->records, &event.attr, PERF_RECORD_THROTTLE, 0, NULL, 6000, 1);
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
	expect_read(fixture);
	assert_int_equal(fixture->result.profile->quality.lost, 7);
	assert_int_equal(fixture->result.profile->quality.throttled, 1);
}

/* A ring tells under the id of one of its events what it lost of all of them. What perf's dummy loses are mappings and
 * names. */
static void test_what_other_events_lost_is_not_counted(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes events[2] = { example_event(), example_event() };

	events[1].id = 2;
	events[1].attr.config = PERF_COUNT_SW_DUMMY;
	put_example_records(&fixture->records, &events[0].attr);
	put_loss(&fixture->records, &events[0].attr, PERF_RECORD_LOST, 10, 1);
	put_loss(&fixture->records, &events[0].attr, PERF_RECORD_LOST_SAMPLES, 4, 1);
	put_loss(&fixture->records, &events[0].attr, PERF_RECORD_LOST_SAMPLES, 6, 2);
	put_file(&fixture->file, events, 2, &fixture->records, NULL, 0);
	expect_read(fixture);
	assert_int_equal(fixture->result.profile->quality.lost, 4);
	assert_int_equal(fixture->result.profile->quality.lost_sideband, 6);
}

static void test_trace_data_are_passed_over(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();
	struct buffer body;

	buffer_init(&body, MAX_BYTES);
	put_u64(&body, 4000000);
	put_record(&fixture->records, NULL, PERF_TYPE_AUXTRACE, 0, &body, 0, 0);
	for (size_t i = 0; i < 500000; i++)
		put_u64(&fixture->records, 0);
	put_example_records(&fixture->records, &event.attr);
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
	buffer_deinit(&body);
	expect_read(fixture);
	expect_example(fixture);
}

static void test_a_file_without_rounds_is_put_in_order_all_the_same(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();
	enum { SAMPLES = 40000 };
	static const uint64_t chain[] = { PERF_CONTEXT_USER, 0x401010 };

	put_mmap(&fixture->records, &event.attr, 7, 0x401000, 0x1000, "/no/such/program", 0);
	for (uint64_t i = 0; i < SAMPLES; i++)
		put_sample(&fixture->records, &event.attr,
			&(struct perf_sample_bytes){ 7, 1000 + (i ^ 5), 0x401010, 1, chain, 2 });
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
	expect_read(fixture);
	assert_int_equal(fixture->result.profile->quality.samples, SAMPLES);
	assert_int_equal(fixture->result.profile->events[0].time_ns, 0);
	assert_int_equal(fixture->result.profile->events[SAMPLES - 1].time_ns, SAMPLES - 1);
	for (size_t i = 1; i < SAMPLES; i++)
		assert_true(
			fixture->result.profile->events[i].time_ns > fixture->result.profile->events[i - 1].time_ns);
}

static void test_a_file_without_samples_says_so(void **state)
{
	struct fixture *fixture = *state;
	struct perf_event_bytes event = example_event();

	put_comm(&fixture->records, &event.attr, 7, "program", 0);
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
	expect_failure(fixture, ERROR_EMPTY, "no samples of cpu-clock");
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_records_of_a_file_are_taken_in_order_of_time),
		TEST(test_a_stream_is_read_from_a_pipe_whose_head_was_read),
		TEST(test_a_stream_may_lie_in_a_file),
		TEST(test_clock_monotonic_is_known_where_perf_was_told_to_use_it),
		TEST(test_other_clocks_are_not_taken_for_clock_monotonic),
		TEST(test_what_stands_behind_a_stream_is_left_out),
		TEST(test_a_stream_that_was_cut_is_read_as_far_as_it_goes),
		TEST(test_compressed_records_are_inflated),
		TEST(test_padded_compressed_records_are_inflated),
		TEST(test_bytes_that_are_not_zstd_are_refused),
		TEST(test_every_file_that_was_cut_is_refused),
		TEST(test_a_file_that_perf_did_not_finish_is_read_as_far_as_it_goes),
		TEST(test_the_other_byte_order_is_named),
		TEST(test_a_record_without_a_size_is_named_with_its_place),
		TEST(test_a_record_that_lies_is_named_with_its_place),
		TEST(test_of_several_events_the_first_is_read),
		TEST(test_of_several_events_the_one_that_is_asked_for_is_read),
		TEST(test_two_events_may_have_one_name),
		TEST(test_modifiers_and_terms_are_no_part_of_a_name),
		TEST(test_an_event_without_samples_gives_way_to_one_that_has_some),
		TEST(test_events_that_cannot_be_told_apart_are_refused),
		TEST(test_records_without_ids_and_times_are_taken_as_they_come),
		TEST(test_last_branches_are_a_stack),
		TEST(test_registers_are_found_by_the_mask_of_the_file),
		TEST(test_a_mark_that_stands_twice_in_a_chain_ends_it),
		TEST(test_stacks_of_another_machine_are_refused),
		TEST(test_a_binary_that_is_another_build_stays_unnamed),
		TEST(test_samples_that_do_not_tell_their_period_have_the_one_of_the_event),
		TEST(test_a_loss_that_is_told_in_two_ways_counts_once),
		TEST(test_what_other_events_lost_is_not_counted),
		TEST(test_trace_data_are_passed_over),
		TEST(test_a_file_without_rounds_is_put_in_order_all_the_same),
		TEST(test_a_file_without_samples_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
