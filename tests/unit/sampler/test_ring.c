/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/ring.h"
#include "sampler/records/record.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>
#include <sys/mman.h>

/* A ring over ordinary memory, which the test fills as the kernel would. */
struct fake {
	struct ring ring;
	struct perf_event_mmap_page *control;
	int fd;
};

static int setup(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct fake *fake = calloc(1, sizeof(*fake));
	struct error err;

	assert_non_null(fake);
	fake->fd = memfd_create("ring", MFD_CLOEXEC);
	assert_true(fake->fd >= 0);
	assert_int_equal(ftruncate(fake->fd, (off_t)(2 * page)), 0);
	assert_true(ring_init(&fake->ring, fake->fd, 1, &err));
	fake->control = fake->ring.pages;
	*state = fake;
	return 0;
}

static int teardown(void **state)
{
	struct fake *fake = *state;

	ring_deinit(&fake->ring);
	close(fake->fd);
	free(fake);
	return 0;
}

/* Writes a record of `size` bytes whose body counts up from `seed`. */
static void write_record(struct fake *fake, uint16_t size, uint8_t seed)
{
	uint64_t head = fake->control->data_head;
	uint8_t record[RECORD_MAX_BYTES] = { 0 };

	memcpy(record + 6, &size, sizeof(size));
	for (size_t i = RECORD_HEADER_BYTES; i < size; i++)
		record[i] = (uint8_t)(seed + i);
	for (size_t i = 0; i < size; i++)
		fake->ring.data[(head + i) & (fake->ring.data_bytes - 1)] = record[i];
	fake->control->data_head = head + size;
}

static void expect_record(struct fake *fake, uint16_t size, uint8_t seed)
{
	const uint8_t *bytes;
	size_t found;
	bool broken = false;

	assert_true(ring_peek(&fake->ring, &bytes, &found, &broken));
	assert_int_equal(found, size);
	for (size_t i = RECORD_HEADER_BYTES; i < size; i++)
		assert_int_equal(bytes[i], (uint8_t)(seed + i));
	ring_advance(&fake->ring, found);
	assert_false(broken);
}

static void expect_empty(struct fake *fake)
{
	const uint8_t *bytes;
	size_t size;
	bool broken = false;

	assert_false(ring_peek(&fake->ring, &bytes, &size, &broken));
	assert_false(broken);
}

static void test_reads_what_was_refreshed(void **state)
{
	struct fake *fake = *state;

	write_record(fake, 32, 1);
	expect_empty(fake);
	ring_refresh(&fake->ring);
	write_record(fake, 40, 2);
	expect_record(fake, 32, 1);
	expect_empty(fake);
	ring_refresh(&fake->ring);
	expect_record(fake, 40, 2);
}

/* Space goes back to the kernel when it is released, not when it is read. */
static void test_release(void **state)
{
	struct fake *fake = *state;

	write_record(fake, 64, 1);
	ring_refresh(&fake->ring);
	expect_record(fake, 64, 1);
	assert_int_equal(fake->control->data_tail, 0);
	ring_release(&fake->ring);
	assert_int_equal(fake->control->data_tail, 64);
}

/* Records of every size come round the end whole, wherever they are cut. */
static void test_wrap(void **state)
{
	struct fake *fake = *state;

	for (unsigned int round = 0; round < 2000; round++) {
		uint16_t size = (uint16_t)(16 + 8 * (round % 300));

		write_record(fake, size, (uint8_t)round);
		ring_refresh(&fake->ring);
		expect_record(fake, size, (uint8_t)round);
		ring_release(&fake->ring);
	}
	assert_true(fake->control->data_tail > 100 * fake->ring.data_bytes);
}

static void test_record_as_large_as_the_ring(void **state)
{
	struct fake *fake = *state;

	write_record(fake, 24, 1);
	ring_refresh(&fake->ring);
	expect_record(fake, 24, 1);
	ring_release(&fake->ring);
	write_record(fake, (uint16_t)fake->ring.data_bytes, 9);
	ring_refresh(&fake->ring);
	expect_record(fake, (uint16_t)fake->ring.data_bytes, 9);
}

static void expect_broken(struct fake *fake)
{
	const uint8_t *bytes;
	size_t size;
	bool broken = false;

	ring_refresh(&fake->ring);
	assert_false(ring_peek(&fake->ring, &bytes, &size, &broken));
	assert_true(broken);
	/* It goes on behind the damage. */
	write_record(fake, 16, 3);
	ring_refresh(&fake->ring);
	expect_record(fake, 16, 3);
}

static void test_size_of_zero(void **state)
{
	struct fake *fake = *state;

	fake->control->data_head = 64;
	expect_broken(fake);
}

static void test_record_beyond_the_head(void **state)
{
	struct fake *fake = *state;

	write_record(fake, 64, 1);
	fake->control->data_head = 32;
	expect_broken(fake);
}

static void test_head_too_far(void **state)
{
	struct fake *fake = *state;

	write_record(fake, 64, 1);
	fake->control->data_head = 3 * fake->ring.data_bytes;
	expect_broken(fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_reads_what_was_refreshed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_release, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_record_as_large_as_the_ring, setup, teardown),
		cmocka_unit_test_setup_teardown(test_size_of_zero, setup, teardown),
		cmocka_unit_test_setup_teardown(test_record_beyond_the_head, setup, teardown),
		cmocka_unit_test_setup_teardown(test_head_too_far, setup, teardown),
	};

	return cmocka_run_group_tests_name("sampler.ring", tests, NULL, NULL);
}
