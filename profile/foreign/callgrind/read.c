/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses callgrind.out and cachegrind.out, line by line, into a table of costs and calls. */
#include "profile/foreign/callgrind/callgrind.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Contexts of 200 callers with C++ names are a megabyte. */
enum { CALLGRIND_MAX_LINE_BYTES = 16 << 20, CALLGRIND_MAX_POSITIONS = 3 };

/* The meaning of the next line with a position. */
enum callgrind_expect {
	EXPECT_COST,
	EXPECT_CALL, /* behind `calls=`: where the call is, and its inclusive cost */
	EXPECT_JUMP, /* behind `jump=` or `jcnd=`: where the jump is, and no cost */
};

struct callgrind_reader {
	struct text_lines lines;
	struct profile *profile;
	struct callgrind_names names;
	struct callgrind_events events;
	struct callgrind_table table;
	bool is_cachegrind, has_costs; /* has_costs: since the last totals */
	uint32_t run, thread;          /* thread: PROFILE_NONE until the next function */
	int32_t pid, thread_number;
	uint32_t process_name; /* string */
	/* The state of the part that is being read. */
	size_t position_count, line_position; /* line_position: which of the positions; CALLGRIND_MAX_POSITIONS: none */
	size_t columns[CALLGRIND_MAX_EVENTS], column_count; /* the events of its lines */
	int64_t sums[CALLGRIND_MAX_EVENTS];                 /* [column] of the costs since the last totals */
	uint64_t position[CALLGRIND_MAX_POSITIONS];
	enum callgrind_expect expect;
	uint32_t object, function_file, file, function; /* function: a vertex, or PROFILE_NONE */
	uint32_t called_object, called_file, called;    /* of the next call; PROFILE_NONE: as the caller */
};

static void callgrind_reader_deinit(struct callgrind_reader *r)
{
	text_lines_deinit(&r->lines);
	callgrind_names_deinit(&r->names);
	callgrind_table_deinit(&r->table);
	profile_destroy(r->profile);
}

/* ---- Numbers ---- */

static bool is_end_of_word(const struct text_cursor *text)
{
	return text->at == text->end || *text->at == ' ' || *text->at == '\t';
}

/* Reads a decimal number, or a hexadecimal one behind `0x`, which ends at a space or at the end. */
static bool callgrind_read_number(struct text_cursor *text, uint64_t *number)
{
	bool is_hex = text_left(*text) > 2 && text->at[0] == '0' && (text->at[1] | 0x20) == 'x';

	text->at += is_hex ? 2 : 0;
	return (is_hex ? text_take_hex(text, number) : text_take_number(text, UINT64_MAX, number)) &&
	       is_end_of_word(text);
}

static bool fail_number(struct error *err)
{
	return error_set(
		err, ERROR_FORMAT, "no number where a position or a cost is expected, or one of more than 63 bits");
}

/* Reads one position: a number, `+` and a number or `-` and a number from the last one, or `*`, the last one. */
static bool read_position(struct text_cursor *text, uint64_t *position, struct error *err)
{
	int sign = text->at < text->end ? *text->at : '\0';
	uint64_t number;

	if (sign == '*') {
		text->at++;
		return true;
	}
	if (sign == '+' || sign == '-')
		text->at++;
	if (!callgrind_read_number(text, &number))
		return fail_number(err);
	*position = sign == '+' ? *position + number : sign == '-' ? *position - number : number;
	return true;
}

static bool read_positions(struct callgrind_reader *r, struct text_cursor *text, struct error *err)
{
	for (size_t i = 0; i < r->position_count; i++) {
		text_skip_blanks(text);
		if (!read_position(text, &r->position[i], err))
			return false;
	}
	return true;
}

/* Events that may be below 0 are balances, as of memory that is freed: no part of a whole, so none is shown of them. */
static bool take_negative(struct callgrind_reader *r, size_t column, struct error *err)
{
	const char *name = r->events.columns[column].name;

	if (r->events.negative >> column & 1)
		return true;
	if (r->events.is_simulation)
		return fail_number(err);
	if (column == r->table.main_column)
		return error_set(err, ERROR_FORMAT,
			"%s is below 0, and stacks are made by it: give a file whose first event is time", name);
	r->events.negative |= UINT32_C(1) << column;
	return profile_add_remark(r->profile, err,
		"the event %s is left out: it is below 0 at some places (the first is line %zu), so it has no shares",
		name, r->lines.line);
}

/* Costs at the end of a line may be missing: they are 0. cachegrind writes `.` for events that cannot happen there. */
static bool read_costs(
	struct callgrind_reader *r, struct text_cursor *text, int64_t costs[CALLGRIND_MAX_EVENTS], struct error *err)
{
	memset(costs, 0, r->table.column_count * sizeof(*costs));
	for (size_t i = 0; text_skip_blanks(text), text->at < text->end; i++) {
		bool is_negative = *text->at == '-', is_none = *text->at == '.';
		uint64_t number = 0;

		text->at += is_negative || is_none;
		if (is_none ? !is_end_of_word(text) : (!callgrind_read_number(text, &number) || number > INT64_MAX))
			return fail_number(err);
		if (i == r->column_count)
			return error_set(err, ERROR_FORMAT, "more costs than the events of the line `events:`");
		if (is_negative && number > 0 && !take_negative(r, r->columns[i], err))
			return false;
		costs[r->columns[i]] = r->events.negative >> r->columns[i] & 1 ? 0 : (int64_t)number;
	}
	return true;
}

/* ---- Costs and calls ---- */

static uint32_t current_line(const struct callgrind_reader *r)
{
	uint64_t line = r->line_position < CALLGRIND_MAX_POSITIONS ? r->position[r->line_position] : 0;

	return line > UINT32_MAX ? 0 : (uint32_t)line;
}

static bool callgrind_read_add_cost(struct callgrind_reader *r, const int64_t *costs, struct error *err)
{
	struct callgrind_record record = { .vertex = r->function, .file = r->file, .line = current_line(r) };

	r->has_costs = true;
	for (size_t i = 0; i < r->table.column_count; i++)
		if (__builtin_add_overflow(r->sums[i], costs[i], &r->sums[i]))
			return error_set(err, ERROR_FORMAT, "the costs do not fit 63 bits together");
	return callgrind_table_cost(&r->table, &record, costs, err);
}

static bool add_call(struct callgrind_reader *r, const int64_t *costs, struct error *err)
{
	struct callgrind_edge edge = {
		.caller = r->function,
		.callee = r->called,
		.file = r->file,
		.line = current_line(r),
		.inclusive = costs[r->table.main_column],
	};

	r->called_object = r->called_file = r->called = PROFILE_NONE;
	return callgrind_table_call(&r->table, &edge, err);
}

static bool read_cost_line(struct callgrind_reader *r, struct text_cursor *text, struct error *err)
{
	int64_t costs[CALLGRIND_MAX_EVENTS];
	enum callgrind_expect expect = r->expect;

	if (r->column_count == 0)
		return error_set(err, ERROR_FORMAT, "a cost before the line `events:`");
	if (!read_positions(r, text, err))
		return false;
	r->expect = EXPECT_COST;
	if (expect == EXPECT_JUMP)
		return true;
	if (r->function == PROFILE_NONE)
		return error_set(err, ERROR_FORMAT, "a cost before the first line `fn=`");
	if (!read_costs(r, text, costs, err))
		return false;
	return expect == EXPECT_CALL ? add_call(r, costs, err) : callgrind_read_add_cost(r, costs, err);
}

/* ---- Positions ---- */

static bool current_thread(struct callgrind_reader *r, struct error *err)
{
	struct profile_thread thread = {
		.run = r->run, .pid = r->pid, .tid = r->thread_number, .process_name = r->process_name
	};

	return r->thread != PROFILE_NONE || profile_add_thread(r->profile, &thread, &r->thread, err);
}

static bool callgrind_read_function(
	struct callgrind_reader *r, const struct text_cursor *name, bool is_called, struct error *err)
{
	struct callgrind_vertex vertex = { .object = r->object, .file = r->function_file };
	uint32_t *into = is_called ? &r->called : &r->function;

	if (r->column_count == 0)
		return error_set(err, ERROR_FORMAT, "a function before the line `events:`");
	if (is_called) {
		vertex.object = r->called_object != PROFILE_NONE ? r->called_object : r->object;
		vertex.file = r->called_file != PROFILE_NONE ? r->called_file : r->file;
	} else {
		r->file = r->function_file;
		r->expect = EXPECT_COST;
	}
	if (!current_thread(r, err) || !callgrind_name(&r->names, r->profile, CALLGRIND_FUNCTION, name->at,
					       text_left(*name), &vertex.path, err))
		return false;
	vertex.thread = r->thread;
	if (!callgrind_table_vertex(&r->table, &vertex, into, err))
		return false;
	r->table.vertices[*into].is_described |= !is_called;
	return true;
}

static bool callgrind_read_name(struct callgrind_reader *r, enum callgrind_name_kind kind,
	const struct text_cursor *name, uint32_t *into, struct error *err)
{
	return callgrind_name(&r->names, r->profile, kind, name->at, text_left(*name), into, err);
}

static bool read_calls(struct callgrind_reader *r, struct error *err)
{
	if (r->called == PROFILE_NONE)
		return error_set(err, ERROR_FORMAT, "`calls=` without a line `cfn=` before it");
	if (r->function == PROFILE_NONE)
		return error_set(err, ERROR_FORMAT, "a call before the first line `fn=`");
	r->expect = EXPECT_CALL;
	return true;
}

/* Reads `key=value`. */
static bool read_assignment(
	struct callgrind_reader *r, struct text_cursor key, const struct text_cursor *value, struct error *err)
{
	uint32_t ignored;

	if (text_is(key, "fn"))
		return callgrind_read_function(r, value, false, err);
	if (text_is(key, "cfn"))
		return callgrind_read_function(r, value, true, err);
	if (text_is(key, "fl")) {
		if (!callgrind_read_name(r, CALLGRIND_FILE, value, &r->function_file, err))
			return false;
		r->file = r->function_file;
		return true;
	}
	if (text_is(key, "fi") || text_is(key, "fe"))
		return callgrind_read_name(r, CALLGRIND_FILE, value, &r->file, err);
	if (text_is(key, "ob"))
		return callgrind_read_name(r, CALLGRIND_OBJECT, value, &r->object, err);
	if (text_is(key, "cfi") || text_is(key, "cfl"))
		return callgrind_read_name(r, CALLGRIND_FILE, value, &r->called_file, err);
	if (text_is(key, "cob"))
		return callgrind_read_name(r, CALLGRIND_OBJECT, value, &r->called_object, err);
	if (text_is(key, "calls"))
		return read_calls(r, err);
	if (text_is(key, "jump") || text_is(key, "jcnd")) {
		r->expect = EXPECT_JUMP;
		return true;
	}
	/* The target of a jump is read: the names may be referred to later. */
	if (text_is(key, "jfi") || text_is(key, "jfl"))
		return callgrind_read_name(r, CALLGRIND_FILE, value, &ignored, err);
	if (text_is(key, "jfn"))
		return callgrind_read_name(r, CALLGRIND_FUNCTION, value, &ignored, err);
	if (text_is(key, "job"))
		return callgrind_read_name(r, CALLGRIND_OBJECT, value, &ignored, err);
	return error_set(err, ERROR_FORMAT, "`%.*s=` is not a line of callgrind's format",
		(int)(text_left(key) < 40 ? text_left(key) : 40), key.at);
}

/* ---- Headers ---- */

static struct text_cursor callgrind_read_next_word(struct text_cursor *text)
{
	text_skip_blanks(text);
	return text_take_word(text, " \t");
}

static bool read_position_names(struct callgrind_reader *r, struct text_cursor *text, struct error *err)
{
	struct text_cursor word;

	r->position_count = 0;
	r->line_position = CALLGRIND_MAX_POSITIONS;
	while (word = callgrind_read_next_word(text), text_left(word) > 0) {
		if (r->position_count == CALLGRIND_MAX_POSITIONS)
			return error_set(err, ERROR_FORMAT, "more than three positions");
		if (text_is(word, "line"))
			r->line_position = r->position_count;
		r->position_count++;
	}
	return r->position_count > 0 || error_set(err, ERROR_FORMAT, "no name of a position");
}

/* The events of all parts have the columns of the first one. */
static bool add_column(struct callgrind_reader *r, const char *name, size_t size, struct error *err)
{
	size_t column = callgrind_events_find(&r->events, name, size);

	if (r->column_count == CALLGRIND_MAX_EVENTS || size >= CALLGRIND_EVENT_BYTES)
		return error_set(err, ERROR_LIMIT, "more than %d events, or one with a name of %d bytes",
			CALLGRIND_MAX_EVENTS, CALLGRIND_EVENT_BYTES);
	if (column == CALLGRIND_MAX_EVENTS) {
		if (r->table.column_count > 0)
			return error_set(err, ERROR_UNSUPPORTED,
				"the event %.*s is not in the first part of the file; give the parts as files of their own",
				(int)size, name);
		column = r->events.column_count++;
		memcpy(r->events.columns[column].name, name, size);
	}
	for (size_t i = 0; i < r->column_count; i++)
		if (r->columns[i] == column)
			return error_set(err, ERROR_FORMAT, "the event %.*s occurs twice", (int)size, name);
	r->columns[r->column_count++] = column;
	return true;
}

/* `events:` ends a header: what follows is another part. */
static bool callgrind_read_events(struct callgrind_reader *r, struct text_cursor *text, struct error *err)
{
	struct text_cursor word;

	r->column_count = 0;
	while (word = callgrind_read_next_word(text), text_left(word) > 0)
		if (!add_column(r, word.at, text_left(word), err))
			return false;
	if (r->column_count == 0)
		return error_set(err, ERROR_FORMAT, "`events:` names no event");
	/* pprof's files begin with `positions:` and this, such as `events: cpu(ms)`, and name no creator. */
	r->names.has_numbers = r->column_count == 1 && !r->events.is_simulation && word.at[-1] == ')';
	r->table.column_count = r->events.column_count;
	r->table.main_column = callgrind_events_main(&r->events);
	r->function = r->called = r->called_file = r->called_object = r->thread = PROFILE_NONE;
	r->has_costs = false;
	memset(r->sums, 0, sizeof(r->sums));
	return true;
}

/* Checks the costs of a part against those that who wrote the file has added up. */
static bool check_totals(struct callgrind_reader *r, struct text_cursor *text, struct error *err)
{
	int64_t totals[CALLGRIND_MAX_EVENTS];

	if (!read_costs(r, text, totals, err))
		return false;
	for (size_t i = 0; i < r->table.column_count; i++)
		if (totals[i] != r->sums[i] && !(r->events.negative >> i & 1))
			return error_set(err, ERROR_FORMAT,
				"the costs of %s are %lld together, the totals say %lld: the file is damaged; record it again",
				r->events.columns[i].name, (long long)r->sums[i], (long long)totals[i]);
	memset(r->sums, 0, sizeof(r->sums));
	r->has_costs = false;
	return true;
}

static bool read_command(struct callgrind_reader *r, const struct text_cursor *text, struct error *err)
{
	const char *end = memchr(text->at, ' ', text_left(*text)), *slash;

	end = end ? end : text->end;
	slash = memrchr(text->at, '/', (size_t)(end - text->at));
	slash = slash ? slash + 1 : text->at;
	return string_table_add(r->profile->strings, slash, (size_t)(end - slash), &r->process_name, err) &&
	       string_table_add(r->profile->strings, text->at, text_left(*text), &r->profile->facts.command, err);
}

/* Reads `callgrind-3.19.0`: the word before the version, as in other profiles. */
static bool read_creator(struct callgrind_reader *r, const struct text_cursor *text, struct error *err)
{
	static const char own[] = "callgrind-";
	size_t size = text_left(*text);
	struct buffer tool = BUFFER_INIT(CALLGRIND_MAX_LINE_BYTES);
	bool ok;

	r->events.is_simulation = size > strlen(own) && memcmp(text->at, own, strlen(own)) == 0;
	buffer_append(&tool, text->at, size);
	if (r->events.is_simulation && tool.data)
		tool.data[strlen(own) - 1] = ' ';
	ok = buffer_ok(&tool, err) &&
	     string_table_add(r->profile->strings, tool.size ? tool.data : "", tool.size, &r->profile->facts.tool, err);
	buffer_deinit(&tool);
	return ok;
}

static int32_t small_number(struct text_cursor *text)
{
	uint64_t number;

	return callgrind_read_number(text, &number) && number <= INT32_MAX ? (int32_t)number : 0;
}

/* `key: value`. Keys that are not known say nothing that is needed. */
static bool callgrind_read_header(
	struct callgrind_reader *r, struct text_cursor key, struct text_cursor *value, struct error *err)
{
	text_skip_blanks(value);
	if (text_is(key, "events"))
		return callgrind_read_events(r, value, err);
	if (text_is(key, "event"))
		return callgrind_events_describe(&r->events, value->at, text_left(*value), err);
	if (text_is(key, "positions"))
		return read_position_names(r, value, err);
	if (text_is(key, "totals") || (text_is(key, "summary") && r->is_cachegrind))
		return check_totals(r, value, err);
	if (text_is(key, "cmd"))
		return read_command(r, value, err);
	if (text_is(key, "creator"))
		return read_creator(r, value, err);
	if (text_is(key, "pid"))
		r->pid = small_number(value);
	if (text_is(key, "thread"))
		r->thread_number = small_number(value);
	return true;
}

/* ---- Lines ---- */

static bool callgrind_read_line(struct callgrind_reader *r, const char *line, size_t size, struct error *err)
{
	struct text_cursor text = { line, line + size }, key;

	text_skip_blanks(&text);
	if (text.at == text.end || *text.at == '#')
		return true;
	if (isdigit((unsigned char)*text.at) || strchr("+-*", *text.at))
		return *text.at ? read_cost_line(r, &text, err) : fail_number(err);
	key = text;
	while (text.at < text.end && isalpha((unsigned char)*text.at))
		text.at++;
	key.end = text.at;
	if (text_left(key) > 0 && text.at < text.end && (*text.at == '=' || *text.at == ':')) {
		bool is_header = *text.at++ == ':';

		return is_header ? callgrind_read_header(r, key, &text, err) : read_assignment(r, key, &text, err);
	}
	return error_set(err, ERROR_FORMAT, "neither a cost, nor `key=value`, nor `key: value`");
}

/* Files of valgrind end with their totals; one that does not may have been cut anywhere. */
static bool lacks_totals(const struct callgrind_reader *r)
{
	return r->has_costs && (r->events.is_simulation || r->is_cachegrind);
}

static bool check_callgrind_end(struct callgrind_reader *r, struct error *err)
{
	if (r->table.column_count == 0)
		return error_set(err, ERROR_FORMAT, "the file has no line `events:`");
	return !lacks_totals(r) ||
	       profile_add_doubt(r->profile, err,
		       "the file ends in line %zu without its totals, as one that was not written to its end (a full disk?): costs behind that are missing",
		       r->lines.line);
}

static bool callgrind_read_lines(struct callgrind_reader *r, struct error *err)
{
	const char *line;
	size_t size;

	do {
		if (!text_lines_next(&r->lines, &line, &size, err))
			return false;
		if (!line || callgrind_read_line(r, line, size, err))
			continue;
		/* What is left of the last line need not be one. */
		if (err->code != ERROR_FORMAT || !r->lines.is_cut || !lacks_totals(r))
			return error_prefix(err, "line %zu", r->lines.line);
	} while (line);
	return check_callgrind_end(r, err) || error_prefix(err, "line %zu", r->lines.line);
}

/* ---- The profile ---- */

static bool reader_begin(struct callgrind_reader *r, struct error *err)
{
	struct profile_run run = { .exit_status = -1, .whole_command = true };

	r->position_count = 1;
	r->thread = PROFILE_NONE;
	r->called = r->called_file = r->called_object = r->function = PROFILE_NONE;
	callgrind_names_init(&r->names);
	callgrind_table_init(&r->table);
	/* cachegrind's functions have no contexts: a `'` belongs to their names. */
	r->names.has_contexts = !r->is_cachegrind;
	r->events.is_simulation = r->is_cachegrind;
	return profile_create(&r->profile, err) && profile_add_run(r->profile, &run, &r->run, err) &&
	       (!r->is_cachegrind || profile_intern(r->profile, "cachegrind", &r->profile->facts.tool, err));
}

static bool note_unnamed_ids(struct callgrind_reader *r, struct error *err)
{
	const size_t *unnamed = r->names.unnamed;
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(1 << 12);
	static const char *const words[] = { "file", "function", "object" };

	for (int kind = 0; kind < CALLGRIND_NAME_KINDS; kind++)
		if (unnamed[kind] > 0)
			buffer_printf(&text, "%s%zu %s%s", text.size ? ", " : "", unnamed[kind], words[kind],
				unnamed[kind] == 1 ? "" : "s");
	return buffer_ok(&text, err) &&
	       (text.size == 0 ||
		       profile_add_doubt(r->profile, err, "the file refers to %s by numbers that have no name in it%s",
			       text.data, unnamed[CALLGRIND_FUNCTION] ? ": a function is shown as (NUMBER)" : ""));
}

static bool reader_finish(struct callgrind_reader *r, struct error *err)
{
	const char *graph = "exact";
	double estimated = 0;

	if (!note_unnamed_ids(r, err) || !callgrind_table_join(&r->table, err) ||
		!callgrind_events_add_types(&r->events, r->profile, err) ||
		!callgrind_tree_add(&r->table, &r->names, &r->events, r->profile, &estimated, err))
		return false;
	if (r->table.edge_count == 0)
		graph = "none";
	else if (estimated > 0)
		graph = PROFILE_CALL_GRAPH_ESTIMATED;
	return profile_intern(r->profile, graph, &r->profile->facts.call_graph, err) &&
	       profile_validate(r->profile, err);
}

bool callgrind_read(const struct text_source *text, bool is_cachegrind, const char *name, struct profile **profile,
	struct error *err)
{
	CLEANUP(callgrind_reader_deinit) struct callgrind_reader r = { .is_cachegrind = is_cachegrind };

	if (!text_lines_init(&r.lines, text, CALLGRIND_MAX_LINE_BYTES, err) || !reader_begin(&r, err))
		return false;
	if (!callgrind_read_lines(&r, err) || !reader_finish(&r, err))
		return r.lines.read_failed ? false : error_prefix(err, "cannot read %s", name);
	*profile = TAKE(r.profile);
	return true;
}
