/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/records/record.h"

#include "tests/unit/support/bytes.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static void put_text(struct bytes *bytes, const char *text, size_t room)
{
	char padded[64] = "";

	assert_true(room <= sizeof(padded));
	memcpy(padded, text, strlen(text));
	bytes_put(bytes, padded, room);
}

static struct bytes start_record(uint32_t type, uint16_t misc)
{
	struct bytes bytes = { .size = 0 };

	bytes_put32(&bytes, type);
	bytes_put16(&bytes, misc);
	bytes_put16(&bytes, 0);
	return bytes;
}

static void set_size(struct bytes *bytes, size_t size)
{
	uint16_t total = (uint16_t)size;

	memcpy(bytes->data + 6, &total, sizeof(total));
}

enum { USER_REGISTERS = 17 };

static const struct record_layout layout = {
	.sample_type = RECORD_SAMPLE_TYPE | RECORD_STACK_TYPE,
	.user_registers = (1 << USER_REGISTERS) - 1,
	.sample_id_all = true,
};

static void put_trailer(struct bytes *bytes)
{
	bytes_put32(bytes, 11); /* pid */
	bytes_put32(bytes, 12); /* tid */
	bytes_put64(bytes, 1000);
	bytes_put32(bytes, 3); /* cpu */
	bytes_put32(bytes, 0);
	set_size(bytes, bytes->size);
}

static struct bytes a_sample(void)
{
	struct bytes bytes = start_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	bytes_put64(&bytes, 0x401000);
	bytes_put32(&bytes, 21);
	bytes_put32(&bytes, 22);
	bytes_put64(&bytes, 5000);
	bytes_put32(&bytes, 1);
	bytes_put32(&bytes, 0);
	bytes_put64(&bytes, 1003009); /* period */
	bytes_put64(&bytes, 2);       /* callchain */
	bytes_put64(&bytes, PERF_CONTEXT_KERNEL);
	bytes_put64(&bytes, 0xffffffff81000000);
	bytes_put64(&bytes, PERF_SAMPLE_REGS_ABI_64);
	for (uint64_t i = 0; i < USER_REGISTERS; i++)
		bytes_put64(&bytes, 100 + i);
	bytes_put64(&bytes, 32); /* stack */
	for (uint64_t i = 0; i < 4; i++)
		bytes_put64(&bytes, 200 + i);
	bytes_put64(&bytes, 24);
	set_size(&bytes, bytes.size);
	return bytes;
}

static void test_sample(void **state)
{
	struct bytes bytes = a_sample();
	struct record record;
	struct error err;
	uint64_t word;

	assert_true(record_parse(&layout, bytes.data, bytes.size, &record, &err));
	assert_int_equal(record.kind, RECORD_SAMPLE);
	assert_int_equal(record.pid, 21);
	assert_int_equal(record.tid, 22);
	assert_int_equal(record.cpu, 1);
	assert_int_equal(record.time_ns, 5000);
	assert_int_equal(record.sample.ip, 0x401000);
	assert_int_equal(record.sample.period, 1003009);
	assert_false(record.sample.is_kernel);
	assert_int_equal(record.sample.callchain.count, 2);
	assert_true(record_word(&record.sample.callchain, 1) == 0xffffffff81000000);
	assert_int_equal(record.sample.registers_abi, PERF_SAMPLE_REGS_ABI_64);
	assert_int_equal(record.sample.user_registers.count, USER_REGISTERS);
	assert_int_equal(record_word(&record.sample.user_registers, 16), 116);
	assert_int_equal(record.sample.stack_room, 32);
	assert_int_equal(record.sample.stack_bytes, 24);
	memcpy(&word, record.sample.stack + 16, sizeof(word));
	assert_int_equal(word, 202);
	assert_int_equal(record_time(&layout, bytes.data, bytes.size), 5000);
}

/* A kernel thread has neither registers nor a stack. */
static void test_sample_without_user_part(void **state)
{
	struct bytes bytes = start_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	struct record record;
	struct error err;

	bytes_put64(&bytes, 0xffffffff81000000);
	for (int i = 0; i < 4; i++)
		bytes_put64(&bytes, 0);
	bytes_put64(&bytes, 0); /* callchain */
	bytes_put64(&bytes, PERF_SAMPLE_REGS_ABI_NONE);
	bytes_put64(&bytes, 0); /* stack */
	set_size(&bytes, bytes.size);
	assert_true(record_parse(&layout, bytes.data, bytes.size, &record, &err));
	assert_true(record.sample.is_kernel);
	assert_int_equal(record.sample.user_registers.count, 0);
	assert_null(record.sample.stack);
	assert_int_equal(record.sample.stack_bytes, 0);
}

/* Vector registers may follow the others (patches for Linux); a sample whose sizes lead out of it is refused. */
static void test_vector_registers_are_skipped(void **state)
{
	static const uint64_t sizes[] = { 2 | 4 << 16 | (uint64_t)1 << 32 | (uint64_t)1 << 48, UINT64_MAX };
	enum { ABI_VECTORS = 4, WORDS = 2 * 4 + 1 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bytes bytes = start_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
		struct record record;
		struct error err;

		for (int word = 0; word < 5; word++)
			bytes_put64(&bytes, 0);
		bytes_put64(&bytes, 0); /* callchain */
		bytes_put64(&bytes, PERF_SAMPLE_REGS_ABI_64 | ABI_VECTORS);
		for (uint64_t reg = 0; reg < USER_REGISTERS; reg++)
			bytes_put64(&bytes, 100 + reg);
		bytes_put64(&bytes, sizes[i]);
		for (int word = 0; word < WORDS; word++)
			bytes_put64(&bytes, 0xeeee);
		bytes_put64(&bytes, 8); /* stack */
		bytes_put64(&bytes, 200);
		bytes_put64(&bytes, 8);
		set_size(&bytes, bytes.size);
		assert_int_equal(record_parse(&layout, bytes.data, bytes.size, &record, &err), i == 0);
		if (i > 0)
			continue;
		assert_int_equal(record.sample.registers_abi, PERF_SAMPLE_REGS_ABI_64);
		assert_int_equal(record_word(&record.sample.user_registers, 16), 116);
		assert_int_equal(record.sample.stack_bytes, 8);
	}
}

enum { NO_PROTECTION = UINT32_MAX };

/* `protection`: as kernels write it since Linux 3.16. */
static struct bytes an_mmap2_of(const char *path, uint16_t misc, uint32_t protection)
{
	struct bytes bytes = start_record(PERF_RECORD_MMAP2, misc);

	bytes_put32(&bytes, 31);
	bytes_put32(&bytes, 32);
	bytes_put64(&bytes, 0x7f0000001000);
	bytes_put64(&bytes, 0x2000);
	bytes_put64(&bytes, 0x1000);
	bytes_put32(&bytes, 8);
	bytes_put32(&bytes, 1);
	bytes_put64(&bytes, 77);
	bytes_put64(&bytes, 5); /* generation */
	if (protection != NO_PROTECTION) {
		bytes_put32(&bytes, protection);
		bytes_put32(&bytes, 2);
	}
	put_text(&bytes, path, 24);
	put_trailer(&bytes);
	return bytes;
}

static struct bytes an_mmap2(void)
{
	return an_mmap2_of("/lib/libfoo.so.1", PERF_RECORD_MISC_USER, PROT_READ | PROT_EXEC);
}

static void test_mmap2(void **state)
{
	struct bytes bytes = an_mmap2();
	struct record record;
	struct error err;

	assert_true(record_parse(&layout, bytes.data, bytes.size, &record, &err));
	assert_int_equal(record.kind, RECORD_MMAP);
	assert_int_equal(record.pid, 31);
	assert_int_equal(record.tid, 32);
	assert_int_equal(record.time_ns, 1000);
	assert_int_equal(record.cpu, 3);
	assert_true(record.mmap.address == 0x7f0000001000);
	assert_int_equal(record.mmap.size, 0x2000);
	assert_int_equal(record.mmap.file_offset, 0x1000);
	assert_int_equal(record.mmap.major, 8);
	assert_int_equal(record.mmap.minor, 1);
	assert_int_equal(record.mmap.inode, 77);
	assert_true(record.mmap.executable);
	assert_string_equal(record.mmap.path, "/lib/libfoo.so.1");
	assert_int_equal(record_time(&layout, bytes.data, bytes.size), 1000);
}

/* Linux 3.12 to 3.15, and el7's kernels: the path follows the generation at once. */
static void test_mmap2_without_protection(void **state)
{
	static const char *const paths[] = { "/usr/lib64/ld-2.17.so", "[vdso]", "//anon", "x" };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(paths) / sizeof(paths[0]); i++) {
		bool is_data = i % 2;
		uint16_t misc = PERF_RECORD_MISC_USER | (is_data ? PERF_RECORD_MISC_MMAP_DATA : 0);
		struct bytes bytes = an_mmap2_of(paths[i / 2], misc, NO_PROTECTION);
		struct record record;
		struct error err;

		assert_true(record_parse(&layout, bytes.data, bytes.size, &record, &err));
		assert_string_equal(record.mmap.path, paths[i / 2]);
		assert_int_equal(record.mmap.inode, 77);
		assert_int_equal(record.mmap.executable, !is_data);
		assert_int_equal(record.time_ns, 1000);
	}
}

/* `perf inject --jit` writes the mode of the file that it has made. */
static void test_mmap2_of_an_injected_file(void **state)
{
	struct bytes bytes = an_mmap2_of("/tmp/jitted-1-2.so", PERF_RECORD_MISC_USER, S_IFREG | 0755);
	struct record record;
	struct error err;

	(void)state;
	assert_true(record_parse(&layout, bytes.data, bytes.size, &record, &err));
	assert_string_equal(record.mmap.path, "/tmp/jitted-1-2.so");
	assert_true(record.mmap.executable);
}

static void test_mmap2_with_build_id(void **state)
{
	struct bytes bytes = an_mmap2();
	struct record record;
	struct error err;
	uint16_t misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID;
	size_t at_size = RECORD_HEADER_BYTES + 32;

	memcpy(bytes.data + 4, &misc, sizeof(misc));
	bytes.data[at_size] = 20;
	bytes.data[at_size + 4] = 0xab;
	assert_true(record_parse(&layout, bytes.data, bytes.size, &record, &err));
	assert_int_equal(record.mmap.build_id_size, 20);
	assert_int_equal(record.mmap.build_id[0], 0xab);
	assert_int_equal(record.mmap.inode, 0);
	bytes.data[at_size] = 21;
	assert_false(record_parse(&layout, bytes.data, bytes.size, &record, &err));
	assert_int_equal(err.code, ERROR_FORMAT);
}

static void test_mmap_that_wraps_the_address_space(void **state)
{
	struct bytes bytes = an_mmap2();
	uint64_t address = UINT64_MAX - 0x10;
	struct record record;
	struct error err;

	memcpy(bytes.data + 16, &address, sizeof(address));
	assert_false(record_parse(&layout, bytes.data, bytes.size, &record, &err));
}

static void test_comm_and_tasks(void **state)
{
	struct bytes comm = start_record(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	struct bytes fork = start_record(PERF_RECORD_FORK, 0);
	struct record record;
	struct error err;

	bytes_put32(&comm, 41);
	bytes_put32(&comm, 42);
	put_text(&comm, "server", 8);
	put_trailer(&comm);
	assert_true(record_parse(&layout, comm.data, comm.size, &record, &err));
	assert_int_equal(record.kind, RECORD_COMM);
	assert_true(record.comm.is_exec);
	assert_string_equal(record.comm.name, "server");
	assert_int_equal(record.pid, 41);

	bytes_put32(&fork, 51);
	bytes_put32(&fork, 50);
	bytes_put32(&fork, 53);
	bytes_put32(&fork, 52);
	bytes_put64(&fork, 999);
	put_trailer(&fork);
	assert_true(record_parse(&layout, fork.data, fork.size, &record, &err));
	assert_int_equal(record.kind, RECORD_FORK);
	assert_int_equal(record.pid, 51);
	assert_int_equal(record.fork.parent_pid, 50);
	assert_int_equal(record.tid, 53);
	assert_int_equal(record.fork.parent_tid, 52);
}

static void test_lost(void **state)
{
	struct bytes lost = start_record(PERF_RECORD_LOST, 0), samples = start_record(PERF_RECORD_LOST_SAMPLES, 0);
	struct record record;
	struct error err;

	bytes_put64(&lost, 1);
	bytes_put64(&lost, 17);
	put_trailer(&lost);
	assert_true(record_parse(&layout, lost.data, lost.size, &record, &err));
	assert_int_equal(record.kind, RECORD_LOST);
	assert_int_equal(record.lost, 17);
	bytes_put64(&samples, 18);
	put_trailer(&samples);
	assert_true(record_parse(&layout, samples.data, samples.size, &record, &err));
	assert_int_equal(record.lost, 18);
}

/* Every sample field that perf record may ask for stands before those that are used. */
static void test_all_fields(void **state)
{
	struct record_layout all = {
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
			       PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED,
		.user_registers = 1,
		.has_branch_index = true,
	};
	struct bytes bytes = start_record(PERF_RECORD_SAMPLE, 0);
	struct record record;
	struct error err;

	for (uint64_t i = 1; i <= 9; i++) /* identifier ip tid time addr id stream cpu period */
		bytes_put64(&bytes, i);
	bytes_put64(&bytes, 2); /* read: two counters, time enabled, then value and id of each */
	for (int i = 0; i < 5; i++)
		bytes_put64(&bytes, 0);
	bytes_put64(&bytes, 1);
	bytes_put64(&bytes, 0xcc);
	bytes_put32(&bytes, 4); /* raw */
	bytes_put32(&bytes, 0xee);
	bytes_put64(&bytes, 1); /* branches, index, one entry */
	for (int i = 0; i < 4; i++)
		bytes_put64(&bytes, 0);
	bytes_put64(&bytes, PERF_SAMPLE_REGS_ABI_64);
	bytes_put64(&bytes, 0xdd);
	set_size(&bytes, bytes.size);
	assert_true(record_parse(&all, bytes.data, bytes.size, &record, &err));
	assert_int_equal(record.sample.ip, 2);
	assert_int_equal(record.sample.raw_bytes, 4);
	assert_int_equal(record.sample.raw[0], 0xee);
	assert_int_equal(record.time_ns, 4);
	assert_int_equal(record.id, 6);
	assert_int_equal(record.sample.address, 5);
	assert_int_equal(record.stream_id, 7);
	assert_int_equal(record.cpu, 8);
	assert_int_equal(record.sample.period, 9);
	assert_int_equal(record_word(&record.sample.callchain, 0), 0xcc);
	assert_int_equal(record_word(&record.sample.user_registers, 0), 0xdd);
	assert_int_equal(record_time(&all, bytes.data, bytes.size), 4);
}

/* A record cut anywhere, with a size that admits it, is refused or read without what is missing; never read past its
 * end. */
static void check_truncations(const struct bytes *whole, size_t must_fail_below)
{
	for (size_t size = 0; size < whole->size; size++) {
		uint8_t *cut = malloc(size ? size : 1);
		uint16_t total = (uint16_t)size;
		struct record record;
		struct error err;

		assert_non_null(cut);
		memcpy(cut, whole->data, size);
		if (size >= RECORD_HEADER_BYTES)
			memcpy(cut + 6, &total, sizeof(total));
		if (size < must_fail_below)
			assert_false(record_parse(&layout, cut, size, &record, &err));
		else if (record_parse(&layout, cut, size, &record, &err))
			assert_true(record.kind != RECORD_SAMPLE);
		(void)record_time(&layout, cut, size);
		free(cut);
	}
}

static void test_truncation(void **state)
{
	struct bytes sample = a_sample(), mmap = an_mmap2();

	check_truncations(&sample, sample.size);
	/* The path may end anywhere behind its first NUL; below that nothing is left of it. */
	check_truncations(&mmap, RECORD_HEADER_BYTES + 64 + sizeof("/lib/libfoo.so.1") - 24);
}

static void test_counts_that_lie(void **state)
{
	static const uint64_t lies[] = { 3, 1000, UINT64_MAX / 8, UINT64_MAX / 8 + 1, UINT64_MAX };
	size_t callchain_at = RECORD_HEADER_BYTES + 40, stack_at = callchain_at + 24 + 8 + 17 * 8;
	struct record record;
	struct error err;

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct bytes bytes = a_sample();

		memcpy(bytes.data + callchain_at, &lies[i], sizeof(lies[i]));
		assert_false(record_parse(&layout, bytes.data, bytes.size, &record, &err));
		bytes = a_sample();
		memcpy(bytes.data + stack_at, &lies[i], sizeof(lies[i]));
		assert_false(record_parse(&layout, bytes.data, bytes.size, &record, &err));
	}
}

enum {
	EVERY_READ_FORMAT = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
			    PERF_FORMAT_GROUP | PERF_FORMAT_LOST
};

/* A sample with what is read of two events, and a call chain behind, which only the right length finds. */
static struct bytes a_sample_with_values(uint64_t format, uint64_t count)
{
	struct bytes bytes = start_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	bool is_group = format & PERF_FORMAT_GROUP;

	if (is_group)
		bytes_put64(&bytes, count);
	else
		bytes_put64(&bytes, 1000);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		bytes_put64(&bytes, 70);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		bytes_put64(&bytes, 60);
	for (uint64_t i = 0; i < (is_group ? 2 : 1); i++) {
		if (is_group)
			bytes_put64(&bytes, 1000 + i);
		if (format & PERF_FORMAT_ID)
			bytes_put64(&bytes, 500 + i);
		if (format & PERF_FORMAT_LOST)
			bytes_put64(&bytes, 9);
	}
	bytes_put64(&bytes, 1);
	bytes_put64(&bytes, 0x401000);
	set_size(&bytes, bytes.size);
	return bytes;
}

static void test_values(void **state)
{
	for (uint64_t format = 0; format <= EVERY_READ_FORMAT; format++) {
		const struct record_layout with_values = { .sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN,
			.read_format = format };
		struct bytes bytes = a_sample_with_values(format, 2);
		const struct record_values *values;
		struct record record;
		struct error err;

		assert_true(record_parse(&with_values, bytes.data, bytes.size, &record, &err));
		assert_int_equal(record.sample.callchain.count, 1);
		assert_int_equal(record_word(&record.sample.callchain, 0), 0x401000);
		values = &record.sample.values;
		assert_int_equal(values->count, format & PERF_FORMAT_GROUP ? 2 : 0);
		for (size_t i = 0; i < values->count; i++) {
			assert_int_equal(record_value(values, i), 1000 + i);
			assert_int_equal(record_value_id(values, i), format & PERF_FORMAT_ID ? 500 + i : 0);
		}
		if (values->count > 0) {
			assert_int_equal(values->enabled_ns, format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 70 : 0);
			assert_int_equal(values->running_ns, format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 60 : 0);
		}
		for (size_t size = RECORD_HEADER_BYTES; size < bytes.size; size++) {
			set_size(&bytes, size);
			assert_false(record_parse(&with_values, bytes.data, size, &record, &err));
		}
	}
}

static void test_values_that_lie(void **state)
{
	static const uint64_t counts[] = { 3, 4, 100, UINT32_MAX, (uint64_t)UINT32_MAX + 3, UINT64_MAX / 24,
		(uint64_t)1 << 61, ((uint64_t)1 << 61) + 1, UINT64_MAX };

	for (uint64_t format = PERF_FORMAT_GROUP; format <= EVERY_READ_FORMAT; format++) {
		const struct record_layout with_values = { .sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN,
			.read_format = format };

		if (!(format & PERF_FORMAT_GROUP))
			continue;
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
			struct bytes bytes = a_sample_with_values(format, counts[i]);
			struct record record;
			struct error err;

			/* One value too many takes the place of the call chain, whose own count is then missing. */
			assert_false(record_parse(&with_values, bytes.data, bytes.size, &record, &err));
			assert_int_equal(err.code, ERROR_FORMAT);
		}
	}
}

static void test_size(void **state)
{
	struct bytes bytes = a_sample();
	struct record record;
	struct error err;
	size_t size;

	assert_true(record_size(bytes.data, sizeof(bytes.data), &size));
	assert_int_equal(size, bytes.size);
	assert_false(record_size(bytes.data, bytes.size - 1, &size));
	assert_false(record_size(bytes.data, 7, &size));
	set_size(&bytes, 7);
	assert_false(record_size(bytes.data, sizeof(bytes.data), &size));
	set_size(&bytes, 0);
	assert_false(record_size(bytes.data, sizeof(bytes.data), &size));
	assert_false(record_parse(&layout, bytes.data, bytes.size, &record, &err));
	assert_int_equal(err.code, ERROR_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_sample_without_user_part),
		cmocka_unit_test(test_vector_registers_are_skipped),
		cmocka_unit_test(test_mmap2),
		cmocka_unit_test(test_mmap2_without_protection),
		cmocka_unit_test(test_mmap2_of_an_injected_file),
		cmocka_unit_test(test_mmap2_with_build_id),
		cmocka_unit_test(test_mmap_that_wraps_the_address_space),
		cmocka_unit_test(test_comm_and_tasks),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_all_fields),
		cmocka_unit_test(test_truncation),
		cmocka_unit_test(test_counts_that_lie),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_values_that_lie),
		cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests_name("sampler.record", tests, NULL, NULL);
}
