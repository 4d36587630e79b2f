/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pairs_fixture.h"
#include "synthetic_fixture.h"
#include "tests/unit/support/text.h"

#include <stdlib.h>
#include <string.h>

/*
 * What must hold of the matching for any names: drawn profiles of folded stacks, whose functions are called as those of
 * recordings (tests/data/pairs) and of the tables in tests/data. KELVIN_DRAWN draws another number of each kind.
 */

enum { MOST_NAMES = 4096, PLACES = 8 };

static size_t drawn(size_t otherwise)
{
	const char *text = getenv("KELVIN_DRAWN");

	return text ? strtoul(text, NULL, 10) : otherwise;
}

/* ---- Profiles ---- */

static struct profile *read_folded(const struct text *text)
{
	struct profile *profile = NULL;
	struct error err;

	if (!foreign_read(text->bytes, text->size, "stacks.folded", &profile, &err))
		fail_msg("%s: %s", err.message, text->bytes);
	return profile;
}

static struct diff *compare_texts(const struct text *base, const struct text *head)
{
	return synthetic_compare(read_folded(base), read_folded(head), NULL);
}

/* ---- Names ---- */

struct name {
	const char *text;
	uint32_t key, template; /* strings of the pool */
	bool is_numbered;
};

/* Names of different templates. */
struct pool {
	struct string_table *strings;
	struct hash_map templates;
	struct name *names;
	size_t count, numbered; /* numbered: those of a template that counts come first */
};

/* Learns a name's key and template as a folded stack has it; false: it is not one frame of a stack. */
static bool learn_name(struct pool *pool, const char *text, struct name *name)
{
	CLEANUP(cleanup_free) struct text *folded = calloc(1, sizeof(*folded));
	CLEANUP(buffer_deinit) struct buffer template = BUFFER_INIT(SIZE_MAX / 2);
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	const char *key;

	if (text[0] == '\0' || strlen(text) > 300 || strpbrk(text, ";\t\n") || text[strlen(text) - 1] == ' ')
		return false;
	add_line(folded, "main;%s;leaf 5\n", text);
	profile = read_folded(folded);
	if (profile->function_count != 3)
		return false;
	key = profile_string(profile, profile->functions[1].key);
	if (strcmp(key, profile_string(profile, profile->functions[0].key)) == 0)
		return false;
	name->is_numbered = profile_key_template(key, &template);
	name->text = string_table_get(pool->strings, string_table_enter(pool->strings, text, strlen(text)));
	name->key = string_table_enter(pool->strings, key, strlen(key));
	name->template = string_table_enter(pool->strings, template.data ? template.data : "", template.size);
	return template.size > 1;
}

static void add_name(struct pool *pool, const char *text)
{
	struct name name;
	bool added;

	if (pool->count == MOST_NAMES || !learn_name(pool, text, &name))
		return;
	(void)hash_map_enter(&pool->templates, &name.template, 0, &added);
	if (!added)
		return;
	pool->names[pool->count] = name;
	if (name.is_numbered) {
		pool->names[pool->count] = pool->names[pool->numbered];
		pool->names[pool->numbered++] = name;
	}
	pool->count++;
}

/* Adds the names in the columns of a table from the second one on. */
static void add_table(struct pool *pool, const char *file)
{
	char path[4096], line[4096], *rest, *column;
	FILE *table;

	snprintf(path, sizeof(path), "%s/../%s", PAIRS_DIRECTORY, file);
	table = fopen(path, "r");
	assert_non_null(table);
	while (fgets(line, sizeof(line), table)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#' || !strtok_r(line, "\t", &rest))
			continue;
		while ((column = strtok_r(NULL, "\t", &rest)) != NULL)
			add_name(pool, column);
	}
	fclose(table);
}

static void add_profile(struct pool *pool, const char *pair)
{
	struct profile *profile = read_pair(pair);

	for (size_t i = 0; i < profile->function_count; i++)
		add_name(pool, profile_string(profile, profile->functions[i].name));
	profile_destroy(profile);
}

static int set_up(void **state)
{
	static const char *const tables[] = { "names.tsv", "renumbered.tsv", "distinct.tsv" };
	static const char *const pairs[] = { "nginx_base", "redis_base", "gunicorn_base", "criterion_base_1",
		"postgres_base" };
	static struct pool pool;

	pool.strings = string_table_begin(SIZE_MAX / 2);
	pool.names = calloc(MOST_NAMES, sizeof(*pool.names));
	hash_map_init(&pool.templates, sizeof(uint32_t));
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		add_table(&pool, tables[i]);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		add_profile(&pool, pairs[i]);
	*state = &pool;
	return 0;
}

static int tear_down(void **state)
{
	struct pool *pool = *state;

	string_table_destroy(pool->strings);
	hash_map_deinit(&pool->templates);
	free(pool->names);
	return 0;
}

static size_t below(unsigned int *draw, size_t count)
{
	return (size_t)rand_r(draw) % count;
}

/* Draws names of different templates. */
static void draw_names(const struct pool *pool, unsigned int *draw, const struct name **names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool is_new;

		do {
			names[i] = &pool->names[below(draw, pool->count)];
			is_new = true;
			for (size_t k = 0; k < i; k++)
				is_new &= names[k] != names[i];
		} while (!is_new);
	}
}

/* Makes another name of a template that counts, by another number in place of one of its own. */
static bool number_anew(struct pool *pool, const struct name *name, unsigned int *draw, struct name *other)
{
	static const char digits[] = "0123456789";
	char text[512];

	for (int trial = 0; trial < 8; trial++) {
		const char *at = name->text + below(draw, strlen(name->text)), *end;

		at += strcspn(at, digits);
		if (*at == '\0')
			at = name->text + strcspn(name->text, digits);
		end = at + strspn(at, digits);
		snprintf(text, sizeof(text), "%.*s%zu%s", (int)(at - name->text), name->text, 1 + below(draw, 99), end);
		if (learn_name(pool, text, other) && other->template == name->template && other->key != name->key)
			return true;
	}
	return false;
}

static const struct diff_function *find_key(const struct pool *pool, const struct diff *diff, const struct name *name)
{
	for (size_t i = 0; i < diff->function_count; i++)
		if (strcmp(diff_string(diff, diff->functions[i].key), string_table_get(pool->strings, name->key)) == 0)
			return &diff->functions[i];
	return NULL;
}

/* ---- Different functions ---- */

/* Two functions at a place: called by one of the callers, they call one of the callees, if there are any, and take time
 * themselves. */
static void add_function(struct text *text, const char *name, const struct name *const callers[2],
	const struct name *const callees[2], const size_t times[5])
{
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 2 && callees; k++)
			add_line(text, "main;%s;%s;%s %zu\n", callers[i]->text, name, callees[k]->text,
				times[2 * i + k]);
		add_line(text, "main;%s;%s %zu\n", callers[i]->text, name, 1 + times[4] / 4);
	}
}

static void add_rest(struct text *text, const struct name *const places[PLACES], unsigned int *draw)
{
	for (int i = 0; i < PLACES; i++)
		add_line(text, "main;%s;rest 1%03zu\n", places[i]->text, below(draw, 1000));
}

/* A function that is gone and one that is new, with other callers, other callees or both. */
static void different_functions_are_never_matched(void **state)
{
	struct pool *pool = *state;
	CLEANUP(cleanup_free) struct text *base = calloc(1, sizeof(*base));
	CLEANUP(cleanup_free) struct text *head = calloc(1, sizeof(*head));
	size_t count = drawn(1000), matched = 0;

	for (unsigned int seed = 1; seed <= count; seed++) {
		unsigned int draw = seed;
		const struct name *names[PLACES + 2];
		struct name numbered;
		size_t times[5], kind = 1 + seed % 3;
		bool is_leaf;

		draw_names(pool, &draw, names, PLACES + 2);
		/* Some have the words of the other's name. */
		if (seed % 4 == 0 && names[PLACES]->is_numbered && number_anew(pool, names[PLACES], &draw, &numbered))
			names[PLACES + 1] = &numbered;
		for (int i = 0; i < 5; i++)
			times[i] = 20 + below(&draw, 400);
		base->size = head->size = 0;
		/* Some of those that others call, call nothing. */
		is_leaf = kind == 1 && seed % 5 < 2;
		add_function(base, names[PLACES]->text, &names[0], is_leaf ? NULL : &names[4], times);
		for (int i = 0; i < 5 && seed % 2; i++)
			times[i] = 20 + below(&draw, 400);
		add_function(head, names[PLACES + 1]->text, &names[kind & 1 ? 2 : 0],
			is_leaf ? NULL : &names[kind & 2 ? 6 : 4], times);
		add_rest(base, names, &draw);
		add_rest(head, names, &draw);
		CLEANUP(diff_cleanup) struct diff *diff = compare_texts(base, head);

		for (size_t i = 0; i < diff->function_count; i++) {
			enum diff_tier tier = diff->functions[i].tier;

			if (tier == DIFF_TIER_SAME || tier == DIFF_TIER_ONE_SIDED)
				continue;
			print_message("seed %u, kind %zu: %s is %s by %s\n", seed, kind, names[PLACES]->text,
				names[PLACES + 1]->text, diff_tier_name(tier));
			matched++;
		}
	}
	assert_int_equal(matched, 0);
}

/* Two functions of a template, whose times become others. Nothing else does. */
static void functions_of_both_sides_keep_their_names(void **state)
{
	struct pool *pool = *state;
	CLEANUP(cleanup_free) struct text *base = calloc(1, sizeof(*base));
	CLEANUP(cleanup_free) struct text *head = calloc(1, sizeof(*head));
	size_t count = drawn(1000), swapped = 0;

	for (unsigned int seed = 1; seed <= count; seed++) {
		unsigned int draw = seed;
		const struct name *names[PLACES + 2];
		struct name other;
		size_t kind = seed % 4;

		draw_names(pool, &draw, names, PLACES + 2);
		names[PLACES] = &pool->names[below(&draw, pool->numbered)];
		if (!number_anew(pool, names[PLACES], &draw, &other))
			continue;
		names[PLACES + 1] = &other;
		base->size = head->size = 0;
		for (int i = 0; i < 2; i++) {
			size_t times[5], factor = 1 + below(&draw, 20);

			for (int k = 0; k < 5; k++)
				times[k] = 20 + below(&draw, 400);
			add_function(base, names[PLACES + i]->text, &names[kind & 1 ? 2 * i : 0],
				&names[kind & 2 ? 4 + 2 * i : 4], times);
			for (int k = 0; k < 5; k++)
				times[k] = 1 + times[k] * factor / 5;
			add_function(head, names[PLACES + i]->text, &names[kind & 1 ? 2 * i : 0],
				&names[kind & 2 ? 4 + 2 * i : 4], times);
		}
		add_rest(base, names, &draw);
		add_rest(head, names, &draw);
		CLEANUP(diff_cleanup) struct diff *diff = compare_texts(base, head);

		for (int i = 0; i < 2; i++) {
			const struct diff_function *f = find_key(pool, diff, names[PLACES + i]);

			if (f && f->tier == DIFF_TIER_SAME)
				continue;
			print_message("seed %u, kind %zu: %s beside %s is %s\n", seed, kind, names[PLACES + i]->text,
				names[PLACES + !i]->text, f ? diff_tier_name(f->tier) : "not there");
			swapped++;
		}
	}
	assert_int_equal(swapped, 0);
}

/* ---- New numbers ---- */

enum { FAMILIES = 4, MOST_OF_FAMILY = 4, STACKS = 30, RUNS = 4, MOST_ROWS = 256 };

/* Functions of some templates, each under two names. */
struct renaming {
	struct name names[FAMILIES * MOST_OF_FAMILY][2];
	size_t count;
	const struct name *places[PLACES];
};

static bool is_name_of(const struct renaming *renaming, int which, const struct name *name)
{
	for (size_t i = 0; i < renaming->count; i++)
		if (renaming->names[i][which].key == name->key)
			return true;
	return false;
}

static void draw_renaming(struct pool *pool, unsigned int *draw, struct renaming *renaming)
{
	renaming->count = 0;
	draw_names(pool, draw, renaming->places, PLACES);
	for (int i = 0; i < PLACES; i++)
		while (renaming->places[i]->is_numbered)
			renaming->places[i] = &pool->names[pool->numbered + below(draw, pool->count - pool->numbered)];
	for (int family = 0; family < FAMILIES; family++) {
		const struct name *of = &pool->names[below(draw, pool->numbered)];
		size_t members = 1 + below(draw, MOST_OF_FAMILY);

		for (size_t i = 0; i < members; i++) {
			struct name *pair = renaming->names[renaming->count];

			if (number_anew(pool, of, draw, &pair[0]) && number_anew(pool, of, draw, &pair[1]) &&
				!is_name_of(renaming, 0, &pair[0]) && !is_name_of(renaming, 1, &pair[1]))
				renaming->count++;
		}
	}
}

/* Writes a run of drawn stacks. `factor`: of the time of something else, or of a renamed function. */
static void draw_stacks(unsigned int seed, unsigned int run, const struct renaming *renaming, int which, double factor,
	struct text *text)
{
	unsigned int draw = seed, noise = 1000 * seed + run;
	size_t changed = seed % 2 ? PROFILE_NONE : 0, places = seed % 5 ? PLACES : 2;

	text->size = 0;
	for (size_t i = 0; i < STACKS; i++) {
		const char *outer = renaming->places[below(&draw, places)]->text;
		const char *function = renaming->names[below(&draw, renaming->count)][which].text;
		const char *inner = renaming->names[below(&draw, renaming->count)][which].text;
		const char *leaf = renaming->places[below(&draw, places)]->text;
		double time = (50 + (double)below(&draw, 500)) * (0.99 + (double)below(&noise, 20) / 1000);

		add_line(text, "main;%s;%s;%s;in_%s %d\n", outer, function, i % 3 ? "then" : inner, leaf,
			(int)(time * (i == changed ? factor : 1)));
	}
	add_line(text, "main;elsewhere %d\n", (int)(3000 * (changed == PROFILE_NONE ? factor : 1)));
	add_line(text, "main;rest 9000\n");
}

/* Makes a profile of several runs, which a proof of a change needs. */
static struct profile *draw_runs(unsigned int seed, unsigned int first, const struct renaming *renaming, int which,
	double factor, struct text *text)
{
	struct profile *all = NULL;
	struct error err;

	for (unsigned int run = 0; run < RUNS; run++) {
		struct profile *one;

		draw_stacks(seed, first + run, renaming, which, factor, text);
		one = read_folded(text);
		if (!all) {
			all = one;
			continue;
		}
		if (!profile_merge(all, one, &err))
			fail_msg("%s", err.message);
		profile_destroy(one);
	}
	if (!profile_finish(all, &err))
		fail_msg("%s", err.message);
	return all;
}

struct row {
	char text[512];
};

static int compare_rows(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->text, ((const struct row *)b)->text);
}

/* Lists what is proven, by the words of names, each once: two functions that are a group are one row of the same words.
 */
static size_t proven_rows(const struct diff *diff, struct row *rows)
{
	size_t count = 0, different = 0;

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		CLEANUP(buffer_deinit) struct buffer template = BUFFER_INIT(SIZE_MAX / 2);

		if (!diff_state_is_difference(f->self.state) && !diff_state_is_difference(f->total.state))
			continue;
		assert_true(count < MOST_ROWS);
		profile_key_template(diff_string(diff, f->key), &template);
		memset(&rows[count], 0, sizeof(rows[count]));
		snprintf(rows[count++].text, sizeof(rows[0].text), "%.400s %s %s", template.data ? template.data : "",
			diff_state_name(f->self.state), diff_state_name(f->total.state));
	}
	qsort(rows, count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < count; i++)
		if (different == 0 || compare_rows(&rows[different - 1], &rows[i]) != 0)
			rows[different++] = rows[i];
	return different;
}

/*
 * Numbers say nothing: whatever they become, the verdict is the same and the same is proven, of functions whose names
 * have the same words, where nothing changed, or something else, or a renamed function.
 */
static void new_numbers_change_nothing(void **state)
{
	static const double factors[] = { 1, 0.3, 2.2, 5 };
	struct pool *pool = *state;
	CLEANUP(cleanup_free) struct text *text = calloc(1, sizeof(*text));
	CLEANUP(cleanup_free) struct row(*rows)[MOST_ROWS] = calloc(2, sizeof(*rows));
	size_t trials = drawn(300), other_verdicts = 0, other_rows = 0, appeared = 0, groups = 0, proven = 0,
	       renumbered = 0;

	for (unsigned int seed = 1; seed <= trials; seed++) {
		struct renaming renaming;
		enum diff_verdict verdicts[2];
		unsigned int draw = seed;
		double factor = factors[seed / 2 % 4];
		size_t counts[2];

		draw_renaming(pool, &draw, &renaming);
		if (renaming.count == 0)
			continue;
		for (int which = 0; which < 2; which++) {
			CLEANUP(diff_cleanup)
			struct diff *diff = synthetic_compare(draw_runs(seed, 0, &renaming, 0, 1, text),
				draw_runs(seed, RUNS, &renaming, which, factor, text), NULL);

			verdicts[which] = diff->verdict;
			counts[which] = proven_rows(diff, rows[which]);
			for (size_t i = 0; i < diff->function_count; i++) {
				appeared += diff->functions[i].tier == DIFF_TIER_ONE_SIDED;
				groups += diff->functions[i].tier == DIFF_TIER_GROUP;
				renumbered += diff->functions[i].tier == DIFF_TIER_RENUMBERED;
			}
		}
		proven += counts[0];
		if (verdicts[0] != verdicts[1]) {
			print_message("seed %u x%g: %s, renumbered %s\n", seed, factor, diff_verdict_name(verdicts[0]),
				diff_verdict_name(verdicts[1]));
			other_verdicts++;
		}
		if (counts[0] != counts[1] || memcmp(rows[0], rows[1], counts[0] * sizeof(rows[0][0])) != 0) {
			print_message("seed %u x%g: %zu and %zu proven\n", seed, factor, counts[0], counts[1]);
			other_rows++;
		}
	}
	print_message(
		"%zu renamings of %zu functions, %zu proven rows, %zu groups, %zu one-sided, other verdicts %zu, other rows %zu\n",
		trials, renumbered, proven, groups, appeared, other_verdicts, other_rows);
	assert_true(renumbered > trials && proven > trials);
	assert_int_equal(appeared, 0);
	assert_int_equal(other_verdicts, 0);
	assert_int_equal(other_rows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(different_functions_are_never_matched),
		cmocka_unit_test(functions_of_both_sides_keep_their_names),
		cmocka_unit_test(new_numbers_change_nothing),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
