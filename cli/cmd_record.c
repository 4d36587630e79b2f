/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cli.h"
#include "cli/labels.h"
#include "cli/record_job.h"
#include "cli/verification.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum {
	OPTION_CGROUP = OPTIONS_LONG_ONLY,
	OPTION_CONTROL,
	OPTION_RUNS,
	OPTION_VERIFY,
	OPTION_NO_ARGS,
	OPTION_NO_REALTIME,
	OPTION_OFF_CPU,
	OPTION_NATIVE,
	OPTION_LABEL,
	OPTION_COUNTERS,
	OPTION_BENCHMARKS,
	OPTION_NO_REQUESTS,
	OPTION_REQUESTS,
	OPTION_WORK,
	MAX_FREQUENCY_HZ = 100000,
	MAX_PIDS = 4096,
	MAX_RUNS = 10000,
};

static const char help[] =
	"Usage: kelvin record [OPTIONS] -p PID[,PID...] | -t TID | -a | --cgroup PATH | -- COMMAND...\n"
	"Samples where a program spends its CPU time and writes a profile. Ctrl-C ends it cleanly.\n"
	"\n"
	"Target:\n"
	"  -p, --pid PID[,PID...]      running processes with all threads and children, separated by commas or spaces; repeatable\n"
	"  -t, --tid TID               one thread\n"
	"  -a, --all-cpus              every process on every CPU\n"
	"      --cgroup PATH           every process of a control group, below /sys/fs/cgroup\n"
	"  -- COMMAND...               starts the command and samples it until it ends\n"
	"\n"
	"Options:\n"
	"  -o, --output FILE           the profile, gzipped pprof; '-': standard output (default: kelvin.pb.gz)\n"
	"  -d, --duration TIME         stops after this time: 30, 30s, 500ms, 2m or 1h (default: until the target exits or Ctrl-C)\n"
	"  -D, --delay TIME            starts sampling after this time: 500 (ms), 500ms, 2s; -1: when --control sends enable\n"
	"      --control fifo:CTL[,ACK]  takes commands from the named pipe CTL (enable, disable, ping, evlist,\n"
	"                              stop) and answers on ACK; fd:N[,M] takes open file descriptors instead\n"
	"      --runs N                runs the command N times, one after the other, into one profile\n"
	"      --benchmarks            the command is a suite of benchmarks (pytest-codspeed, criterion, divan, google-benchmark, vitest,\n"
	"                              go test -bench): each is told apart in the profile, with its time per iteration\n"
	"  -F, --freq HZ               samples per second on each CPU (default: 997, of suites 397)\n"
	"  -e, --event EVENT           the event to count, by perf's name (default: cycles, or cpu-clock without hardware counters)\n"
	"      --off-cpu[=MS]          samples where threads wait, too: one sample for MS milliseconds of waiting (default: 10)\n"
	"      --counters[=EVENT,...]  reads counters of the processor with each sample, which tell what holds functions up; or counts\n"
	"                              these events by perf's names, as page-faults,context-switches, and charges them to stacks\n"
	"      --no-requests           does not count the requests that the target answers, and those that it sends to others: their\n"
	"                              number and latency are counted on its sockets, where that is allowed\n"
	"      --requests N            states how many requests were answered, or how much other work was done, in place of counting\n"
	"      --work EVENT            counts an event that happens once for each unit of work, in place of requests: SUBSYSTEM:NAME of a\n"
	"                              tracepoint, uprobe:PATH:FUNCTION[+OFFSET] or usdt:PATH:PROVIDER:NAME\n"
	"      --native                native code only: an interpreter's own functions in place of those of Python, JavaScript, Java\n"
	"  -g, --call-graph MODE       dwarf[,BYTES]: unwinds a copy of the stack of up to BYTES (default: dwarf,16384);\n"
	"                              fp: the kernel follows frame pointers\n" NAMING_HELP NAMING_PROFILE_HELP
	"      --verify[=N]            unwinds one stack in N (default: 100) again with libunwind and names its addresses again\n"
	"                              with libdw, and tells how many are equal\n"
	"      --no-realtime           keeps out of the real-time class: the recorder then has only a better nice value\n"
	"      --label KEY=VALUE       kept in the profile and shown in reports, as service, version, commit or host; repeatable\n"
	"      --no-args               keeps only the command's program in the profile, without its arguments\n" OPTIONS_MODE_HELP
	"  -q, --quiet                 prints errors only\n"
	"  -h, --help                  this text\n"
	"\n"
	"Examples:\n"
	"  kelvin record -p 812 -d 30 -o before.pb.gz\n"
	"  kelvin record -p \"$(pidof -s nginx)\" -o nginx.pb.gz\n"
	"  kelvin record -o build.pb.gz -- make -j8\n"
	"\n"
	"Exit codes: 0 a profile was written, 2 usage error, nothing recorded, or a failure ended the recording early.\n"
	"With a command: its exit code; 125 the recording failed or ended early, 126 the command cannot be executed, 127 it was not found.\n";

static const struct option names[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "tid", required_argument, NULL, 't' },
	{ "all-cpus", no_argument, NULL, 'a' },
	{ "cgroup", required_argument, NULL, OPTION_CGROUP },
	{ "output", required_argument, NULL, 'o' },
	{ "duration", required_argument, NULL, 'd' },
	{ "delay", required_argument, NULL, 'D' },
	{ "control", required_argument, NULL, OPTION_CONTROL },
	{ "runs", required_argument, NULL, OPTION_RUNS },
	{ "benchmarks", no_argument, NULL, OPTION_BENCHMARKS },
	{ "freq", required_argument, NULL, 'F' },
	{ "event", required_argument, NULL, 'e' },
	{ "call-graph", required_argument, NULL, 'g' },
	NAMING_OPTIONS,
	NAMING_PROFILE_OPTIONS,
	{ "off-cpu", optional_argument, NULL, OPTION_OFF_CPU },
	{ "counters", optional_argument, NULL, OPTION_COUNTERS },
	{ "no-requests", no_argument, NULL, OPTION_NO_REQUESTS },
	{ "requests", required_argument, NULL, OPTION_REQUESTS },
	{ "work", required_argument, NULL, OPTION_WORK },
	{ "native", no_argument, NULL, OPTION_NATIVE },
	{ "label", required_argument, NULL, OPTION_LABEL },
	{ "verify", optional_argument, NULL, OPTION_VERIFY },
	{ "no-args", no_argument, NULL, OPTION_NO_ARGS },
	OPTIONS_MODE_ROW,
	{ "no-realtime", no_argument, NULL, OPTION_NO_REALTIME },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct request {
	struct record_job job;
	pid_t pids[MAX_PIDS];
	size_t target_kinds; /* how many different ones were asked for */
	struct labels labels;
};

static bool set_target(struct request *request, enum sampler_target_kind kind, struct error *err)
{
	struct sampler_target *target = &request->job.live.sampler.target;

	if (request->target_kinds > 0 && (target->kind != kind || kind != SAMPLER_TARGET_PIDS))
		return error_set(err, ERROR_USAGE,
			"more than one target; give only one of -p (with any number of processes), -t, -a, --cgroup or a command");
	target->kind = kind;
	target->pids = request->pids;
	request->target_kinds = 1;
	return true;
}

static bool add_pid(struct request *request, const char *option, const char *text, struct error *err)
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

/* Also as pidof prints them. */
static bool add_pids(struct request *request, char *list, struct error *err)
{
	static const char separators[] = ", \t\n";
	char *rest = NULL;

	if (!set_target(request, SAMPLER_TARGET_PIDS, err))
		return false;
	for (char *pid = strtok_r(list, separators, &rest); pid; pid = strtok_r(NULL, separators, &rest))
		if (!add_pid(request, "-p", pid, err))
			return false;
	return request->job.live.sampler.target.pid_count > 0 ||
	       error_set(err, ERROR_USAGE, "-p '': no process id is given");
}

static bool parse_call_graph(struct sampler_options *options, const char *text, struct error *err)
{
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

static bool parse_frequency(struct sampler_options *options, const char *text, struct error *err)
{
	uint64_t hz;

	if (!options_parse_count("-F", text, MAX_FREQUENCY_HZ, &hz, err))
		return false;
	if (hz == 0)
		return error_set(err, ERROR_USAGE, "-F 0: the least is one sample per second");
	options->frequency_hz = (uint32_t)hz;
	return true;
}

static bool parse_runs(struct record_job *job, const char *text, struct error *err)
{
	if (!options_parse_count("--runs", text, MAX_RUNS, &job->runs, err))
		return false;
	return job->runs > 0 || error_set(err, ERROR_USAGE, "--runs 0: the least is one run");
}

static bool parse_duration(struct record_job *job, const char *text, struct error *err)
{
	if (!options_parse_duration("-d", text, 1, &job->live.duration_s, err))
		return false;
	return job->live.duration_s > 0 ||
	       error_set(err, ERROR_USAGE, "-d %.80s: a recording takes more than 0 s", text);
}

/* As perf has it, a bare number is in milliseconds. */
static bool parse_delay(struct record_job *job, const char *text, struct error *err)
{
	static const double longest_s = 86400;
	double seconds = 0;

	job->live.starts_disabled = strcmp(text, "-1") == 0;
	if (job->live.starts_disabled)
		return true;
	if (!options_parse_duration("-D", text, 1e-3, &seconds, err))
		return false;
	job->live.delay_ms = (uint64_t)(fmin(seconds, longest_s) * 1e3 + 0.5);
	return seconds <= longest_s || error_set(err, ERROR_USAGE, "-D %.80s: the longest delay is 24h", text);
}

/* Work is counted in one way. */
static bool take_work(struct sampler_options *sampler, int option, struct error *err)
{
	static const uint64_t most = (uint64_t)1 << 53;

	if (option == OPTION_NO_REQUESTS) {
		sampler->no_requests = true;
	} else if (option == OPTION_WORK) {
		sampler->work_event = optarg;
		if (!sampler_check_work_event(optarg, err))
			return false;
	} else if (!options_parse_count("--requests", optarg, most, &sampler->stated_requests, err)) {
		return false;
	} else if (sampler->stated_requests == 0) {
		return error_set(err, ERROR_USAGE, "--requests 0: the least is one; --no-requests counts none");
	}
	return sampler->no_requests + (sampler->stated_requests > 0) + (sampler->work_event != NULL) == 1 ||
	       error_set(err, ERROR_USAGE, "give only one of --no-requests, --requests and --work");
}

static bool take_target(struct request *request, int option, struct error *err)
{
	switch (option) {
	case 'p':
		return add_pids(request, optarg, err);
	case 't':
		return set_target(request, SAMPLER_TARGET_TID, err) && add_pid(request, "-t", optarg, err);
	case 'a':
		return set_target(request, SAMPLER_TARGET_SYSTEM, err);
	case OPTION_CGROUP:
		if (!optarg[0])
			return error_set(err, ERROR_USAGE,
				"--cgroup '': no control group is given; name a control group below /sys/fs/cgroup");
		request->job.live.sampler.target.cgroup_path = optarg;
		return set_target(request, SAMPLER_TARGET_CGROUP, err);
	case OPTIONS_MODE:
		return options_parse_mode(optarg, &request->job.mode, err);
	default:
		return naming_take(&request->job.naming, option, err);
	}
}

static bool take(void *context, int option, struct error *err)
{
	struct request *request = context;
	struct record_job *job = &request->job;

	switch (option) {
	case 'o':
		job->output = options_output_file(optarg);
		return true;
	case 'd':
		return parse_duration(job, optarg, err);
	case 'D':
		return parse_delay(job, optarg, err);
	case OPTION_CONTROL:
		job->control = optarg;
		return true;
	case OPTION_RUNS:
		return parse_runs(job, optarg, err);
	case 'F':
		return parse_frequency(&job->live.sampler, optarg, err);
	case 'e':
		job->live.sampler.event = optarg;
		return true;
	case 'g':
		return parse_call_graph(&job->live.sampler, optarg, err);
	case OPTION_BENCHMARKS:
		job->has_benchmarks = true;
		return true;
	case 'q':
		job->quiet = true;
		return true;
	case OPTION_NO_ARGS:
		job->live.sampler.no_arguments = true;
		return true;
	case OPTION_NO_REALTIME:
		job->live.sampler.without_real_time = true;
		return true;
	case OPTION_OFF_CPU:
		return options_parse_off_cpu(optarg, &job->live.sampler.off_cpu_ns, err);
	case OPTION_COUNTERS:
		job->live.sampler.counters = optarg ? optarg : "";
		return !optarg || optarg[0] != '\0' ||
		       error_set(err, ERROR_USAGE,
			       "--counters=: no event is named; name some by perf's names, or leave out the '='");
	case OPTION_NO_REQUESTS:
	case OPTION_REQUESTS:
	case OPTION_WORK:
		return take_work(&job->live.sampler, option, err);
	case OPTION_NATIVE:
		job->live.sampler.native_only = true;
		return true;
	case OPTION_LABEL:
		return labels_add(&request->labels, optarg, err);
	case OPTION_VERIFY:
		return verification_parse(optarg, &job->live.sampler.verify_every, err);
	default:
		return take_target(request, option, err);
	}
}

static bool take_command(struct request *request, char **command, struct error *err)
{
	if (!*command)
		return request->target_kinds > 0 ||
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

static int run(struct request *request, const struct options_switch *options)
{
	struct error err;
	int code;

	if (!options_read_switch(options, help, take, request, &code))
		return code;
	if (!take_command(request, options->argv + optind, &err))
		return options_fail("record", "%s", err.message);
	if (request->job.live.starts_disabled && !request->job.control)
		return options_fail("record", "-D -1: sampling would never start; give --control as well");
	if (request->job.live.sampler.verify_every > 0 && request->job.live.sampler.call_graph == SAMPLER_CALL_GRAPH_FP)
		return options_fail(
			"record", "--verify: with -g fp no stack is unwound here; leave one of the two out");
	if (request->job.runs > 1 && request->job.live.sampler.target.kind != SAMPLER_TARGET_COMMAND)
		return options_fail(
			"record", "--runs: only a command can be run several times; give the command after --");
	if (!check_benchmarks(&request->job, &err))
		return options_fail("record", "%s", err.message);
	if (request->job.has_benchmarks)
		request->job.live.sampler.no_requests = true;
	request->job.live.sampler.labels = request->labels.items;
	request->job.live.sampler.label_count = request->labels.count;
	return record_job_run(&request->job);
}

static int cmd_record_main(int argc, char **argv)
{
	/* '+': what follows a command's name is the command's. */
	struct options_switch options = { argc, argv, "record", "+:hp:t:ao:d:D:F:e:g:q", names };
	CLEANUP(cleanup_free) struct request *request = calloc(1, sizeof(*request));
	int code;

	if (!request) {
		fputs("kelvin: out of memory\n", stderr);
		return CLI_EXIT_ERROR;
	}
	request->job.output = "kelvin.pb.gz";
	request->job.live.sampler.tool = CLI_TOOL;
	code = run(request, &options);
	naming_deinit(&request->job.naming);
	labels_deinit(&request->labels);
	return code;
}

static int cmd_record_start(struct options *options)
{
	return cmd_record_main(options->argc, options->argv);
}

const struct cli_command cmd_record = {
	.name = "record",
	.summary = "sample a running process or a command",
	.rows = (const struct options_row[]){ { 0 } },
	.run = cmd_record_start,
};
