/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that programs give to a profile: what one account may give, and what is left for the others. */
#include "process_fixture.h"

#include "sampler/interpret/names.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 1 << 20, MOST_OF_PROCESS = 32, MOST_OF_ALL = 256, HOSTILE_USER = 54321, USER = 1000 };

struct giving {
	struct fixture *fixture;
	struct interpreter_names names;
	char *name; /* owned: NAME_BYTES of text */
};

static void start_giving(struct giving *giving, void **state)
{
	giving->fixture = *state;
	interpreter_names_init(&giving->names, &giving->fixture->table);
	giving->name = malloc(NAME_BYTES + 1);
	assert_non_null(giving->name);
	memset(giving->name, 'n', NAME_BYTES);
	giving->name[NAME_BYTES] = '\0';
}

static void end_giving(struct giving *giving)
{
	interpreter_names_deinit(&giving->names);
	free(giving->name);
}

static struct interpreter_giver process_of(struct giving *giving, int32_t pid, uint64_t account)
{
	struct process_table *table = &giving->fixture->table;
	struct process *process;
	struct error err;

	assert_true(process_table_get(table, pid, &process, &err));
	process->owner = owners_find(&table->owners, account);
	return (struct interpreter_giver){ .pid = pid };
}

/* A function with one of so many long names; its id, or PROFILE_NONE. */
static uint32_t give(struct giving *giving, struct interpreter_giver *giver, unsigned int number, uint32_t line)
{
	const struct interpreter_function function = { giving->name, "", line };
	struct error err;
	uint32_t id;

	(void)snprintf(giving->name, 16, "%08x", number);
	giving->name[8] = 'n';
	assert_true(interpreter_names_give(&giving->names, giver, &function, &id, &err));
	return id;
}

/* Each in a process of its own, until no more is taken; returns how many were. */
static unsigned int give_all(struct giving *giving, uint64_t account, int32_t first_pid)
{
	for (unsigned int i = 0; i < MOST_OF_ALL; i++) {
		struct interpreter_giver giver = process_of(giving, first_pid + (int32_t)i, account);

		if (give(giving, &giver, (unsigned int)first_pid + i, 1) == PROFILE_NONE)
			return i;
	}
	return MOST_OF_ALL;
}

static void one_account_leaves_the_others_theirs(void **state)
{
	struct giving giving;
	struct interpreter_giver innocent;

	start_giving(&giving, state);
	innocent = process_of(&giving, CHILD, USER);
	assert_in_range(give_all(&giving, HOSTILE_USER, 0x70000000), 1, MOST_OF_ALL / 2);
	assert_int_equal(giving.names.refused, 1);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_not_equal(give(&giving, &innocent, i, 1), PROFILE_NONE);
	assert_int_equal(giving.names.refused, 1);
	end_giving(&giving);
}

/* A server that starts its workers anew all day has the same functions each time. */
static void names_that_are_known_cost_nothing(void **state)
{
	struct giving giving;

	start_giving(&giving, state);
	for (int32_t worker = 0; worker < 2 * MOST_OF_ALL; worker++) {
		struct interpreter_giver giver = process_of(&giving, 0x70000000 + worker, USER);

		assert_int_not_equal(give(&giving, &giver, 7, 1), PROFILE_NONE);
	}
	assert_true(giving.names.bytes.held < 2 * NAME_BYTES);
	end_giving(&giving);
}

/* A known name is another function at each line: these count, though no string is new. */
static void functions_cost_without_new_strings(void **state)
{
	struct giving giving;
	struct interpreter_giver giver;
	uint64_t before;

	start_giving(&giving, state);
	giver = process_of(&giving, PID, HOSTILE_USER);
	assert_int_not_equal(give(&giving, &giver, 7, 1), PROFILE_NONE);
	before = giving.names.bytes.held;
	for (uint32_t line = 2; line < 102; line++)
		assert_int_not_equal(give(&giving, &giver, 7, line), PROFILE_NONE);
	assert_true(giving.names.bytes.held >= before + 100 * sizeof(struct profile_function));
	end_giving(&giving);
}

static void one_process_leaves_others_of_its_account_theirs(void **state)
{
	struct giving giving;
	struct interpreter_giver greedy, other;
	unsigned int given = 0;

	start_giving(&giving, state);
	greedy = process_of(&giving, PID, USER);
	other = process_of(&giving, CHILD, USER);
	while (given <= MOST_OF_PROCESS && give(&giving, &greedy, given, 1) != PROFILE_NONE)
		given++;
	assert_in_range(given, 1, MOST_OF_PROCESS);
	assert_int_not_equal(give(&giving, &other, 1000, 1), PROFILE_NONE);
	end_giving(&giving);
}

/* However many processes an account has: reading their code takes it no more than a part of the recorder's time. */
static void reads_of_one_account_leave_time_for_others(void **state)
{
	static const uint64_t second_ns = 1000000000;
	struct giving giving;
	struct process_table *table;
	unsigned int reads = 0;

	start_giving(&giving, state);
	table = &giving.fixture->table;
	for (int32_t i = 0; i < 16; i++)
		(void)process_of(&giving, 0x70000000 + i, HOSTILE_USER);
	(void)process_of(&giving, CHILD, USER);
	while (reads < 4 * OWNER_MOST_READS &&
		process_table_pay_reads(table, 0x70000000 + (int32_t)(reads % 16), 100 * second_ns, 1))
		reads++;
	assert_int_equal(reads, OWNER_MOST_READS);
	assert_true(process_table_pay_reads(table, CHILD, 100 * second_ns, 1));
	for (reads = 0; process_table_pay_reads(table, 0x70000000, 101 * second_ns, 1); reads++)
		;
	assert_int_equal(reads, OWNER_READS_PER_S);
	/* What is earned between two reads is kept, however often it is asked for. */
	reads = 0;
	for (uint64_t i = 1; i <= 10000; i++)
		reads += process_table_pay_reads(table, 0x70000000, 101 * second_ns + i * second_ns / 10000, 1);
	assert_in_range(reads, OWNER_READS_PER_S - 1, OWNER_READS_PER_S);
	end_giving(&giving);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROCESS_TEST(one_account_leaves_the_others_theirs),
		PROCESS_TEST(names_that_are_known_cost_nothing),
		PROCESS_TEST(functions_cost_without_new_strings),
		PROCESS_TEST(one_process_leaves_others_of_its_account_theirs),
		PROCESS_TEST(reads_of_one_account_leave_time_for_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
