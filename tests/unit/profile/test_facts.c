/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/foreign.h"
#include "profile_fixture.h"
#include "tests/unit/support/profile.h"

#include <stdio.h>
#include <string.h>

/* Every test goes through the whole table: a fact that is added there is tested by its row. */

/* A value that no other fact has, and another `variant` of it. */
static void set_fact(struct profile *profile, const struct profile_fact *fact, uint32_t variant)
{
	char string[64];
	uint32_t value = fact->field * 1000 + variant;

	if (fact->type == PROFILE_FACT_STRING) {
		snprintf(string, sizeof(string), "%s of %c", fact->name, (char)('x' + variant));
		value = profile_id(profile, string);
	} else if (fact->type == PROFILE_FACT_FLAG) {
		value = variant;
	}
	profile_fact_set(&profile->facts, fact, value);
}

static struct profile *profile_with_facts(uint32_t variant)
{
	struct profile *profile = sample_profile();
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	for (size_t i = 0; i < count; i++)
		set_fact(profile, &facts[i], variant);
	return profile;
}

static void assert_same_fact(const struct profile *a, const struct profile *b, const struct profile_fact *fact)
{
	uint32_t left = profile_fact_get(&a->facts, fact), right = profile_fact_get(&b->facts, fact);

	if (fact->type == PROFILE_FACT_STRING)
		assert_string_equal(profile_string(a, left), profile_string(b, right));
	else
		assert_int_equal(left, right);
}

static void rows_do_not_collide(void **state)
{
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	for (size_t i = 0; i < count; i++) {
		size_t size = facts[i].type == PROFILE_FACT_FLAG ? sizeof(bool) : sizeof(uint32_t);

		assert_true(facts[i].field > 0);
		assert_true(facts[i].offset + size <= sizeof(struct profile_facts));
		assert_true((facts[i].one != NULL) ==
			    (facts[i].type == PROFILE_FACT_NUMBER || facts[i].type == PROFILE_FACT_THOUSANDTHS));
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(facts[i].name, facts[k].name);
			assert_int_not_equal(facts[i].field, facts[k].field);
			assert_int_not_equal(facts[i].offset, facts[k].offset);
		}
	}
}

/* Every member has a row: together, the rows' members fill the structure but for its padding. */
static void every_member_has_a_row(void **state)
{
	size_t count, bytes = 0;
	const struct profile_fact *facts = profile_facts(&count);

	for (size_t i = 0; i < count; i++)
		bytes += facts[i].type == PROFILE_FACT_FLAG ? sizeof(bool) : sizeof(uint32_t);
	assert_true(bytes > sizeof(struct profile_facts) - sizeof(uint32_t));
}

static void a_file_keeps_each(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_with_facts(1), *read = NULL;
	CLEANUP(buffer_deinit) struct buffer file = { 0 };
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);
	struct error err;

	buffer_init(&file, 1 << 20);
	assert_true(profile_write_pprof(profile, &file, &err));
	assert_true(foreign_read(file.data, file.size, "file", &read, &err));
	for (size_t i = 0; i < count; i++)
		assert_same_fact(profile, read, &facts[i]);
}

static void merging_keeps_what_agrees(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_with_facts(1), *into = NULL;
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);
	struct error err;

	assert_true(profile_create(&into, &err));
	assert_true(profile_merge(into, profile, &err) && profile_merge(into, profile, &err));
	for (size_t i = 0; i < count; i++)
		if (!facts[i].adds_up)
			assert_same_fact(profile, into, &facts[i]);
	assert_int_equal(into->facts.unsampled_ms, 2 * profile->facts.unsampled_ms);
	for (size_t i = 0; i < count; i++)
		set_fact(profile, &facts[i], 0);
	assert_true(profile_merge(into, profile, &err));
	for (size_t i = 0; i < count; i++)
		if (!facts[i].adds_up)
			assert_int_equal(profile_fact_get(&into->facts, &facts[i]), facts[i].type == PROFILE_FACT_FLAG);
	profile->facts.unsampled_ms = UINT32_MAX;
	assert_true(profile_merge(into, profile, &err));
	assert_true(into->facts.unsampled_ms == UINT32_MAX);
}

static void what_differs_is_found(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = profile_with_facts(1), *head = profile_with_facts(1);
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	for (size_t i = 0; i < count; i++) {
		assert_false(profile_fact_differs(base, head, &facts[i]));
		set_fact(head, &facts[i], 0);
		assert_true(profile_fact_differs(base, head, &facts[i]));
		profile_fact_set(&head->facts, &facts[i], 0);
		/* What one side does not know is no difference; a limit and a flag are known when they are 0. */
		assert_int_equal(profile_fact_differs(base, head, &facts[i]),
			facts[i].type == PROFILE_FACT_FLAG || facts[i].type == PROFILE_FACT_THOUSANDTHS);
		set_fact(head, &facts[i], 1);
	}
}

static const char *words_of(const struct profile *profile, const char *name, struct buffer *out)
{
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	out->size = 0;
	buffer_append_string(out, "");
	for (size_t i = 0; i < count; i++)
		if (strcmp(facts[i].name, name) == 0)
			profile_fact_words(profile, &facts[i], out);
	return out->data;
}

static void values_have_words(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = sample_profile();
	CLEANUP(buffer_deinit) struct buffer words = { 0 };

	buffer_init(&words, 1 << 16);
	profile->facts.cpu_limit_milli = 1500;
	profile->facts.cpu_count = 1;
	profile->facts.frequency_hz = 997;
	profile->facts.kernel = profile_id(profile, "6.18");
	assert_string_equal(words_of(profile, "cpu_limit", &words), "1.5 CPUs");
	assert_string_equal(words_of(profile, "cpu_count", &words), "1 CPU");
	assert_string_equal(words_of(profile, "frequency_hz", &words), "997 Hz");
	assert_string_equal(words_of(profile, "kernel", &words), "6.18");
	profile->facts.cpu_limit_milli = 0;
	assert_string_equal(words_of(profile, "cpu_limit", &words), "no limit");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_do_not_collide),
		cmocka_unit_test(every_member_has_a_row),
		cmocka_unit_test(a_file_keeps_each),
		cmocka_unit_test(merging_keeps_what_agrees),
		cmocka_unit_test(what_differs_is_found),
		cmocka_unit_test(values_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
