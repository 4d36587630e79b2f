/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/perf_data/events.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_EVENTS = 1 << 12, MAX_IDS = 1 << 22 };

void perf_data_events_init(struct perf_data_events *events)
{
	*events = (struct perf_data_events){ 0 };
	hash_map_init(&events->by_id, sizeof(uint64_t));
}

void perf_data_events_deinit(struct perf_data_events *events)
{
	hash_map_deinit(&events->by_id);
	free(events->items);
	*events = (struct perf_data_events){ 0 };
}

static void name_by_attr(struct perf_data_event *event)
{
	static const char *const hardware[] = { "cycles", "instructions", "cache-references", "cache-misses",
		"branches", "branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend",
		"ref-cycles" };
	static const char *const software[] = { "cpu-clock", "task-clock", "page-faults", "context-switches",
		"cpu-migrations", "minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy",
		"bpf-output", "cgroup-switches" };
	const struct perf_event_attr *attr = &event->attr;
	const char *name = NULL;

	if (attr->type == PERF_TYPE_HARDWARE && attr->config < sizeof(hardware) / sizeof(hardware[0]))
		name = hardware[attr->config];
	if (attr->type == PERF_TYPE_SOFTWARE && attr->config < sizeof(software) / sizeof(software[0]))
		name = software[attr->config];
	if (name)
		snprintf(event->name, sizeof(event->name), "%s", name);
	else
		snprintf(event->name, sizeof(event->name), "event-%u-%llx", attr->type,
			(unsigned long long)attr->config);
}

bool perf_data_events_add(struct perf_data_events *events, const uint8_t *attr, size_t size, struct error *err)
{
	struct perf_data_event *event;

	if (size < PERF_ATTR_SIZE_VER0)
		return error_set(err, ERROR_FORMAT, "an event's attributes have %zu bytes instead of at least %d", size,
			PERF_ATTR_SIZE_VER0);
	if (!ARRAY_RESERVE(&events->items, &events->capacity, events->count + 1, MAX_EVENTS, err))
		return false;
	event = &events->items[events->count++];
	memset(event, 0, sizeof(*event));
	memcpy(&event->attr, attr, size < sizeof(event->attr) ? size : sizeof(event->attr));
	event->layout = record_layout_of(&event->attr);
	name_by_attr(event);
	return true;
}

bool perf_data_events_add_ids(struct perf_data_events *events, struct byte_reader *r, struct error *err)
{
	while (byte_reader_left(r) >= sizeof(uint64_t) && byte_reader_ok(r)) {
		uint64_t id = byte_reader_u64(r);
		uint32_t *value;
		bool added;

		if (events->by_id.count >= MAX_IDS)
			return error_set(err, ERROR_LIMIT, "more than %d event ids", MAX_IDS);
		if (!hash_map_add(&events->by_id, &id, (uint32_t)events->count - 1, &value, &added, err))
			return false;
	}
	return true;
}

static bool events_is_name(const struct perf_data_event *event, const char *name, size_t size)
{
	return strncmp(event->name, name, size) == 0 && event->name[size] == '\0';
}

void perf_data_events_name(struct perf_data_events *events, uint64_t id, const char *name, size_t size)
{
	uint32_t event = hash_map_get(&events->by_id, &id);
	size_t used = 0;

	if (event == HASH_MAP_NONE)
		return;
	/*
	 * The name ends before modifiers and terms: `cpu-clock:ppp`, `cpu-clock/call-graph=fp/` and `cpu-clock` are one
	 * event for a comparison. In `cpu/cycles/` the whole text is the name.
	 */
	while (used < size && used + 1 < PERF_DATA_EVENT_NAME_BYTES && name[used] && name[used] != ':' &&
		!(name[used] == '/' && events_is_name(&events->items[event], name, used)))
		used++;
	/* A tracepoint's name contains a colon, and the part before it does not name the event alone. */
	if (events->items[event].attr.type == PERF_TYPE_TRACEPOINT)
		used = strnlen(name, size < PERF_DATA_EVENT_NAME_BYTES ? size : PERF_DATA_EVENT_NAME_BYTES - 1);
	if (used == 0)
		return;
	memcpy(events->items[event].name, name, used);
	events->items[event].name[used] = '\0';
}

static bool are_alike(const struct record_layout *a, const struct record_layout *b)
{
	return a->sample_type == b->sample_type && a->read_format == b->read_format &&
	       a->user_registers == b->user_registers && a->sample_id_all == b->sample_id_all &&
	       a->has_branch_index == b->has_branch_index;
}

static bool have_identifier(const struct perf_data_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		if (!(events->items[i].layout.sample_type & PERF_SAMPLE_IDENTIFIER))
			return false;
	return true;
}

bool perf_data_events_check(const struct perf_data_events *events, struct error *err)
{
	if (events->count == 0)
		return error_set(err, ERROR_FORMAT, "it describes no event");
	if (have_identifier(events))
		return true;
	for (size_t i = 1; i < events->count; i++)
		if (!are_alike(&events->items[i].layout, &events->items[0].layout))
			return error_set(err, ERROR_UNSUPPORTED,
				"its events %s and %s have different records that cannot be told apart; record them one by one",
				events->items[0].name, events->items[i].name);
	return true;
}

static bool events_word_at(const uint8_t *bytes, size_t size, size_t offset, uint64_t *word)
{
	struct byte_reader r = byte_reader_over(bytes, size);

	byte_reader_seek(&r, offset);
	*word = byte_reader_u64(&r);
	return byte_reader_ok(&r);
}

/* Finds a record's event id, as in the kernel's perf_event_header__init_id() and perf_event__output_id_sample(). */
static bool find_id(const struct record_layout *layout, const uint8_t *bytes, size_t size, uint64_t *id)
{
	uint64_t type = layout->sample_type, between;
	bool is_sample = bytes[0] == PERF_RECORD_SAMPLE && bytes[1] == 0 && bytes[2] == 0 && bytes[3] == 0;
	size_t words;

	if (type & PERF_SAMPLE_IDENTIFIER) {
		if (is_sample)
			return events_word_at(bytes, size, RECORD_HEADER_BYTES, id);
		return layout->sample_id_all && events_word_at(bytes, size, size - sizeof(*id), id);
	}
	if (!(type & PERF_SAMPLE_ID))
		return false;
	between = is_sample ? PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR
			    : PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;
	words = (size_t)__builtin_popcountll(type & between);
	if (is_sample)
		return events_word_at(bytes, size, RECORD_HEADER_BYTES + words * sizeof(*id), id);
	words++;
	return layout->sample_id_all && size >= words * sizeof(*id) &&
	       events_word_at(bytes, size, size - words * sizeof(*id), id);
}

uint32_t perf_data_events_find(const struct perf_data_events *events, const uint8_t *bytes, size_t size)
{
	uint64_t id;
	uint32_t event;

	/* The samples of a stream may come before its events. */
	if (events->count == 0)
		return PERF_DATA_NO_EVENT;
	if (events->count == 1 || !find_id(&events->items[0].layout, bytes, size, &id))
		return 0;
	event = hash_map_get(&events->by_id, &id);
	if (event == HASH_MAP_NONE)
		/* Records that perf itself writes have no event id. */
		return bytes[0] == PERF_RECORD_SAMPLE ? PERF_DATA_NO_EVENT : 0;
	return event;
}

bool perf_data_event_defers(const struct perf_event_attr *attr)
{
	/* The bit lies in the word of flags behind read_format; the headers here may not know its name. */
	enum { DEFER_CALLCHAIN = 38 };
	uint64_t flags;

	memcpy(&flags, (const uint8_t *)attr + offsetof(struct perf_event_attr, read_format) + sizeof(flags),
		sizeof(flags));
	return flags >> DEFER_CALLCHAIN & 1;
}

bool perf_data_event_is_dummy(const struct perf_data_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE && event->attr.config == PERF_COUNT_SW_DUMMY;
}

uint32_t perf_data_events_first(const struct perf_data_events *events)
{
	for (size_t i = 0; i < events->count; i++) {
		const struct perf_data_event *event = &events->items[i];

		if (event->attr.sample_period != 0 && !perf_data_event_is_dummy(event))
			return (uint32_t)i;
	}
	return PERF_DATA_NO_EVENT;
}

bool perf_data_event_is_clock(const struct perf_data_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE &&
	       (event->attr.config == PERF_COUNT_SW_CPU_CLOCK || event->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}
