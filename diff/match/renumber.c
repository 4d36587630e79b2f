/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/renumber.h"

#include "diff/match/align.h"
#include "diff/match/assign.h"
#include "diff/match/constants.h"
#include "diff/match/names.h"
#include "diff/match/pieces.h"
#include "diff/match/surroundings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A template with more functions than this without a partner is one group. */
enum { MOST_ASSIGNED = 200, ROUNDS = 3 };

/* A function without a partner. */
struct renumber_member {
	uint32_t function;
	struct names_key key;
};

/* Members of one template, on each side by key. */
struct renumber_class {
	const struct renumber_member *members[DIFF_SIDES];
	size_t count[DIFF_SIDES];
	bool is_settled;
};

struct renumbering {
	struct diff_build *build;
	struct renumber_member *members; /* owned; by class, then base's before head's */
	struct renumber_class *classes;  /* owned; those with members on both sides that are yet to be decided */
	size_t class_count;
	uint32_t *class_of; /* owned: [function] PROFILE_NONE: it has a partner; 0: it has no words */
	size_t class_ids;   /* one more than the largest class */
	uint32_t *modules;  /* owned: [string] what a class has of a module, and 1; 0: it was not asked for */
	uint32_t *labels;   /* owned: [function] */
	bool knows_code;    /* both sides have fingerprints; else they do not tell functions without names apart */
	bool knows_modules; /* both sides name modules; else they tell nothing apart */
	struct code_pieces pieces[DIFF_SIDES];
	struct match_surroundings around;
};

static void renumbering_deinit(struct renumbering *r)
{
	free(r->members);
	free(r->classes);
	free(r->class_of);
	free(r->modules);
	free(r->labels);
	pieces_deinit(&r->pieces[DIFF_BASE]);
	pieces_deinit(&r->pieces[DIFF_HEAD]);
	surroundings_deinit(&r->around);
}

static const char *renumber_key(const struct renumbering *r, uint32_t function)
{
	return diff_string(r->build->diff, r->build->diff->functions[function].key);
}

/* ---- Classes ---- */

static int renumber_compare_members(const void *a, const void *b)
{
	const struct renumber_member *x = a, *y = b;
	int order = names_compare(&x->key, &y->key);

	return order ? order : ORDER(x->function, y->function);
}

/* Returns whether a side names modules. Folded stacks tell that code is the kernel's, and no other module. */
static bool names_modules(const struct diff_build *build, enum diff_side side)
{
	for (size_t i = 0; i < build->diff->function_count; i++) {
		const char *module = diff_string(build->diff, build->diff->functions[i].module);

		if (build->present[side][i] && module[0] != '\0' && module[0] != '[')
			return true;
	}
	return false;
}

/*
 * Returns what the functions of a class have in common of their modules, if both sides have it: a function is not one
 * of another library. One that only a side has may be the other's by another name.
 */
static uint32_t module_class(const struct renumbering *r, uint32_t module)
{
	const struct diff_build *build = r->build;
	const char *name = diff_string(build->diff, module);

	if (!r->knows_modules || name[0] == '\0')
		return 0;
	if (module < build->module_of_count && build->module_of[module] != 0)
		return (uint32_t)build->module_of_count + build->module_of[module];
	return build_has_module(build->profiles[DIFF_BASE], name) && build_has_module(build->profiles[DIFF_HEAD], name)
		       ? module
		       : 0;
}

/* Returns the same, which is asked for once for each module. */
static uint32_t class_of_module(struct renumbering *r, uint32_t function)
{
	uint32_t module = r->build->diff->functions[function].module;

	if (r->modules[module] == 0)
		r->modules[module] = module_class(r, module) + 1;
	return r->modules[module] - 1;
}

static bool has_fingerprints(const struct profile *profile)
{
	for (size_t i = 0; i < profile->function_count; i++)
		if (profile->functions[i].fingerprint != 0)
			return true;
	return false;
}

/* Appends the module of a function that has no name, as one side or the other tells it; nothing: it has a name. */
static void append_module_of_unnamed(const struct renumbering *r, const char *key, struct buffer *out)
{
	if (names_has_none(key)) {
		buffer_append_string(out, profile_split_key(key).module);
		return;
	}
	names_append_module(key, out);
	if (out->size > 0 && !build_has_module(r->build->profiles[DIFF_BASE], out->data) &&
		!build_has_module(r->build->profiles[DIFF_HEAD], out->data))
		out->size = 0;
}

/* What functions of one class have in common. */
struct class_key {
	uint32_t template; /* of the build's templates; 0: it has no words */
	uint32_t module;
};

/* Returns what a function has in common with those of its class; zeros: its code alone tells it from others. */
static struct class_key class_key_of(struct renumbering *r, uint32_t function, struct buffer *text)
{
	const char *key = renumber_key(r, function);
	CLEANUP(buffer_deinit) struct buffer module = BUFFER_INIT(SIZE_MAX / 2);
	uint32_t *template = &r->build->names[function].template;

	text->size = 0;
	append_module_of_unnamed(r, key, &module);
	if (module.size > 0) {
		if (r->knows_code && !names_is_unnamed(key))
			return (struct class_key){ 0 };
		buffer_printf(text, "[unnamed]`%s", module.data);
		return (struct class_key){ string_table_enter(r->build->templates, text->data, text->size), 0 };
	}
	if (*template == PROFILE_NONE) {
		profile_key_template(key, text);
		*template = string_table_enter(r->build->templates, text->data ? text->data : "", text->size);
	}
	return (struct class_key){ *template, class_of_module(r, function) };
}

/* Gives each function without a partner the class of its template and its module, and counts the sides' members. */
static void find_classes(struct renumbering *r, uint32_t (**counts)[DIFF_SIDES])
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(SIZE_MAX / 2);
	static const struct class_key without_words = { 0 };
	size_t count = r->build->diff->function_count;
	struct hash_map ids;
	bool added;

	r->class_of = memory_zeroed(count + 1, sizeof(*r->class_of));
	r->modules = memory_zeroed(string_table_count(r->build->diff->strings) + 1, sizeof(*r->modules));
	*counts = memory_zeroed(count + 2, sizeof(**counts));
	hash_map_init(&ids, sizeof(struct class_key));
	r->class_ids = 1;
	(void)hash_map_enter(&ids, &without_words, 0, &added);
	for (uint32_t i = 0; i < count; i++) {
		bool in_base = align_only_on(r->build, i, DIFF_BASE);
		struct class_key key;

		r->class_of[i] = PROFILE_NONE;
		if (!in_base && !align_only_on(r->build, i, DIFF_HEAD))
			continue;
		key = class_key_of(r, i, &text);
		r->class_of[i] = *hash_map_enter(&ids, &key, (uint32_t)r->class_ids, &added);
		r->class_ids += added;
		(*counts)[r->class_of[i]][in_base ? DIFF_BASE : DIFF_HEAD]++;
	}
	hash_map_deinit(&ids);
}

/* Lists the members of the classes that have some on both sides: at `at`, which ends behind each side's last one. */
static void list_members(struct renumbering *r, uint32_t (*at)[DIFF_SIDES])
{
	size_t count = r->build->diff->function_count;
	uint32_t used = 0;

	for (size_t class_id = 0; class_id < r->class_ids; class_id++) {
		uint32_t *of = at[class_id], counts[DIFF_SIDES] = { of[DIFF_BASE], of[DIFF_HEAD] };
		bool is_wanted = class_id != 0 && counts[DIFF_BASE] > 0 && counts[DIFF_HEAD] > 0;

		of[DIFF_BASE] = is_wanted ? used : PROFILE_NONE;
		of[DIFF_HEAD] = used + counts[DIFF_BASE];
		used += is_wanted ? counts[DIFF_BASE] + counts[DIFF_HEAD] : 0;
	}
	r->members = memory_zeroed(used + 1, sizeof(*r->members));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t class_id = r->class_of[i];

		if (class_id == PROFILE_NONE || at[class_id][DIFF_BASE] == PROFILE_NONE)
			continue;
		r->members[at[class_id][!r->build->present[DIFF_BASE][i]]++] =
			(struct renumber_member){ i, names_of(renumber_key(r, i)) };
	}
}

/*
 * Matches a class of one function on each side, which have one key: nothing else could be either. Returns whether it is
 * one.
 */
static bool match_alone(struct renumbering *r, const struct renumber_member *base, const struct renumber_member *head)
{
	if (strcmp(base->key.text, head->key.text) != 0)
		return false;
	align_merge(r->build, base->function, head->function, DIFF_TIER_SAME);
	return true;
}

/* Lists the classes that are yet to be decided. */
static void list_classes(struct renumbering *r, bool *contested)
{
	CLEANUP(cleanup_free) uint32_t(*ends)[DIFF_SIDES] = NULL;
	struct renumber_member *from;

	r->knows_code =
		has_fingerprints(r->build->profiles[DIFF_BASE]) && has_fingerprints(r->build->profiles[DIFF_HEAD]);
	r->knows_modules = names_modules(r->build, DIFF_BASE) && names_modules(r->build, DIFF_HEAD);
	r->labels = memory_zeroed(r->build->diff->function_count + 1, sizeof(*r->labels));
	find_classes(r, &ends);
	list_members(r, ends);
	r->classes = memory_zeroed(r->class_ids, sizeof(*r->classes));
	from = r->members;
	for (size_t class_id = 1; class_id < r->class_ids; class_id++) {
		struct renumber_member *middle, *to;

		if (ends[class_id][DIFF_BASE] == PROFILE_NONE)
			continue;
		middle = r->members + ends[class_id][DIFF_BASE];
		to = r->members + ends[class_id][DIFF_HEAD];
		if (to - from > 2 || !match_alone(r, from, middle)) {
			qsort(from, (size_t)(middle - from), sizeof(*from), renumber_compare_members);
			qsort(middle, (size_t)(to - middle), sizeof(*from), renumber_compare_members);
			r->classes[r->class_count++] = (struct renumber_class){ .members = { from, middle },
				.count = { (size_t)(middle - from), (size_t)(to - middle) } };
			for (; from < to; from++)
				contested[from->function] = true;
		}
		from = to;
	}
}

/* ---- What a pair costs ---- */

static size_t first_piece(const struct code_pieces *pieces, uint32_t function)
{
	return BISECT(pieces->count, at, pieces->items[at].function < function);
}

/* Compares the code of two functions that are two in the table. */
static enum diff_code compare_code(const struct renumbering *r, uint32_t base, uint32_t head)
{
	const struct code_pieces *a = &r->pieces[DIFF_BASE], *b = &r->pieces[DIFF_HEAD];
	size_t i = first_piece(a, base), j = first_piece(b, head);
	bool known[DIFF_SIDES] = { i < a->count && a->items[i].function == base,
		j < b->count && b->items[j].function == head };

	while (i < a->count && j < b->count && a->items[i].function == base && b->items[j].function == head) {
		if (a->items[i].fingerprint == b->items[j].fingerprint)
			return DIFF_CODE_SAME;
		if (a->items[i].fingerprint < b->items[j].fingerprint)
			i++;
		else
			j++;
	}
	return known[DIFF_BASE] && known[DIFF_HEAD] ? DIFF_CODE_CHANGED : DIFF_CODE_UNKNOWN;
}

/* Returns whether two functions are of one module, whatever its name is on either side. */
static bool modules_are_one(const struct renumbering *r, uint32_t base, uint32_t head)
{
	const struct diff_build *build = r->build;
	uint32_t from = build->diff->functions[base].module, to = build->diff->functions[head].module;

	return !r->knows_modules || from == to ||
	       (from < build->module_of_count && to < build->module_of_count && build->module_of[from] != 0 &&
		       build->module_of[from] == build->module_of[to]);
}

struct pair_cost {
	double cost, noise;
};

static double self_share(const struct renumbering *r, enum diff_side side, uint32_t function)
{
	double total = r->around.total[side][function];

	return total > 0 ? r->around.self[side][function] / total : 1;
}

static struct pair_cost cost_of_pair(const struct renumbering *r, const struct renumber_member *base_member,
	const struct renumber_member *head_member, double by_name)
{
	static const double of_code[] = { [DIFF_CODE_SAME] = 0, [DIFF_CODE_UNKNOWN] = 0.5, [DIFF_CODE_CHANGED] = 1 };
	uint32_t base = base_member->function, head = head_member->function;
	bool has_one_name = names_are_one(&base_member->key, &head_member->key);
	struct likeness likeness = surroundings_compare(r->build, &r->around, r->labels, base, head);
	enum diff_code code = compare_code(r, base, head);
	bool has_one_module = modules_are_one(r, base, head);
	struct pair_cost pair = { .noise = fmax(renumber_callers_cost, renumber_callees_cost) * likeness.noise };

	/* Stacks of two tools do not reach equally far, so a function of one name in one module may have other callers.
	 */
	if (code != DIFF_CODE_SAME && likeness.is_substantial && !(has_one_module && has_one_name) &&
		(likeness.callers < renumber_least_overlap ||
			(likeness.calls_much && likeness.callees < renumber_least_overlap))) {
		pair.cost = renumber_refused;
		return pair;
	}
	pair.cost = renumber_code_cost * of_code[code] + renumber_callers_cost * (1 - likeness.callers) +
		    renumber_callees_cost * (1 - likeness.callees) +
		    renumber_self_cost * fabs(self_share(r, DIFF_BASE, base) - self_share(r, DIFF_HEAD, head));
	pair.cost += renumber_file_cost * names_differ_in_file(&base_member->key, &head_member->key);
	if (!has_one_name)
		pair.cost += by_name;
	if (!has_one_module)
		pair.cost += renumber_module_cost;
	return pair;
}

/* ---- One class ---- */

/* The assignment within a class. Rows are members of the side that has fewer. */
struct renumber_solution {
	const struct renumber_class *class;
	enum diff_side few;
	size_t rows, columns;
	struct pair_cost *pairs; /* owned: [row * columns + column] */
	double *costs;           /* owned, likewise */
	uint32_t *column_of;     /* owned: [row] */
	uint32_t *row_of;        /* owned: [column] PROFILE_NONE: none */
	uint32_t *group;         /* owned: [row, then column] the first of its group, rows and columns numbered on */
	bool is_ambiguous;
};

static void renumber_solution_deinit(struct renumber_solution *s)
{
	free(s->pairs);
	free(s->costs);
	free(s->column_of);
	free(s->row_of);
	free(s->group);
}

static double mean_total(const struct renumbering *r, const struct renumber_class *class, enum diff_side side)
{
	double total = 0;

	for (size_t i = 0; i < class->count[side]; i++)
		total += r->around.total[side][class->members[side][i].function];
	return total / (double)class->count[side];
}

/*
 * Returns whether both sides have functions of the same keys, but for what is too rare to be met on both. If not,
 * something was inserted or removed, which moves the numbers of all behind it, and a number says little.
 */
static bool has_same_keys(const struct renumbering *r, const struct renumber_class *class)
{
	static const double rare = 0.1; /* of the mean time of the class */
	double most[DIFF_SIDES] = { rare * mean_total(r, class, DIFF_BASE), rare * mean_total(r, class, DIFF_HEAD) };
	size_t at[DIFF_SIDES] = { 0 };

	while (at[DIFF_BASE] < class->count[DIFF_BASE] || at[DIFF_HEAD] < class->count[DIFF_HEAD]) {
		const struct renumber_member *members[] = { &class->members[DIFF_BASE][at[DIFF_BASE]],
			&class->members[DIFF_HEAD][at[DIFF_HEAD]] };
		int order = at[DIFF_BASE] == class->count[DIFF_BASE] ? 1
			    : at[DIFF_HEAD] == class->count[DIFF_HEAD]
				    ? -1
				    : names_compare(&members[0]->key, &members[1]->key);

		for (int side = 0; side < DIFF_SIDES && order != 0; side++)
			if ((order < 0) == (side == DIFF_BASE) &&
				r->around.total[side][members[side]->function] > most[side])
				return false;
		at[DIFF_BASE] += order <= 0;
		at[DIFF_HEAD] += order >= 0;
	}
	return true;
}

static void solution_init(const struct renumbering *r, const struct renumber_class *class, struct renumber_solution *s)
{
	double by_name = r->build->names[class->members[DIFF_BASE][0].function].is_numbered && !has_same_keys(r, class)
				 ? renumber_number_cost
				 : renumber_name_cost;

	s->class = class;
	s->few = class->count[DIFF_BASE] <= class->count[DIFF_HEAD] ? DIFF_BASE : DIFF_HEAD;
	s->rows = class->count[s->few];
	s->columns = class->count[!s->few];
	s->pairs = memory_zeroed(s->rows * s->columns, sizeof(*s->pairs));
	s->costs = memory_zeroed(s->rows * s->columns, sizeof(*s->costs));
	s->column_of = memory_zeroed(s->rows, sizeof(*s->column_of));
	s->row_of = memory_zeroed(s->columns, sizeof(*s->row_of));
	s->group = memory_zeroed(s->rows + s->columns, sizeof(*s->group));
	for (size_t row = 0; row < s->rows; row++) {
		for (size_t column = 0; column < s->columns; column++) {
			const struct renumber_member *members[DIFF_SIDES] = { 0 };
			size_t at = row * s->columns + column;

			members[s->few] = &class->members[s->few][row];
			members[!s->few] = &class->members[!s->few][column];
			s->pairs[at] = cost_of_pair(r, members[DIFF_BASE], members[DIFF_HEAD], by_name);
			/* An edit moves the lines of all functions behind it, and keeps their order. */
			if (s->rows == s->columns && row != column && names_has_line(&members[DIFF_BASE]->key))
				s->pairs[at].cost += renumber_order_cost;
			s->costs[at] = fmin(s->pairs[at].cost, renumber_refused);
		}
	}
}

static uint32_t renumber_group_of(struct renumber_solution *s, uint32_t item)
{
	while (s->group[item] != item)
		item = s->group[item] = s->group[s->group[item]];
	return item;
}

static void join_groups(struct renumber_solution *s, uint32_t a, uint32_t b)
{
	uint32_t x = renumber_group_of(s, a), y = renumber_group_of(s, b);

	s->group[x > y ? x : y] = x > y ? y : x;
}

static bool is_assigned(const struct renumber_solution *s, size_t row)
{
	return s->costs[row * s->columns + s->column_of[row]] < renumber_refused;
}

/* Returns whether another assignment of these is about as good: `more` is what it costs more, `noise` that of a cost.
 */
static bool is_about_as_good(double more, double noise)
{
	return more < renumber_least_margin + renumber_margin_noises * noise;
}

/* Joins a pair with a function without a partner that could stand in one's place. */
static void join_spare(struct renumber_solution *s, size_t row, size_t column)
{
	const struct pair_cost *own = &s->pairs[row * s->columns + s->column_of[row]],
			       *other = &s->pairs[row * s->columns + column];

	if (!is_about_as_good(other->cost - own->cost, fmax(own->noise, other->noise)))
		return;
	join_groups(s, (uint32_t)row, (uint32_t)(s->rows + column));
	s->is_ambiguous = true;
}

/* Joins two pairs that could as well have each other's partners. */
static void join_pairs(struct renumber_solution *s, size_t a, size_t b)
{
	const struct pair_cost *pairs[] = { &s->pairs[a * s->columns + s->column_of[a]],
		&s->pairs[b * s->columns + s->column_of[b]], &s->pairs[a * s->columns + s->column_of[b]],
		&s->pairs[b * s->columns + s->column_of[a]] };
	double noise = fmax(fmax(pairs[0]->noise, pairs[1]->noise), fmax(pairs[2]->noise, pairs[3]->noise));

	if (!is_about_as_good(pairs[2]->cost + pairs[3]->cost - pairs[0]->cost - pairs[1]->cost, noise))
		return;
	join_groups(s, (uint32_t)a, (uint32_t)b);
	s->is_ambiguous = true;
}

static void find_groups(struct renumber_solution *s)
{
	for (size_t i = 0; i < s->rows + s->columns; i++)
		s->group[i] = (uint32_t)i;
	for (size_t column = 0; column < s->columns; column++)
		s->row_of[column] = PROFILE_NONE;
	for (size_t row = 0; row < s->rows; row++) {
		if (!is_assigned(s, row))
			continue;
		s->row_of[s->column_of[row]] = (uint32_t)row;
		join_groups(s, (uint32_t)row, (uint32_t)s->rows + s->column_of[row]);
	}
	for (size_t row = 0; row < s->rows; row++) {
		if (!is_assigned(s, row))
			continue;
		for (size_t other = row + 1; other < s->rows; other++)
			if (is_assigned(s, other))
				join_pairs(s, row, other);
		for (size_t column = 0; column < s->columns; column++)
			if (s->row_of[column] == PROFILE_NONE)
				join_spare(s, row, column);
	}
}

static uint32_t renumber_member_of(const struct renumber_solution *s, size_t item, enum diff_side *side)
{
	*side = item < s->rows ? s->few : !s->few;
	return s->class->members[*side][item < s->rows ? item : item - s->rows].function;
}

/* Names a group by what its members have in common: `Svc.lambda$main$* (17 functions)`. */
static void name_group(struct renumbering *r, uint32_t group)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(SIZE_MAX / 2);

	if (names_has_none(renumber_key(r, group)))
		buffer_append_string(&text, "[unnamed]");
	else
		profile_shown_template(renumber_key(r, group), &text);
	align_name_group(r->build, group, text.data ? text.data : "");
}

/* Merges a pair. One that has the other's name is the same: only its number was in doubt, or its module or file is new.
 */
static void merge_pair(struct renumbering *r, uint32_t base, uint32_t head)
{
	struct names_key a = names_of(renumber_key(r, base)), b = names_of(renumber_key(r, head));

	align_merge(r->build, base, head, names_are_one(&a, &b) ? DIFF_TIER_SAME : DIFF_TIER_RENUMBERED);
	if (strcmp(a.text, b.text) != 0)
		align_add_member(r->build, DIFF_BASE, base, head, &r->around);
}

/* Merges the members of a group: two of both sides are one function, more are a group. */
static void merge_group(struct renumbering *r, struct renumber_solution *s, uint32_t first)
{
	uint32_t into = PROFILE_NONE, other = PROFILE_NONE;
	size_t count = 0;
	enum diff_side side;

	for (size_t i = 0; i < s->rows + s->columns; i++) {
		uint32_t function = renumber_member_of(s, i, &side);

		if (renumber_group_of(s, (uint32_t)i) != first)
			continue;
		count++;
		/* Head's name is shown: its first function stands for all. */
		if (side == DIFF_HEAD && into == PROFILE_NONE)
			into = function;
		else
			other = function;
	}
	if (count == 2) {
		merge_pair(r, other, into);
		return;
	}
	for (size_t i = 0; i < s->rows + s->columns; i++) {
		uint32_t function = renumber_member_of(s, i, &side);

		if (renumber_group_of(s, (uint32_t)i) == first)
			align_add_to_group(r->build, side, function, into, &r->around);
	}
	name_group(r, into);
}

/*
 * Matches functions that have the same key after all: where the assignment has left both without a partner, nothing
 * says that they are two.
 */
static void match_same_keys(struct renumbering *r, const struct renumber_class *class)
{
	const struct renumber_member *head = class->members[DIFF_HEAD], *end = head + class->count[DIFF_HEAD];

	for (size_t i = 0; i < class->count[DIFF_BASE]; i++) {
		const struct renumber_member *base = &class->members[DIFF_BASE][i];
		int order = -1;

		while (head < end && (order = names_compare(&head->key, &base->key)) < 0)
			head++;
		if (head < end && order == 0 && align_only_on(r->build, base->function, DIFF_BASE) &&
			align_only_on(r->build, head->function, DIFF_HEAD))
			merge_pair(r, base->function, head->function);
	}
}

/* Makes one group of more functions than can be assigned. */
static void merge_all(struct renumbering *r, const struct renumber_class *class)
{
	uint32_t into = class->members[DIFF_HEAD][0].function;

	for (int side = 0; side < DIFF_SIDES; side++) {
		for (size_t i = 0; i < class->count[side]; i++)
			align_add_to_group(
				r->build, (enum diff_side)side, class->members[side][i].function, into, &r->around);
	}
	name_group(r, into);
}

/*
 * Returns whether one side has only the sum of what the other one tells apart: functions without names where it has no
 * fingerprints, or functions of one name in several modules where it names none.
 */
static bool is_sum_of_other(const struct renumbering *r, const struct renumber_class *class)
{
	const struct names_key *first = &class->members[DIFF_BASE][0].key;

	if (names_has_none(first->text) || names_has_none(class->members[DIFF_HEAD][0].key.text))
		return class->count[DIFF_BASE] + class->count[DIFF_HEAD] > 2;
	if (r->knows_modules || class->count[DIFF_BASE] == class->count[DIFF_HEAD] ||
		(class->count[DIFF_BASE] > 1 && class->count[DIFF_HEAD] > 1))
		return false;
	for (int side = 0; side < DIFF_SIDES; side++)
		for (size_t i = 0; i < class->count[side]; i++)
			if (!names_are_one(first, &class->members[side][i].key))
				return false;
	return true;
}

static void solve_class(struct renumbering *r, struct renumber_class *class, bool is_last)
{
	CLEANUP(renumber_solution_deinit) struct renumber_solution s = { 0 };
	bool is_large = class->count[DIFF_BASE] > MOST_ASSIGNED || class->count[DIFF_HEAD] > MOST_ASSIGNED;

	if (is_large || is_sum_of_other(r, class)) {
		class->is_settled = true;
		if (!is_large || !has_same_keys(r, class))
			merge_all(r, class);
		return;
	}
	solution_init(r, class, &s);
	assign_least(s.costs, s.rows, s.columns, s.column_of);
	find_groups(&s);
	/* What is known of its neighbours after this round may tell more. */
	if (s.is_ambiguous && !is_last)
		return;
	for (uint32_t i = 0; i < s.rows; i++)
		if (renumber_group_of(&s, i) == i && is_assigned(&s, i))
			merge_group(r, &s, i);
	class->is_settled = true;
}

/* ---- All ---- */

/* Functions that are one have one label; those of a template that are not matched yet, too. */
static void label_functions(struct renumbering *r)
{
	uint32_t count = (uint32_t)r->build->diff->function_count;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t into = r->build->redirect[i];
		bool has_partner = r->class_of[i] == PROFILE_NONE || into != i ||
				   (r->build->present[DIFF_BASE][i] && r->build->present[DIFF_HEAD][i]);

		r->labels[i] = has_partner ? into : count + r->class_of[i];
	}
}

void renumber_match(struct diff_build *build)
{
	CLEANUP(renumbering_deinit) struct renumbering r = { .build = build };
	CLEANUP(cleanup_free)
	bool *contested = memory_zeroed(build->diff->function_count + 1, sizeof(*contested)); /* [function] */

	list_classes(&r, contested);
	if (r.class_count == 0)
		return;
	surroundings_find(build, contested, &r.around);
	for (int side = 0; side < DIFF_SIDES; side++)
		pieces_collect(build->profiles[side], build->function_ids[side], &r.pieces[side]);
	for (int round = 1; round <= ROUNDS; round++) {
		label_functions(&r);
		for (size_t i = 0; i < r.class_count; i++)
			if (!r.classes[i].is_settled)
				solve_class(&r, &r.classes[i], round == ROUNDS);
	}
	for (size_t i = 0; i < r.class_count; i++)
		match_same_keys(&r, &r.classes[i]);
}
