/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all commands print on standard error, and how they end standard output. */
#include "cli/cli.h"

#include <stdarg.h>
#include <string.h>

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
