/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign_fixture.h"
#include "tests/unit/profile/profile_fixture.h"

#include "profile/foreign/foreign.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#define HEADER "version: 1\ncreator: callgrind-3.19.0\npositions: line\nevents: Ir\n"
#define START "shop;ld-linux-x86-64.so.2+0x1ab70;(below main);__libc_start_main@@GLIBC_2.34;(below main);main"

static uint32_t value_type(const struct profile *profile, const char *type)
{
	uint32_t found = profile_find_metric(profile, type, NULL);

	if (found == PROFILE_NONE)
		fail_msg("no value type %s", type);
	return found;
}

static char *folded_of(const struct profile *profile)
{
	struct buffer out;
	struct error err;

	buffer_init(&out, 1 << 28);
	assert_true(profile_write_folded(profile, value_type(profile, "instructions"), &out, &err));
	return out.data;
}

static const char *call_graph(const struct profile *profile)
{
	return profile_string(profile, profile->facts.call_graph);
}

static void expect_folded(const char *text, const char *expected, const char *graph)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_profile(text, strlen(text));
	CLEANUP(cleanup_free) char *folded = folded_of(profile);

	assert_string_equal(folded, expected);
	assert_string_equal(call_graph(profile), graph);
}

/* ---- Other writers ---- */

static void expect_values(const char *text, const char *type, const char *unit, const char *expected)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_profile(text, strlen(text));
	uint32_t metric = profile_find_metric(profile, type, unit);
	CLEANUP(buffer_deinit) struct buffer out;
	struct error err;

	if (metric == PROFILE_NONE)
		fail_msg("no %s in %s", type, unit);
	buffer_init(&out, 1 << 20);
	assert_true(profile_write_folded(profile, metric, &out, &err));
	assert_string_equal(out.data, expected);
}

/* go tool pprof -callgrind -call_tree: calls name a place of the tree, and no object. */
static void calls_of_pprof_find_their_functions(void **state)
{
	static const char tree[] =
		"positions: instr line\nevents: inuse_space(kB)\n\n"
		"ob=(1) /bin/shop\nfl=(1) a.c\nfn=(1) main\n0x10 3 0\n"
		"cfl=(2) b.c\ncfn=(2) work [1/2]\ncalls=0 +4 7\n* * 5\n"
		"cfl=(1)\ncfn=(3) rest\ncalls=0 +4 7\n* * 2\n"
		"\nob=(2) /lib/libb.so\nfl=(2)\nfn=(4) work\n+4 7 5\n"
		"\nob=(1)\nfl=(1)\nfn=(3)\n+4 7 1\ncfl=(2)\ncfn=(5) work [2/2]\ncalls=0 +4 7\n* * 1\n"
		"\nob=(2)\nfl=(2)\nfn=(4)\n+4 7 1\n";

	expect_values(tree, "inuse_space", "bytes", "main;rest 1024\nmain;rest;work 1024\nmain;work 5120\n");
}

static void units_of_events_are_known(void **state)
{
	expect_values("positions: instr line\nevents: cpu(ms)\nfl=a\nfn=main [1/2]\n0x1 1 3\n", "cpu", "nanoseconds",
		"main 3000000\n");
	expect_values("version: 1\nevents: Time_(10ns) Memory_(bytes)\nfn=main [1/2]\n1 3 4\n", "Time", "nanoseconds",
		"main [1/2] 30\n");
	expect_values(
		"version: 1\nevents: Time_(10ns) Memory_(bytes)\nfn=main\n1 3 4\n", "Memory", "bytes", "main 4\n");
	expect_values("event: ns : Nanoseconds\nevents: ns\nsummary: 7\nfl=a.py\nfn=page\n1 7\n", "time", "nanoseconds",
		"page 7\n");
	expect_values("version: 1\nevents: ()  ( x(B) 9(\nfn=main\n1 3 4 5 6\n", "x", "bytes", "main 5\n");
	expect_values("version: 1\nevents: contentions(count)\nfn=main\n1 3\n", "contentions", "count", "main 3\n");
}

/* ---- Real files ---- */

/* Whatever callgrind is told, a program has as many instructions, each in its function. */
static void each_option_of_callgrind_gives_the_same_program(void **state)
{
	static const struct {
		const char *path, *graph;
	} files[] = {
		{ "data/callgrind-default.gz", PROFILE_CALL_GRAPH_ESTIMATED },
		{ "data/callgrind-caches.gz", PROFILE_CALL_GRAPH_ESTIMATED },
		{ "data/callgrind-instructions.gz", PROFILE_CALL_GRAPH_ESTIMATED },
		{ "data/callgrind-addresses.gz", PROFILE_CALL_GRAPH_ESTIMATED },
		{ "data/callgrind-levels.gz", PROFILE_CALL_GRAPH_ESTIMATED },
		{ "data/callgrind-plain.gz", PROFILE_CALL_GRAPH_ESTIMATED },
		{ "data/callgrind-parts.gz", PROFILE_CALL_GRAPH_ESTIMATED },
		{ "data/callgrind-callers.gz", "exact" },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = read_data(files[i].path);
		CLEANUP(cleanup_free) char *folded = folded_of(profile);
		uint32_t metric = value_type(profile, "instructions");

		assert_int_equal(profile_sum(profile, metric), 2421);
		assert_true(profile_metric(profile, metric).is_exact);
		assert_int_equal(profile_metric(profile, metric).counts, PROFILE_NONE);
		assert_string_equal(call_graph(profile), files[i].graph);
		assert_string_equal(profile_string(profile, profile->facts.tool), "callgrind 3.19.0");
		assert_string_equal(profile_string(profile, profile->facts.command), "./shop");
		assert_non_null(strstr(folded, START ";a 5\n"));
		assert_non_null(strstr(folded, START ";b 6\n"));
	}
}

static void contexts_tell_the_cost_of_each_caller(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_data("data/callgrind-callers.gz");
	CLEANUP(cleanup_free) char *folded = folded_of(profile);

	assert_non_null(strstr(folded, START ";a;leaf 327\n"));
	assert_non_null(strstr(folded, START ";b;leaf 967\n"));
	assert_non_null(strstr(folded, START ";even;odd;even;odd;even;odd;even;odd;even 9\n"));
}

static void caches_give_cycles_by_the_model(void **state)
{
	static const char *const types[] = { "samples", "cycles", "instructions", "l1-misses", "ll-misses",
		"branch-misses", "system-calls", "system", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw" };
	CLEANUP(profile_cleanup) struct profile *profile = read_data("data/callgrind-caches.gz");

	assert_int_equal(profile->value_type_count, sizeof(types) / sizeof(types[0]));
	for (uint32_t i = 0; i < profile->value_type_count; i++)
		assert_string_equal(profile_string(profile, profile->value_types[i].type), types[i]);
	assert_int_equal(profile->default_value_type, 1);
	assert_true(profile_metric(profile, 1).is_exact);
	assert_int_equal(profile_sum(profile, 0), 0);
	assert_true(profile_sum(profile, 1) > profile_sum(profile, 2) / 2);
	assert_int_equal(profile_sum(profile, 3),
		profile_sum(profile, 10) + profile_sum(profile, 11) + profile_sum(profile, 12));
}

static void cachegrind_has_functions_and_lines_alone(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_data("data/cachegrind.gz");
	CLEANUP(cleanup_free) char *folded = folded_of(profile);

	assert_string_equal(call_graph(profile), "none");
	assert_string_equal(profile_string(profile, profile->facts.tool), "cachegrind");
	assert_non_null(strstr(folded, "\nshop;leaf 1"));
	assert_true(profile_metric(profile, profile->default_value_type).is_exact);
}

static void lines_are_those_of_the_file_they_are_in(void **state)
{
	static const char text[] = HEADER "fl=(1) a.c\nfn=(1) f\n7 3\nfi=(2) a.h\n+2 4\nfe=(1)\n* 5\ntotals: 12\n";
	CLEANUP(profile_cleanup) struct profile *profile = read_profile(text, strlen(text));

	assert_int_equal(profile->sample_count, 3);
	for (size_t i = 0; i < 3; i++) {
		static const char *const files[] = { "a.c", "a.h", "a.c" };
		static const uint32_t lines[] = { 7, 9, 9 };
		const struct profile_location *location =
			&profile->locations[profile->stacks[profile->samples[i].stack].location];
		const struct profile_line *line = &profile->lines[location->first_line];

		assert_int_equal(line->line, lines[i]);
		assert_string_equal(profile_string(profile, profile->functions[line->function].file), files[i]);
	}
}

/* ---- Texts ---- */

static void costs_are_shared_among_callers(void **state)
{
	/* Inclusive costs are not added up; a call of a quarter of the cost has a quarter of it. */
	expect_folded(HEADER "fl=x\nfn=main\n1 10\ncfn=a\ncalls=1 2\n1 31\ncfn=b\ncalls=1 3\n1 92\nfn=a\n2 1\n"
			     "cfn=c\ncalls=1 4\n2 30\nfn=b\n3 2\ncfn=c\ncalls=3 4\n3 90\nfn=c\n4 120\ntotals: 133\n",
		"main 10\nmain;a 1\nmain;a;c 30\nmain;b 2\nmain;b;c 90\n", PROFILE_CALL_GRAPH_ESTIMATED);
	/* One caller: nothing is estimated. */
	expect_folded(HEADER "fl=x\nfn=main\n1 10\ncfn=a\ncalls=1 2\n1 5\nfn=a\n2 5\ntotals: 15\n",
		"main 10\nmain;a 5\n", "exact");
	/* A circle is met once. */
	expect_folded(HEADER "fl=x\nfn=main\n1 1\ncfn=a\ncalls=1 2\n1 9\nfn=a\n2 4\ncfn=b\ncalls=1 2\n2 9\n"
			     "fn=b\n3 5\ncfn=a\ncalls=1 2\n3 9\ntotals: 10\n",
		"main 1\nmain;a 4\nmain;a;b 5\n", PROFILE_CALL_GRAPH_ESTIMATED);
	/* Some of it was called by nobody. */
	expect_folded(HEADER "fl=x\nfn=main\n1 1\ncfn=a\ncalls=1 2\n1 30\nfn=a\n2 40\ntotals: 41\n",
		"a 10\nmain 1\nmain;a 30\n", PROFILE_CALL_GRAPH_ESTIMATED);
}

static void names_may_hold_what_separates_contexts(void **state)
{
	expect_folded(HEADER "fn=<A<'a> as B>::f'main\n1 2\ntotals: 2\n", "<A<'a> as B>::f 2\n", "none");
	expect_folded(HEADER "fn=operator<<(S&)'2'main\n1 2\ntotals: 2\n", "operator<<(S&) 2\n", "none");
	expect_folded(HEADER "fn=(below main)'f<1'000>\n1 2\ntotals: 2\n", "(below main) 2\n", "none");
	expect_folded(HEADER "fn=f<'main\n1 2\ntotals: 2\n", "f< 2\n", "none");
	expect_folded("desc: x\ncmd: p\nevents: Ir\nfn=a'b\n1 2\nsummary: 2\n", "p;a'b 2\n", "none");
}

static void positions_are_of_any_kind(void **state)
{
	expect_folded(
		"# callgrind format\nevents: Ir Dr\nfn=(1) f\n0x10 1 2\n+3 2\n-1 3 .\n* 4\n\n# end\ntotals: 10 2\n",
		"f 10\n", "none");
	expect_folded(
		"creator: callgrind-1\npositions: instr bb line\nevents: Ir\nfn=f\n0x10 +1 7 1\r\n"
		"jump=3 0x20 * 9\n* * *\njcnd=1/2 +1 * *\n+1 * *\njfi=(3) z\n+1 * +1 5\nfi=(3)\n* * * 1\ntotals: 7\n",
		"f 7\n", "none");
	/* Costs at the end of a line may be missing, and whole lines of them. */
	expect_folded("version: 1\npositions: line\nevents: Ir Dr\nfn=f\n1\n2 3\n", "f 3\n", "none");
}

static void derived_events_are_computed(void **state)
{
	static const char text[] = "version: 1\ncreator: callgrind-3\npositions: line\nevents: Ir Bc\n"
				   "event: X = Ir + 10 Bc : long\nevent: Y = 2 * X + Bc\nevent: Z = nothing\n"
				   "fn=f\n1 3 2\ntotals: 3 2\n";
	CLEANUP(profile_cleanup) struct profile *profile = read_profile(text, strlen(text));

	assert_int_equal(profile_sum(profile, value_type(profile, "X")), 23);
	assert_int_equal(profile_sum(profile, value_type(profile, "Y")), 48);
	assert_int_equal(profile_find_metric(profile, "Z", NULL), PROFILE_NONE);
}

static void expect_error(const char *text, const char *words)
{
	expect_refused(text, strlen(text), ERROR_NONE, words);
}

static void what_is_wrong_is_told_with_its_line(void **state)
{
	expect_error(HEADER "fn=f\n1 2\ntotals: 3\n", "line 7: the costs of Ir are 2 together, the totals say 3");
	expect_error(HEADER "1 2\n", "line 5: a cost before the first line `fn=`");
	expect_error(HEADER "fn=f\ncalls=1 2\n1 2\n", "line 6: `calls=` without a line `cfn=`");
	expect_error(HEADER "fn=f\n1 2 3\n", "line 6: more costs than the events");
	expect_error(HEADER "fn=f\n1 x\n", "line 6: no number");
	expect_error(HEADER "fn=f\n1 9223372036854775808\n", "line 6: no number");
	expect_error(HEADER "fn=f\n1 9223372036854775807\n2 1\n", "line 7: the costs do not fit");
	expect_error(HEADER "fn=f\n1 -3\n", "line 6: no number");
	expect_error("version: 1\nevents: Memory_(bytes) Time\nfn=f\n1 -3 7\n", "line 4: Memory_(bytes) is below 0");
	expect_error("version: 1\nevents: Time\nfn=f\n1 --3\n", "line 4: no number");
	expect_error("version: 1\nevents: Time\nfn=f\n1 -.\n", "line 4: no number");
	expect_error("version: 1\nevents: Time\nfn=f\n1 .5\n", "line 4: no number");
	expect_error(HEADER "gn=f\n", "line 5: `gn=` is not a line");
	expect_error(HEADER "%%%\n", "line 5: neither a cost");
	expect_error(HEADER "events: Dr\n", "line 5: the event Dr is not in the first part");
	expect_error("version: 1\nevents: Ir Ir\n", "line 2: the event Ir occurs twice");
}

/* A full disk cuts a file anywhere, within a word or a number too. */
static void a_file_is_cut_anywhere(void **state)
{
	static const char text[] =
		HEADER "fn=(1) f\n1 2\ncfn=(2) g\ncalls=1 2\n+1 3\nfn=(2)\n* 3\njcnd=1/2 5\n5\n-3 4\ntotals: 9\n";
	const size_t first = strlen(HEADER "fn=(1) f\n1 2\n"), last = strlen(text) - strlen("totals: 9\n");
	struct error err;

	(void)state;
	for (size_t size = first; size < last + strlen("totals: "); size++) {
		CLEANUP(profile_cleanup) struct profile *profile = NULL;

		if (!foreign_read(text, size, "cut", &profile, &err))
			fail_msg("%zu bytes: %s", size, err.message);
		assert_non_null(profile_first_doubt(profile));
	}
}

static void expect_note(const char *text, const char *note, const char *folded)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_profile(text, strlen(text));

	assert_int_equal(profile->notes.count, 1);
	assert_non_null(strstr(profile_string(profile, profile->notes.texts[0]), note));
	expect_stacks(profile, profile->default_value_type, folded);
}

/* A file is read as far as it can be, and what it lacks is said. */
static void what_is_missing_is_noted(void **state)
{
	static const char others[] = "version: 1\ncreator: xdebug 3\nevents: Time_(10ns) Memory_(bytes)\n";
	CLEANUP(buffer_deinit) struct buffer text;

	(void)state;
	expect_note(HEADER "fn=f\n1 2\n", "ends in line 6 without its totals", "f 2\n");
	expect_note(HEADER "fn=main\n1 10\ncob=(8)\ncfn=f\ncalls=1 0\n2 90\nob=(8)\nfn=f\n1 90\ntotals: 100\n",
		"refers to 1 object by numbers that have no name in it", "main 10\nmain;f 90\n");
	expect_note(HEADER "fl=(3)\nfn=(7)\n1 2\nfn=(9)\n1 3\nfn=(7)\n2 2\ntotals: 7\n",
		"refers to 1 file, 2 functions by numbers that have no name in it", "(7) 4\n(9) 3\n");
	buffer_init(&text, 1 << 12);
	buffer_printf(&text, "%sfn=main\n1 1 -8\ncfn=f\ncalls=1 0\n1 4 -9\nfn=f\n1 4 8\n2 0 -3\n", others);
	expect_note(text.data, "Memory_(bytes) is left out: it is below 0 at some places (the first is line 5)",
		"main 10\nmain;f 40\n");
	text.size = 0;
	buffer_printf(&text, "%sfn=f\n1 4 -0\n", others);
	assert_int_equal(foreign_kind(text.data, text.size), FOREIGN_CALLGRIND);
}

/* A formula with an event that is left out is left out too. */
static void balances_are_no_values(void **state)
{
	static const char text[] =
		"version: 1\nevent: Both = A + B\nevent: Twice = 2 A\nevents: A B\nfn=f\n1 4 -8\n2 1 9\n";
	CLEANUP(profile_cleanup) struct profile *profile = read_profile(text, strlen(text));

	(void)state;
	assert_int_equal(profile_find_metric(profile, "B", NULL), PROFILE_NONE);
	assert_int_equal(profile_find_metric(profile, "Both", NULL), PROFILE_NONE);
	assert_int_equal(profile_sum(profile, profile_find_metric(profile, "A", NULL)), 5);
}

static bool endless(void *context, void *into, size_t room, size_t *got, struct error *err)
{
	(void)context, (void)err;
	memset(into, 'x', room);
	*got = room;
	return true;
}

static void a_name_without_an_end_is_refused(void **state)
{
	const struct text_source text = { HEADER "fn=", strlen(HEADER "fn="), endless, NULL };
	struct profile *profile;
	struct error err;

	assert_false(foreign_read_text(&text, "long", &profile, &err));
	assert_int_equal(err.code, ERROR_LIMIT);
	assert_non_null(strstr(err.message, "cannot read long: line 5 is longer than"));
}

/* Hands over a text in pieces of a size that divides nothing. */
struct pieces {
	const char *text;
	size_t size, at;
};

static bool next_piece(void *context, void *into, size_t room, size_t *got, struct error *err)
{
	struct pieces *pieces = context;
	size_t size = pieces->size - pieces->at < 7 ? pieces->size - pieces->at : 7;

	size = size < room ? size : room;
	memcpy(into, pieces->text + pieces->at, size);
	pieces->at += size;
	*got = size;
	return true;
}

static void pieces_are_one_text(void **state)
{
	static const char whole[] = HEADER "fl=x\nfn=main\n1 10\ncfn=a\ncalls=1 2\n1 5\nfn=a\n2 5\ntotals: 15\n";
	struct pieces pieces = { whole, strlen(whole), strlen(HEADER) - 3 };
	const struct text_source text = { whole, pieces.at, next_piece, &pieces };
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct error err;
	CLEANUP(cleanup_free) char *folded = NULL;

	assert_true(foreign_read_text(&text, "pieces", &profile, &err));
	folded = folded_of(profile);
	assert_string_equal(folded, "main 10\nmain;a 5\n");
}

/* The share of a chain of functions that call the next one twice over is soon too small to be followed. */
static void many_ways_are_bounded(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	CLEANUP(buffer_deinit) struct buffer text = { 0 };
	enum { LEVELS = 40 };

	buffer_init(&text, 1 << 20);
	buffer_append_string(&text, HEADER "fn=f0\n1 1\n");
	for (int i = 0; i < LEVELS; i++) {
		for (int side = 0; side < 2; side++)
			buffer_printf(&text, "fn=%s%d\n1 10\ncfn=f%d\ncalls=1 1\n1 %d\ncfn=g%d\ncalls=1 1\n1 %d\n",
				side ? "g" : "f", i, i + 1, 1000000 * (LEVELS - i), i + 1, 1000000 * (LEVELS - i));
	}
	buffer_append_string(&text, "fn=leaf\n1 1000000\ntotals: 1000801\n");
	profile = read_profile(text.data, text.size);
	assert_int_equal(profile_sum(profile, value_type(profile, "instructions")), 1000801);
	assert_true(profile->stack_count < 5000000);
}

static void what_is_recognised(void **state)
{
	static const struct {
		const char *text;
		enum foreign_kind kind;
	} cases[] = {
		{ "# callgrind format\nversion: 1\nevents: Ir\n", FOREIGN_CALLGRIND },
		{ "version: 1\ncreator: xdebug\nunknown: x\nevents: Time\n", FOREIGN_CALLGRIND },
		{ "desc: I1 cache: 1 B\ncmd: ./shop 8\nevents: Ir\n", FOREIGN_CACHEGRIND },
		{ "cmd: ./shop 8\n", FOREIGN_FOLDED },
		{ "events;a 3\n", FOREIGN_FOLDED },
		{ "version: 1\n", FOREIGN_FOLDED },
		{ "key: value\n", FOREIGN_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(foreign_kind(cases[i].text, strlen(cases[i].text)), cases[i].kind);
}

static void a_file_is_written_and_read_back(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_data("data/callgrind-caches.gz"), *again = NULL;
	CLEANUP(buffer_deinit) struct buffer file = written_profile(profile);

	again = read_profile(file.data, file.size);
	assert_int_equal(again->value_type_count, profile->value_type_count);
	assert_int_equal(again->default_value_type, profile->default_value_type);
	for (uint32_t i = 0; i < again->value_type_count; i++)
		assert_int_equal(profile_sum(again, i), profile_sum(profile, i));
	assert_true(profile_metric(again, 1).is_exact);
	assert_string_equal(call_graph(again), PROFILE_CALL_GRAPH_ESTIMATED);
}

static void every_failed_allocation_is_an_error(void **state)
{
	read_with_failing_allocations(
		HEADER "event: X = Ir\nob=o\nfl=x\nfn=main\n1 10\ncfn=a'main\ncalls=1 2\n1 31\ncfn=b\n"
		       "calls=1 3\n1 92\nfn=a'main\n2 1\ncfn=(4) 0x1\ncalls=1 4\n2 30\nfn=b\n3 2\n"
		       "cfn=(4)\ncalls=3 4\n3 90\nfn=(4)\n4 120\ntotals: 133\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_pprof_find_their_functions),
		cmocka_unit_test(units_of_events_are_known),
		cmocka_unit_test(each_option_of_callgrind_gives_the_same_program),
		cmocka_unit_test(contexts_tell_the_cost_of_each_caller),
		cmocka_unit_test(caches_give_cycles_by_the_model),
		cmocka_unit_test(cachegrind_has_functions_and_lines_alone),
		cmocka_unit_test(lines_are_those_of_the_file_they_are_in),
		cmocka_unit_test(costs_are_shared_among_callers),
		cmocka_unit_test(names_may_hold_what_separates_contexts),
		cmocka_unit_test(positions_are_of_any_kind),
		cmocka_unit_test(derived_events_are_computed),
		cmocka_unit_test(what_is_wrong_is_told_with_its_line),
		cmocka_unit_test(a_file_is_cut_anywhere),
		cmocka_unit_test(what_is_missing_is_noted),
		cmocka_unit_test(balances_are_no_values),
		cmocka_unit_test(a_name_without_an_end_is_refused),
		cmocka_unit_test(pieces_are_one_text),
		cmocka_unit_test(many_ways_are_bounded),
		cmocka_unit_test(what_is_recognised),
		cmocka_unit_test(a_file_is_written_and_read_back),
		cmocka_unit_test(every_failed_allocation_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
