/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/counter_sets.h"
#include "tests/unit/support/unit_test.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A made sysfs and cpuinfo, as machines have them that are not at hand. */

static char root[] = "/tmp/counter_setsXXXXXX";
static unsigned int machines;

static void put_file(const char *directory, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", text);
	fclose(file);
}

/* Begins a machine with a PMU of that name; its directory. */
static const char *make_machine(const char *pmu, const char *type, const char *cpuinfo)
{
	static char directory[128];
	char path[256];

	snprintf(directory, sizeof(directory), "%s/%u", root, ++machines);
	assert_int_equal(mkdir(directory, 0700), 0);
	put_file(directory, "cpuinfo", cpuinfo);
	if (pmu) {
		snprintf(path, sizeof(path), "%s/%s", directory, pmu);
		assert_int_equal(mkdir(path, 0700), 0);
		put_file(path, "type", type);
		strcat(path, "/events");
		assert_int_equal(mkdir(path, 0700), 0);
	}
	return directory;
}

struct named_text {
	const char *name, *text;
};

static void put_events(const char *directory, const char *pmu, const struct named_text *events, size_t count)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s/events", directory, pmu);
	for (size_t i = 0; i < count; i++)
		put_file(path, events[i].name, events[i].text);
}

/* Lets groups of so many events pass. */
static bool fits(void *context, const struct counter_group *group)
{
	const size_t *most = context;

	return group->count <= *most;
}

static bool find(const char *directory, size_t most, struct counter_group *group, struct error *err)
{
	struct counter_machine machine;
	char path[256];

	snprintf(path, sizeof(path), "%s/cpuinfo", directory);
	counter_machine_read(directory, path, &machine);
	return counter_sets_find(&machine, fits, &most, group, err);
}

static bool has_column(const struct counter_group *group, const char *type)
{
	for (size_t i = 0; i < group->columns.column_count; i++)
		if (strcmp(group->columns.columns[i].type, type) == 0)
			return true;
	return false;
}

static bool has_config(const struct counter_group *group, uint64_t config)
{
	for (size_t i = 0; i < group->count; i++)
		if (i != group->sampling && group->events[i].config == config)
			return true;
	return false;
}

static const struct named_text metrics[] = {
	{ "slots", "event=0x00,umask=0x4" },
	{ "topdown-retiring", "event=0x00,umask=0x80" },
	{ "topdown-bad-spec", "event=0x00,umask=0x81" },
	{ "topdown-fe-bound", "event=0x00,umask=0x82" },
	{ "topdown-be-bound", "event=0x00,umask=0x83" },
	{ "topdown-mem-bound", "event=0x00,umask=0x87" },
};
enum { METRICS = 6, METRICS_OF_ICE_LAKE = 5, ALL = COUNTERS_MAX_MEMBERS };

static const char *cpuinfo_of(const char *vendor, unsigned int family, unsigned int model)
{
	static char text[256];

	snprintf(text, sizeof(text),
		"processor\t: 0\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\nmodel name\t: x\n\nvendor_id\t: other",
		vendor, family, model);
	return text;
}

static const char *intel_of(unsigned int model)
{
	return cpuinfo_of("GenuineIntel", 6, model);
}

static const char *amd_of(unsigned int family)
{
	return cpuinfo_of("AuthenticAMD", family, 17);
}

static void test_sapphire_rapids(void **state)
{
	const char *directory = make_machine("cpu", "4", intel_of(143));
	struct counter_group group;
	struct error err;

	put_events(directory, "cpu", metrics, METRICS);
	assert_true(find(directory, ALL, &group, &err));
	assert_string_equal(group.kind, "topdown");
	assert_int_equal(group.events[0].type, 4);
	assert_int_equal(group.events[0].config, 0x400);
	assert_int_equal(group.sampling, 1);
	assert_true(group.takes_turns);
	assert_int_equal(group.events[1].type, PERF_TYPE_HARDWARE);
	assert_true(has_config(&group, 0x8000) && has_config(&group, 0x8700) && has_config(&group, 0x20d1));
	assert_true(has_column(&group, COUNTER_COST_BACKEND) && has_column(&group, COUNTER_COST_LAST_MISSES));
	/* Without room for the misses the rest still counts; without what is needed, the simpler set is taken. */
	assert_true(find(directory, 7, &group, &err));
	assert_int_equal(group.count, 7);
	assert_false(has_column(&group, COUNTER_COST_FIRST_MISSES));
	assert_true(find(directory, 3, &group, &err));
	assert_string_equal(group.kind, "raw counters");
	assert_false(find(directory, 2, &group, &err));
	assert_int_equal(err.code, ERROR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "nmi_watchdog"));
}

static void test_ice_lake(void **state)
{
	const char *directory = make_machine("cpu", "4", intel_of(106));
	struct counter_group group;
	struct error err;

	put_events(directory, "cpu", metrics, METRICS_OF_ICE_LAKE);
	assert_true(find(directory, ALL, &group, &err));
	assert_string_equal(group.kind, "topdown");
	assert_int_equal(group.sampling, 1);
	assert_true(has_config(&group, 0x140014a3) && has_config(&group, 0x040004a3));
	assert_true(has_column(&group, COUNTER_COST_BACKEND));
}

static void test_skylake(void **state)
{
	const char *directory = make_machine("cpu", "4", intel_of(85));
	struct counter_group group;
	struct error err;

	assert_true(find(directory, ALL, &group, &err));
	assert_string_equal(group.kind, "raw counters");
	assert_int_equal(group.sampling, 0);
	assert_int_equal(group.count, 4);
	/* Loads and stores are one column. */
	assert_int_equal(group.columns.members[1].column, group.columns.members[2].column);
	assert_int_equal(group.columns.column_count, 3);
}

static void test_amd(void **state)
{
	struct counter_group group;
	struct error err;
	const char *directory;

	directory = make_machine("cpu", "4", amd_of(0x19));
	assert_true(find(directory, 6, &group, &err));
	assert_string_equal(group.kind, "topdown");
	assert_int_equal(group.columns.members[0].factor, 6);
	assert_string_equal(group.columns.columns[0].type, COUNTER_COST_SLOTS);
	assert_true(has_config(&group, 0x100001ea0) && has_config(&group, 0x4843) && !has_config(&group, 0xc1));
	/* The watchdog holds one. */
	assert_true(find(directory, 5, &group, &err));
	assert_int_equal(group.count, 5);
	directory = make_machine("cpu", "4", amd_of(0x1a));
	assert_true(find(directory, ALL, &group, &err));
	assert_int_equal(group.columns.members[0].factor, 8);
	directory = make_machine("cpu", "4", amd_of(0x17));
	assert_false(find(directory, ALL, &group, &err));
	assert_non_null(strstr(err.message, "no counters are known"));
}

static void test_neoverse(void **state)
{
	static const struct named_text events[] = { { "stall_slot_backend", "event=0x003f" },
		{ "stall_backend_mem", "event=0x4005" }, { "stall_backend", "event=0x0024" } };
	const char *directory = make_machine("armv8_pmuv3_0", "10", "processor\t: 0");
	struct counter_group group;
	char path[256];
	struct error err;

	assert_true(find(directory, ALL, &group, &err));
	assert_string_equal(group.kind, "raw counters");
	assert_true(has_config(&group, 0x17));
	put_events(directory, "armv8_pmuv3_0", events, 3);
	snprintf(path, sizeof(path), "%s/armv8_pmuv3_0/caps", directory);
	assert_int_equal(mkdir(path, 0700), 0);
	put_file(path, "slots", "0x00000008");
	assert_true(find(directory, ALL, &group, &err));
	assert_string_equal(group.kind, "topdown");
	assert_int_equal(group.events[1].type, 10);
	assert_true(has_config(&group, 0x4005));
	assert_int_equal(group.columns.members[0].factor, 8);
	/* It has no event that an empty frontend is counted by. */
	assert_false(has_column(&group, COUNTER_COST_FRONTEND));
}

static void test_none(void **state)
{
	const char *directory = make_machine(NULL, NULL, intel_of(143));
	struct counter_group group;
	char path[256];
	struct error err;

	assert_false(find(directory, ALL, &group, &err));
	assert_non_null(strstr(err.message, "no hardware counters"));
	directory = make_machine("cpu_core", "4", intel_of(151));
	snprintf(path, sizeof(path), "%s/cpu_atom", directory);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_false(find(directory, ALL, &group, &err));
	assert_non_null(strstr(err.message, "several kinds"));
}

static void test_lists(void **state)
{
	struct counter_group group;
	struct error err;

	assert_true(counter_group_of_list("page-faults,task-clock,r1b7", &group, &err));
	assert_int_equal(group.count, 4);
	assert_int_equal(group.columns.column_count, 3);
	assert_int_equal(group.columns.members[0].column, COUNTERS_NO_COLUMN);
	assert_string_equal(group.columns.columns[1].unit, "nanoseconds");
	assert_int_equal(group.events[3].type, PERF_TYPE_RAW);
	assert_int_equal(group.events[3].config, 0x1b7);
	assert_true(group.takes_turns);
	assert_true(counter_group_of_list("page-faults", &group, &err));
	assert_false(group.takes_turns);
	assert_false(counter_group_of_list(",", &group, &err));
	assert_false(counter_group_of_list("page-faults,,task-clock", &group, &err));
	assert_false(counter_group_of_list("r", &group, &err));
	assert_false(counter_group_of_list("rxyz", &group, &err));
	assert_false(counter_group_of_list("r12345678901234567", &group, &err));
	assert_false(counter_group_of_list("r1,r2,r3,r4,r5,r6,r7,r8,r9", &group, &err));
	assert_int_equal(err.code, ERROR_USAGE);
}

static int make_root(void **state)
{
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sapphire_rapids),
		cmocka_unit_test(test_ice_lake),
		cmocka_unit_test(test_skylake),
		cmocka_unit_test(test_amd),
		cmocka_unit_test(test_neoverse),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
