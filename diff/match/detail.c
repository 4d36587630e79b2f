/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/detail.h"

#include "diff/match/constants.h"
#include "diff/match/tools.h"

#include <stdlib.h>
#include <string.h>

/* A function of a side, which is known by its first id in the tree. Times are raw, in the metric's unit. */
struct detail_function {
	uint32_t name; /* numbered by templates; 0: the function is in no stack */
	double self, total;
	bool is_of_process; /* it is called as a process, a thread or a command is */
};

struct detail_side {
	struct detail_function *functions; /* owned: [profile function] */
	double *self, *total;              /* owned: [tree node] */
	bool *has_name;                    /* owned: [name] */
	bool has_inlined;                  /* a location has frames that were inlined */
};

struct detail {
	struct diff_build *build;
	struct string_table *templates; /* owned */
	struct string_table *processes; /* owned: names of processes, threads and commands of both sides */
	struct detail_side sides[DIFF_SIDES];
};

static void detail_deinit(struct detail *detail)
{
	string_table_destroy(detail->templates);
	string_table_destroy(detail->processes);
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(detail->sides[side].functions);
		free(detail->sides[side].self);
		free(detail->sides[side].total);
		free(detail->sides[side].has_name);
	}
}

/* Enters the names of a profile's processes and threads, and that of the program that its command runs. */
static void enter_processes(struct string_table *names, const struct profile *profile)
{
	const char *command = profile_string(profile, profile->facts.command), *start;
	size_t bytes = strcspn(command, " ");

	start = memrchr(command, '/', bytes);
	start = start ? start + 1 : command;
	(void)string_table_enter(names, start, (size_t)(command + bytes - start));
	for (size_t i = 0; i < profile->thread_count; i++) {
		const uint32_t strings[] = { profile->threads[i].name, profile->threads[i].process_name };

		for (size_t k = 0; k < sizeof(strings) / sizeof(strings[0]); k++)
			(void)string_table_enter(names, profile_string(profile, strings[k]),
				string_table_size(profile->strings, strings[k]));
	}
}

/* Returns whether a process, a thread or a command of either side has the name of a function. */
static bool is_process(
	const struct detail *detail, const struct profile *profile, const struct profile_function *function)
{
	size_t size = string_table_size(profile->strings, function->name);

	return size > 0 &&
	       string_table_find(detail->processes, profile_string(profile, function->name), size) != UINT32_MAX;
}

static bool tells_inlined(const struct profile *profile)
{
	for (size_t i = 0; i < profile->location_count; i++)
		if (profile->locations[i].line_count > 1)
			return true;
	return false;
}

static void number_names(struct detail *detail, enum diff_side side)
{
	const struct profile *profile = detail->build->profiles[side];
	const struct profile_tree *tree = detail->build->trees[side];
	struct detail_side *known = &detail->sides[side];
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(SIZE_MAX / 2);

	known->functions = memory_zeroed(profile->function_count + 1, sizeof(*known->functions));
	for (size_t node = 1; node < tree->node_count; node++) {
		const struct profile_function *of = &profile->functions[tree->functions[node]];
		struct detail_function *function = &known->functions[tree->functions[node]];

		function->is_of_process |= tree->parents[node] == 0 && is_process(detail, profile, of);
		if (function->name != 0)
			continue;
		text.size = 0;
		buffer_append_byte(&text, ' ');
		profile_key_template(profile_string(profile, of->key), &text);
		function->name = string_table_enter(detail->templates, text.data, text.size);
	}
	known->has_inlined = tells_inlined(profile);
}

static void sum_side(struct detail *detail, enum diff_side side)
{
	const struct profile *profile = detail->build->profiles[side];
	const struct profile_tree *tree = detail->build->trees[side];
	struct detail_side *known = &detail->sides[side];

	known->self = memory_zeroed(tree->node_count, sizeof(*known->self));
	known->total = memory_alloc(tree->node_count * sizeof(*known->total));
	known->has_name = memory_zeroed(string_table_count(detail->templates), sizeof(*known->has_name));
	for (size_t i = 0; i < profile->sample_count; i++)
		known->self[tree->stack_nodes[profile->samples[i].stack]] += build_value(detail->build, side, i);
	memcpy(known->total, known->self, tree->node_count * sizeof(*known->total));
	/* A parent's id is smaller. */
	for (size_t node = tree->node_count; node-- > 1;) {
		struct detail_function *function = &known->functions[tree->functions[node]];

		known->total[tree->parents[node]] += known->total[node];
		function->self += known->self[node];
		function->total += known->total[node];
		known->has_name[function->name] = true;
	}
}

/* ---- Leading frames ---- */

/* Returns whether a function may be left out where it leads: it stands for a process, or only this side has it. */
static bool may_lead(const struct detail *detail, enum diff_side side, uint32_t function, bool with_functions)
{
	const struct detail_function *of = &detail->sides[side].functions[function];

	if (of->name == 0 || of->self > detail_most_self * of->total)
		return false;
	return of->is_of_process || (with_functions && !detail->sides[!side].has_name[of->name]);
}

/* Parts of a side's time, from 0 to 1. */
struct detail_lead {
	double led;          /* below leading frames */
	double by_functions; /* below those that stand for no process */
	double behind;       /* in frames right behind the leading ones whose functions the other side has, too */
};

static void measure_lead(
	const struct detail *detail, enum diff_side side, bool with_functions, struct detail_lead *lead)
{
	enum { NONE, BY_PROCESS, BY_FUNCTION };
	const struct profile_tree *tree = detail->build->trees[side];
	const struct detail_side *known = &detail->sides[side];
	CLEANUP(cleanup_free) uint8_t *leads = memory_zeroed(tree->node_count, sizeof(*leads)); /* [node] */

	*lead = (struct detail_lead){ 0 };
	if (known->total[0] <= 0)
		return;
	for (size_t node = 1; node < tree->node_count; node++) {
		uint32_t parent = tree->parents[node], function = tree->functions[node];
		double part = known->total[node] / known->total[0];

		if (parent != 0 && leads[parent] == NONE)
			continue;
		if (!may_lead(detail, side, function, with_functions)) {
			if (parent != 0 && detail->sides[!side].has_name[known->functions[function].name])
				lead->behind += part;
			continue;
		}
		leads[node] = leads[parent] == BY_FUNCTION || !known->functions[function].is_of_process ? BY_FUNCTION
													: BY_PROCESS;
		lead->led += parent == 0 ? part : 0;
		lead->by_functions += leads[node] == BY_FUNCTION && leads[parent] != BY_FUNCTION ? part : 0;
	}
}

/*
 * Finds the leading frames to leave out. Processes stand for none of the program's functions, on either side. Functions
 * are left out where only one side has such ones: else one may have taken the other's place.
 */
static void find_leads(struct detail *detail)
{
	struct diff_build *build = detail->build;
	struct detail_lead leads[DIFF_SIDES], processes[DIFF_SIDES];
	bool by_functions[DIFF_SIDES];

	for (int side = 0; side < DIFF_SIDES; side++) {
		measure_lead(detail, (enum diff_side)side, false, &processes[side]);
		measure_lead(detail, (enum diff_side)side, true, &leads[side]);
		by_functions[side] =
			leads[side].by_functions >= detail_least_led && leads[side].behind >= detail_least_behind;
	}
	for (int side = 0; side < DIFF_SIDES; side++) {
		bool with_functions = by_functions[side] && leads[!side].by_functions < detail_least_led;
		size_t count = build->profiles[side]->function_count;

		if (!with_functions && processes[side].led < detail_least_led)
			continue;
		build->leads_of[side] = memory_zeroed(count + 1, sizeof(*build->leads_of[side]));
		for (uint32_t i = 0; i < count; i++)
			build->leads_of[side][i] = may_lead(detail, (enum diff_side)side, i, with_functions);
		build->cuts[side].leads = build->leads_of[side];
	}
}

/* ---- Inlined frames ---- */

/*
 * Returns whether only this side has inlined frames: the other one has none, and none of the functions that are inlined
 * here are there by themselves.
 */
static bool has_inlined_alone(const struct detail *detail, enum diff_side side)
{
	const struct profile *profile = detail->build->profiles[side];
	const struct detail_side *known = &detail->sides[side], *other = &detail->sides[!side];
	bool is_found = false;

	if (!known->has_inlined || other->has_inlined)
		return false;
	for (size_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];

		for (uint32_t k = 0; k + 1 < location->line_count; k++) {
			const struct detail_function *function =
				&known->functions[profile->lines[location->first_line + k].function];

			if (function->name == 0)
				continue;
			if (other->has_name[function->name])
				return false;
			is_found = true;
		}
	}
	return is_found;
}

/* Returns whether a side's stacks begin with functions of other keys than the other side's, in much of its time. */
static bool begins_otherwise(const struct diff_build *build, enum diff_side side)
{
	const struct profile *profile = build->profiles[side], *other = build->profiles[!side];
	const struct profile_tree *trees[] = { build->trees[side], build->trees[!side] };
	CLEANUP(cleanup_free) uint32_t *firsts = memory_zeroed(trees[0]->node_count, sizeof(*firsts)); /* [node] */
	CLEANUP(cleanup_free) bool *is_known = memory_zeroed(trees[0]->node_count, sizeof(*is_known)); /* [first] */
	struct string_table *keys = string_table_begin(SIZE_MAX / 2);
	double all = 0, known = 0;

	for (size_t node = 1; node < trees[1]->node_count; node++) {
		uint32_t key = other->functions[trees[1]->functions[node]].key;

		if (trees[1]->parents[node] == 0)
			(void)string_table_enter(
				keys, profile_string(other, key), string_table_size(other->strings, key));
	}
	for (uint32_t node = 1; node < trees[0]->node_count; node++) {
		uint32_t key = profile->functions[trees[0]->functions[node]].key;

		firsts[node] = trees[0]->parents[node] == 0 ? node : firsts[trees[0]->parents[node]];
		if (firsts[node] == node)
			is_known[node] = string_table_find(keys, profile_string(profile, key),
						 string_table_size(profile->strings, key)) != UINT32_MAX;
	}
	for (size_t i = 0; i < profile->sample_count; i++) {
		double value = build_value(build, side, i);

		all += value;
		known += is_known[firsts[trees[0]->stack_nodes[profile->samples[i].stack]]] ? value : 0;
	}
	string_table_destroy(keys);
	return known < detail_least_led * all;
}

/* Keeps what leads for the comparisons of parts. */
static void keep_leads(struct diff_build *build, enum diff_side side)
{
	const struct profile *profile = build->profiles[side];
	struct diff *diff = build->diff;

	diff->leads[side] = memory_zeroed(profile->function_count + 1, sizeof(*diff->leads[side]));
	for (size_t i = 0; i < profile->function_count; i++) {
		uint32_t key = profile->functions[i].key;

		if (build->leads_of[side][i])
			diff->leads[side][diff->lead_count[side]++] = string_table_enter(
				diff->strings, profile_string(profile, key), string_table_size(profile->strings, key));
	}
}

/* Leaves out of a part what is left out of the whole. */
static void take_leads(struct diff_build *build, enum diff_side side)
{
	const struct diff *whole = build->diff->whole;
	const struct profile *profile = build->profiles[side];
	struct string_table *keys;

	build->cuts[side].inlined = whole->without_inlined[side];
	if (whole->lead_count[side] == 0)
		return;
	keys = string_table_begin(SIZE_MAX / 2);
	for (size_t i = 0; i < whole->lead_count[side]; i++)
		(void)string_table_enter(keys, diff_string(whole, whole->leads[side][i]),
			string_table_size(whole->strings, whole->leads[side][i]));
	build->leads_of[side] = memory_zeroed(profile->function_count + 1, sizeof(*build->leads_of[side]));
	for (size_t i = 0; i < profile->function_count; i++) {
		uint32_t key = profile->functions[i].key;

		build->leads_of[side][i] = string_table_find(keys, profile_string(profile, key),
						   string_table_size(profile->strings, key)) != UINT32_MAX;
	}
	build->cuts[side].leads = build->leads_of[side];
	string_table_destroy(keys);
}

void detail_level(struct diff_build *build)
{
	CLEANUP(detail_deinit) struct detail detail = { .build = build };

	if (build->diff->whole) {
		take_leads(build, DIFF_BASE);
		take_leads(build, DIFF_HEAD);
		return;
	}
	/* Two recordings of one tool tell the same, which is the rule. */
	if (tells_inlined(build->profiles[DIFF_BASE]) == tells_inlined(build->profiles[DIFF_HEAD]) &&
		!begins_otherwise(build, DIFF_BASE) && !begins_otherwise(build, DIFF_HEAD))
		return;
	detail.templates = string_table_begin(SIZE_MAX / 2);
	detail.processes = string_table_begin(SIZE_MAX / 2);
	for (int side = 0; side < DIFF_SIDES; side++)
		enter_processes(detail.processes, build->profiles[side]);
	number_names(&detail, DIFF_BASE);
	number_names(&detail, DIFF_HEAD);
	for (int side = 0; side < DIFF_SIDES; side++)
		sum_side(&detail, (enum diff_side)side);
	for (int side = 0; side < DIFF_SIDES; side++)
		build->cuts[side].inlined = has_inlined_alone(&detail, (enum diff_side)side);
	find_leads(&detail);
	for (int side = 0; side < DIFF_SIDES; side++)
		if (build->leads_of[side])
			keep_leads(build, (enum diff_side)side);
}

/* Appends the names of the first stack's leading frames: "`q1`", "`_start` to `main`". */
static void append_leads(const struct diff_build *build, enum diff_side side, struct buffer *out)
{
	const struct profile *profile = build->profiles[side];
	const char *first = NULL, *last = NULL;

	for (size_t i = 0; i < profile->function_count; i++) {
		if (!build->leads_of[side][i])
			continue;
		last = profile_string(profile, profile->functions[i].name);
		first = first ? first : last;
	}
	buffer_printf(out, "`%s`", first ? first : "");
	if (last != first)
		buffer_printf(out, " and others");
}

static const char *detail_separator(const struct buffer *out)
{
	return out->size > 0 ? "; " : "";
}

bool detail_describe(const struct diff_build *build, struct buffer *out)
{
	(void)tools_describe(build->profiles, out);
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (build->leads_of[side]) {
			buffer_printf(out, "%s%s's stacks begin with ", detail_separator(out), diff_side_name(side));
			append_leads(build, (enum diff_side)side, out);
			buffer_printf(out, ", %s's do not: these frames are left out", diff_side_name(!side));
		}
		if (build->cuts[side].inlined)
			buffer_printf(out,
				"%sonly %s has inlined frames: they are left out, and their time is that of the functions that contain them",
				detail_separator(out), diff_side_name(side));
	}
	return out->size > 0;
}
