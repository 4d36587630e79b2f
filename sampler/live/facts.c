/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/facts.h"

#include "sampler/live/event.h"
#include "sampler/live/limits.h"

#include <ctype.h>
#include <string.h>
#include <sys/utsname.h>

static bool intern_cpu_model(struct profile *profile, struct error *err)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		char *value = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || !value)
			continue;
		value[strcspn(value, "\n")] = '\0';
		return profile_intern(profile, value + 1 + strspn(value + 1, " "), &profile->facts.cpu_model, err);
	}
	return true;
}

static bool intern_governor(struct profile *profile, struct error *err)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "re");
	char line[64];

	if (!file || !fgets(line, sizeof(line), file))
		return true;
	line[strcspn(line, "\n")] = '\0';
	return profile_intern(profile, line, &profile->facts.governor, err);
}

/* Replaces control characters: the name becomes part of one line of a message. */
static void clean(char *name)
{
	for (; *name; name++)
		if (iscntrl((unsigned char)*name))
			*name = ' ';
}

static void describe_pids(const struct sampler_target *target, struct buffer *text)
{
	for (size_t i = 0; i < target->pid_count; i++) {
		char name[PROC_COMM_BYTES];
		int32_t pid = target->pids[i];

		proc_read_comm(target->kind == SAMPLER_TARGET_TID ? proc_leader_of(pid) : pid, pid, name);
		clean(name);
		buffer_printf(text, "%s%s %d (%s)", i ? ", " : "",
			target->kind == SAMPLER_TARGET_TID ? "thread" : "pid", pid, name);
	}
}

static bool intern_command(struct profile *profile, const struct sampler_options *options, struct error *err)
{
	const struct sampler_target *target = &options->target;
	struct buffer text;
	bool ok;

	buffer_init(&text, 1 << 16);
	switch (target->kind) {
	case SAMPLER_TARGET_PIDS:
	case SAMPLER_TARGET_TID:
		describe_pids(target, &text);
		break;
	case SAMPLER_TARGET_COMMAND:
		for (size_t i = 0; target->command[i] && (i == 0 || !options->no_arguments); i++)
			buffer_printf(&text, "%s%s", i ? " " : "", target->command[i]);
		break;
	case SAMPLER_TARGET_SYSTEM:
		buffer_append_string(&text, "whole system");
		break;
	case SAMPLER_TARGET_CGROUP:
		buffer_printf(&text, "cgroup %s", target->cgroup_path);
		break;
	}
	ok = profile_intern(profile, text.data ? text.data : "", &profile->facts.command, err);
	buffer_deinit(&text);
	return ok;
}

/* Adds the CPU limits of the target. A command has our own control group. */
static bool intern_limits(struct profile *profile, const struct sampler_target *target, struct error *err)
{
	static const char mount[] = "/sys/fs/cgroup";
	struct limits limits = { 0 };
	char path[64] = "/proc/self/cgroup";
	const char *below;

	switch (target->kind) {
	case SAMPLER_TARGET_PIDS:
	case SAMPLER_TARGET_TID:
		snprintf(path, sizeof(path), "/proc/%d/cgroup", target->pids[0]);
		limits_read(path, mount, &limits);
		break;
	case SAMPLER_TARGET_COMMAND:
		limits_read(path, mount, &limits);
		break;
	case SAMPLER_TARGET_CGROUP:
		below = target->cgroup_path +
			(strncmp(target->cgroup_path, mount, strlen(mount)) == 0 ? strlen(mount) : 0);
		limits_of_cgroup(below, mount, &limits);
		break;
	case SAMPLER_TARGET_SYSTEM:
		break;
	}
	profile->facts.cpu_limit_milli = limits.milli_cpus;
	return profile_intern(profile, limits.cgroup, &profile->facts.cgroup, err) &&
	       profile_intern(profile, limits.container, &profile->facts.container, err);
}

static bool live_facts_set_labels(struct profile *profile, const struct sampler_options *options, struct error *err)
{
	for (size_t i = 0; i < options->label_count; i++)
		if (!profile_set_label(profile, options->labels[i].key, options->labels[i].value, err))
			return false;
	return true;
}

bool facts_fill(struct profile *profile, const struct sampler_options *options, const char *event, struct error *err)
{
	struct profile_facts *facts = &profile->facts;
	char call_graph[32] = "fp";
	struct utsname name;

	if (options->call_graph == SAMPLER_CALL_GRAPH_DWARF)
		snprintf(call_graph, sizeof(call_graph), "dwarf,%u", options->stack_bytes);
	facts->cpu_count = event_cpu_count();
	facts->frequency_hz = options->frequency_hz;
	uname(&name);
	return profile_intern(profile, options->tool ? options->tool : "", &facts->tool, err) &&
	       profile_intern(profile, event, &facts->event, err) &&
	       profile_intern(profile, call_graph, &facts->call_graph, err) &&
	       profile_intern(profile, name.release, &facts->kernel, err) && intern_cpu_model(profile, err) &&
	       intern_governor(profile, err) && intern_command(profile, options, err) &&
	       intern_limits(profile, &options->target, err) && live_facts_set_labels(profile, options, err);
}
