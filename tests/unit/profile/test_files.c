/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/foreign.h"
#include "profile_fixture.h"

#include "profile/pprof_message.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

/* Fields of pprof.proto that have been found in a file. */
struct found_fields {
	const ProtobufCFieldDescriptor *fields[256];
	size_t count;
};

static bool is_found(const struct found_fields *found, const ProtobufCFieldDescriptor *field)
{
	for (size_t i = 0; i < found->count; i++)
		if (found->fields[i] == field)
			return true;
	return false;
}

static void find_fields(
	struct found_fields *found, struct byte_reader message, const ProtobufCMessageDescriptor *described)
{
	struct protobuf_field field;

	while (protobuf_next_field(&message, &field)) {
		const ProtobufCFieldDescriptor *is = proto_describe(described, field.id);

		assert_non_null(is);
		if (!is_found(found, is))
			found->fields[found->count++] = is;
		if (is->type == PROTOBUF_C_TYPE_MESSAGE)
			find_fields(found, field.bytes, is->descriptor);
	}
	assert_true(byte_reader_ok(&message));
}

static void assert_all_found(const struct found_fields *found, const ProtobufCMessageDescriptor *message)
{
	/* Fields of growing recordings (test_increments.c), of events with weights (below), and of other tools. */
	static const char elsewhere[] = " message_hash sample_stack sum_sample sum_value kernel_text weighted_event "
					"event_weight drop_frames keep_frames doc_url num_unit is_folded column ";

	for (unsigned i = 0; i < message->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &message->fields[i];
		char word[64];

		snprintf(word, sizeof(word), " %s ", field->name);
		if (!is_found(found, field) && !strstr(elsewhere, word))
			fail_msg("the sample profile does not have %s.%s", message->short_name, field->name);
		if (field->type == PROTOBUF_C_TYPE_MESSAGE)
			assert_all_found(found, field->descriptor);
	}
}

/* Numbers that are 0 are not written: a field that is in the file has a value that the reader must find. */
static void every_field_is_in_the_sample_profile(void **state)
{
	CLEANUP(profile_cleanup) struct profile *made = sample_profile();
	CLEANUP(buffer_deinit) struct buffer file = written_profile(made), inflated = { 0 };
	struct found_fields found = { 0 };
	struct error err;

	buffer_init(&inflated, 1 << 24);
	assert_true(gzip_decompress(file.data, file.size, &inflated, &err));
	find_fields(&found, byte_reader_over(inflated.data, inflated.size), &pprof__profile__descriptor);
	assert_all_found(&found, &pprof__profile__descriptor);
}

/* Writes the profile, which must be the same file again. */
static void assert_written_as(const struct profile *profile, const struct buffer *file)
{
	CLEANUP(buffer_deinit) struct buffer again = written_profile(profile);

	assert_int_equal(file->size, again.size);
	assert_memory_equal(file->data, again.data, file->size);
}

static void what_is_written_reads_back_equal(void **state)
{
	CLEANUP(profile_cleanup) struct profile *made = sample_profile(), *back = NULL;
	CLEANUP(buffer_deinit) struct buffer file = written_profile(made);

	back = read_profile(file.data, file.size);
	assert_profiles_equal(made, back);
	for (size_t i = 1; i < back->sample_count; i++)
		assert_true(back->samples[i - 1].stack <= back->samples[i].stack);
	assert_written_as(back, &file);
}

/* Builds without build IDs that one path had, one after the other. */
static void files_of_one_path_stay_apart(void **state)
{
	CLEANUP(profile_cleanup) struct profile *made = sample_profile(), *back = NULL;
	CLEANUP(buffer_deinit) struct buffer file = { 0 };
	struct profile_mapping mapping = { .kind = PROFILE_MAPPING_FILE, .end = 0x1000 };
	uint32_t first, second, found;
	struct error err;

	assert_true(profile_intern(made, "/opt/program", &mapping.path, &err));
	assert_true(profile_add_other_mapping(made, &mapping, &first, &err));
	assert_true(profile_add_other_mapping(made, &mapping, &second, &err));
	assert_int_not_equal(first, second);
	assert_true(profile_add_location(made, first, 0x10, &first, &err));
	assert_true(profile_add_location(made, second, 0x10, &found, &err));
	assert_int_not_equal(first, found);
	assert_true(profile_set_lines(made, first, &(struct profile_line){ 0 }, 1, &err));
	assert_true(profile_set_lines(made, found, &(struct profile_line){ 0 }, 1, &err));
	file = written_profile(made);
	back = read_profile(file.data, file.size);
	assert_int_equal(back->mapping_count, made->mapping_count);
	assert_int_equal(back->location_count, made->location_count);
}

enum { WAITS = 40, WAITS_OF_EACH = 4 };

/* How long a wait took: a thousand of the weights that only differ in their last bytes would not show a lost one. */
static int64_t wait_ns(size_t wait)
{
	return (int64_t)1 << wait;
}

/* Adds waits of all lengths between samples of CPU time, which have no weight, out of the order of time. */
static void add_waits(struct profile *profile)
{
	uint32_t on_cpu = profile->events[0].sample, thread = profile->samples[on_cpu].thread;
	struct error err;

	for (size_t i = 0; i < WAITS; i++) {
		uint32_t location = (uint32_t)(i / WAITS_OF_EACH % profile->location_count), stack;
		int64_t time_ns = (int64_t)(i % 7 * 100000000 + i * 1000);

		assert_true(profile_add_stack(profile, profile->samples[on_cpu].stack, location, &stack, &err));
		assert_true(profile_add_stack(profile, stack, location, &stack, &err));
		assert_true(profile_add_sample(profile, stack, thread, (int64_t[]){ 1, wait_ns(i) }, time_ns, &err));
		assert_true(profile_weigh_event(profile, wait_ns(i), &err));
		assert_true(profile_count_sample(profile, on_cpu, (int64_t[]){ 1, 1003009 }, time_ns, &err));
	}
	assert_true(profile_finish(profile, &err));
}

static void assert_waits_are_there(const struct profile *profile, size_t times)
{
	size_t found[WAITS] = { 0 }, weighted = 0;

	for (size_t i = 0; i < profile->event_count; i++) {
		int64_t weight = profile_event_weight(profile, i);
		size_t wait = (size_t)__builtin_ctzll((uint64_t)weight);

		if (i >= profile->weighted_count || profile->event_weights[i] == 0)
			continue;
		weighted++;
		assert_true(wait < WAITS && weight == wait_ns(wait));
		found[wait]++;
		assert_int_equal(profile->events[i].time_ns, wait % 7 * 100000000 + wait * 1000);
	}
	assert_int_equal(weighted, times * WAITS);
	for (size_t i = 0; i < WAITS; i++)
		assert_int_equal(found[i], times);
}

static void an_event_keeps_its_own_weight(void **state)
{
	struct profile *made = sample_profile(), *back, *again, *twice;
	struct buffer file;
	struct error err;

	add_waits(made);
	assert_true(profile_validate(made, &err));
	assert_waits_are_there(made, 1);
	file = written_profile(made);
	back = read_profile(file.data, file.size);
	assert_waits_are_there(back, 1);
	buffer_deinit(&file);
	/* A file has the stacks in its own order, which it keeps. */
	file = written_profile(back);
	again = read_profile(file.data, file.size);
	assert_profiles_equal(back, again);
	profile_destroy(again);
	assert_true(profile_create(&twice, &err));
	assert_true(profile_merge(twice, made, &err));
	assert_true(profile_merge(twice, back, &err));
	assert_true(profile_finish(twice, &err));
	assert_true(profile_validate(twice, &err));
	assert_waits_are_there(twice, 2);
	buffer_deinit(&file);
	profile_destroy(twice);
	profile_destroy(back);
	profile_destroy(made);
}

/* A file of CPU time holds nothing of weights. */
static void an_event_without_a_weight_costs_no_byte(void **state)
{
	CLEANUP(profile_cleanup) struct profile *made = sample_profile();
	CLEANUP(buffer_deinit) struct buffer file = written_profile(made);
	struct error err;

	assert_true(profile_weigh_event(made, 1, &err));
	made->event_weights[made->event_count - 1] = 0;
	assert_written_as(made, &file);
}

/* A recording of an older version, from before events had weights. */
static void events_of_an_older_file_have_no_weight(void **state)
{
	CLEANUP(profile_cleanup) struct profile *back = NULL, *read = NULL;
	struct buffer file;
	struct error err;

	buffer_init(&file, 1 << 26);
	assert_true(file_read(OLDER_FILE, &file, &err));
	read = read_profile(file.data, file.size);
	assert_true(read->has_timeline && read->event_count > 1000);
	assert_int_equal(read->weighted_count, 0);
	buffer_deinit(&file);
	file = written_profile(read);
	back = read_profile(file.data, file.size);
	assert_profiles_equal(read, back);
	buffer_deinit(&file);
}

static void an_empty_profile_is_a_file_too(void **state)
{
	CLEANUP(profile_cleanup) struct profile *made = NULL, *back = NULL;
	CLEANUP(buffer_deinit) struct buffer file = { 0 };
	struct error err;

	assert_true(profile_create(&made, &err));
	file = written_profile(made);
	back = read_profile(file.data, file.size);
	assert_int_equal(back->sample_count, 0);
	assert_string_equal(profile_string(back, back->value_types[0].type), "samples");
}

/* Reads bytes that may be anything: a profile or one clear line, never both. */
static bool reads(const void *bytes, size_t size)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct error err = { 0 };
	bool ok = foreign_read(bytes, size, "name.pb.gz", &profile, &err);

	if (ok) {
		assert_true(profile_validate(profile, &err));
	} else {
		assert_null(profile);
		assert_non_null(strstr(err.message, "name.pb.gz"));
		assert_null(strchr(err.message, '\n'));
	}
	return ok;
}

static void every_truncation_is_an_error(void **state)
{
	CLEANUP(profile_cleanup) struct profile *made = sample_profile();
	CLEANUP(buffer_deinit) struct buffer file = written_profile(made);

	for (size_t size = 0; size < file.size; size++) {
		/* A copy of exactly that size, so that a read behind it is seen. */
		void *bytes = malloc(size ? size : 1);

		memcpy(bytes, file.data, size);
		assert_false(reads(bytes, size));
		free(bytes);
	}
}

static void every_damaged_byte_is_survived(void **state)
{
	CLEANUP(profile_cleanup) struct profile *made = sample_profile();
	CLEANUP(buffer_deinit) struct buffer file = written_profile(made);

	for (size_t i = 0; i < file.size; i++) {
		char kept = file.data[i];

		for (int bit = 0; bit < 8; bit++) {
			file.data[i] = (char)(kept ^ 1 << bit);
			reads(file.data, file.size);
		}
		file.data[i] = kept;
	}
	assert_true(reads(file.data, file.size));
}

/* What they are, and the next step. */
static void files_of_other_kinds_are_told(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		const char *said;
	} files[] = {
#define FILE_OF(text, said) { text, sizeof(text) - 1, said }
		FILE_OF("\x28\xb5\x2f\xfd\4\0\1\0", "packed with zstd; unpack it first: zstd -d"),
		FILE_OF("\xfd"
			"7zXZ\0",
			"xz -d"),
		FILE_OF("BZh91AY&SY\0", "bzip2 -d"),
		FILE_OF("\x04\x22\x4d\x18", "lz4 -d"),
		FILE_OF("PK\3\4\x14\0", "a zip archive; unpack it first: unzip"),
		FILE_OF("\x7f"
			"ELF\2\1\1\0",
			"a program or library; 'kelvin record"),
		FILE_OF("FLR\0\0\2", "jfrconv"),
		FILE_OF("PERFFILE\x40\0\0\0\0\0\0\0", "perf script -i FILE"),
		FILE_OF("HCAT\1\0\0\0\3\17\2\0", "replay --collapsed"),
		FILE_OF("MOJ\3\1austin\0004.0.0\0", "mojo2austin"),
		FILE_OF("{\xa9\3\xfa\35<frozen", "Python's pstats"),
		FILE_OF("\xfb)\3\xda\6one.py", "Python's pstats"),
		FILE_OF("{\"type\":\"meta\",\"v\":0,\"sample_interval_usec\":1000}\n",
			"--collapsed in place of --jsonl"),
		FILE_OF("# To display the perf.data header info, please use --header\n#\n", "the text of 'perf report"),
		FILE_OF("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 3\n", "git lfs pull"),
		FILE_OF("<!doctype html>\n<html>\n", "a page or a picture"),
		FILE_OF("{\"schema\": \"kelvin.report/1\"}", "JSON that kelvin wrote"),
		FILE_OF("\n {\"threads\":[{\"stackTable\":{\"length\": 3}}]}", "Firefox Profiler"),
		FILE_OF("{\"traceEvents\":[]}", "Chrome trace"),
		FILE_OF("[\n{\"pid\": 0, \"tid\": 0, \"ph\": \"B\", \"ts\": 0},\n", "Chrome trace"),
		FILE_OF("{\"head\":{\"callFrame\":{\"functionName\":\"(root)\"},\"selfSize\":0}}",
			"a heap profile of V8"),
		FILE_OF("{\"head\":{\"functionName\":\"(root)\",\"bailoutReason\":\"\"}}", "in an old form"),
		FILE_OF("{\"version\":1.2,\"mode\":\"cpu\",\"missed_samples\":0}", "stackprof --stackcollapse"),
		FILE_OF("<?xml version=\"1.0\"?>\n<trace-query-result>\n", "inferno-collapse-xctrace"),
		FILE_OF("Function Stack,CPU Time:Self,Module\nTotal,0,\n", "inferno-collapse-vtune"),
		FILE_OF("\tMon Jan 1 00:00 2026 Time and Allocation Profiling Report\n\nCOST CENTRE MODULE\n",
			"inferno-collapse-ghcprof"),
		FILE_OF("letter of 3.1234567 pages\nand more", "not a profile"),
		FILE_OF("{\"a\": 1}", "not a profile"),
#undef FILE_OF
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct profile *profile;
		struct error err;

		assert_int_equal(foreign_kind(files[i].text, files[i].size), FOREIGN_UNKNOWN);
		assert_false(foreign_read(files[i].text, files[i].size, "name", &profile, &err));
		assert_true(strncmp(err.message, "cannot read name: ", 18) == 0);
		assert_non_null(strstr(err.message, files[i].said));
	}
}

static void what_is_no_profile_is_said_so(void **state)
{
	expect_refused("", 0, ERROR_FORMAT, "empty");
	expect_refused("hello world\nthis is text\n", 25, ERROR_FORMAT, "name");
	expect_refused("\x1f\x8b\x08\0\0\0\0\0\0\3", 10, ERROR_FORMAT, "name");
	expect_refused("{\"a\": 1}", 8, ERROR_FORMAT, "name");
	assert_int_equal(foreign_kind("PERFILE2....", 12), FOREIGN_PERF_DATA);
	assert_int_equal(foreign_kind("main;f 3\n", 9), FOREIGN_FOLDED);
	assert_int_equal(foreign_kind("", 0), FOREIGN_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_is_in_the_sample_profile),
		cmocka_unit_test(what_is_written_reads_back_equal),
		cmocka_unit_test(files_of_one_path_stay_apart),
		cmocka_unit_test(an_event_keeps_its_own_weight),
		cmocka_unit_test(an_event_without_a_weight_costs_no_byte),
		cmocka_unit_test(events_of_an_older_file_have_no_weight),
		cmocka_unit_test(an_empty_profile_is_a_file_too),
		cmocka_unit_test(every_truncation_is_an_error),
		cmocka_unit_test(every_damaged_byte_is_survived),
		cmocka_unit_test(what_is_no_profile_is_said_so),
		cmocka_unit_test(files_of_other_kinds_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
