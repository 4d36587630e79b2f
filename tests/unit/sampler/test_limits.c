/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Control groups and their CPU limits, of a made-up /proc and /sys/fs/cgroup. */
#include "sampler/live/limits.h"

#include "made_tree_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

static const char container[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static struct limits read_group(const char *proc_text)
{
	struct limits limits;
	char path[128];

	put("/cgroup", proc_text);
	snprintf(path, sizeof(path), "%s/cgroup", made_tree);
	limits_read(path, made_tree, &limits);
	return limits;
}

static void the_least_limit_of_all_ancestors_holds(void **state)
{
	struct limits limits;

	put("/a.slice/cpu.max", "150000 100000\n");
	put("/a.slice/b.service/cpu.max", "max 100000\n");
	put("/a.slice/c.service/cpu.max", "50000 100000\n");
	limits = read_group("0::/a.slice/b.service\n");
	assert_string_equal(limits.cgroup, "/a.slice/b.service");
	assert_string_equal(limits.container, "");
	assert_int_equal(limits.milli_cpus, 1500);
	assert_int_equal(read_group("0::/a.slice/c.service\n").milli_cpus, 500);
	assert_int_equal(read_group("0::/\n").milli_cpus, 0);
	put("/cpu.max", "250000 100000\n");
	assert_int_equal(read_group("0::/\n").milli_cpus, 2500);
}

static void version_1_is_read_too(void **state)
{
	struct limits limits;

	put("/cpu/x/cpu.cfs_quota_us", "200000\n");
	put("/cpu/x/cpu.cfs_period_us", "100000\n");
	limits = read_group("9:name=systemd:/y\n4:cpuset:/z\n3:cpu,cpuacct:/x\n0::/\n");
	assert_string_equal(limits.cgroup, "/x");
	assert_int_equal(limits.milli_cpus, 2000);
	put("/cpu/x/cpu.cfs_quota_us", "-1\n");
	assert_int_equal(read_group("3:cpu,cpuacct:/x\n").milli_cpus, 0);
}

/* A group outside of the cgroup namespace has no path below the mount: what lies there may be anybody's. */
static void a_group_elsewhere_is_not_read(void **state)
{
	put("/theirs/cpu.max", "50000 100000\n");
	put("/..theirs/cpu.max", "50000 100000\n");
	assert_int_equal(read_group("0::/theirs\n").milli_cpus, 500);
	assert_int_equal(read_group("0::/theirs/../theirs\n").milli_cpus, 0);
	assert_string_equal(read_group("0::/../theirs\n").cgroup, "");
	assert_string_equal(read_group("0::/theirs/..\n").cgroup, "");
	assert_string_equal(read_group("0::/..theirs\n").cgroup, "/..theirs");
}

static void a_container_is_known_by_its_id(void **state)
{
	char text[256];

	snprintf(text, sizeof(text), "0::/system.slice/docker-%s.scope\n", container);
	assert_string_equal(read_group(text).container, container);
	snprintf(text, sizeof(text), "0::/docker/%s0\n", container);
	assert_string_equal(read_group(text).container, "");
}

static void what_cannot_be_read_is_not_known(void **state)
{
	struct limits limits;

	limits_read("/nonexistent/cgroup", made_tree, &limits);
	assert_string_equal(limits.cgroup, "");
	assert_int_equal(limits.milli_cpus, 0);
	put("/bad/cpu.max", "-5 0\n");
	assert_int_equal(read_group("0::/bad\n").milli_cpus, 0);
	assert_string_equal(read_group("nonsense\n:\n::\n").cgroup, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_least_limit_of_all_ancestors_holds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(version_1_is_read_too, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_group_elsewhere_is_not_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_container_is_known_by_its_id, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_not_known, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
