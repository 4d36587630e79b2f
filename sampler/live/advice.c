/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Phrases what a profiler may do on this machine, and what allows more. */
#include "sampler/sampling.h"

#include <inttypes.h>
#include <string.h>

struct advising {
	const struct sampler_capabilities *can;
	struct sampler_finding *findings;
	size_t count;
};

/*
 * One command for all capabilities, since a second setcap would replace those of the first. It comes last, since a new
 * group takes capabilities away. Who may execute the file sees every process: the group alone.
 */
static const char capabilities_command[] =
	"k=\"$(command -v kelvin)\" && sudo groupadd -f kelvin && sudo chgrp kelvin \"$k\" && sudo chmod 0750 \"$k\" && "
	"sudo setcap cap_perfmon,cap_bpf,cap_sys_ptrace,cap_syslog,cap_checkpoint_restore+ep \"$k\"";
static const char capabilities_effect[] =
	"members of the group kelvin can then see into every process ('sudo usermod -aG kelvin NAME', then log "
	"in again); or run Kelvin with sudo";

static struct sampler_finding *find_out(
	struct advising *advising, bool is_good, const char *what, const char *yes, const char *no)
{
	struct sampler_finding *made = &advising->findings[advising->count++];

	*made = (struct sampler_finding){ .what = what, .is_good = is_good };
	snprintf(made->text, sizeof(made->text), "%s", is_good ? yes : no);
	return made;
}

static void advise(struct sampler_finding *finding, const char *command, const char *effect)
{
	snprintf(finding->command, sizeof(finding->command), "%s", finding->is_good ? "" : command);
	finding->effect = finding->is_good ? NULL : effect;
}

/*
 * `level`: the highest value of perf_event_paranoid at which the kernel permits it without CAP_PERFMON: 0 for events of
 * whole CPUs, 1 for kernel code, 2 for the user's own code. Levels 3 (Debian) and 4 (Ubuntu) permit nothing. If the
 * level is low enough, a container is the reason.
 */
static void advise_level(const struct advising *advising, struct sampler_finding *finding, int level)
{
	char command[80];

	snprintf(command, sizeof(command), "sudo sysctl kernel.perf_event_paranoid=%d", level);
	if (advising->can->perf_event_paranoid > level && geteuid() != 0)
		advise(finding, command,
			"until the next boot; a file in /etc/sysctl.d/ keeps it. Or run Kelvin with sudo");
	else
		advise(finding, "docker run --cap-add PERFMON ...",
			"a container or sandbox forbids perf_event_open: allow it there, or run Kelvin outside of it");
}

/* `why`: what forbids programs in the kernel. */
static void advise_programs(struct sampler_finding *finding, const struct error *why)
{
	if (why->code == ERROR_PERMISSION && geteuid() != 0)
		advise(finding, capabilities_command, capabilities_effect);
	else
		advise(finding, why->message, NULL);
}

static void advise_rights(struct advising *advising)
{
	const struct sampler_capabilities *can = advising->can;

	advise_level(advising,
		find_out(advising, can->can_sample_own, "own processes", "can be sampled", "cannot be sampled"), 2);
	advise_level(advising,
		find_out(advising, can->can_sample_kernel, "kernel code", "is sampled too", "is left out"), 1);
	advise_level(advising,
		find_out(advising, can->can_sample_system, "whole system", "can be sampled (-a, --cgroup)",
			"cannot be sampled (-a, --cgroup)"),
		0);
	advise(find_out(advising, can->can_sample_others, "other users' processes", "can be sampled",
		       "cannot be sampled"),
		capabilities_command, capabilities_effect);
}

static void advise_on_programs(struct advising *advising)
{
	const struct sampler_capabilities *can = advising->can;
	char yes[80];

	snprintf(yes, sizeof(yes), "can be sampled (--off-cpu), by %s", can->waits_hook ? can->waits_hook : "");
	advise_programs(find_out(advising, can->waits_hook != NULL, "waits", yes, "cannot be sampled (--off-cpu)"),
		&can->no_waits);
	advise_programs(find_out(advising, can->can_count_requests, "requests", "are counted on the target's sockets",
				"cannot be counted; 'kelvin record --requests N' states their number"),
		&can->no_requests);
	advise_programs(
		find_out(advising, can->can_read_python, "interpreters",
			"functions of CPython 3.11 to 3.15, PHP 7.4 to 8.5, Ruby 3.0 to 3.4, node and HotSpot are shown",
			"functions of node and HotSpot are shown, those of CPython, PHP and Ruby are not"),
		&can->no_python);
}

static void advise_sources(struct advising *advising)
{
	const struct sampler_capabilities *can = advising->can;

	find_out(advising, can->has_hardware_cycles, "cycles", "the processor counts them: this is the default event",
		"the processor does not count them (a virtual machine): Kelvin uses cpu-clock instead");
	find_out(advising, can->has_cpu_clock, "cpu-clock", "available", "not available: nothing can be sampled");
	advise(find_out(advising, can->kernel_symbols_readable, "kernel symbols", "readable",
		       "hidden: kernel functions have no names"),
		"sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1",
		"until the next boot; a file in /etc/sysctl.d/ keeps it");
	advise(find_out(advising, can->map_files_readable, "replaced binaries", "are read as they were mapped",
		       "programs are read as they were mapped; libraries cannot be opened, so their functions stay unnamed"),
		capabilities_command, capabilities_effect);
}

static void advise_counters(struct advising *advising)
{
	const struct sampler_capabilities *can = advising->can;
	char yes[120], instead[ERROR_MESSAGE_SIZE + 64];

	snprintf(yes, sizeof(yes), "%s tell what holds functions up (--counters)",
		can->counters && strcmp(can->counters, "topdown") == 0 ? "the pipeline's slots (topdown)"
								       : "raw counters");
	snprintf(instead, sizeof(instead), "%s: 'kelvin simulate' tells it without them", can->no_counters.message);
	advise(find_out(advising, can->counters != NULL, "counters", yes,
		       "nothing of the processor tells what holds functions up (--counters)"),
		instead, NULL);
}

/* Binaries are hostile bytes: a process without rights reads them where the machine allows that. */
static void advise_confinement(struct advising *advising)
{
	unsigned int lacks = confined_probe();
	char missing[256], no[sizeof(missing) + 128];

	confined_describe(lacks, missing, sizeof(missing));
	snprintf(no, sizeof(no),
		"reads binaries in a process that lacks %s: this machine, container or sandbox does not allow it",
		missing);
	find_out(advising, lacks == 0, "naming", "reads binaries in a process without rights", no);
}

static void advise_limits(struct advising *advising)
{
	const struct sampler_capabilities *can = advising->can;
	char text[256];

	snprintf(text, sizeof(text),
		"perf_event_paranoid %d, perf_event_mlock_kb %d, perf_event_max_sample_rate %d, at most %" PRIu64
		" open files",
		can->perf_event_paranoid, can->perf_event_mlock_kb, can->perf_event_max_sample_rate,
		can->descriptor_limit);
	find_out(advising, false, NULL, "", text);
	if (can->perf_event_max_sample_rate > 0 && can->perf_event_max_sample_rate < SAMPLER_DEFAULT_FREQUENCY_HZ)
		advise(find_out(advising, false, NULL, "", ""), "sudo sysctl kernel.perf_event_max_sample_rate=100000",
			"until the next boot, or until the kernel lowers it again because taking samples took too long");
	if (can->descriptor_limit < 4096)
		advise(find_out(advising, false, NULL, "", ""), "ulimit -Hn 65536",
			"as root: recording a process with many threads needs file descriptors for each thread and CPU");
}

size_t sampler_advise(
	const struct sampler_capabilities *capabilities, struct sampler_finding findings[static SAMPLER_MOST_FINDINGS])
{
	struct advising advising = { capabilities, findings, 0 };

	advise_rights(&advising);
	advise_on_programs(&advising);
	advise_sources(&advising);
	advise_counters(&advising);
	advise_confinement(&advising);
	advise_limits(&advising);
	return advising.count;
}
