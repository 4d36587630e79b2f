/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `kelvin doctor`: asks the machine what a profiler may do, and prints it with the commands that allow more. */
#include "cli/cli.h"
#include "cli/options.h"
#include "sampler/sampler.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

static const char cmd_doctor_usage[] =
	"Usage: kelvin doctor [OPTIONS]\n"
	"Shows what this machine allows a profiler to do, and the exact command that allows more.\n";

static const char cmd_doctor_notes[] =
	"Examples:\n"
	"  kelvin doctor\n"
	"\n"
	"Exit codes: 0 own processes can be sampled, 2 nothing can be sampled, or a usage error.\n";

struct cmd_doctor_request {
	bool is_json;
};

static const struct options_row cmd_doctor_rows[] = {
	{ .name = "Options:" },
	{ 0, "json", NULL, "schema kelvin.doctor/1 on standard output",
		OPTIONS_FLAG(struct cmd_doctor_request, is_json) },
	{ 0 },
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

/* The columns of what is asked for, and of what is known of it. */
enum { WHAT_COLUMN = 5, TEXT_COLUMN = 28 };

static void print_line(bool good, const char *what, const char *yes, const char *no)
{
	cli_write(stdout, TEXT_COLUMN, "%s %-22s %s", good ? "ok  " : "no  ", what, good ? yes : no);
}

/* A line of the command that goes on ends as the shell has it, so that it can be copied. */
static void print_advice(const char *command, const char *what)
{
	const struct wrap wrap = { .width = cli_columns(STDOUT_FILENO), .indent = WHAT_COLUMN, .mark = " \\" };
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(CLI_MESSAGE_BYTES);
	char line[512];

	snprintf(line, sizeof(line), "  -> %s", command);
	wrap_append(&text, line, &wrap);
	if (!text.failed)
		fputs(text.data, stdout);
	cli_write(stdout, WHAT_COLUMN, "     %s", what);
}

/*
 * Prints what allows it; `level`: the highest value of perf_event_paranoid at which the kernel permits it without
 * CAP_PERFMON: 0 for events of whole CPUs, 1 for kernel code, 2 for the user's own code. Levels 3 (Debian) and 4
 * (Ubuntu) permit nothing. If the level is low enough, a container is the reason.
 */
static void print_level_advice(const struct sampler_capabilities *can, int level)
{
	char command[80];

	snprintf(command, sizeof(command), "sudo sysctl kernel.perf_event_paranoid=%d", level);
	if (can->perf_event_paranoid > level && geteuid() != 0)
		print_advice(
			command, "until the next boot; a file in /etc/sysctl.d/ keeps it. Or run Kelvin with sudo");
	else
		print_advice("docker run --cap-add PERFMON ...",
			"a container or sandbox forbids perf_event_open: allow it there, or run Kelvin outside of it");
}

static void print_rights(const struct sampler_capabilities *can)
{
	print_line(can->can_sample_own, "own processes", "can be sampled", "cannot be sampled");
	if (!can->can_sample_own)
		print_level_advice(can, 2);
	print_line(can->can_sample_kernel, "kernel code", "is sampled too", "is left out");
	if (!can->can_sample_kernel)
		print_level_advice(can, 1);
	print_line(can->can_sample_system, "whole system", "can be sampled (-a, --cgroup)",
		"cannot be sampled (-a, --cgroup)");
	if (!can->can_sample_system)
		print_level_advice(can, 0);
	print_line(can->can_sample_others, "other users' processes", "can be sampled", "cannot be sampled");
	if (!can->can_sample_others)
		print_advice(capabilities_command, capabilities_effect);
}

/* Prints what forbids programs in the kernel, or the command that allows them. */
static void print_program_advice(const struct error *why)
{
	if (why->code == ERROR_PERMISSION && geteuid() != 0)
		print_advice(capabilities_command, capabilities_effect);
	else
		cli_write(stdout, WHAT_COLUMN, "  -> %s", why->message);
}

static void print_waits(const struct sampler_capabilities *can)
{
	char yes[80];

	snprintf(yes, sizeof(yes), "can be sampled (--off-cpu), by %s", can->waits_hook ? can->waits_hook : "");
	print_line(can->waits_hook != NULL, "waits", yes, "cannot be sampled (--off-cpu)");
	if (!can->waits_hook)
		print_program_advice(&can->no_waits);
}

static void print_requests(const struct sampler_capabilities *can)
{
	print_line(can->can_count_requests, "requests", "are counted on the target's sockets",
		"cannot be counted; 'kelvin record --requests N' states their number");
	if (!can->can_count_requests)
		print_program_advice(&can->no_requests);
}

static void print_interpreters(const struct sampler_capabilities *can)
{
	print_line(can->can_read_python, "interpreters",
		"functions of CPython 3.11 to 3.15, PHP 7.4 to 8.5, Ruby 3.0 to 3.4, node and HotSpot are shown",
		"functions of node and HotSpot are shown, those of CPython, PHP and Ruby are not");
	if (!can->can_read_python)
		print_program_advice(&can->no_python);
}

static void print_counters(const struct sampler_capabilities *can)
{
	char yes[120];

	snprintf(yes, sizeof(yes), "%s tell what holds functions up (--counters)",
		can->counters && strcmp(can->counters, "topdown") == 0 ? "the pipeline's slots (topdown)"
								       : "raw counters");
	print_line(can->counters != NULL, "counters", yes,
		"nothing of the processor tells what holds functions up (--counters)");
	if (!can->counters)
		cli_write(stdout, WHAT_COLUMN, "  -> %s: 'kelvin simulate' tells it without them",
			can->no_counters.message);
}

static void print_sources(const struct sampler_capabilities *can)
{
	print_line(can->has_hardware_cycles, "cycles", "the processor counts them: this is the default event",
		"the processor does not count them (a virtual machine): Kelvin uses cpu-clock instead");
	print_line(can->has_cpu_clock, "cpu-clock", "available", "not available: nothing can be sampled");
	print_line(
		can->kernel_symbols_readable, "kernel symbols", "readable", "hidden: kernel functions have no names");
	if (!can->kernel_symbols_readable)
		print_advice("sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1",
			"until the next boot; a file in /etc/sysctl.d/ keeps it");
	print_line(can->map_files_readable, "replaced binaries", "are read as they were mapped",
		"programs are read as they were mapped; libraries cannot be opened, so their functions stay unnamed");
	if (!can->map_files_readable)
		print_advice(capabilities_command, capabilities_effect);
}

static void print_limits(const struct sampler_capabilities *can)
{
	cli_write(stdout, WHAT_COLUMN,
		"     perf_event_paranoid %d, perf_event_mlock_kb %d, perf_event_max_sample_rate %d, at most %" PRIu64
		" open files",
		can->perf_event_paranoid, can->perf_event_mlock_kb, can->perf_event_max_sample_rate,
		can->descriptor_limit);
	if (can->perf_event_max_sample_rate > 0 && can->perf_event_max_sample_rate < SAMPLER_DEFAULT_FREQUENCY_HZ)
		print_advice("sudo sysctl kernel.perf_event_max_sample_rate=100000",
			"until the next boot, or until the kernel lowers it again because taking samples took too long");
	if (can->descriptor_limit < 4096)
		print_advice("ulimit -Hn 65536",
			"as root: recording a process with many threads needs file descriptors for each thread and CPU");
}

/* Binaries are hostile bytes: a process without rights reads them where the machine allows that. */
static void print_confinement(void)
{
	unsigned int lacks = confined_probe();
	char missing[256], line[sizeof(missing) + 128];

	confined_describe(lacks, missing, sizeof(missing));
	snprintf(line, sizeof(line),
		"reads binaries in a process that lacks %s: this machine, container or sandbox does not allow it",
		missing);
	print_line(lacks == 0, "naming", "reads binaries in a process without rights", line);
}

/* Languages whose functions are shown where an interpreter runs them, by their names in reports. */
static json_t *interpreted_languages(const struct sampler_capabilities *can)
{
	json_t *languages = json_pack("[s, s]", "java", "javascript");

	if (languages && can->can_read_python) {
		json_array_append_new(languages, json_string("php"));
		json_array_append_new(languages, json_string("python"));
		json_array_append_new(languages, json_string("ruby"));
	}
	return languages;
}

static int print_json(const struct sampler_capabilities *can)
{
	unsigned int lacks = confined_probe();
	char missing[256];
	json_t *json;
	bool ok;

	confined_describe(lacks, missing, sizeof(missing));
	json = json_pack(
		"{s:s, s:i, s:i, s:i, s:I, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:s, s:s?, s:b, s:o, s:s?}",
		"schema", "kelvin.doctor/1", "perf_event_paranoid", can->perf_event_paranoid, "perf_event_mlock_kb",
		can->perf_event_mlock_kb, "perf_event_max_sample_rate", can->perf_event_max_sample_rate,
		"descriptor_limit", (json_int_t)(can->descriptor_limit > INT64_MAX ? INT64_MAX : can->descriptor_limit),
		"cycles", can->has_hardware_cycles, "cpu_clock", can->has_cpu_clock, "own_processes",
		can->can_sample_own, "kernel_code", can->can_sample_kernel, "other_users", can->can_sample_others,
		"whole_system", can->can_sample_system, "kernel_symbols", can->kernel_symbols_readable,
		"replaced_binaries", can->map_files_readable, "confined_naming", lacks == 0, "confinement_lacks",
		missing, "waits", can->waits_hook, "requests", can->can_count_requests, "interpreters",
		interpreted_languages(can), "counters", can->counters);
	ok = json && json_dumpf(json, stdout, JSON_INDENT(1)) == 0;

	json_decref(json);
	putchar('\n');
	return ok && can->can_sample_own ? CLI_EXIT_OK : CLI_EXIT_ERROR;
}

static int cmd_doctor_run(struct options *options)
{
	struct cmd_doctor_request request = { 0 };
	struct sampler_capabilities can;
	int code;

	if (!options_read(options, &request, &code))
		return code;
	if (optind < options->argc)
		return options_fail("doctor", "unexpected '%s': doctor takes no arguments", options->argv[optind]);
	sampler_probe(&can);
	if (request.is_json)
		return print_json(&can);
	puts(CLI_TOOL);
	print_rights(&can);
	print_waits(&can);
	print_requests(&can);
	print_interpreters(&can);
	print_sources(&can);
	print_counters(&can);
	print_confinement();
	print_limits(&can);
	return can.can_sample_own ? CLI_EXIT_OK : CLI_EXIT_ERROR;
}

const struct cli_command cmd_doctor = {
	.name = "doctor",
	.summary = "show what this machine allows, and how to allow more",
	.usage = cmd_doctor_usage,
	.rows = cmd_doctor_rows,
	.notes = cmd_doctor_notes,
	.run = cmd_doctor_run,
};
