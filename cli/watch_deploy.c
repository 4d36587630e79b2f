/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/watch_deploy.h"

#include "cli/cli.h"
#include "cli/watch_child.h"
#include "cli/worker.h"
#include "profile/profile.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { MOST_JSON_BYTES = 1 << 30 };

/* ---- The line ---- */

static double watch_deploy_number_at(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* Appends a number with three digits that count, as people write it. */
static void watch_deploy_append_number(struct buffer *out, double value)
{
	int digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;

	buffer_printf(out, "%.*f", digits, value);
}

struct time_unit {
	const char *name;
	double ns;
};

static const struct time_unit *watch_deploy_unit_of(double ns)
{
	static const struct time_unit units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "µs", 1e3 }, { "ns", 1 } };
	size_t i = 0;

	while (i + 1 < sizeof(units) / sizeof(units[0]) && ns < units[i].ns)
		i++;
	return &units[i];
}

/* Appends percent with a sign: no more digits than tell something. */
static void watch_deploy_append_percent(struct buffer *out, double percent, bool has_plus)
{
	buffer_printf(out, has_plus ? "%+.*f" : "%.*f", fabs(percent) < 10 ? 1 : 0, percent);
}

/*
 * Appends ", CPU per request 1.21 → 1.55 ms (+28 %, 24 to 33)", where requests are what makes both sides comparable.
 * The interval of the JSON is in points, which are percent of the larger total.
 */
static bool append_per_request(struct buffer *out, const json_t *root)
{
	const json_t *totals = json_object_get(root, "totals"), *recordings = json_object_get(root, "recordings");
	const json_t *requests = json_object_get(json_object_get(recordings, "base"), "requests");
	const json_t *ci = json_object_get(totals, "ci");
	double base_ns = watch_deploy_number_at(totals, "base_ns"),
	       delta_ns = watch_deploy_number_at(totals, "delta_ns");
	double count = watch_deploy_number_at(requests, "count"), points = fmax(base_ns, base_ns + delta_ns) / base_ns;
	const struct time_unit *unit;

	if (strcmp(text_at(json_object_get(root, "scale"), "mode"), "per-request") != 0 || !(count > 0) ||
		!(base_ns > 0) || !isfinite(delta_ns) ||
		strcmp(text_at(json_object_get(root, "metric"), "name"), "cpu") != 0)
		return false;
	unit = watch_deploy_unit_of(fmin(base_ns, base_ns + delta_ns) / count);
	buffer_append_string(out, ", CPU per request ");
	watch_deploy_append_number(out, base_ns / count / unit->ns);
	buffer_append_string(out, " → ");
	watch_deploy_append_number(out, (base_ns + delta_ns) / count / unit->ns);
	buffer_printf(out, " %s (", unit->name);
	watch_deploy_append_percent(out, 100 * delta_ns / base_ns, true);
	buffer_append_string(out, " %");
	if (json_array_size(ci) == 2) {
		buffer_append_string(out, ", ");
		watch_deploy_append_percent(out, points * json_number_value(json_array_get(ci, 0)), false);
		buffer_append_string(out, " to ");
		watch_deploy_append_percent(out, points * json_number_value(json_array_get(ci, 1)), false);
	}
	buffer_append_string(
		out, strcmp(text_at(totals, "state"), "unproven") == 0 ? "; of the total not proven)" : ")");
	return true;
}

/* Appends the function that the verdict names: where the cost is. */
static void watch_deploy_append_cause(struct buffer *out, const json_t *root)
{
	const json_t *cause = json_object_get(root, "cause");
	const char *leaf = text_at(cause, "leaf"), *function = leaf[0] ? leaf : text_at(cause, "function");

	if (!function[0])
		return;
	buffer_append_string(out, ", ");
	profile_shown_name(function, text_at(cause, "module"), out);
}

static void watch_deploy_append_sentence(struct buffer *out, const char *text)
{
	for (; *text; text++)
		if (*text != '`')
			buffer_append_byte(out, (uint8_t)(*text == '\n' ? ' ' : *text));
}

/* A figure and a function where these say it all; else the sentence of the verdict. */
static void watch_deploy_append_verdict(struct buffer *out, const json_t *root)
{
	const char *verdict = text_at(root, "verdict");
	bool has_cause = json_is_object(json_object_get(root, "cause"));
	bool is_short = has_cause || strcmp(verdict, "unchanged") == 0;

	buffer_append_string(out, verdict);
	if (is_short && append_per_request(out, root)) {
		watch_deploy_append_cause(out, root);
		return;
	}
	buffer_append_string(out, ": ");
	watch_deploy_append_sentence(out, text_at(root, "verdict_text"));
}

/* The input of the process without rights. */
struct saying {
	const struct watch_report *report;
	struct file_opened json;
};

static int say_line(void *context)
{
	const struct saying *saying = context;
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MOST_JSON_BYTES);
	CLEANUP(buffer_deinit) struct buffer line = BUFFER_INIT(CLI_MESSAGE_BYTES);
	struct error err;
	json_error_t why;
	json_t *root;

	root = file_read_opened(&saying->json, &text, &err) && text.data ? json_loadb(text.data, text.size, 0, &why)
									 : NULL;
	buffer_printf(&line, "%s: ", saying->report->begin);
	watch_deploy_append_verdict(&line, root);
	buffer_printf(&line, "; %s\n", saying->report->end);
	fwrite(line.data ? line.data : "", 1, line.size, stdout);
	json_decref(root);
	return root ? CLI_EXIT_OK : CLI_EXIT_ERROR;
}

static int watch_deploy_say(const struct watch_report *report)
{
	struct saying saying = { report,
		{ strdup(report->json), open(report->json, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) } };
	struct worker worker = { .subject = report->json, .inputs = &saying.json.fd, .input_count = 1 };
	struct error err;
	int code = CLI_EXIT_ERROR;

	if (!saying.json.name || saying.json.fd < 0)
		cli_say("kelvin: cannot read %s: %m\n", report->json);
	else if (!worker_run(&worker, say_line, &saying, &code, &err))
		cli_print_error(&err);
	file_opened_deinit(&saying.json);
	return code;
}

/* ---- The report ---- */

/* Has standard output go nowhere, or back: the comparison says its verdict there. */
static int swap_stdout(int fd)
{
	int former = dup(STDOUT_FILENO);

	fflush(stdout);
	if (former < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(CLI_EXIT_ERROR);
	return former;
}

int watch_report_make(const struct watch_report *report)
{
	const char *const words[] = { "diff", report->base, report->head, "-o", report->page, "--json", report->json,
		NULL };
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC), output = swap_stdout(nowhere);
	int code = watch_run_command(words);

	close(swap_stdout(output));
	close(output);
	cleanup_close(&nowhere);
	return code == CLI_EXIT_ERROR ? code : watch_deploy_say(report);
}
