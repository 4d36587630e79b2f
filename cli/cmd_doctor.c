/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `kelvin doctor`: asks the machine what a profiler may do, and prints it with the commands that allow more. */
#include "cli/cli.h"
#include "cli/options.h"
#include "sampler/sampler.h"

#include <jansson.h>
#include <string.h>

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

/* The columns of what is asked for, and of what is known of it. */
enum { WHAT_COLUMN = 5, TEXT_COLUMN = 28 };

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

static void print_finding(const struct sampler_finding *finding)
{
	if (finding->what)
		cli_write(stdout, TEXT_COLUMN, "%s %-22s %s", finding->is_good ? "ok  " : "no  ", finding->what,
			finding->text);
	else if (finding->text[0])
		cli_write(stdout, WHAT_COLUMN, "     %s", finding->text);
	if (finding->effect)
		print_advice(finding->command, finding->effect);
	else if (finding->command[0])
		cli_write(stdout, WHAT_COLUMN, "  -> %s", finding->command);
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
	struct sampler_finding findings[SAMPLER_MOST_FINDINGS];
	struct sampler_capabilities can;
	size_t count;
	int code;

	if (!options_read(options, &request, &code))
		return code;
	if (optind < options->argc)
		return options_fail("doctor", "unexpected '%s': doctor takes no arguments", options->argv[optind]);
	sampler_probe(&can);
	if (request.is_json)
		return print_json(&can);
	puts(CLI_TOOL);
	count = sampler_advise(&can, findings);
	for (size_t i = 0; i < count; i++)
		print_finding(&findings[i]);
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
