/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `kelvin watch`: reads what is to be watched, and how, from the command line; watch_loop.c does it. */
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/watch_loop.h"

#include <limits.h>
#include <string.h>

static const char cmd_watch_usage[] =
	"Usage: kelvin watch -p PID | --unit NAME | --cgroup PATH | --exe PROGRAM  -o DIR [OPTIONS]\n"
	"Records a service again and again, and around every restart by itself. A new build is compared with the one before\n"
	"it: a report, and a line on standard output. Ctrl-C and SIGTERM end it cleanly; SIGHUP records now.\n";

static const char cmd_watch_notes[] = "Examples:\n"
				      "  kelvin watch --unit checkout.service -o /var/lib/kelvin/checkout\n"
				      "  kelvin watch --exe /usr/sbin/nginx -o ~/nginx --every 5m -d 20\n"
				      "\n"
				      "Exit codes: 0 a signal ended it, 2 usage error, or the directory is gone.\n";

struct cmd_watch_request {
	struct watch_options watch;
	struct labels labels;
	bool has_target;
	uint64_t keep;
};

static bool cmd_watch_set_target(
	struct cmd_watch_request *request, enum watch_target_kind kind, const char *name, struct error *err)
{
	if (request->has_target)
		return error_set(
			err, ERROR_USAGE, "more than one target; give only one of -p, --unit, --cgroup and --exe");
	if (!name[0])
		return error_set(err, ERROR_USAGE, "the name of the target is empty");
	request->watch.wish = (struct watch_wish){ .kind = kind, .name = name };
	request->has_target = true;
	return true;
}

static bool cmd_watch_take_pid(void *context, const char *text, struct error *err)
{
	struct cmd_watch_request *request = context;
	uint64_t pid;

	if (!options_parse_count("-p", text, INT_MAX, &pid, err))
		return false;
	if (pid == 0)
		return error_set(err, ERROR_USAGE, "-p 0: this is not a process; 'pgrep -a NAME' lists process ids");
	if (!cmd_watch_set_target(request, WATCH_PID, text, err))
		return false;
	request->watch.wish.pid = (pid_t)pid;
	return true;
}

/* systemctl(1) takes a service by its name alone, too; the group of any unit is called as the unit. */
static bool cmd_watch_take_unit(void *context, const char *name, struct error *err)
{
	if (strchr(name, '/'))
		return error_set(err, ERROR_USAGE,
			"--unit '%.80s': this is no name of a unit; write for example --unit nginx.service", name);
	if (name[0] && !strchr(name, '.'))
		return error_set(
			err, ERROR_USAGE, "--unit '%.80s': write the whole name: --unit %.80s.service", name, name);
	return cmd_watch_set_target(context, WATCH_UNIT, name, err);
}

static bool cmd_watch_take_cgroup(void *context, const char *path, struct error *err)
{
	return cmd_watch_set_target(context, WATCH_CGROUP, path, err);
}

static bool cmd_watch_take_exe(void *context, const char *program, struct error *err)
{
	return cmd_watch_set_target(context, WATCH_EXE, program, err);
}

static bool cmd_watch_take_every(void *seconds, const char *text, struct error *err)
{
	static const double least_s = 1, most_s = 7.0 * 86400;

	if (!options_parse_duration("--every", text, 1, seconds, err))
		return false;
	return (*(double *)seconds >= least_s && *(double *)seconds <= most_s) ||
	       error_set(err, ERROR_USAGE, "--every %.80s: from 1 s to 168 h", text);
}

static bool cmd_watch_take_duration(void *seconds, const char *text, struct error *err)
{
	if (!options_parse_duration("-d", text, 1, seconds, err))
		return false;
	return *(double *)seconds > 0 || error_set(err, ERROR_USAGE, "-d %.80s: a recording takes more than 0 s", text);
}

static bool cmd_watch_take_settle(void *seconds, const char *text, struct error *err)
{
	static const double most_s = 86400;

	if (!options_parse_duration("--settle", text, 1, seconds, err))
		return false;
	return *(double *)seconds <= most_s || error_set(err, ERROR_USAGE, "--settle %.80s: at most 24 h", text);
}

static bool cmd_watch_take_keep(void *count, const char *text, struct error *err)
{
	if (!options_parse_count("--keep", text, WATCH_MOST_FILES, count, err))
		return false;
	return *(uint64_t *)count >= WATCH_LEAST_KEPT ||
	       error_set(err, ERROR_USAGE, "--keep %.80s: at least %d: three profiles on each side of a deploy", text,
		       WATCH_LEAST_KEPT);
}

/* Takes "500M", "2G", or bytes. */
static bool cmd_watch_take_bytes(void *bytes, const char *text, struct error *err)
{
	static const uint64_t most = (uint64_t)1 << 60;
	static const char units[] = "KMGT";
	char *unit;
	double number = strtod(text, &unit);
	const char *found = unit[0] ? strchr(units, unit[0]) : NULL;

	for (const char *at = units; found && at <= found; at++)
		number *= 1000;
	if (unit == text || (unit[0] && (!found || unit[1])) || !(number >= 1) || number > (double)most)
		return error_set(err, ERROR_USAGE, "--keep-bytes '%.80s': write a size, as 500M or 2G", text);
	*(uint64_t *)bytes = (uint64_t)number;
	return true;
}

static const struct options_row cmd_watch_rows[] = {
	{ .name = "Target:" },
	{ 'p', "pid", "PID", "a running process with all that it starts; when it ends, the one that takes its place",
		cmd_watch_take_pid },
	{ 0, "unit", "NAME", "a systemd unit, as nginx.service", cmd_watch_take_unit },
	{ 0, "cgroup", "PATH", "every process of a control group, below /sys/fs/cgroup", cmd_watch_take_cgroup },
	{ 0, "exe", "PROGRAM",
		"the oldest process that executes a program, by its path or name, with all that it starts",
		cmd_watch_take_exe },
	{ .name = "Options:" },
	{ 'o', "output", "DIR", "where profiles and reports are kept; yours alone (made if it is not there)",
		OPTIONS_TEXT(struct cmd_watch_request, watch.output) },
	{ 0, "every", "TIME", "how often it is recorded: 10m, 1h (default: 10m)", cmd_watch_take_every,
		offsetof(struct cmd_watch_request, watch.every_s) },
	{ 'd', "duration", "TIME", "how long each recording takes (default: 30s)", cmd_watch_take_duration,
		offsetof(struct cmd_watch_request, watch.duration_s) },
	{ 0, "settle", "TIME", "how long a new process warms up before it is recorded (default: 30s)",
		cmd_watch_take_settle, offsetof(struct cmd_watch_request, watch.settle_s) },
	{ 0, "keep", "N",
		"profiles and reports that are kept; the oldest go first, those beside deploys last (default: 1000)",
		cmd_watch_take_keep, offsetof(struct cmd_watch_request, keep) },
	{ 0, "keep-bytes", "SIZE", "likewise how many bytes, as 500M or 2G (default: 2G)", cmd_watch_take_bytes,
		offsetof(struct cmd_watch_request, watch.bounds.most_bytes), .words = "500M 2G 10G" },
	{ 0, "push", "URL",
		"sends each profile to a store, as 'kelvin push' does; what could not be sent is sent later",
		OPTIONS_TEXT(struct cmd_watch_request, watch.push) },
	{ .rows = labels_rows, .at = offsetof(struct cmd_watch_request, labels) },
	{ 'q', "quiet", NULL, "prints errors, and the lines of deploys, only",
		OPTIONS_FLAG(struct cmd_watch_request, watch.quiet) },
	{ 0 },
};

static bool cmd_watch_check_request(const struct cmd_watch_request *request, struct error *err)
{
	const struct watch_options *watch = &request->watch;

	if (!request->has_target)
		return error_set(err, ERROR_USAGE, "nothing to watch; name it with -p, --unit, --cgroup or --exe");
	if (!watch->output || !watch->output[0])
		return error_set(err, ERROR_USAGE, "no directory; say with -o where profiles and reports are kept");
	return watch->duration_s < watch->every_s ||
	       error_set(err, ERROR_USAGE,
		       "-d %g s and --every %g s: a recording has to end before the next one begins", watch->duration_s,
		       watch->every_s);
}

static void cmd_watch_request_deinit(struct cmd_watch_request *request)
{
	labels_deinit(&request->labels);
}

static int cmd_watch_run(struct options *options)
{
	CLEANUP(cmd_watch_request_deinit)
	struct cmd_watch_request request = { .keep = 1000,
		.watch = { .every_s = 600, .duration_s = 30, .settle_s = 30, .bounds.most_bytes = 2000000000 } };
	struct error err;
	int code;

	if (!options_read(options, &request, &code))
		return code;
	if (optind < options->argc)
		return options_fail("watch", "unexpected '%s'; a target is named by -p, --unit, --cgroup or --exe",
			options->argv[optind]);
	request.watch.bounds.most_files = request.keep;
	if (!cmd_watch_check_request(&request, &err))
		return options_fail("watch", "%s", err.message);
	return watch_run(&request.watch, &request.labels);
}

const struct cli_command cmd_watch = {
	.name = "watch",
	.summary = "record a service again and again, and compare its builds",
	.usage = cmd_watch_usage,
	.rows = cmd_watch_rows,
	.notes = cmd_watch_notes,
	.run = cmd_watch_run,
};
