/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/moment.h"
#include "profile/store/store.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

static const int64_t now_ns = INT64_C(1764000000) * 1000000000;

static void refuse(const char *text, const char *words)
{
	struct store_address address = { 0 };
	struct error err = { 0 };

	if (store_address_parse(text, now_ns, &address, &err))
		fail_msg("accepted: %s", text);
	assert_int_equal(err.code, ERROR_USAGE);
	if (!strstr(err.message, words))
		fail_msg("%s: '%s' is not in: %s", text, words, err.message);
	assert_null(address.url);
}

static struct store_address accept(const char *text)
{
	struct store_address address = { 0 };
	struct error err = { 0 };

	if (!store_address_parse(text, now_ns, &address, &err))
		fail_msg("%s: %s", text, err.message);
	assert_string_equal(address.text, text);
	return address;
}

static void parts_are_told_apart(void **state)
{
	static const struct {
		const char *text, *url, *path;
		enum store_kind kind;
	} rows[] = {
		{ "pyroscope+http://localhost:4040", "http://localhost:4040", "", STORE_PYROSCOPE },
		{ "pyroscope+https://profiles.grafana.net/", "https://profiles.grafana.net", "", STORE_PYROSCOPE },
		{ "pyroscope+http://h/a/b/?service=x", "http://h", "/a/b", STORE_PYROSCOPE },
		{ "clickhouse+http://[::1]:8123/kelvin", "http://[::1]:8123", "kelvin", STORE_CLICKHOUSE },
		{ "clickhouse+coroot+https://ch.example:8443/default?service=api", "https://ch.example:8443", "default",
			STORE_COROOT },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct store_address address = accept(rows[i].text);

		assert_true(store_is_address(rows[i].text));
		assert_string_equal(address.url, rows[i].url);
		assert_string_equal(address.path, rows[i].path);
		assert_int_equal(address.kind, rows[i].kind);
		store_address_deinit(&address);
	}
}

static void files_are_no_addresses(void **state)
{
	static const char *const names[] = { "", "a.pb.gz", "-", "http://h/", "pyroscope", "pyroscope+http",
		"pyroscope+http:/x", "pyroscope+httpss://h", "./pyroscope+http://x" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(store_is_address(names[i]));
}

static void a_query_has_times_and_conditions(void **state)
{
	struct store_address address = accept(
		"pyroscope+http://h/?query=process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"a=b\",x!=\"y\"}"
		"&from=now-2h&until=2025-11-24T16:55:00%2B01:00&pod=a%26b+c&&empty=");

	assert_int_equal(address.filter_count, 3);
	assert_string_equal(store_address_filter(&address, "query"),
		"process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"a=b\",x!=\"y\"}");
	assert_string_equal(store_address_filter(&address, "pod"), "a&b+c");
	assert_string_equal(store_address_filter(&address, "empty"), "");
	assert_null(store_address_filter(&address, "from"));
	assert_int_equal(address.from_unix_ns, now_ns - INT64_C(7200) * 1000000000);
	assert_int_equal(address.until_unix_ns, INT64_C(1763999700) * 1000000000);
	store_address_deinit(&address);
}

static void what_is_wrong_is_named(void **state)
{
	refuse("http://h/", "pyroscope+http://HOST");
	refuse("pyroscope+http:///x", "names no host");
	refuse("pyroscope+http://:80/", "names no host");
	refuse("pyroscope+http://h:0/", "names no host");
	refuse("pyroscope+http://h:65536/", "names no host");
	refuse("pyroscope+http://h:80:90/", "names no host");
	refuse("pyroscope+http://[::1/", "names no host");
	refuse("pyroscope+http://[h]/", "names no host");
	refuse("pyroscope+http://a b/", "names no host");
	refuse("pyroscope+http://h\r\nX: y/", "names no host");
	refuse("pyroscope+http://h/a b", "in its path");
	refuse("pyroscope+http://h/a\r\nX:y", "in its path");
	refuse("pyroscope+http://h/?x", "no KEY=VALUE");
	refuse("pyroscope+http://h/?=x", "no KEY=VALUE");
	refuse("pyroscope+http://h/?a=%0d", "control character");
	refuse("pyroscope+http://h/?a=%zz", "begins no code");
	refuse("pyroscope+http://h/?a=%4", "begins no code");
	refuse("pyroscope+http://h/?a=%00", "control character");
	refuse("pyroscope+http://h/?a=b#c", "'#'");
	refuse("pyroscope+http://h/?from=yesterday", "now-2h");
	refuse("pyroscope+http://h/?from=1&from=2", "twice");
	refuse("pyroscope+http://h/?from=2&until=1", "before it begins");
	refuse("clickhouse+http://h", "no database");
	refuse("clickhouse+http://h/", "no database");
	refuse("clickhouse+http://h/a/b", "no database");
	refuse("clickhouse+http://h/a;DROP", "no database");
	refuse("clickhouse+coroot+http://h/?service=x", "no database");
}

/* Nor does an error of it say them. */
static void secrets_do_not_belong_into_an_address(void **state)
{
	static const char *const texts[] = { "pyroscope+http://me:hunter2@h/", "pyroscope+http://hunter2@h/",
		"clickhouse+http://h/db?password=hunter2", "clickhouse+http://h/db?TOKEN=hunter2",
		"clickhouse+http://h/db?%74oken=hunter2", "pyroscope+http://me:hunter2@h:1:2/" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct store_address address = { 0 };
		struct error err = { 0 };

		assert_false(store_address_parse(texts[i], now_ns, &address, &err));
		assert_non_null(strstr(err.message, "KELVIN_STORE_TOKEN"));
		assert_null(strstr(err.message, "hunter2"));
	}
}

static void limits_hold(void **state)
{
	char text[16384] = "pyroscope+http://h/?a=1";

	for (int i = 1; i < STORE_MAX_FILTERS; i++)
		strcat(text, "&a=1");
	struct store_address address = accept(text);
	store_address_deinit(&address);
	strcat(text, "&a=1");
	refuse(text, "32 conditions");
	memset(text + 22, 'a', sizeof(text) - 23);
	refuse(text, "8192");
}

static void moments_are_read(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} rows[] = {
		{ "1764000000", INT64_C(1764000000000000000) },
		{ "1764000000.25", INT64_C(1764000000250000000) },
		{ "1764000000.1234567899", INT64_C(1764000000123456789) },
		{ "now", INT64_C(1764000000000000000) },
		{ "now-90s", INT64_C(1763999910000000000) },
		{ "now-1d1h30m", INT64_C(1763908200000000000) },
		{ "2025-11-24T16:00:00Z", INT64_C(1764000000000000000) },
		{ "2025-11-24 16:00:00z", INT64_C(1764000000000000000) },
		{ "2025-11-24T17:30:00.5+01:30", INT64_C(1764000000500000000) },
		{ "2025-11-23T21:00:00-19:00", INT64_C(1764000000000000000) },
		{ "2016-12-31T23:59:60Z", INT64_C(1483228800000000000) },
	};
	static const char *const wrong[] = { "", " ", "0", "-1", "1.", "1x", "now-", "now-2", "now+2h", "now-2y",
		"now-h", "now-999999999w", "99999999999", "2025-11-24", "2025-11-24T16:00:00", "2025-02-30T00:00:00Z",
		"2025-13-01T00:00:00Z", "2025-11-24T24:01:00Z", "2025-11-24T16:00:61Z", "2025-11-24T16:00:00+1:00",
		"1969-12-31T23:59:59Z", "2025-11-24T16:00:00Zx", "9999-12-31T23:59:59Z" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error err = { 0 };
		int64_t ns = 0;

		if (!store_parse_moment(rows[i].text, now_ns, &ns, &err))
			fail_msg("%s: %s", rows[i].text, err.message);
		if (ns != rows[i].ns)
			fail_msg("%s: %ld", rows[i].text, (long)ns);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct error err = { 0 };
		int64_t ns = 0;

		if (store_parse_moment(wrong[i], now_ns, &ns, &err))
			fail_msg("accepted '%s' as %ld", wrong[i], (long)ns);
		assert_int_equal(err.code, ERROR_USAGE);
	}
}

static void memory_may_run_out(void **state)
{
	bool ok = false;

	for (size_t count = 0; !ok && count < 100; count++) {
		struct store_address address = { 0 };
		struct error err = { 0 };

		failing_malloc_after(count);
		ok = store_address_parse("pyroscope+http://h/p?a=b&from=now", now_ns, &address, &err);
		failing_malloc_after(SIZE_MAX);
		if (!ok)
			assert_true(err.code == ERROR_MEMORY);
		store_address_deinit(&address);
	}
	assert_true(ok);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_told_apart),
		cmocka_unit_test(files_are_no_addresses),
		cmocka_unit_test(a_query_has_times_and_conditions),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(secrets_do_not_belong_into_an_address),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(moments_are_read),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
