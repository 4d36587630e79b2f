/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events that a file counts, their formulas, and the value types that they become. */
#include "profile/foreign/callgrind/callgrind.h"

#include <ctype.h>
#include <string.h>

size_t callgrind_events_find(const struct callgrind_events *events, const char *name, size_t size)
{
	for (size_t i = 0; i < events->column_count; i++)
		if (strlen(events->columns[i].name) == size && memcmp(events->columns[i].name, name, size) == 0)
			return i;
	return CALLGRIND_MAX_EVENTS;
}

static size_t event_find(const struct callgrind_events *events, const char *name)
{
	return callgrind_events_find(events, name, strlen(name));
}

size_t callgrind_events_main(const struct callgrind_events *events)
{
	size_t instructions = event_find(events, "Ir");

	return instructions < CALLGRIND_MAX_EVENTS ? instructions : 0;
}

/* ---- Descriptions of events ---- */

static struct text_cursor event_word(struct text_cursor *text)
{
	text_skip_blanks(text);
	return text_take_word(text, " \t=:+*");
}

static bool event_takes(struct text_cursor *text, char wanted)
{
	text_skip_blanks(text);
	return text_take_byte(text, wanted);
}

static void event_add(int64_t *into, const int64_t *from, int64_t factor)
{
	for (size_t i = 0; i < CALLGRIND_MAX_EVENTS; i++) {
		int64_t product;

		if (__builtin_mul_overflow(from[i], factor, &product))
			product = INT64_MAX;
		into[i] = saturating_add(into[i], product);
	}
}

/* An event of the file becomes 1 of its column, a derived one is put in. */
static bool event_term(const struct callgrind_events *events, struct text_cursor name, int64_t factor,
	int64_t factors[CALLGRIND_MAX_EVENTS])
{
	size_t column = callgrind_events_find(events, name.at, text_left(name));
	int64_t one[CALLGRIND_MAX_EVENTS] = { 0 };

	if (column < CALLGRIND_MAX_EVENTS) {
		one[column] = 1;
		event_add(factors, one, factor);
		return true;
	}
	for (size_t i = 0; i < events->derived_count; i++) {
		const struct callgrind_event *derived = &events->derived[i];

		if (text_is(name, derived->name)) {
			event_add(factors, derived->factors, factor);
			return true;
		}
	}
	return false;
}

/* Reads `10 L1m + 2 * Bcm + Ir`. A formula with an event that the file does not have stays out. */
static bool event_formula(
	const struct callgrind_events *events, struct text_cursor *text, int64_t factors[CALLGRIND_MAX_EVENTS])
{
	do {
		struct text_cursor word = event_word(text);
		uint64_t factor = 1;

		if (text_left(word) < 10 && text_take_number(&word, INT64_MAX, &factor)) {
			(void)event_takes(text, '*');
			word = event_word(text);
		}
		if (text_left(word) == 0 || !event_term(events, word, (int64_t)factor, factors))
			return false;
	} while (event_takes(text, '+'));
	return true;
}

/* Returns the unit of `(elapsed ns)`, `(system cpu us)`; milliseconds in files of older versions, which do not say. */
static int64_t event_unit_ns(const char *text, size_t size)
{
	if (memmem(text, size, "ns)", 3) || memmem(text, size, "nsec", 4))
		return 1;
	return memmem(text, size, "us)", 3) || memmem(text, size, "usec", 4) ? 1000 : 1000000;
}

bool callgrind_events_describe(struct callgrind_events *events, const char *bytes, size_t size, struct error *err)
{
	struct text_cursor text = { bytes, bytes + size };
	struct callgrind_event event = { 0 };
	struct text_cursor name = event_word(&text);

	if (text_is(name, "sysTime"))
		events->time_ns[0] = event_unit_ns(bytes, size);
	if (text_is(name, "sysCpuTime"))
		events->time_ns[1] = event_unit_ns(bytes, size);
	if (text_left(name) == 0 || text_left(name) >= sizeof(event.name) || !event_takes(&text, '='))
		return true;
	memcpy(event.name, name.at, text_left(name));
	if (!event_formula(events, &text, event.factors))
		return true;
	if (events->derived_count == CALLGRIND_MAX_EVENTS)
		return error_set(err, ERROR_LIMIT, "more than %d derived events", CALLGRIND_MAX_EVENTS);
	events->derived[events->derived_count++] = event;
	return true;
}

/* ---- Value types ---- */

/* Returns the columns of these events, bit by bit; 0: the file has none of them. */
static uint32_t event_columns(const struct callgrind_events *events, const char *const names[], size_t count)
{
	uint32_t columns = 0;

	for (size_t i = 0; i < count; i++) {
		size_t column = event_find(events, names[i]);

		if (column < CALLGRIND_MAX_EVENTS)
			columns |= UINT32_C(1) << column;
	}
	return columns;
}

#define EVENT_COLUMNS(events, ...)                                                                                     \
	event_columns((events), (const char *const[]){ __VA_ARGS__ },                                                  \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

static bool event_add_type(struct callgrind_events *events, struct profile *profile, const char *type, const char *unit,
	const struct callgrind_value *value, struct error *err)
{
	if (profile->value_type_count == PROFILE_MAX_VALUE_TYPES)
		return true;
	events->values[profile->value_type_count] = *value;
	return profile_add_value_type(profile, type, unit, err);
}

static bool event_add_sum(
	struct callgrind_events *events, struct profile *profile, const char *type, uint32_t columns, struct error *err)
{
	struct callgrind_value value = { .kind = CALLGRIND_SUM, .columns = columns, .factor = 1 };

	return columns == 0 || event_add_type(events, profile, type, "count", &value, err);
}

static bool event_add_system_time(
	struct callgrind_events *events, struct profile *profile, uint32_t *used, struct error *err)
{
	bool is_cpu = event_find(events, "sysCpuTime") < CALLGRIND_MAX_EVENTS;
	uint32_t columns = EVENT_COLUMNS(events, is_cpu ? "sysCpuTime" : "sysTime");
	int64_t unit = events->time_ns[is_cpu];
	struct callgrind_value value = { .kind = CALLGRIND_SUM, .columns = columns, .factor = unit ? unit : 1000000 };

	*used |= columns;
	return columns == 0 || event_add_type(events, profile, COST_MODEL_SYSTEM, "nanoseconds", &value, err);
}

/* Adds the value types of `kelvin simulate`. `*used`: the columns that need no value type of their own. */
static bool event_add_common(
	struct callgrind_events *events, struct profile *profile, uint32_t *used, struct error *err)
{
	struct callgrind_value cycles = { .kind = CALLGRIND_CYCLES };
	uint32_t instructions = EVENT_COLUMNS(events, "Ir"), calls = EVENT_COLUMNS(events, "sysCount");
	uint32_t first = EVENT_COLUMNS(events, "I1mr", "D1mr", "D1mw");
	uint32_t last = EVENT_COLUMNS(events, "ILmr", "DLmr", "DLmw", "I2mr", "D2mr", "D2mw");
	uint32_t branches = EVENT_COLUMNS(events, "Bcm", "Bim");

	*used = instructions | calls;
	if (instructions && first && last && !event_add_type(events, profile, COST_MODEL_CYCLES, "count", &cycles, err))
		return false;
	return event_add_sum(events, profile, COST_MODEL_INSTRUCTIONS, instructions, err) &&
	       event_add_sum(events, profile, COST_MODEL_FIRST_MISSES, first, err) &&
	       event_add_sum(events, profile, COST_MODEL_LAST_MISSES, last, err) &&
	       event_add_sum(events, profile, COST_MODEL_BRANCH_MISSES, branches, err) &&
	       event_add_sum(events, profile, COST_MODEL_SYSTEM_CALLS, calls, err) &&
	       event_add_system_time(events, profile, used, err);
}

/* The quantity that an event measures, and how many of the unit one of its is. */
struct event_measure {
	char type[CALLGRIND_EVENT_BYTES];
	const char *unit;
	int64_t factor;
};

/* Returns what pprof scales by: it names 1,024 bytes kB. NULL: not known. */
static const char *event_unit(const char *text, int64_t *scale)
{
	static const char *const sizes[] = { "B", "kB", "MB", "GB", "TB", "PB" };
	struct profile_unit unit = profile_unit(text);

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (strcmp(text, sizes[i]) == 0) {
			*scale = INT64_C(1) << (10 * i);
			return "bytes";
		}
	*scale = unit.scale;
	if (strcmp(unit.name, "nanoseconds") == 0 || strcmp(unit.name, "bytes") == 0)
		return strcmp(unit.name, "bytes") == 0 ? "bytes" : "nanoseconds";
	return strcmp(text, "count") == 0 ? "count" : NULL;
}

/*
 * Tells `cpu(ms)` of pprof, `Time_(10ns)` and `Memory_(bytes)` of Xdebug, `ns` of pyprof2calltree; else a number of
 * `unit`.
 */
static struct event_measure event_measure_of(const char *name, const char *unit)
{
	struct event_measure measure = { .unit = unit, .factor = 1 };
	const char *open = strrchr(name, '('), *text = open ? open + 1 : name, *known;
	size_t size = strlen(text) - (open && text[strlen(text) - 1] == ')'), type = open ? (size_t)(open - name) : 0;
	char own[CALLGRIND_EVENT_BYTES];
	int64_t times = 0;

	memcpy(measure.type, name, strlen(name));
	for (; size > 0 && isdigit((unsigned char)*text) && times < 1000; text++, size--)
		times = times * 10 + (*text - '0');
	memcpy(own, text, size);
	own[size] = '\0';
	known = event_unit(own, &measure.factor);
	if (!known || (!open && strcmp(known, "nanoseconds") != 0)) {
		measure.factor = 1;
		return measure;
	}
	measure.unit = known;
	measure.factor *= times ? times : 1;
	while (type > 0 && name[type - 1] == '_')
		type--;
	snprintf(measure.type, sizeof(measure.type), "%.*s", (int)type, name);
	if (type == 0)
		memcpy(measure.type, "time", sizeof("time"));
	return measure;
}

static bool event_add_others(struct callgrind_events *events, struct profile *profile, uint32_t used, struct error *err)
{
	const char *unit = events->is_simulation ? "count" : "";

	for (size_t i = 0; i < events->derived_count; i++) {
		struct callgrind_value value = { .kind = CALLGRIND_DERIVED, .derived = i };
		bool is_whole = true;

		for (size_t column = 0; column < events->column_count; column++)
			is_whole = is_whole &&
				   (!(events->negative >> column & 1) || events->derived[i].factors[column] == 0);
		if (is_whole && !event_add_type(events, profile, events->derived[i].name, unit, &value, err))
			return false;
	}
	for (size_t i = 0; i < events->column_count; i++) {
		struct event_measure measure = event_measure_of(events->columns[i].name, unit);
		struct callgrind_value value = {
			.kind = CALLGRIND_SUM, .columns = UINT32_C(1) << i, .factor = measure.factor
		};

		if (!((used | events->negative) >> i & 1) &&
			!event_add_type(events, profile, measure.type, measure.unit, &value, err))
			return false;
	}
	return true;
}

bool callgrind_events_add_types(struct callgrind_events *events, struct profile *profile, struct error *err)
{
	uint32_t used = 0;

	if (!event_add_common(events, profile, &used, err) || !event_add_others(events, profile, used, err))
		return false;
	for (uint32_t i = 0; i < profile->value_type_count; i++)
		profile->counts_of[i] = PROFILE_NONE;
	profile->default_value_type = 1;
	if (!events->is_simulation || event_find(events, "Ir") == CALLGRIND_MAX_EVENTS)
		return true;
	profile->period = 1;
	return profile_intern(profile, COST_MODEL_INSTRUCTIONS, &profile->period_type.type, err) &&
	       profile_intern(profile, "count", &profile->period_type.unit, err);
}

/* ---- Values ---- */

static int64_t callgrind_values_sum_of(const int64_t *columns, uint32_t which)
{
	int64_t sum = 0;

	for (; which; which &= which - 1)
		sum = saturating_add(sum, columns[__builtin_ctz(which)]);
	return sum;
}

static int64_t saturating_multiply(int64_t a, int64_t b)
{
	int64_t product;

	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* More than this costs no line of a program: the model's factors cannot make its numbers overflow. */
static int64_t within_model(int64_t count)
{
	return count < INT64_MAX >> 10 ? count : INT64_MAX >> 10;
}

static int64_t cycles_of(const struct callgrind_events *events, const int64_t *columns)
{
	int64_t instructions = within_model(columns[event_find(events, "Ir")]);
	int64_t first = within_model(callgrind_values_sum_of(columns, EVENT_COLUMNS(events, "I1mr", "D1mr", "D1mw")));
	int64_t last = within_model(callgrind_values_sum_of(
		columns, EVENT_COLUMNS(events, "ILmr", "DLmr", "DLmw", "I2mr", "D2mr", "D2mw")));
	int64_t branches = within_model(callgrind_values_sum_of(columns, EVENT_COLUMNS(events, "Bcm", "Bim")));

	return cost_model_cycles(COST_MODEL_QUARTERS * instructions, first > last ? first : last, last, branches);
}

void callgrind_events_values(
	const struct callgrind_events *events, const struct profile *profile, const int64_t *columns, int64_t *values)
{
	values[0] = 0;
	for (uint32_t v = 1; v < profile->value_type_count; v++) {
		const struct callgrind_value *value = &events->values[v];
		int64_t sum = 0;

		switch (value->kind) {
		case CALLGRIND_SUM:
			sum = saturating_multiply(callgrind_values_sum_of(columns, value->columns), value->factor);
			break;
		case CALLGRIND_CYCLES:
			sum = cycles_of(events, columns);
			break;
		case CALLGRIND_DERIVED:
			for (size_t i = 0; i < events->column_count; i++)
				sum = saturating_add(sum,
					saturating_multiply(columns[i], events->derived[value->derived].factors[i]));
			break;
		}
		values[v] = sum;
	}
}
