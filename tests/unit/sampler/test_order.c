/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/order.h"
#include "tests/unit/support/unit_test.h"

#include <limits.h>
#include <string.h>
#include <sys/mman.h>

enum { RINGS = 3, PAGES = 4 };

static const struct record_layout layout = { .sample_type = PERF_SAMPLE_TIME, .sample_id_all = true };

struct fake {
	struct ring rings[RINGS];
	int fds[RINGS];
	struct order order;
};

static int setup(void **state)
{
	struct fake *fake = calloc(1, sizeof(*fake));
	struct error err;

	assert_non_null(fake);
	for (size_t i = 0; i < RINGS; i++) {
		fake->fds[i] = memfd_create("ring", MFD_CLOEXEC);
		assert_true(fake->fds[i] >= 0);
		assert_int_equal(ftruncate(fake->fds[i], (PAGES + 1) * sysconf(_SC_PAGESIZE)), 0);
		assert_true(ring_init(&fake->rings[i], fake->fds[i], PAGES, &err));
		assert_true(order_add(&fake->order, &fake->rings[i], &layout, ORDER_SIDEBAND, &err));
	}
	*state = fake;
	return 0;
}

static int teardown(void **state)
{
	struct fake *fake = *state;

	order_deinit(&fake->order);
	for (size_t i = 0; i < RINGS; i++) {
		ring_deinit(&fake->rings[i]);
		close(fake->fds[i]);
	}
	free(fake);
	return 0;
}

/* A record that is nothing but its time. */
static void write_record(struct ring *ring, uint64_t time_ns)
{
	struct perf_event_mmap_page *control = ring->pages;
	struct {
		uint32_t type;
		uint16_t misc, size;
		uint64_t time_ns;
	} record = { PERF_RECORD_MAX, 0, 16, time_ns };

	memcpy(ring->data + (control->data_head & (ring->data_bytes - 1)), &record, sizeof(record));
	control->data_head += sizeof(record);
}

static void expect(struct fake *fake, uint64_t limit_ns, size_t ring, uint64_t time_ns)
{
	struct order_source *source;

	assert_true(order_next(&fake->order, limit_ns, &source));
	assert_ptr_equal(source->ring, &fake->rings[ring]);
	assert_int_equal(source->time_ns, time_ns);
	order_advance(&fake->order, source);
	order_release(&fake->order);
}

static void expect_none(struct fake *fake, uint64_t limit_ns)
{
	struct order_source *source;

	assert_false(order_next(&fake->order, limit_ns, &source));
}

static void test_merges_by_time(void **state)
{
	struct fake *fake = *state;

	write_record(&fake->rings[0], 10);
	write_record(&fake->rings[0], 40);
	write_record(&fake->rings[1], 20);
	write_record(&fake->rings[2], 15);
	write_record(&fake->rings[2], 30);
	order_refresh(&fake->order);
	expect(fake, UINT64_MAX, 0, 10);
	expect(fake, UINT64_MAX, 2, 15);
	expect(fake, UINT64_MAX, 1, 20);
	expect(fake, UINT64_MAX, 2, 30);
	expect(fake, UINT64_MAX, 0, 40);
	expect_none(fake, UINT64_MAX);
}

/* The mapping comes before the sample in it. */
static void test_first_ring_wins_a_tie(void **state)
{
	struct fake *fake = *state;

	write_record(&fake->rings[2], 10);
	write_record(&fake->rings[1], 10);
	order_refresh(&fake->order);
	expect(fake, 10, 1, 10);
	expect(fake, 10, 2, 10);
}

/* What is newer than the horizon stays in its ring, and an older one that arrives late still comes first. */
static void test_horizon(void **state)
{
	struct fake *fake = *state;
	const struct perf_event_mmap_page *control = fake->rings[0].pages;

	write_record(&fake->rings[0], 100);
	order_refresh(&fake->order);
	expect_none(fake, 99);
	assert_int_equal(control->data_tail, 0);
	write_record(&fake->rings[1], 90);
	order_refresh(&fake->order);
	expect(fake, 100, 1, 90);
	expect(fake, 100, 0, 100);
	assert_int_equal(control->data_tail, 16);
}

static void test_damaged_ring_is_counted_and_the_others_go_on(void **state)
{
	struct fake *fake = *state;
	struct perf_event_mmap_page *control = fake->rings[0].pages;

	control->data_head = 24; /* zeros: a record of size 0 */
	write_record(&fake->rings[1], 5);
	order_refresh(&fake->order);
	expect(fake, UINT64_MAX, 1, 5);
	expect_none(fake, UINT64_MAX);
	assert_int_equal(fake->order.broken, 1);
}

/* A record with a long path may have been lost, although a short one still fits. */
static void test_full_ring(void **state)
{
	struct fake *fake = *state;
	struct order_source *source;
	size_t most = (fake->rings[1].data_bytes - PATH_MAX - 256) / 16;

	for (size_t i = 0; i < most; i++)
		write_record(&fake->rings[1], i);
	order_refresh(&fake->order);
	assert_false(order_is_full(&fake->order, ORDER_SIDEBAND));
	write_record(&fake->rings[1], most);
	order_refresh(&fake->order);
	assert_true(order_is_full(&fake->order, ORDER_SIDEBAND));
	assert_false(order_is_full(&fake->order, ORDER_SAMPLES));
	assert_true(order_next(&fake->order, UINT64_MAX, &source));
	order_advance(&fake->order, source);
	assert_false(order_is_full(&fake->order, ORDER_SIDEBAND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_merges_by_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_first_ring_wins_a_tie, setup, teardown),
		cmocka_unit_test_setup_teardown(test_horizon, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_ring, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged_ring_is_counted_and_the_others_go_on, setup, teardown),
	};

	return cmocka_run_group_tests_name("sampler.order", tests, NULL, NULL);
}
