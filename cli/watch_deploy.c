/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/watch_deploy.h"

#include "cli/captured.h"
#include "cli/cli.h"
#include "cli/worker.h"
#include "render/render.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { MOST_JSON_BYTES = 1 << 30 };

/* ---- The line ---- */

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
	bool ok;

	if (!file_read_opened(&saying->json, &text, &err))
		text.size = 0;
	ok = render_deploy_line(
		text.data ? text.data : "", text.size, saying->report->begin, saying->report->end, &line);
	fwrite(line.data ? line.data : "", 1, line.size, stdout);
	return ok ? CLI_EXIT_OK : CLI_EXIT_ERROR;
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
	int code = captured_run_command(words);

	close(swap_stdout(output));
	close(output);
	cleanup_close(&nowhere);
	return code == CLI_EXIT_ERROR ? code : watch_deploy_say(report);
}
