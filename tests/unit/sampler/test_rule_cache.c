/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/rule_cache.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static bool find_and_count(void *context, uint64_t address, struct unwind_code *code)
{
	*(size_t *)context += 1;
	*code = (struct unwind_code){ .image_address = address, .location = (uint32_t)address };
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

	assert_int_equal(rule_cache_find(&asking->cache, &place)->location, address);
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
	struct asking asking = { .space = { .find = find_and_count, .context = &asking.asked, .generation = 1 } };
	uint64_t a = 0x1000, b, c;
	struct error err;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_two_answers_share_a_line) };

	return cmocka_run_group_tests_name("sampler.rule_cache", tests, NULL, NULL);
}
