/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perf_data_fixture.h"
#include "sampler/records/record.h"
#include "tests/unit/sampler/used_locations_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int fixture_setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	buffer_init(&fixture->records, MAX_BYTES);
	buffer_init(&fixture->file, MAX_BYTES);
	buffer_init(&fixture->notices, MAX_BYTES);
	*state = fixture;
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *fixture = *state;

	recording_deinit(&fixture->result);
	buffer_deinit(&fixture->records);
	buffer_deinit(&fixture->file);
	buffer_deinit(&fixture->notices);
	free(fixture);
	return 0;
}

bool read_bytes(struct fixture *fixture, const void *bytes, size_t size)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	struct recording_file recorded = { .fd = fd, .name = "perf.data", .event = fixture->event };
	bool ok;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	ok = sampler_read_perf_data(&recorded, &fixture->result, &fixture->notices, &fixture->err);
	close(fd);
	if (ok)
		assert_int_equal(count_unused_locations(fixture->result.profile), 0);
	return ok;
}

void expect_read(struct fixture *fixture)
{
	if (!read_bytes(fixture, fixture->file.data, fixture->file.size))
		fail_msg("%s", fixture->err.message);
}

void expect_failure(struct fixture *fixture, enum error_code code, const char *text)
{
	assert_false(read_bytes(fixture, fixture->file.data, fixture->file.size));
	assert_int_equal(fixture->err.code, code);
	assert_non_null(strstr(fixture->err.message, "cannot read perf.data: "));
	if (!strstr(fixture->err.message, text))
		fail_msg("'%s' not in: %s", text, fixture->err.message);
}

void expect_notice(const struct fixture *fixture, const char *text)
{
	const char *notices = fixture->notices.data ? fixture->notices.data : "";

	if (!strstr(notices, text))
		fail_msg("'%s' not in: %s", text, notices);
}

struct perf_event_bytes example_event(void)
{
	return (struct perf_event_bytes){ perf_bytes_attr(), 1 };
}

void make_example(struct fixture *fixture)
{
	struct perf_event_bytes event = example_event();

	put_example_records(&fixture->records, &event.attr);
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
}

static void put_group_sample(struct buffer *out, const struct perf_event_attr *attr, uint32_t pid, uint64_t time_ns,
	uint64_t faults, uint64_t switches)
{
	uint64_t chain[] = { PERF_CONTEXT_USER, 0x401010 };
	uint64_t read[] = { 3, time_ns, 1, faults, 2, switches, 3 };

	put_sample(out, attr,
		&(struct perf_sample_bytes){ .pid = pid,
			.time_ns = time_ns,
			.ip = 0x401010,
			.id = 1,
			.chain = chain,
			.chain_count = 2,
			.read = read,
			.read_words = sizeof(read) / sizeof(read[0]) });
}

void make_group(struct fixture *fixture)
{
	static const uint64_t configs[] = { PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS };
	enum { EVENTS = sizeof(configs) / sizeof(configs[0]), GROUP = 3 };
	struct perf_event_bytes events[EVENTS];

	for (size_t i = 0; i < EVENTS; i++) {
		events[i] = (struct perf_event_bytes){ perf_bytes_attr(), i + 1 };
		events[i].attr.config = configs[i];
		events[i].attr.sample_type |= PERF_SAMPLE_READ;
		events[i].attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
		events[i].attr.freq = i == 0 || i == GROUP;
		if (!events[i].attr.freq)
			events[i].attr.sample_period = 0;
	}
	put_comm(&fixture->records, &events[0].attr, 7, "program", 0);
	put_comm(&fixture->records, &events[0].attr, 8, "program", 0);
	put_group_sample(&fixture->records, &events[0].attr, 7, 1000, 5, 0);
	put_group_sample(&fixture->records, &events[0].attr, 7, 2000, 14, 1);
	put_group_sample(&fixture->records, &events[0].attr, 8, 2500, 3, 0);
	put_group_sample(&fixture->records, &events[0].attr, 7, 3000, 34, 2);
	put_file(&fixture->file, events, EVENTS, &fixture->records, NULL, 0);
}

struct perf_event_bytes deferring_event(void)
{
	struct perf_event_bytes event = { perf_bytes_attr(), 1 };
	uint64_t flags;
	uint8_t *at = (uint8_t *)&event.attr + offsetof(struct perf_event_attr, read_format) + sizeof(flags);

	memcpy(&flags, at, sizeof(flags));
	flags |= (uint64_t)3 << 38;
	memcpy(at, &flags, sizeof(flags));
	return event;
}

/* A sample of a thread that was in the kernel. */
void put_deferred_sample(struct fixture *fixture, uint32_t tid, uint64_t cookie, uint64_t time_ns)
{
	struct perf_event_bytes event = deferring_event();
	uint64_t chain[] = { PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000110, DEFERRED_MARK, cookie };

	put_sample(&fixture->records, &event.attr,
		&(struct perf_sample_bytes){ tid, time_ns, 0x401010, 1, chain, sizeof(chain) / sizeof(chain[0]) });
}

/* What the kernel writes before the thread returns to user space, with the event's trailer behind it. */
void put_deferred_chain(struct fixture *fixture, uint32_t tid, uint64_t cookie, uint64_t leaf, uint64_t time_ns)
{
	CLEANUP(buffer_deinit) struct buffer body = { 0 };

	buffer_init(&body, MAX_BYTES);
	put_u64(&body, cookie);
	put_u64(&body, 2);
	put_u64(&body, leaf);
	put_u64(&body, 0x401101);
	put_u32(&body, tid);
	put_u32(&body, tid);
	put_u64(&body, time_ns);
	put_u64(&body, 1);
	put_record(&fixture->records, NULL, RECORD_TYPE_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER, &body, 0, 0);
}

void begin_deferred(struct fixture *fixture)
{
	struct perf_event_bytes event = deferring_event();

	put_comm(&fixture->records, &event.attr, DEFERRED_THREAD, "program", 0);
	put_mmap(&fixture->records, &event.attr, DEFERRED_THREAD, 0x401000, 0x1000, "/no/such/program", 0);
	put_comm(&fixture->records, &event.attr, DEFERRED_OTHER, "other", 0);
	put_mmap(&fixture->records, &event.attr, DEFERRED_OTHER, 0x401000, 0x1000, "/no/such/other", 0);
}

void make_deferred(struct fixture *fixture)
{
	struct perf_event_bytes event = deferring_event();

	begin_deferred(fixture);
	put_deferred_sample(fixture, DEFERRED_THREAD, DEFERRED_COOKIE, 1000);
	put_deferred_sample(fixture, DEFERRED_OTHER, DEFERRED_COOKIE, 1100);
	put_deferred_sample(fixture, DEFERRED_THREAD, DEFERRED_COOKIE, 1200);
	put_deferred_chain(fixture, DEFERRED_THREAD, DEFERRED_COOKIE, 0x401021, 1300);
	put_deferred_chain(fixture, DEFERRED_OTHER, DEFERRED_COOKIE, 0x401041, 1400);
	put_file(&fixture->file, &event, 1, &fixture->records, NULL, 0);
}

const char *event_comm(const struct profile *profile, size_t event)
{
	const struct profile_sample *sample = &profile->samples[profile->events[event].sample];

	return profile_string(profile, profile->threads[sample->thread].name);
}

/* Address of the leaf, in a mapping without a file: its offset. */
uint64_t event_leaf(const struct profile *profile, size_t event)
{
	uint32_t stack = profile->samples[profile->events[event].sample].stack;

	return profile->locations[profile->stacks[stack].location].address;
}

size_t depth_of(const struct profile *profile, uint32_t stack)
{
	size_t depth = 0;

	for (; stack != 0; stack = profile->stacks[stack].parent)
		depth++;
	return depth;
}
