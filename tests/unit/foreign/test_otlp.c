/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign_fixture.h"
#include "tests/unit/profile/profile_fixture.h"

#include "profile/foreign/foreign.h"
#include "profile/foreign/otlp/otlp.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

/* What most tests share: strings, and two stacks, of which the second one enters the kernel. */
#define STRINGS                                                                                                         \
	"\"stringTable\":[\"\",\"cpu\",\"nanoseconds\",\"main\",\"work\",\"ksys_read\",\"/bin/shop\",\"shop.c\","       \
	"\"profile.frame.type\",\"kernel\",\"thread.name\",\"worker\",\"thread.id\",\"samples\",\"count\",\"off_cpu\"," \
	"\"process.executable.build_id.gnu\",\"abcd\",\"route\",\"/upload\",\"trace_id\",\"batch\",\"thread_name\"]"
#define DICTIONARY                                                                                                             \
	"\"dictionary\":{" STRINGS ","                                                                                         \
	"\"mappingTable\":[{},{\"memoryStart\":\"4194304\",\"memoryLimit\":5242880,\"filenameStrindex\":6,"                    \
	"\"attributeIndices\":[4]}],"                                                                                          \
	"\"functionTable\":[{},{\"nameStrindex\":3,\"filenameStrindex\":7,\"startLine\":\"3\"},{\"nameStrindex\":4},"          \
	"{\"nameStrindex\":5}],"                                                                                               \
	"\"locationTable\":[{},{\"mappingIndex\":1,\"address\":\"4194400\",\"lines\":[{\"functionIndex\":1,\"line\":\"7\"}]}," \
	"{\"mappingIndex\":1,\"address\":4194500,\"lines\":[{\"functionIndex\":2}]},"                                          \
	"{\"address\":\"18446744071578845184\",\"lines\":[{\"functionIndex\":3}],\"attributeIndices\":[1]},"                   \
	"{\"mappingIndex\":1,\"address\":4194600}],"                                                                           \
	"\"stackTable\":[{},{\"locationIndices\":[2,1]},{\"locationIndices\":[3,2,1]},{\"locationIndices\":[4,1]}],"           \
	"\"attributeTable\":[{},{\"keyStrindex\":8,\"value\":{\"stringValue\":\"kernel\"}},"                                   \
	"{\"keyStrindex\":10,\"value\":{\"stringValueStrindex\":11}},{\"keyStrindex\":12,\"value\":{\"intValue\":\"18\"}},"    \
	"{\"keyStrindex\":16,\"value\":{\"stringValueStrindex\":17}},"                                                         \
	"{\"keyStrindex\":18,\"value\":{\"stringValueStrindex\":19}},"                                                         \
	"{\"keyStrindex\":18,\"value\":{\"stringValue\":\"/list\"}},"                                                          \
	"{\"keyStrindex\":20,\"value\":{\"stringValue\":\"77\"}},{\"keyStrindex\":21,\"value\":{\"intValue\":4}},"             \
	"{\"keyStrindex\":22,\"value\":{\"stringValue\":\"other\"}}]}"
#define RESOURCE(PID, SERVICE, PROFILES)                                                                               \
	"{\"resource\":{\"attributes\":[{\"key\":\"process.pid\",\"value\":{\"intValue\":" PID "}},"                   \
	"{\"key\":\"process.executable.name\",\"value\":{\"stringValue\":\"shop\"}},"                                  \
	"{\"key\":\"service.version\",\"value\":{\"stringValue\":\"4.2.1\"}},"                                         \
	"{\"key\":\"service.name\",\"value\":{\"stringValue\":\"" SERVICE                                              \
	"\"}}]},\"scopeProfiles\":[{\"scope\":{\"name\":\"x\"},\"profiles\":[" PROFILES "]}]}"
#define CPU(SAMPLES)                                                                                                   \
	"{\"sampleType\":{\"typeStrindex\":1,\"unitStrindex\":2},\"timeUnixNano\":\"1700000000000000000\","            \
	"\"durationNano\":\"5000000000\",\"profileId\":\"00ff\",\"samples\":[" SAMPLES "]}"
#define FILE_OF(RESOURCES) "{\"resourceProfiles\":[" RESOURCES "]," DICTIONARY "}"

static const char two_samples[] = FILE_OF(RESOURCE("17", "checkout",
	CPU("{\"stackIndex\":1,\"attributeIndices\":[2,3],\"values\":[\"10\",20],\"timestampsUnixNano\":[\"1\",\"2\"]},"
	    "{\"stackIndex\":2,\"values\":[5],\"timestampsUnixNano\":[3]}")));

static void expect_folded(const struct profile *profile, const char *type, const char *expected)
{
	CLEANUP(buffer_deinit) struct buffer out;
	uint32_t metric = profile_find_metric(profile, type, NULL);
	struct error err;

	if (metric == PROFILE_NONE)
		fail_msg("no %s", type);
	buffer_init(&out, 1 << 20);
	assert_true(profile_write_folded(profile, metric, &out, &err));
	assert_string_equal(out.data ? out.data : "", expected);
}

static struct profile *read_text(const char *text)
{
	return read_profile(text, strlen(text));
}

static void a_file_is_read(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_text(two_samples);
	const struct profile_thread *worker = &profile->threads[profile->samples[0].thread];

	expect_folded(profile, "cpu", "shop;main;work 30\nshop;main;work;ksys_read_[k] 5\n");
	/* Each value has its time, so samples are counted. */
	expect_folded(profile, "samples", "shop;main;work 2\nshop;main;work;ksys_read_[k] 1\n");
	assert_int_equal(profile_metric(profile, 1).counts, 0);
	assert_int_equal(worker->pid, 17);
	assert_int_equal(worker->tid, 18);
	assert_string_equal(profile_string(profile, worker->name), "worker");
	assert_string_equal(profile_label(profile, "service"), "checkout");
	assert_string_equal(profile_label(profile, "version"), "4.2.1");
	assert_string_equal(profile_string(profile, profile->mappings[0].build_id), "abcd");
	assert_int_equal(profile->runs[0].duration_ns, 5000000000);
	assert_int_equal(profile->runs[0].start_unix_ns, 1700000000000000000);
}

static void protobuf_and_both_spellings_are_the_same(void **state)
{
	CLEANUP(profile_cleanup) struct profile *camel = read_text(two_samples), *binary = NULL, *snake = NULL;
	CLEANUP(buffer_deinit) struct buffer message, text;
	struct error err;

	buffer_init(&message, 1 << 20);
	assert_true(otlp_from_json(two_samples, strlen(two_samples), &message, &err));
	assert_int_equal(foreign_kind(message.data, message.size), FOREIGN_OTLP);
	binary = read_profile(message.data, message.size);
	assert_profiles_equal(camel, binary);

	buffer_init(&text, 1 << 20);
	for (const char *at = two_samples; *at; at++) {
		/* Capitals stand in keys only. */
		if (*at >= 'A' && *at <= 'Z')
			buffer_append_byte(&text, '_');
		buffer_append_byte(&text, (uint8_t)(*at >= 'A' && *at <= 'Z' ? *at | 0x20 : *at));
	}
	snake = read_profile(text.data, text.size);
	assert_profiles_equal(camel, snake);
}

/* As pprof's: texts alone, none of a single request, and never in place of the thread. */
static void attributes_of_samples_are_their_labels(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *profile = read_text(FILE_OF(RESOURCE("17", "checkout",
		CPU("{\"stackIndex\":1,\"attributeIndices\":[2,5,7,8,9],\"values\":[1]},"
		    "{\"stackIndex\":1,\"attributeIndices\":[2,6],\"values\":[2]},"
		    "{\"stackIndex\":1,\"attributeIndices\":[2,5,6],\"values\":[4]},{\"stackIndex\":1,\"values\":[8]}"))));
	static const struct {
		const char *labels, *thread;
		int64_t value;
	} expected[] = { { "route=/upload", "worker", 5 }, { "route=/list", "worker", 2 }, { "", "", 8 } };
	const uint32_t cpu = profile_find_metric(profile, "cpu", NULL);

	assert_int_equal(profile->sample_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct profile_thread *thread = &profile->threads[profile->samples[i].thread];
		const char *set = profile_string(profile, thread->labels);
		struct profile_sample_label label;
		char text[64] = "";

		while (profile_next_sample_label(&set, &label))
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.*s=%.*s", (int)label.key_bytes,
				label.key, (int)label.value_bytes, label.value);
		assert_string_equal(text, expected[i].labels);
		assert_string_equal(profile_string(profile, thread->name), expected[i].thread);
		assert_int_equal(profile->values[i * profile->value_type_count + cpu], expected[i].value);
	}
}

static void types_of_profiles_are_value_types(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *profile = read_text(FILE_OF(RESOURCE("17", "checkout",
		"{\"sampleType\":{\"typeStrindex\":13,\"unitStrindex\":14},\"period\":\"50000000\",\"periodType\":"
		"{\"typeStrindex\":1,\"unitStrindex\":2},\"samples\":[{\"stackIndex\":1,\"timestampsUnixNano\":[7,8,9]}]}") "," RESOURCE("19",
		"cart",
		"{\"sampleType\":{\"typeStrindex\":15,\"unitStrindex\":2},\"samples\":[{\"stackIndex\":3,\"values\":[40]}]}")));

	expect_folded(profile, "samples", "shop;main;work 3\n");
	expect_folded(profile, "off_cpu", "shop;main;shop+0x400128 40\n");
	assert_int_equal(profile->default_value_type, 0);
	assert_int_equal(profile_metric(profile, 1).counts, PROFILE_NONE);
	/* What is not true of all resources is no label. */
	assert_null(profile_label(profile, "service"));
	assert_string_equal(profile_label(profile, "version"), "4.2.1");
}

static void what_is_wrong_is_told(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ FILE_OF(RESOURCE("1", "a", CPU("{\"stackIndex\":4,\"values\":[1]}"))),
			"references stack 4, which is not there" },
		{ FILE_OF(RESOURCE("1", "a", CPU("{\"stackIndex\":-1,\"values\":[1]}"))), "references stack" },
		{ FILE_OF(RESOURCE("1", "a", CPU("{\"stackIndex\":1,\"values\":[1],\"attributeIndices\":[99]}"))),
			"references attribute 99, which is not there" },
		{ FILE_OF(RESOURCE("1", "a", CPU("{\"stackIndex\":1,\"values\":[1.5]}"))), "no whole number" },
		{ FILE_OF(RESOURCE("1", "a", CPU("{\"stackIndex\":1,\"values\":[\"99999999999999999999\"]}"))),
			"more than 64 bits" },
		{ FILE_OF(RESOURCE("1", "a", CPU("{\"stackIndex\":1,\"values\":[\"9223372036854775807\",1]}"))),
			"63 bits" },
		{ FILE_OF(RESOURCE("1", "a", CPU("{\"stackIndex\":1,\"values\":[-3]}"))), "negative value -3" },
		{ FILE_OF(RESOURCE("1", "a", CPU("{\"stackIndex\":1}"))), "OTLP before 1.10" },
		{ "{\"resourceProfiles\":[]," DICTIONARY "}", "no profile" },
		{ "{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{}]}]}]}", "string table" },
		{ "{\"resourceProfiles\":[]}\n{\"resourceProfiles\":[]}\n", "several OTLP messages" },
		{ "{\"resourceProfiles\":[7]}", "JSON" },
		{ "{\"resourceProfiles\":[{", "cut short" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_refused(cases[i].text, strlen(cases[i].text), ERROR_NONE, cases[i].words);
}

/* Fields were numbered otherwise: 3 had the attributes. */
static void older_files_are_told(void **state)
{
	static const char text[] =
		FILE_OF(RESOURCE("1", "a", CPU("{\"stackIndex\":1,\"attributeIndices\":[2],\"values\":[5]}")));
	CLEANUP(buffer_deinit) struct buffer message;
	struct error err;
	char *sample;

	buffer_init(&message, 1 << 20);
	assert_true(otlp_from_json(text, strlen(text), &message, &err));
	sample = memmem(message.data, message.size, "\x08\x01\x10\x02\x20\x05", 6);
	assert_non_null(sample);
	memcpy(sample + 2, "\x1a\x02\x02\x03", 4);
	expect_refused(message.data, message.size, ERROR_UNSUPPORTED, "OTLP before 1.10");
}

static void what_is_recognised(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		enum foreign_kind kind;
	} cases[] = {
		/* pprof: two numbers of a sample type; a sample. */
		{ "\x0a\x04\x08\x01\x10\x02\x12\x00", 8, FOREIGN_PPROF },
		{ "\x12\x05\x0a\x01\x01\x12\x00", 7, FOREIGN_PPROF },
		{ "\x0a\x02\x12\x00", 4, FOREIGN_OTLP },
		{ "\x12\x04\x0a\x00\x12\x00", 6, FOREIGN_OTLP },
		{ " \n{ \"resource_profiles\": []", 27, FOREIGN_OTLP_JSON },
		{ "{\"dictionary\":{", 15, FOREIGN_OTLP_JSON },
		{ "{\"resourceSpans\":[]}", 20, FOREIGN_UNKNOWN },
		{ "{", 1, FOREIGN_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (foreign_kind(cases[i].bytes, cases[i].size) != cases[i].kind)
			fail_msg("case %zu", i);
}

/* Every part of a file is refused, or read as less. */
static void parts_are_bounded(void **state)
{
	CLEANUP(buffer_deinit) struct buffer message;
	struct error err;

	buffer_init(&message, 1 << 20);
	assert_true(otlp_from_json(two_samples, strlen(two_samples), &message, &err));
	for (size_t size = 1; size < message.size; size++) {
		CLEANUP(profile_cleanup) struct profile *profile = NULL;
		/* Memory of its own, so that a sanitizer sees what is read behind it. */
		CLEANUP(cleanup_free) char *part = malloc(size);

		assert_non_null(part);
		memcpy(part, message.data, size);
		(void)!foreign_read(part, size, "part", &profile, &err);
	}
	for (size_t size = 1; size < strlen(two_samples); size++) {
		CLEANUP(profile_cleanup) struct profile *profile = NULL;

		assert_false(foreign_read(two_samples, size, "part", &profile, &err));
	}
}

static void every_failed_allocation_is_an_error(void **state)
{
	read_with_failing_allocations(two_samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read),
		cmocka_unit_test(protobuf_and_both_spellings_are_the_same),
		cmocka_unit_test(attributes_of_samples_are_their_labels),
		cmocka_unit_test(types_of_profiles_are_value_types),
		cmocka_unit_test(what_is_wrong_is_told),
		cmocka_unit_test(older_files_are_told),
		cmocka_unit_test(what_is_recognised),
		cmocka_unit_test(parts_are_bounded),
		cmocka_unit_test(every_failed_allocation_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
