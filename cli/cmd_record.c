/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `kelvin record`: reads what is to be sampled, and how, from the command line; record_job.c does it. */
#include "cli/cli.h"
#include "cli/labels.h"
#include "cli/record_job.h"
#include "cli/sampling.h"
#include "cli/verification.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { MAX_PIDS = 4096 };

static const char cmd_record_usage[] =
	"Usage: kelvin record [OPTIONS] -p PID[,PID...] | -t TID | -a | --cgroup PATH | -- COMMAND...\n"
	"Samples where a program spends its CPU time and writes a profile. Ctrl-C ends it cleanly.\n";

static const char cmd_record_notes[] =
	"Examples:\n"
	"  kelvin record -p 812 -d 30 -o before.pb.gz\n"
	"  kelvin record -p \"$(pidof -s nginx)\" -o nginx.pb.gz\n"
	"  kelvin record -o build.pb.gz -- make -j8\n"
	"\n"
	"Exit codes: 0 a profile was written, 2 usage error, nothing recorded, or a failure ended the recording early.\n"
	"With a command: its exit code; 125 the recording failed or ended early, 126 the command cannot be executed, 127 it was not found.\n";

struct cmd_record_request {
	struct record_job job;
	pid_t pids[MAX_PIDS];
	bool has_target;
	struct labels labels;
};

static bool set_target(struct cmd_record_request *request, enum sampler_target_kind kind, struct error *err)
{
	struct sampler_target *target = &request->job.live.sampler.target;

	if (request->has_target && (target->kind != kind || kind != SAMPLER_TARGET_PIDS))
		return error_set(err, ERROR_USAGE,
			"more than one target; give only one of -p (with any number of processes), -t, -a, --cgroup or a command");
	target->kind = kind;
	target->pids = request->pids;
	request->has_target = true;
	return true;
}

static bool add_pid(struct cmd_record_request *request, const char *option, const char *text, struct error *err)
{
	struct sampler_target *target = &request->job.live.sampler.target;
	uint64_t pid;

	if (!options_parse_count(option, text, INT_MAX, &pid, err))
		return false;
	if (pid == 0)
		return error_set(
			err, ERROR_USAGE, "%s 0: this is not a process; 'pgrep -a NAME' lists process ids", option);
	for (size_t i = 0; i < target->pid_count; i++)
		if (request->pids[i] == (pid_t)pid)
			return true;
	if (target->pid_count == MAX_PIDS)
		return error_set(err, ERROR_LIMIT, "more than %d process ids; use -a or --cgroup instead", MAX_PIDS);
	request->pids[target->pid_count++] = (pid_t)pid;
	return true;
}

/* Takes numbers also as pidof prints them. */
static bool cmd_record_take_pids(void *context, const char *text, struct error *err)
{
	static const char separators[] = ", \t\n";
	CLEANUP(cleanup_free) char *list = strdup(text);
	struct cmd_record_request *request = context;
	char *rest = NULL;

	if (!list)
		return error_set_memory(err);
	if (!set_target(request, SAMPLER_TARGET_PIDS, err))
		return false;
	for (char *pid = strtok_r(list, separators, &rest); pid; pid = strtok_r(NULL, separators, &rest))
		if (!add_pid(request, "-p", pid, err))
			return false;
	return request->job.live.sampler.target.pid_count > 0 ||
	       error_set(err, ERROR_USAGE, "-p '': no process id is given");
}

static bool cmd_record_take_tid(void *context, const char *text, struct error *err)
{
	return set_target(context, SAMPLER_TARGET_TID, err) && add_pid(context, "-t", text, err);
}

static bool cmd_record_take_all(void *context, const char *value, struct error *err)
{
	(void)value;
	return set_target(context, SAMPLER_TARGET_SYSTEM, err);
}

static bool cmd_record_take_cgroup(void *context, const char *path, struct error *err)
{
	struct cmd_record_request *request = context;

	if (!path[0])
		return error_set(err, ERROR_USAGE,
			"--cgroup '': no control group is given; name a control group below /sys/fs/cgroup");
	request->job.live.sampler.target.cgroup_path = path;
	return set_target(request, SAMPLER_TARGET_CGROUP, err);
}

static bool cmd_record_take_call_graph(void *context, const char *text, struct error *err)
{
	struct sampler_options *options = context;
	uint64_t bytes;

	if (strcmp(text, "fp") == 0) {
		options->call_graph = SAMPLER_CALL_GRAPH_FP;
		return true;
	}
	options->call_graph = SAMPLER_CALL_GRAPH_DWARF;
	if (strcmp(text, "dwarf") == 0)
		return true;
	if (strncmp(text, "dwarf,", 6) != 0)
		return error_set(err, ERROR_USAGE, "-g '%.80s': write dwarf, dwarf,BYTES or fp", text);
	if (!options_parse_count("-g dwarf,BYTES", text + 6, RECORDING_MAX_STACK_BYTES, &bytes, err))
		return false;
	if (bytes == 0)
		return error_set(err, ERROR_USAGE,
			"-g '%.80s': unwinding needs a copy of the stack; use -g fp to follow frame pointers instead",
			text);
	/* The kernel wants a multiple of 8. */
	options->stack_bytes = (uint32_t)((bytes + 7) / 8 * 8);
	return true;
}

static bool cmd_record_take_duration(void *seconds, const char *text, struct error *err)
{
	if (!options_parse_duration("-d", text, 1, seconds, err))
		return false;
	return *(double *)seconds > 0 || error_set(err, ERROR_USAGE, "-d %.80s: a recording takes more than 0 s", text);
}

/* Takes a bare number in milliseconds, as perf does. */
static bool cmd_record_take_delay(void *context, const char *text, struct error *err)
{
	static const double longest_s = 86400;
	struct source_live_options *live = context;
	double seconds = 0;

	live->starts_disabled = strcmp(text, "-1") == 0;
	if (live->starts_disabled)
		return true;
	if (!options_parse_duration("-D", text, 1e-3, &seconds, err))
		return false;
	live->delay_ms = (uint64_t)(fmin(seconds, longest_s) * 1e3 + 0.5);
	return seconds <= longest_s || error_set(err, ERROR_USAGE, "-D %.80s: the longest delay is 24h", text);
}

/* Work is counted in one way. */
static bool check_work(const struct sampler_options *sampler, struct error *err)
{
	return sampler->no_requests + (sampler->stated_requests > 0) + (sampler->work_event != NULL) == 1 ||
	       error_set(err, ERROR_USAGE, "give only one of --no-requests, --requests and --work");
}

static bool cmd_record_take_no_requests(void *context, const char *value, struct error *err)
{
	struct sampler_options *sampler = context;

	(void)value;
	sampler->no_requests = true;
	return check_work(sampler, err);
}

static bool cmd_record_take_requests(void *context, const char *text, struct error *err)
{
	static const uint64_t most = (uint64_t)1 << 53;
	struct sampler_options *sampler = context;

	if (!options_parse_count("--requests", text, most, &sampler->stated_requests, err))
		return false;
	if (sampler->stated_requests == 0)
		return error_set(err, ERROR_USAGE, "--requests 0: the least is one; --no-requests counts none");
	return check_work(sampler, err);
}

static bool cmd_record_take_work(void *context, const char *event, struct error *err)
{
	struct sampler_options *sampler = context;

	sampler->work_event = event;
	return sampler_check_work_event(event, err) && check_work(sampler, err);
}

static bool cmd_record_take_counters(void *counters, const char *events, struct error *err)
{
	if (events && events[0] == '\0')
		return error_set(err, ERROR_USAGE,
			"--counters=: no event is named; name some by perf's names, or leave out the '='");
	return options_set_text(counters, events ? events : "", err);
}

static const struct options_row cmd_record_rows[] = {
	{ .name = "Target:" },
	{ 'p', "pid", "PID[,PID...]", "running processes with all threads and children, separated by commas or spaces",
		cmd_record_take_pids, .repeatable = true },
	{ 't', "tid", "TID", "one thread", cmd_record_take_tid },
	{ 'a', "all-cpus", NULL, "every process on every CPU", cmd_record_take_all },
	{ 0, "cgroup", "PATH", "every process of a control group, below /sys/fs/cgroup", cmd_record_take_cgroup },
	{ .name = "-- COMMAND...", .help = "starts the command and samples it until it ends" },
	{ .name = "Options:" },
	{ 'o', "output", "FILE", "the profile, gzipped pprof; '-': standard output (default: kelvin.pb.gz)",
		OPTIONS_OUTPUT(struct cmd_record_request, job.output) },
	{ 'd', "duration", "TIME",
		"stops after this time: 30, 30s, 500ms, 2m or 1h (default: until the target exits or Ctrl-C)",
		cmd_record_take_duration, offsetof(struct cmd_record_request, job.live.duration_s) },
	{ 'D', "delay", "TIME", "starts sampling after this time: 500 (ms), 500ms, 2s; -1: when --control sends enable",
		cmd_record_take_delay, offsetof(struct cmd_record_request, job.live) },
	{ 0, "control", "fifo:CTL[,ACK]",
		"takes commands from the named pipe CTL (enable, disable, ping, evlist,\n"
		"stop) and answers on ACK; fd:N[,M] takes open file descriptors instead",
		OPTIONS_TEXT(struct cmd_record_request, job.control), .words = "fifo: fd:" },
	{ 0, "runs", "N", "runs the command N times, one after the other, into one profile", options_take_runs,
		offsetof(struct cmd_record_request, job.runs) },
	{ 0, "benchmarks", NULL,
		"the command is a suite of benchmarks (pytest-codspeed, criterion, divan, google-benchmark, vitest,\n"
		"go test -bench): each is told apart in the profile, with its time per iteration",
		OPTIONS_FLAG(struct cmd_record_request, job.has_benchmarks) },
	{ .rows = sampling_rows, .at = offsetof(struct cmd_record_request, job.live.sampler) },
	{ 0, "counters", "[=EVENT,...]",
		"reads counters of the processor with each sample, which tell what holds functions up; or counts\n"
		"these events by perf's names, as page-faults,context-switches, and charges them to stacks",
		cmd_record_take_counters, offsetof(struct cmd_record_request, job.live.sampler.counters),
		.words =
			"page-faults context-switches minor-faults major-faults task-clock instructions branch-misses cache-misses" },
	{ 0, "no-requests", NULL,
		"does not count the requests that the target answers, and those that it sends to others: their\n"
		"number and latency are counted on its sockets, where that is allowed",
		cmd_record_take_no_requests, offsetof(struct cmd_record_request, job.live.sampler) },
	{ 0, "requests", "N",
		"states how many requests were answered, or how much other work was done, in place of counting",
		cmd_record_take_requests, offsetof(struct cmd_record_request, job.live.sampler) },
	{ 0, "work", "EVENT",
		"counts an event that happens once for each unit of work, in place of requests: SUBSYSTEM:NAME of a\n"
		"tracepoint, uprobe:PATH:FUNCTION[+OFFSET] or usdt:PATH:PROVIDER:NAME",
		cmd_record_take_work, offsetof(struct cmd_record_request, job.live.sampler), .words = "uprobe: usdt:" },
	{ .rows = sampling_native_rows, .at = offsetof(struct cmd_record_request, job.live.sampler) },
	{ 'g', "call-graph", "MODE",
		"dwarf[,BYTES]: unwinds a copy of the stack of up to BYTES (default: dwarf,16384);\n"
		"fp: the kernel follows frame pointers",
		cmd_record_take_call_graph, offsetof(struct cmd_record_request, job.live.sampler),
		.words = "dwarf dwarf,32768 fp" },
	{ .rows = naming_rows, .at = offsetof(struct cmd_record_request, job.naming) },
	{ .rows = naming_sources_rows, .at = offsetof(struct cmd_record_request, job.naming) },
	{ 0, "verify", "[=N]",
		"unwinds one stack in N (default: 100) again with libunwind and names its addresses again\n"
		"with libdw, and tells how many are equal",
		verification_take, offsetof(struct cmd_record_request, job.live.sampler.verify_every) },
	{ 0, "no-realtime", NULL, "keeps out of the real-time class: the recorder then has only a better nice value",
		OPTIONS_FLAG(struct cmd_record_request, job.live.sampler.without_real_time) },
	{ .rows = labels_rows, .at = offsetof(struct cmd_record_request, labels) },
	{ .rows = options_no_args_rows, .at = offsetof(struct cmd_record_request, job.live.sampler.no_arguments) },
	{ .rows = options_mode_rows, .at = offsetof(struct cmd_record_request, job.mode) },
	{ 'q', "quiet", NULL, "prints errors only", OPTIONS_FLAG(struct cmd_record_request, job.quiet) },
	{ 0 },
};

static bool cmd_record_take_command(struct cmd_record_request *request, char **command, struct error *err)
{
	if (!*command)
		return request->has_target ||
		       error_set(err, ERROR_USAGE, "nothing to record; name a process with -p or a command after --");
	if (!set_target(request, SAMPLER_TARGET_COMMAND, err))
		return false;
	request->job.live.sampler.target.command = command;
	return true;
}

/* A suite has its own beginning and end, and its harness waits for answers in between. */
static bool check_benchmarks(const struct record_job *job, struct error *err)
{
	const struct source_live_options *live = &job->live;

	if (!job->has_benchmarks)
		return true;
	if (live->sampler.target.kind != SAMPLER_TARGET_COMMAND)
		return error_set(err, ERROR_USAGE,
			"--benchmarks: benchmarks are told apart only in a command that is started here; give it after --");
	if (live->duration_s > 0)
		return error_set(err, ERROR_USAGE,
			"--benchmarks: the suite is recorded to its end; leave out -d, and tell the harness to take less time");
	if (live->delay_ms > 0 || live->starts_disabled || job->control)
		return error_set(err, ERROR_USAGE,
			"--benchmarks: the harness says when benchmarks run; leave out -D and --control");
	if (live->sampler.stated_requests > 0 || live->sampler.work_event)
		return error_set(err, ERROR_USAGE,
			"--benchmarks: the work of benchmarks is their iterations; leave out --requests and --work");
	return true;
}

static bool cmd_record_check_request(const struct cmd_record_request *request, struct error *err)
{
	const struct record_job *job = &request->job;
	const struct sampler_options *sampler = &job->live.sampler;

	if (job->live.starts_disabled && !job->control)
		return error_set(err, ERROR_USAGE, "-D -1: sampling would never start; give --control as well");
	if (sampler->verify_every > 0 && sampler->call_graph == SAMPLER_CALL_GRAPH_FP)
		return error_set(
			err, ERROR_USAGE, "--verify: with -g fp no stack is unwound here; leave one of the two out");
	if (job->runs > 1 && sampler->target.kind != SAMPLER_TARGET_COMMAND)
		return error_set(
			err, ERROR_USAGE, "--runs: only a command can be run several times; give the command after --");
	return check_benchmarks(job, err);
}

static void cmd_record_request_deinit(struct cmd_record_request *request)
{
	naming_deinit(&request->job.naming);
	labels_deinit(&request->labels);
}

static int cmd_record_run(struct options *options)
{
	CLEANUP(cmd_record_request_deinit)
	struct cmd_record_request request = { .job = { .output = "kelvin.pb.gz", .live.sampler.tool = CLI_TOOL } };
	struct sampler_options *sampler = &request.job.live.sampler;
	struct error err;
	int code;

	if (!options_read(options, &request, &code))
		return code;
	if (!cmd_record_take_command(&request, options->argv + optind, &err) ||
		!cmd_record_check_request(&request, &err))
		return options_fail("record", "%s", err.message);
	if (request.job.has_benchmarks)
		sampler->no_requests = true;
	sampler->labels = request.labels.items;
	sampler->label_count = request.labels.count;
	return record_job_run(&request.job);
}

const struct cli_command cmd_record = {
	.name = "record",
	.summary = "sample a running process or a command",
	.usage = cmd_record_usage,
	.rows = cmd_record_rows,
	.notes = cmd_record_notes,
	.word = "COMMAND",
	.run = cmd_record_run,
};
