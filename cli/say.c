/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all commands print on standard error, and how they end standard output. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const size_t max_text_bytes = (size_t)16 << 20;

static void write_clean(const char *text)
{
	CLEANUP(buffer_deinit) struct buffer clean = { 0 };

	buffer_init(&clean, max_text_bytes);
	while (*text) {
		uint32_t code = unicode_next(&text);

		unicode_append(&clean, code == '\n' || code == '\t' ? code : unicode_clean(code));
	}
	if (clean.failed)
		fputs("kelvin: out of memory\n", stderr);
	else
		fwrite(clean.data ? clean.data : "", 1, clean.size, stderr);
}

void cli_say(const char *format, ...)
{
	CLEANUP(cleanup_free) char *text = NULL;
	va_list args;
	int size;

	va_start(args, format);
	size = vasprintf(&text, format, args);
	va_end(args);
	if (size < 0)
		text = NULL;
	write_clean(text ? text : "kelvin: out of memory\n");
}

unsigned int cli_columns(int fd)
{
	enum { DEFAULT_COLUMNS = 120, MOST_COLUMNS = 1000 };
	const char *text = getenv("COLUMNS");
	unsigned long columns = text ? strtoul(text, NULL, 10) : 0;
	struct winsize window;

	if (columns > 0 && columns <= MOST_COLUMNS)
		return (unsigned int)columns;
	if (fd >= 0 && isatty(fd) && ioctl(fd, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
		return window.ws_col;
	return DEFAULT_COLUMNS;
}

void cli_print_written(const char *path, uint64_t bytes)
{
	const char *name = strcmp(path, "-") == 0 ? "standard output" : path;

	if (bytes < 1000)
		cli_say("wrote %s (%llu B)", name, (unsigned long long)bytes);
	else if (bytes < 1000000)
		cli_say("wrote %s (%.1f kB)", name, (double)bytes / 1e3);
	else
		cli_say("wrote %s (%.1f MB)", name, (double)bytes / 1e6);
}

void cli_print_error(const struct error *err)
{
	cli_say("kelvin: %s\n", err->message);
}

void cli_print_notices(const struct buffer *notices)
{
	if (notices->size)
		cli_say("%.*s", (int)notices->size, (const char *)notices->data);
}

int cli_close_stdout(int code)
{
	if (fclose(stdout) == 0)
		return code;
	fprintf(stderr, "kelvin: cannot write standard output: %m\n");
	return code == CLI_EXIT_OK ? CLI_EXIT_ERROR : code;
}
