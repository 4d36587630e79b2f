/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/facts.h"

#include "profile/model.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define MEMBER(member) #member, offsetof(struct profile_facts, member)
#define DIFFERENT(what) "base and head were recorded with different " what ": '", "' and '", "'"

/* The next free field number is 25. */
static const struct profile_fact table[] = {
	{ MEMBER(command), 2, PROFILE_FACT_STRING },
	{ MEMBER(event), 3, PROFILE_FACT_STRING, .prefix = "event ", .differs = { DIFFERENT("events") },
		.blocks_gate = true },
	/* A comparison says of this and of the tool in one sentence: diff/match/tools.c. */
	{ MEMBER(call_graph), 7, PROFILE_FACT_STRING, .prefix = "call graph " },
	{ MEMBER(cpu_model), 4, PROFILE_FACT_STRING, .prefix = "CPU ", .differs = { DIFFERENT("CPU models") },
		.blocks_gate = true },
	{ MEMBER(cpu_count), 8, PROFILE_FACT_NUMBER, .one = "CPU", .many = "CPUs",
		.differs = { "base was recorded on ", " and head on ", "" } },
	{ MEMBER(kernel), 5, PROFILE_FACT_STRING, .prefix = "kernel ", .differs = { DIFFERENT("kernels") },
		.blocks_gate = true, .is_of_speed = true },
	{ MEMBER(governor), 6, PROFILE_FACT_STRING, .differs = { DIFFERENT("CPU frequency governors") },
		.blocks_gate = true, .is_of_speed = true },
	{ MEMBER(frequency_hz), 9, PROFILE_FACT_NUMBER, .one = "Hz", .many = "Hz", .prefix = "",
		.differs = { "base was sampled at ", " and head at ", "" } },
	{ MEMBER(wait_interval_us), 14, PROFILE_FACT_NUMBER, .one = "µs", .many = "µs", .prefix = "waits sampled each ",
		.differs = { "waits of base were sampled every ", " and of head every ", "" } },
	{ MEMBER(precise_ip), 23, PROFILE_FACT_NUMBER, .one = "", .many = "", .is_rare = true },
	{ MEMBER(counters), 15, PROFILE_FACT_STRING, .prefix = "counted beside: ", .is_rare = true },
	{ MEMBER(counters_ran_percent), 16, PROFILE_FACT_NUMBER, .one = "% of the time", .many = "% of the time",
		.prefix = "counters scaled from ", .is_rare = true },
	{ MEMBER(machine_busy_percent), 19, PROFILE_FACT_NUMBER, .one = "% of the machine's CPU time",
		.many = "% of the machine's CPU time", .is_of_speed = true, .is_rare = true },
	{ MEMBER(machine_steal_percent), 20, PROFILE_FACT_NUMBER, .one = "% of the machine's CPU time",
		.many = "% of the machine's CPU time", .prefix = "given to others by the hypervisor ",
		.is_of_speed = true, .is_rare = true },
	{ MEMBER(cpu_pressure_percent), 21, PROFILE_FACT_NUMBER, .one = "% of the time", .many = "% of the time",
		.is_of_speed = true, .is_rare = true },
	{ MEMBER(throttled_ms), 22, PROFILE_FACT_NUMBER, .one = "ms", .many = "ms",
		.prefix = "stopped by its CPU limit for ", .is_of_speed = true, .is_rare = true },
	{ MEMBER(unsampled_ms), 24, PROFILE_FACT_NUMBER, .one = "ms", .many = "ms", .adds_up = true, .is_rare = true },
	{ "cpu_limit", offsetof(struct profile_facts, cpu_limit_milli), 13, PROFILE_FACT_THOUSANDTHS, .one = "CPU",
		.many = "CPUs", .prefix = "limited to ",
		.differs = { "base and head ran under different CPU limits: ", " and ", "" }, .blocks_gate = true,
		.is_of_speed = true, .known_with_cgroup = true },
	{ MEMBER(cgroup), 11, PROFILE_FACT_STRING,
		.differs = { "base and head ran in different control groups: '", "' and '", "'" }, .is_of_speed = true,
		.ignores_ids = true },
	{ MEMBER(container), 12, PROFILE_FACT_STRING, .prefix = "container ", .shown_chars = 12 },
	{ MEMBER(user_only), 10, PROFILE_FACT_FLAG, .prefix = "without kernel code",
		.differs = { "", " was recorded without kernel code, ", " with it" }, .blocks_gate = true },
	/* Another version may measure in another way: with other warm-up, rounds and overhead. */
	{ MEMBER(harness), 17, PROFILE_FACT_STRING, .prefix = "benchmarks by ",
		.differs = { DIFFERENT("benchmark harnesses") }, .blocks_gate = true, .is_of_speed = true,
		.is_rare = true },
	/* Compilers are changed on purpose, too, so a gate still decides. */
	{ MEMBER(toolchain), 18, PROFILE_FACT_STRING, .prefix = "built with ",
		.differs = { "base and head were built or run with different toolchains: '", "' and '", "'" },
		.is_rare = true },
	{ MEMBER(tool), 1, PROFILE_FACT_STRING },
};

const struct profile_fact *profile_facts(size_t *count)
{
	*count = sizeof(table) / sizeof(table[0]);
	return table;
}

uint32_t profile_fact_get(const struct profile_facts *facts, const struct profile_fact *fact)
{
	const char *at = (const char *)facts + fact->offset;
	uint32_t value;

	if (fact->type == PROFILE_FACT_FLAG)
		return *(const bool *)at;
	memcpy(&value, at, sizeof(value));
	return value;
}

void profile_fact_set(struct profile_facts *facts, const struct profile_fact *fact, uint32_t value)
{
	char *at = (char *)facts + fact->offset;

	if (fact->type == PROFILE_FACT_FLAG)
		*(bool *)at = value != 0;
	else
		memcpy(at, &value, sizeof(value));
}

void profile_fact_words(const struct profile *profile, const struct profile_fact *fact, struct buffer *out)
{
	uint32_t value = profile_fact_get(&profile->facts, fact);

	switch (fact->type) {
	case PROFILE_FACT_STRING:
		buffer_append_string(out, profile_string(profile, value));
		break;
	case PROFILE_FACT_NUMBER:
		buffer_printf(out, "%" PRIu32 " %s", value, value == 1 ? fact->one : fact->many);
		break;
	case PROFILE_FACT_THOUSANDTHS:
		if (value == 0)
			buffer_append_string(out, "no limit");
		else
			buffer_printf(out, "%g %s", value / 1000.0, value == 1000 ? fact->one : fact->many);
		break;
	case PROFILE_FACT_FLAG:
		break;
	}
}

/* ---- Comparing ---- */

/*
 * Returns the end of a run of decimal or hexadecimal digits and dashes that holds a digit; `text` itself if no such run
 * begins there.
 */
static const char *end_of_id(const char *text)
{
	size_t size = strspn(text, "0123456789abcdef-_");

	return strcspn(text, "0123456789") < size ? text + size : text;
}

/*
 * Returns whether both texts differ at most in numbers and hexadecimal ids: these change with every container, session
 * or start of a service.
 */
static bool same_but_for_ids(const char *a, const char *b)
{
	while (*a && *b) {
		const char *a_end = end_of_id(a), *b_end = end_of_id(b);

		if ((a_end == a) != (b_end == b) || (a_end == a && *a != *b))
			return false;
		a = a_end == a ? a + 1 : a_end;
		b = b_end == b ? b + 1 : b_end;
	}
	return *a == *b;
}

static bool strings_differ(const struct profile_fact *fact, const char *base, const char *head)
{
	if (base[0] == '\0' || head[0] == '\0')
		return false;
	return fact->ignores_ids ? !same_but_for_ids(base, head) : strcmp(base, head) != 0;
}

static bool knows_cgroup(const struct profile *profile)
{
	return profile_string(profile, profile->facts.cgroup)[0] != '\0';
}

bool profile_fact_differs(const struct profile *base, const struct profile *head, const struct profile_fact *fact)
{
	uint32_t b = profile_fact_get(&base->facts, fact), h = profile_fact_get(&head->facts, fact);

	if (fact->type == PROFILE_FACT_STRING)
		return strings_differ(fact, profile_string(base, b), profile_string(head, h));
	if (fact->known_with_cgroup && !(knows_cgroup(base) && knows_cgroup(head)))
		return false;
	if (fact->type == PROFILE_FACT_NUMBER && (b == 0 || h == 0))
		return false;
	return b != h;
}
