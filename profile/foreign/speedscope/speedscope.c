/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/speedscope/speedscope.h"

#include "profile/foreign/json/reader.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_DEPTH = 1 << 16 };

/* The first is of numbers that nobody names. If any of them is a fraction, all are kept as in folded stacks. */
static const struct {
	const char *name, *type, *unit;
	double scale;
} units[] = {
	{ "none", "weight", "", 1 },
	{ "nanoseconds", "time", "nanoseconds", 1 },
	{ "microseconds", "time", "nanoseconds", 1e3 },
	{ "milliseconds", "time", "nanoseconds", 1e6 },
	{ "seconds", "time", "nanoseconds", 1e9 },
	{ "bytes", "space", "bytes", 1 },
};
enum { UNITS = sizeof(units) / sizeof(units[0]), UNIT_NONE = 0 };
static const char fractions_unit[] = "1/1000000";
static const double fractions_scale = 1e6;

struct speedscope_frame {
	uint32_t name, file; /* strings */
	uint32_t line, location;
};

/* A profile of the file: where its arrays are, since its unit may stand behind them. */
struct speedscope_section {
	size_t samples, weights, events; /* offsets; 0: it has none */
	double start, end;               /* what is still open ends at the end */
	uint32_t thread;
	size_t unit;
};

struct speedscope {
	struct json_reader json;
	struct profile *profile;
	struct speedscope_section *sections; /* owned, as the arrays below */
	struct speedscope_frame *frames;
	uint32_t *open;    /* frames of an evented profile, the outermost first */
	uint32_t *stacks;  /* [depth] stacks of these */
	uint32_t *sampled; /* stacks of the profile that is read */
	size_t section_count, section_capacity, frame_count, frame_capacity, open_count, open_capacity, stack_capacity,
		sampled_count, sampled_capacity;
	uint32_t value_types[UNITS]; /* [unit]; 0: it does not occur */
	double *rests;               /* owned: [stack] what rounding left of its weights before */
	size_t rest_capacity;
	bool has_fractions; /* among the weights without a unit */
	uint32_t run;
	struct buffer name; /* scratch */
};

static void speedscope_deinit(struct speedscope *r)
{
	json_reader_deinit(&r->json);
	profile_destroy(r->profile);
	free(r->sections);
	free(r->frames);
	free(r->open);
	free(r->stacks);
	free(r->sampled);
	free(r->rests);
	buffer_deinit(&r->name);
}

/* ---- Frames ---- */

/* The strings of a frame are borrowed by turns, so they are kept in the profile. */
static bool speedscope_intern(struct speedscope *r, struct json_reader_string text, uint32_t *id, struct error *err)
{
	return string_table_add(r->profile->strings, text.text, text.size, id, err);
}

static struct profile_frame_span speedscope_span_of(const struct speedscope *r, uint32_t string)
{
	const char *text = profile_string(r->profile, string);

	return (struct profile_frame_span){ text, strlen(text) };
}

static bool speedscope_read_frame(struct speedscope *r, struct error *err)
{
	struct speedscope_frame frame = { .location = PROFILE_NONE };
	int64_t line;
	struct json_reader_string key;
	bool ok = true;

	json_reader_enter(&r->json, '{');
	while (ok && json_reader_key(&r->json, &key)) {
		if (json_reader_is(key, "name"))
			ok = speedscope_intern(r, json_reader_text(&r->json), &frame.name, err);
		else if (json_reader_is(key, "file"))
			ok = speedscope_intern(r, json_reader_text(&r->json), &frame.file, err);
		else if (json_reader_is(key, "line")) {
			line = json_reader_integer(&r->json);
			frame.line = line > 0 && line < UINT32_MAX ? (uint32_t)line : 0;
		} else
			json_reader_skip(&r->json);
	}
	return ok && ARRAY_APPEND(&r->frames, &r->frame_capacity, &r->frame_count, ARRAY_MAX_IDS, err, frame);
}

static bool read_frames(struct speedscope *r, struct error *err)
{
	json_reader_enter(&r->json, '[');
	while (json_reader_item(&r->json))
		if (!speedscope_read_frame(r, err))
			return false;
	return true;
}

static bool read_shared(struct speedscope *r, struct error *err)
{
	struct json_reader_string key;
	bool ok = true;

	json_reader_enter(&r->json, '{');
	while (ok && json_reader_key(&r->json, &key)) {
		if (json_reader_is(key, "frames"))
			ok = read_frames(r, err);
		else
			json_reader_skip(&r->json);
	}
	return ok;
}

/* ---- Where the profiles are ---- */

static void speedscope_read_unit(struct speedscope *r, struct speedscope_section *section)
{
	struct json_reader_string unit = json_reader_text(&r->json);

	for (section->unit = 0; section->unit < UNITS; section->unit++)
		if (json_reader_is(unit, units[section->unit].name))
			return;
	section->unit = 0;
	json_reader_fail(&r->json, "the unit is none of speedscope's");
}

/* py-spy calls a thread `Thread 15179 "MainThread"`: its number is another one in each recording. */
static struct json_reader_string thread_name(struct json_reader_string name)
{
	static const char mark[] = "Thread ";
	const char *end = name.text + name.size, *quote = memchr(name.text, '"', name.size);

	if (name.size < sizeof(mark) || memcmp(name.text, mark, sizeof(mark) - 1) != 0 || !quote || end[-1] != '"' ||
		quote + 1 == end)
		return name;
	return (struct json_reader_string){ quote + 1, (size_t)(end - 1 - (quote + 1)) };
}

static void skip_from(struct speedscope *r, size_t *offset)
{
	*offset = (size_t)(r->json.at - r->json.start);
	json_reader_skip(&r->json);
}

static bool speedscope_read_section(struct speedscope *r, struct error *err)
{
	struct speedscope_section section = { 0 };
	struct profile_thread thread = { .run = r->run };
	struct json_reader_string key;
	bool ok = true;

	json_reader_enter(&r->json, '{');
	while (ok && json_reader_key(&r->json, &key)) {
		if (json_reader_is(key, "name"))
			ok = speedscope_intern(r, thread_name(json_reader_text(&r->json)), &thread.name, err);
		else if (json_reader_is(key, "unit"))
			speedscope_read_unit(r, &section);
		else if (json_reader_is(key, "startValue"))
			section.start = json_reader_number(&r->json);
		else if (json_reader_is(key, "endValue"))
			section.end = json_reader_number(&r->json);
		else if (json_reader_is(key, "samples"))
			skip_from(r, &section.samples);
		else if (json_reader_is(key, "weights"))
			skip_from(r, &section.weights);
		else if (json_reader_is(key, "events"))
			skip_from(r, &section.events);
		else
			json_reader_skip(&r->json);
	}
	/* Two threads may have one name. */
	thread.tid = (int32_t)(r->section_count < INT32_MAX ? r->section_count + 1 : INT32_MAX);
	if (!ok || !json_reader_ok(&r->json, err) || !profile_add_thread(r->profile, &thread, &section.thread, err) ||
		!ARRAY_APPEND(&r->sections, &r->section_capacity, &r->section_count, ARRAY_MAX_IDS, err, section))
		return false;
	return true;
}

static bool speedscope_read_sections(struct speedscope *r, struct error *err)
{
	json_reader_enter(&r->json, '[');
	while (json_reader_item(&r->json))
		if (!speedscope_read_section(r, err))
			return false;
	return true;
}

static bool speedscope_read_members(struct speedscope *r, struct error *err)
{
	struct json_reader_string key;
	bool ok = true;

	json_reader_enter(&r->json, '{');
	while (ok && json_reader_key(&r->json, &key)) {
		if (json_reader_is(key, "shared"))
			ok = read_shared(r, err);
		else if (json_reader_is(key, "profiles"))
			ok = speedscope_read_sections(r, err);
		else if (json_reader_is(key, "exporter"))
			ok = speedscope_intern(r, json_reader_text(&r->json), &r->profile->facts.tool, err);
		else
			json_reader_skip(&r->json);
	}
	return ok && json_reader_ok(&r->json, err);
}

/* ---- Numbers ---- */

static uint32_t speedscope_read_number(struct speedscope *r)
{
	int64_t number = json_reader_integer(&r->json);

	if (number >= 0 && (uint64_t)number < r->frame_count)
		return (uint32_t)number;
	json_reader_fail(&r->json, "a frame is none of those that the file lists");
	return 0;
}

struct event {
	bool is_open;
	uint32_t frame;
	double at;
};

static void speedscope_read_event(struct speedscope *r, struct event *event)
{
	struct json_reader_string key, type = { "", 0 };

	*event = (struct event){ 0 };
	json_reader_enter(&r->json, '{');
	while (json_reader_key(&r->json, &key)) {
		if (json_reader_is(key, "type")) {
			type = json_reader_text(&r->json);
			event->is_open = json_reader_is(type, "O");
			if (!event->is_open && !json_reader_is(type, "C"))
				json_reader_fail(&r->json, "an event neither opens nor closes a frame");
		} else if (json_reader_is(key, "frame")) {
			event->frame = speedscope_read_number(r);
		} else if (json_reader_is(key, "at")) {
			event->at = json_reader_number(&r->json);
		} else {
			json_reader_skip(&r->json);
		}
	}
	if (event->frame >= r->frame_count)
		json_reader_fail(&r->json, "a frame is none of those that the file lists");
}

/* ---- Values ---- */

static void speedscope_go_to(struct speedscope *r, size_t offset)
{
	r->json.at = r->json.start + offset;
}

/*
 * Returns whether an array of weights or of events has a number that is not whole. What is wrong with it is told later.
 */
static bool array_has_fractions(struct speedscope *r, size_t offset)
{
	bool found = false;
	struct event event;

	speedscope_go_to(r, offset);
	json_reader_enter(&r->json, '[');
	while (!found && json_reader_item(&r->json)) {
		if (json_reader_peek(&r->json) == '{')
			speedscope_read_event(r, &event);
		else
			event.at = json_reader_number(&r->json);
		found = event.at != floor(event.at);
	}
	return found && !r->json.failure;
}

static void find_fractions(struct speedscope *r)
{
	for (size_t i = 0; i < r->section_count && !r->has_fractions && !r->json.failure; i++) {
		const struct speedscope_section *section = &r->sections[i];
		size_t numbers = section->weights ? section->weights : section->events;

		r->has_fractions = section->unit == UNIT_NONE && numbers && array_has_fractions(r, numbers);
	}
}

/* Units that become one have one value type. */
static bool speedscope_add_value_types(struct speedscope *r, struct error *err)
{
	for (size_t i = 0; i < r->section_count; i++) {
		size_t unit = r->sections[i].unit;

		for (size_t k = 0; k < UNITS && r->value_types[unit] == 0; k++)
			if (strcmp(units[k].unit, units[unit].unit) == 0)
				r->value_types[unit] = r->value_types[k];
		if (r->value_types[unit] > 0)
			continue;
		if (!profile_add_value_type(r->profile, units[unit].type,
			    unit == UNIT_NONE && r->has_fractions ? fractions_unit : units[unit].unit, err))
			return false;
		r->value_types[unit] = r->profile->value_type_count - 1;
	}
	r->profile->default_value_type = r->section_count > 0 ? r->value_types[r->sections[0].unit] : 0;
	return true;
}

static bool reserve_rest(struct speedscope *r, uint32_t stack, struct error *err)
{
	size_t had = r->rest_capacity;

	if (stack < had)
		return true;
	if (!ARRAY_RESERVE(&r->rests, &r->rest_capacity, (size_t)stack + 1, ARRAY_MAX_IDS, err))
		return false;
	memset(r->rests + had, 0, (r->rest_capacity - had) * sizeof(*r->rests));
	return true;
}

/* Parts of what is counted are carried over to the stack's next weight, so that the sum of each stack is right. */
static bool add_weight(struct speedscope *r, const struct speedscope_section *section, uint32_t stack, double weight,
	struct error *err)
{
	int64_t values[PROFILE_MAX_VALUE_TYPES] = { 1 };
	bool is_fraction = section->unit == UNIT_NONE && r->has_fractions;
	double scaled, whole;

	if (!reserve_rest(r, stack, err))
		return false;
	scaled = weight * (is_fraction ? fractions_scale : units[section->unit].scale) + r->rests[stack];
	whole = floor(scaled + 0.5);
	if (weight < 0) {
		json_reader_fail(&r->json,
			"a weight is negative: this is a difference of two profiles; give the two themselves");
		return true;
	}
	if (!(whole < 9e18)) {
		json_reader_fail(&r->json, "a weight is too large");
		return true;
	}
	r->rests[stack] = scaled - whole;
	values[r->value_types[section->unit]] = (int64_t)whole;
	return whole == 0 || profile_add_sample(r->profile, stack, section->thread, values, -1, err);
}

static bool make_location(struct speedscope *r, struct speedscope_frame *frame, struct error *err)
{
	struct profile_function function = { .file = frame->file, .name_source = PROFILE_NAME_IMPORTED };
	struct profile_frame_span name =
		profile_frame_name(speedscope_span_of(r, frame->name), speedscope_span_of(r, frame->file), &r->name);
	struct profile_line line = { .line = frame->line };

	if (name.size == 0)
		name = (struct profile_frame_span){ "(anonymous)", strlen("(anonymous)") };
	return buffer_ok(&r->name, err) &&
	       string_table_add(r->profile->strings, name.text, name.size, &function.name, err) &&
	       profile_add_function(r->profile, &function, &line.function, err) &&
	       profile_add_location_of_lines(r->profile, PROFILE_NONE, &line, 1, &frame->location, err);
}

static bool speedscope_push_frame(struct speedscope *r, uint32_t number, uint32_t *stack, struct error *err)
{
	struct speedscope_frame *frame = &r->frames[number];

	return (frame->location != PROFILE_NONE || make_location(r, frame, err)) &&
	       profile_add_stack(r->profile, *stack, frame->location, stack, err);
}

/* ---- Sampled profiles ---- */

static bool speedscope_read_stack(struct speedscope *r, uint32_t *stack, struct error *err)
{
	size_t depth = 0;

	*stack = 0;
	json_reader_enter(&r->json, '[');
	while (json_reader_item(&r->json)) {
		uint32_t number = speedscope_read_number(r);

		if (++depth > MAX_DEPTH)
			return error_set(err, ERROR_LIMIT, "a stack has more than 65,536 frames");
		if (!r->json.failure && !speedscope_push_frame(r, number, stack, err))
			return false;
	}
	return true;
}

static bool read_samples(struct speedscope *r, const struct speedscope_section *section, struct error *err)
{
	size_t at = 0;

	r->sampled_count = 0;
	speedscope_go_to(r, section->samples);
	json_reader_enter(&r->json, '[');
	while (json_reader_item(&r->json)) {
		uint32_t stack;

		if (!speedscope_read_stack(r, &stack, err) ||
			!ARRAY_APPEND(&r->sampled, &r->sampled_capacity, &r->sampled_count, ARRAY_MAX_IDS, err, stack))
			return false;
	}
	if (!json_reader_ok(&r->json, err))
		return false;
	speedscope_go_to(r, section->weights);
	json_reader_enter(&r->json, '[');
	while (json_reader_item(&r->json)) {
		double weight = json_reader_number(&r->json);

		if (at == r->sampled_count)
			json_reader_fail(&r->json, "there are more weights than samples");
		else if (!add_weight(r, section, r->sampled[at++], weight, err))
			return false;
	}
	if (at < r->sampled_count)
		json_reader_fail(&r->json, "there are fewer weights than samples");
	return json_reader_ok(&r->json, err);
}

/* ---- Evented profiles ---- */

static bool open_frame(struct speedscope *r, uint32_t frame, struct error *err)
{
	size_t depth = r->open_count;
	uint32_t below = depth > 0 ? r->stacks[depth - 1] : 0;

	if (!ARRAY_RESERVE(&r->open, &r->open_capacity, depth + 1, MAX_DEPTH, err) ||
		!ARRAY_RESERVE(&r->stacks, &r->stack_capacity, depth + 1, MAX_DEPTH, err) ||
		!speedscope_push_frame(r, frame, &below, err))
		return false;
	r->stacks[depth] = below;
	r->open[r->open_count++] = frame;
	return true;
}

static bool speedscope_add_open(
	struct speedscope *r, const struct speedscope_section *section, double from, double to, struct error *err)
{
	return r->open_count == 0 || to <= from || add_weight(r, section, r->stacks[r->open_count - 1], to - from, err);
}

static bool take_event(struct speedscope *r, const struct speedscope_section *section, const struct event *event,
	double before, struct error *err)
{
	if (!speedscope_add_open(r, section, before, event->at, err))
		return false;
	if (event->is_open)
		return open_frame(r, event->frame, err);
	if (r->open_count == 0 || r->open[r->open_count - 1] != event->frame)
		json_reader_fail(&r->json, "a frame is closed that is not the innermost open one");
	else
		r->open_count--;
	return true;
}

/* Events that are not in order of time. Their order in the file is that of calls and returns, so it holds. */
struct disorder {
	size_t early, all;
	double most; /* by which an event is earlier than the one before it, in the file's unit */
};

static bool note_disorder(struct speedscope *r, const struct speedscope_section *section,
	const struct disorder *disorder, struct error *err)
{
	bool has_unit = section->unit != UNIT_NONE;
	char length[48] = "";

	if (section->end > section->start)
		snprintf(length, sizeof(length), " of %g in all", section->end - section->start);
	return disorder->early == 0 ||
	       profile_add_doubt(r->profile, err,
		       "%zu of the %zu events in '%.100s' %s earlier than the event before, by up to %g%s%s%s: %s taken to have come at the same moment",
		       disorder->early, disorder->all,
		       profile_string(r->profile, r->profile->threads[section->thread].name),
		       disorder->early == 1 ? "is" : "are", disorder->most, has_unit ? " " : "",
		       has_unit ? units[section->unit].name : "", length, disorder->early == 1 ? "it is" : "they are");
}

static bool speedscope_read_events(struct speedscope *r, const struct speedscope_section *section, struct error *err)
{
	struct event event;
	struct disorder disorder = { 0 };
	double before = -INFINITY;

	r->open_count = 0;
	speedscope_go_to(r, section->events);
	json_reader_enter(&r->json, '[');
	while (json_reader_item(&r->json)) {
		speedscope_read_event(r, &event);
		if (r->json.failure)
			break;
		disorder.all++;
		if (event.at < before) {
			disorder.early++;
			disorder.most = fmax(disorder.most, before - event.at);
			event.at = before;
		}
		if (!take_event(r, section, &event, before, err))
			return false;
		before = event.at;
	}
	return speedscope_add_open(r, section, before, section->end, err) && json_reader_ok(&r->json, err) &&
	       note_disorder(r, section, &disorder, err);
}

/* ---- The file ---- */

static bool read_profiles(struct speedscope *r, struct error *err)
{
	for (size_t i = 0; i < r->section_count; i++) {
		const struct speedscope_section *section = &r->sections[i];
		bool is_sampled = section->samples && section->weights;

		if (!is_sampled && !section->events)
			return error_set(
				err, ERROR_FORMAT, "profile %zu has neither samples with weights nor events", i + 1);
		if (!(is_sampled ? read_samples(r, section, err) : speedscope_read_events(r, section, err)))
			return error_prefix(err, "profile %zu", i + 1);
	}
	return true;
}

/* Sections are threads, or what was recorded at the same time: together they last from the first start to the last end.
 */
static void set_duration(struct speedscope *r)
{
	double start = INFINITY, end = -INFINITY;

	for (size_t i = 0; i < r->section_count; i++) {
		const struct speedscope_section *section = &r->sections[i];
		double scale = units[section->unit].scale;

		if (strcmp(units[section->unit].unit, "nanoseconds") != 0)
			continue;
		start = fmin(start, section->start * scale);
		end = fmax(end, section->end * scale);
	}
	if (end > start && end - start < 9e18)
		r->profile->runs[r->run].duration_ns = (int64_t)(end - start);
}

static bool speedscope_begin(struct speedscope *r, struct error *err)
{
	struct profile_run run = { .exit_status = -1 };

	buffer_init(&r->name, 1 << 22);
	return profile_create(&r->profile, err) && profile_add_run(r->profile, &run, &r->run, err);
}

bool speedscope_read(const void *bytes, size_t size, size_t most_stacks, struct profile **profile, struct error *err)
{
	CLEANUP(speedscope_deinit) struct speedscope r = { 0 };

	json_reader_init(&r.json, bytes, size);
	if (!speedscope_begin(&r, err))
		return false;
	profile_limit_stacks(r.profile, most_stacks);
	if (!speedscope_read_members(&r, err))
		return false;
	find_fractions(&r);
	if (!speedscope_add_value_types(&r, err) || !read_profiles(&r, err))
		return false;
	set_duration(&r);
	r.profile->weight_is_unnamed = r.profile->value_type_count == 2 && r.value_types[UNIT_NONE] == 1;
	if (r.profile->sample_count > 0)
		weights_settle(r.profile, r.profile->default_value_type);
	for (size_t i = 0; i < r.profile->sample_count; i++)
		r.profile->quality.samples += (uint64_t)r.profile->values[i * r.profile->value_type_count];
	if (!profile_validate(r.profile, err))
		return false;
	*profile = TAKE(r.profile);
	return true;
}
