/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pprof_bytes.h"
#include "profile_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <string.h>

static void must_set(struct profile *profile, const char *key, const char *value)
{
	struct error err;

	if (!profile_set_label(profile, key, value, &err))
		fail_msg("%s", err.message);
}

static struct profile *profile_of(const char *service, const char *version)
{
	struct profile *profile = sample_profile();

	profile->label_count = 0;
	if (service)
		must_set(profile, PROFILE_LABEL_SERVICE, service);
	if (version)
		must_set(profile, PROFILE_LABEL_VERSION, version);
	return profile;
}

static void expect_refusal(const char *key, const char *value, const char *words)
{
	struct error err;

	assert_false(profile_label_check(key, value, &err));
	assert_int_equal(err.code, ERROR_USAGE);
	assert_non_null(strstr(err.message, words));
}

static void what_is_no_label_is_refused(void **state)
{
	char longest[PROFILE_LABEL_VALUE_BYTES + 2];
	struct error err;

	memset(longest, 'k', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	expect_refusal("", "1", "the key is empty");
	expect_refusal("1st", "1", "begins with a letter");
	expect_refusal("a key", "1", "made of letters");
	expect_refusal("k\xc3\xa9y", "1", "made of letters");
	expect_refusal(longest, "1", "the key is 257 bytes long; the most is 64");
	expect_refusal("version", "", "the value is empty");
	expect_refusal("version", longest, "the value is 257 bytes long; the most is 256");
	expect_refusal("version", "4\x1b[31m", "control character");
	expect_refusal("version", "4\n2", "control character");
	expect_refusal("version",
		"4\xe2\x80\xae"
		"2",
		"control character");
	expect_refusal("version", "4\xff", "not UTF-8");
	longest[PROFILE_LABEL_VALUE_BYTES] = '\0';
	assert_true(profile_label_check("_app.kubernetes.io/name-2", longest, &err));
	assert_true(profile_label_check("version", "4.2.1 \xc3\xa9 = a, b", &err));
}

static void labels_are_kept_by_key(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_of("checkout", NULL);
	CLEANUP(buffer_deinit) struct buffer words = { 0 };

	buffer_init(&words, 1 << 16);
	must_set(profile, "zone", "b");
	must_set(profile, "commit", "4f3c2a1");
	must_set(profile, "zone", "c");
	assert_int_equal(profile->label_count, 3);
	assert_string_equal(profile_label(profile, "zone"), "c");
	assert_null(profile_label(profile, "version"));
	profile_labels_words(profile, &words);
	assert_string_equal(words.data, "commit 4f3c2a1, service checkout, zone c");
	profile_remove_label(profile, "commit");
	profile_remove_label(profile, "commit");
	words.size = 0;
	profile_labels_words(profile, &words);
	assert_string_equal(words.data, "service checkout, zone c");
}

static void there_is_a_most(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_of(NULL, NULL);
	struct error err;
	char key[16];

	for (int i = 0; i < PROFILE_MAX_LABELS; i++) {
		snprintf(key, sizeof(key), "key%d", i);
		must_set(profile, key, "1");
	}
	assert_false(profile_set_label(profile, "one_more", "1", &err));
	assert_int_equal(err.code, ERROR_LIMIT);
	must_set(profile, "key7", "2");
}

static void expect_identities(const struct profile *base, const struct profile *head, const char *expected)
{
	CLEANUP(buffer_deinit) struct buffer words = { 0 };

	buffer_init(&words, 1 << 16);
	buffer_append(&words, "", 0);
	profile_identities(base, head, &words);
	assert_string_equal(words.data ? words.data : "", expected);
}

static void service_and_version_are_an_identity(void **state)
{
	CLEANUP(profile_cleanup) struct profile *old = profile_of("checkout", "4.2.1");
	CLEANUP(profile_cleanup) struct profile *new = profile_of("checkout", "4.3.0");
	CLEANUP(profile_cleanup) struct profile *other = profile_of("cart", "1.7");
	CLEANUP(profile_cleanup) struct profile *nameless = profile_of("cart", NULL);

	expect_identities(NULL, old, "checkout 4.2.1");
	expect_identities(old, new, "checkout 4.2.1 → 4.3.0");
	expect_identities(old, old, "checkout 4.2.1 → 4.2.1");
	expect_identities(old, other, "checkout 4.2.1 → cart 1.7");
	expect_identities(old, nameless, "");
	expect_identities(nameless, old, "");
	expect_identities(NULL, nameless, "");
}

static void a_merge_keeps_what_all_have(void **state)
{
	CLEANUP(profile_cleanup) struct profile *into = NULL;
	CLEANUP(profile_cleanup) struct profile *one = profile_of("checkout", "4.2.1");
	CLEANUP(profile_cleanup) struct profile *two = profile_of("checkout", "4.2.1");
	CLEANUP(profile_cleanup) struct profile *three = profile_of("checkout", NULL);
	struct error err;

	must_set(one, "host", "web-1");
	must_set(two, "host", "web-2");
	assert_true(profile_create(&into, &err));
	assert_true(profile_merge(into, one, &err));
	assert_string_equal(profile_label(into, "host"), "web-1");
	assert_true(profile_merge(into, two, &err));
	assert_null(profile_label(into, "host"));
	assert_string_equal(profile_label(into, "version"), "4.2.1");
	assert_true(profile_merge(into, three, &err));
	assert_int_equal(into->label_count, 1);
	assert_string_equal(profile_label(into, "service"), "checkout");
}

/* `labels`: strings 3 and 4 are "service" and what no label may hold. */
static void expect_refused_labels(const uint8_t *labels, size_t size, const char *words)
{
	enum { LABELS = 37 };
	CLEANUP(buffer_deinit) struct buffer extension = { 0 };
	struct pprof_bytes file;

	buffer_init(&extension, 1 << 16);
	pprof_bytes_init(&file);
	pprof_value_type(&file, PPROF_SAMPLE_TYPE, "samples", "count");
	pprof_string(&file, "service");
	pprof_string(&file, "\x1b[2J");
	pprof_text(&extension, LABELS, labels, size);
	pprof_text(&file.file, PPROF_KELVIN, extension.data, extension.size);
	pprof_refuse(&file, words);
}

static void labels_of_a_file_are_checked(void **state)
{
	expect_refused_labels((const uint8_t[]){ 3, 99 }, 2, "a label's value");
	expect_refused_labels((const uint8_t[]){ 99, 3 }, 2, "a label's key");
	expect_refused_labels((const uint8_t[]){ 3 }, 1, "the labels");
	expect_refused_labels((const uint8_t[]){ 3, 0xff }, 2, "the labels");
	expect_refused_labels((const uint8_t[]){ 3, 4 }, 2, "a label is malformed");
	expect_refused_labels((const uint8_t[]){ 4, 3 }, 2, "a label is malformed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_label_is_refused),
		cmocka_unit_test(labels_are_kept_by_key),
		cmocka_unit_test(there_is_a_most),
		cmocka_unit_test(service_and_version_are_an_identity),
		cmocka_unit_test(a_merge_keeps_what_all_have),
		cmocka_unit_test(labels_of_a_file_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
