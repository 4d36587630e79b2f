/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/limits.h"

#include <ctype.h>
#include <string.h>

enum { CONTAINER_DIGITS = 64, MAX_MILLI_CPUS = 1000000000 };

static bool limits_read_line(const char *path, char *line, size_t size)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen(path, "re");

	if (!file || !fgets(line, (int)size, file))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

static void lessen(uint32_t *milli_cpus, double quota_us, double period_us)
{
	double milli = period_us > 0 ? quota_us * 1000 / period_us : 0;

	if (milli >= 1 && milli <= MAX_MILLI_CPUS && (*milli_cpus == 0 || milli < *milli_cpus))
		*milli_cpus = (uint32_t)milli;
}

/* Reads one group's own limit: "max 100000" or "150000 100000"; v1 has a file for each number, and -1 for no limit. */
static void read_limit(const char *mount, const char *cgroup, uint32_t *milli_cpus)
{
	char path[2 * LIMITS_PATH_BYTES], line[64];
	double quota, period;

	snprintf(path, sizeof(path), "%s%s/cpu.max", mount, cgroup);
	if (limits_read_line(path, line, sizeof(line)) && sscanf(line, "%lf %lf", &quota, &period) == 2)
		lessen(milli_cpus, quota, period);
	snprintf(path, sizeof(path), "%s/cpu%s/cpu.cfs_quota_us", mount, cgroup);
	if (!limits_read_line(path, line, sizeof(line)) || sscanf(line, "%lf", &quota) != 1)
		return;
	snprintf(path, sizeof(path), "%s/cpu%s/cpu.cfs_period_us", mount, cgroup);
	if (limits_read_line(path, line, sizeof(line)) && sscanf(line, "%lf", &period) == 1)
		lessen(milli_cpus, quota, period);
}

/* Finds an id of exactly 64 hexadecimal digits. */
static void find_container(const char *cgroup, char container[LIMITS_CONTAINER_BYTES])
{
	for (const char *pos = cgroup; *pos;) {
		size_t digits = strspn(pos, "0123456789abcdef");

		if (digits == CONTAINER_DIGITS) {
			memcpy(container, pos, digits);
			container[digits] = '\0';
		}
		pos += digits + (pos[digits] != '\0');
	}
}

/*
 * Returns whether a group's path leads out of the hierarchy: the kernel shows a group outside of the reader's cgroup
 * namespace as "/../NAME", and below the mount that is any directory, as one in which the target's owner has put a
 * file.
 */
static bool limits_leads_out(const char *cgroup)
{
	const char *up = strstr(cgroup, "/..");

	while (up && up[3] != '/' && up[3] != '\0')
		up = strstr(up + 1, "/..");
	return up != NULL;
}

void limits_of_cgroup(const char *cgroup, const char *mount, struct limits *limits)
{
	char ancestor[LIMITS_PATH_BYTES];

	*limits = (struct limits){ 0 };
	if ((size_t)snprintf(limits->cgroup, sizeof(limits->cgroup), "%s%s", cgroup[0] == '/' ? "" : "/", cgroup) >=
			sizeof(limits->cgroup) ||
		limits_leads_out(limits->cgroup))
		limits->cgroup[0] = '\0';
	find_container(limits->cgroup, limits->container);
	strcpy(ancestor, limits->cgroup);
	for (char *slash; (slash = strrchr(ancestor, '/')) != NULL; *slash = '\0')
		read_limit(mount, strcmp(ancestor, "/") == 0 ? "" : ancestor, &limits->milli_cpus);
	read_limit(mount, "", &limits->milli_cpus);
}

/* "0::/path" is v2's line; on machines with v1 the CPU controller has its own line: "4:cpu,cpuacct:/path". */
void limits_read(const char *proc_cgroup, const char *mount, struct limits *limits)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen(proc_cgroup, "re");
	char line[LIMITS_PATH_BYTES + 64], cgroup[LIMITS_PATH_BYTES + 64] = "";
	const char *controllers, *path;

	*limits = (struct limits){ 0 };
	while (proc_next_cgroup(file, line, sizeof(line), &controllers, &path)) {
		bool is_cpu = strcmp(controllers, "cpu") == 0 || strncmp(controllers, "cpu,", 4) == 0 ||
			      strstr(controllers, ",cpu") != NULL;

		if ((cgroup[0] == '\0' || strcmp(cgroup, "/") == 0 || (is_cpu && strcmp(path, "/") != 0)) &&
			(is_cpu || controllers[0] == '\0'))
			strcpy(cgroup, path);
	}
	if (cgroup[0] != '\0')
		limits_of_cgroup(cgroup, mount, limits);
}
