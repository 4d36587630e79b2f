/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile_fixture.h"

#include "profile/foreign/foreign.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ALLOCATIONS = 5000 };

struct inputs {
	struct profile *profile;
	struct buffer file;
	struct buffer text;
};

static bool reads_pprof(const struct inputs *in, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	return foreign_read(in->file.data, in->file.size, "file", &profile, err);
}

static bool reads_folded(const struct inputs *in, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	return foreign_read(in->text.data, in->text.size, "text", &profile, err);
}

static bool nothing_more(void *context, void *into, size_t room, size_t *got, struct error *err)
{
	(void)context, (void)into, (void)room, (void)err;
	*got = 0;
	return true;
}

static bool reads_pieces(const struct inputs *in, struct error *err)
{
	const struct text_source text = { in->text.data, in->text.size, nothing_more, NULL };
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	return profile_read_folded(&text, "text", ARRAY_MAX_IDS, &profile, err);
}

static bool writes_pprof(const struct inputs *in, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	bool ok;

	buffer_init(&out, 1 << 24);
	ok = profile_write_pprof(in->profile, &out, err);
	return ok;
}

static bool writes_folded(const struct inputs *in, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	bool ok;

	buffer_init(&out, 1 << 24);
	ok = profile_write_folded(in->profile, PROFILE_NONE, &out, err);
	return ok;
}

static bool merges(const struct inputs *in, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *into = NULL;

	return profile_create(&into, err) && profile_merge(into, in->profile, err) &&
	       profile_merge(into, in->profile, err);
}

static bool makes_a_tree(const struct inputs *in, struct error *err)
{
	CLEANUP(profile_tree_cleanup) struct profile_tree *tree = NULL;

	return profile_tree_create(in->profile, NULL, &tree, err);
}

static bool finds_nameless(const struct inputs *in, struct error *err)
{
	struct profile_nameless found[PROFILE_LANGUAGE_COUNT];
	size_t count;

	return profile_find_nameless(in->profile, found, &count, err);
}

/* Each allocation fails in turn: an error that says so, nothing leaked, and in the end success. */
static void expect_clean_failures(const struct inputs *in, bool (*act)(const struct inputs *in, struct error *err))
{
	bool succeeded = false;

	for (size_t n = 0; !succeeded; n++) {
		struct error err = { 0 };

		assert_true(n < MOST_ALLOCATIONS);
		failing_malloc_after(n);
		succeeded = act(in, &err);
		failing_malloc_after(SIZE_MAX);
		if (!succeeded && err.code != ERROR_MEMORY)
			fail_msg("allocation %zu: %s", n, err.message);
	}
}

static void every_failed_allocation_is_an_error(void **state)
{
	static bool (*const acts[])(const struct inputs *in, struct error *err) = { reads_pprof, reads_folded,
		reads_pieces, writes_pprof, writes_folded, merges, makes_a_tree, finds_nameless };
	struct inputs in = { .profile = sample_profile() };

	in.file = written_profile(in.profile);
	buffer_init(&in.text, 1 << 10);
	buffer_append_string(&in.text, "main;outer;inner_[i];callee 3\nmain;sys_read_[k] 4\n");
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
		expect_clean_failures(&in, acts[i]);
	buffer_deinit(&in.text);
	buffer_deinit(&in.file);
	profile_destroy(in.profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_failed_allocation_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
