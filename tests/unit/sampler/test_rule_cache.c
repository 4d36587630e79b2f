/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/machine/x86_64.h"
#include "sampler/unwind/rule_cache.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

static bool find_and_count(void *context, uint64_t address, struct unwind_code *code)
{
	*(size_t *)context += 1;
	*code = (struct unwind_code){ .image_address = address, .image = (uint32_t)address };
	return true;
}

struct asking {
	struct rule_cache cache;
	size_t asked; /* how often the space was */
	struct unwind_space space;
};

static void ask(struct asking *asking, uint64_t address)
{
	const struct code_place place = { &asking->space, address, true };

	assert_int_equal(rule_cache_find(&asking->cache, &place)->image, address);
}

/* The next address whose answer stands in the same line. */
static uint64_t next_beside(const struct asking *asking, uint64_t address)
{
	const struct cached *line = rule_cache_entry(&asking->cache, asking->space.generation, address);

	do
		address++;
	while (rule_cache_entry(&asking->cache, asking->space.generation, address) != line);
	return address;
}

static void test_two_answers_share_a_line(void **state)
{
	struct asking asking = { .space = { .find = find_and_count,
					 .context = &asking.asked,
					 .generation = 1,
					 .machine = &machine_x86_64 } };
	uint64_t a = 0x1000, b, c;
	struct error err;

	assert_true(rule_cache_init(&asking.cache, &err));
	b = next_beside(&asking, a);
	c = next_beside(&asking, b);
	for (size_t i = 0; i < 3; i++) {
		ask(&asking, a);
		ask(&asking, b);
	}
	assert_int_equal(asking.asked, 2);
	/* The one that was asked for last stays beside a third. */
	ask(&asking, a);
	ask(&asking, c);
	ask(&asking, a);
	assert_int_equal(asking.asked, 3);
	ask(&asking, b);
	assert_int_equal(asking.asked, 4);
	/* Of another generation it is another address. */
	asking.space.generation = 2;
	ask(&asking, a);
	assert_int_equal(asking.asked, 5);
	rule_cache_deinit(&asking.cache);
}

/* Code made at run time: a jump to a return that lies further off than what is read at first. */
struct made {
	uint8_t code[2 * UNWIND_CODE_BYTES];
	size_t reads, most_bytes;
};

static bool find_made(void *context, uint64_t address, struct unwind_code *code)
{
	*code = (struct unwind_code){ .image_address = address };
	return true;
}

static bool read_made(void *context, uint64_t address, size_t bytes, struct machine_code *code)
{
	struct made *made = context;

	made->reads++;
	made->most_bytes = bytes;
	*code = (struct machine_code){ made->code, bytes < sizeof(made->code) ? bytes : sizeof(made->code), address };
	return true;
}

static void test_more_code_is_read_where_ways_lead_out_of_it(void **state)
{
	static struct made made;
	const struct unwind_space space = {
		.find = find_made, .read = read_made, .context = &made, .generation = 1, .machine = &machine_x86_64
	};
	int32_t distance = (int32_t)sizeof(made.code) - 1 - 5;
	struct rule_cache cache;
	struct error err;

	assert_true(rule_cache_init(&cache, &err));
	made.code[0] = 0xe9;
	memcpy(&made.code[1], &distance, sizeof(distance));
	made.code[sizeof(made.code) - 1] = 0xc3;
	assert_int_equal(rule_cache_find(&cache, &(struct code_place){ &space, 0, true })->cfa_offset, 8);
	assert_int_equal(made.reads, 2);
	assert_int_equal(made.most_bytes, UNWIND_MOST_CODE_BYTES);
	/* A return at hand is enough. */
	made.code[8] = 0xc3;
	assert_int_equal(rule_cache_find(&cache, &(struct code_place){ &space, 8, true })->cfa_offset, 8);
	assert_int_equal(made.reads, 3);
	assert_int_equal(made.most_bytes, UNWIND_CODE_BYTES);
	rule_cache_deinit(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_two_answers_share_a_line),
		cmocka_unit_test(test_more_code_is_read_where_ways_lead_out_of_it) };

	return cmocka_run_group_tests_name("sampler.rule_cache", tests, NULL, NULL);
}
