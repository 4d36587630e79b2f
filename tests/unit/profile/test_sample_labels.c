/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pprof_bytes.h"
#include "profile_fixture.h"
#include "tests/unit/support/profile.h"

#include <string.h>

static void location_of(struct pprof_bytes *p, uint64_t id, const char *name)
{
	pprof_function(p, id, name);
	pprof_location(p, id, 0, 100 * id, (const uint64_t[]){ id, 0 });
}

/* As Go writes the samples of pprof.Do: one function below two routes, and one that is below none. */
static struct profile *routes(void)
{
	struct pprof_bytes p;

	pprof_bytes_init(&p);
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "samples", "count");
	location_of(&p, 1, "parse");
	location_of(&p, 2, "idle");
	pprof_sample(&p,
		&(struct pprof_sample){ .locations = { 1 },
			.values = { 3 },
			.value_count = 1,
			.labels = { { "route", "/upload", 0 }, { "kind", "post", 0 }, { "trace_id", "8f31", 0 } } });
	pprof_sample(&p,
		&(struct pprof_sample){ .locations = { 1 },
			.values = { 5 },
			.value_count = 1,
			.labels = { { "kind", "post", 0 }, { "route", "/upload", 0 }, { "trace_id", "8f32", 0 } } });
	pprof_sample(
		&p, &(struct pprof_sample){
			    .locations = { 1 }, .values = { 7 }, .value_count = 1, .labels = { { "route", "/", 0 } } });
	pprof_sample(&p, &(struct pprof_sample){ .locations = { 2 },
				 .values = { 11 },
				 .value_count = 1,
				 .labels = { { "bytes", NULL, 4096 } } });
	return pprof_read(&p);
}

static int64_t count_of(const struct profile *p, const char *key, const char *value)
{
	struct profile_sample_label label;
	int64_t sum = 0;

	for (size_t i = 0; i < p->sample_count; i++) {
		bool has = profile_thread_label(p, &p->threads[p->samples[i].thread], key, &label);

		if (has ? value && strlen(value) == label.value_bytes && !memcmp(label.value, value, label.value_bytes)
			: !value)
			sum += p->values[i * p->value_type_count];
	}
	return sum;
}

static void assert_routes(const struct profile *p)
{
	assert_int_equal(p->sample_count, 3);
	assert_int_equal(count_of(p, "route", "/upload"), 8);
	assert_int_equal(count_of(p, "kind", "post"), 8);
	assert_int_equal(count_of(p, "route", "/"), 7);
	assert_int_equal(count_of(p, "route", NULL), 11);
	/* Names of single requests, and numbers. */
	assert_int_equal(count_of(p, "trace_id", NULL), 26);
	assert_int_equal(count_of(p, "bytes", NULL), 26);
}

static void samples_keep_the_labels_of_their_program(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = routes();

	assert_routes(p);
	assert_int_equal(p->thread_count, 3);
}

static void labels_are_written_for_kelvin_and_for_others(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = routes();
	CLEANUP(profile_cleanup) struct profile *again = NULL;
	CLEANUP(buffer_deinit) struct buffer file = written_profile(p);

	again = read_profile(file.data, file.size);
	assert_routes(again);
	assert_int_equal(labelled_samples(p, "route", "/upload"), 1);
	assert_int_equal(labelled_samples(p, "kind", "post"), 1);
	assert_int_equal(labelled_samples(p, "route", "/"), 1);
}

static void merged_profiles_keep_labels(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = routes();
	CLEANUP(profile_cleanup) struct profile *other = routes();
	struct error err;

	must(profile_merge(p, other, &err) && profile_finish(p, &err), &err);
	assert_int_equal(count_of(p, "route", "/upload"), 16);
	assert_int_equal(count_of(p, "route", NULL), 22);
}

static void a_label_cannot_break_the_form_of_a_set(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = routes();
	struct profile_label labels[] = { { profile_id(p, "b"), profile_id(p, "x\x02r\x01y") },
		{ profile_id(p, "a"), profile_id(p, "") }, { profile_id(p, "a"), profile_id(p, "twice") } };
	struct profile_sample_label label;
	const char *set;
	uint32_t id;
	struct error err;

	must(profile_make_label_set(p, labels, 3, &id, &err), &err);
	set = profile_string(p, id);
	assert_true(profile_next_sample_label(&set, &label));
	assert_memory_equal(label.key, "a", label.key_bytes);
	assert_int_equal(label.value_bytes, 0);
	assert_true(profile_next_sample_label(&set, &label));
	assert_memory_equal(label.value, "x r y", label.value_bytes);
	assert_false(profile_next_sample_label(&set, &label));
	/* A hostile file may have any string there. */
	for (const char *const *any = (const char *const[]){ "", "\x01", "\x02\x02", "a", "a\x02", NULL }; *any; any++)
		for (set = *any; profile_next_sample_label(&set, &label);)
			assert_true(label.key_bytes + label.value_bytes <= strlen(*any));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_keep_the_labels_of_their_program),
		cmocka_unit_test(labels_are_written_for_kelvin_and_for_others),
		cmocka_unit_test(merged_profiles_keep_labels),
		cmocka_unit_test(a_label_cannot_break_the_form_of_a_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
