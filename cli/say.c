/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the messages of all commands on standard error, and ends standard output. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The indent of the lines in which a message goes on. */
enum { MESSAGE_INDENT = 2 };
static const size_t max_text_bytes = (size_t)16 << 20;

static void say_write_lines(FILE *stream, size_t indent, char *lines)
{
	const struct wrap wrap = { .width = cli_columns(fileno(stream)), .indent = indent };
	CLEANUP(buffer_deinit) struct buffer out = BUFFER_INIT(max_text_bytes);

	/* How wide a tab is depends on the terminal. */
	for (char *tab = lines; tab && (tab = strchr(tab, '\t')) != NULL;)
		*tab = ' ';
	/* The newline of the last line begins no other. */
	while (lines && *lines)
		wrap_append(&out, strsep(&lines, "\n"), &wrap);
	if (out.failed)
		fputs("kelvin: out of memory\n", stderr);
	else
		fwrite(out.data ? out.data : "", 1, out.size, stream);
}

__attribute__((format(printf, 3, 0))) static void write_formatted(
	FILE *stream, size_t indent, const char *format, va_list args)
{
	CLEANUP(cleanup_free) char *text = NULL;

	if (vasprintf(&text, format, args) < 0) {
		text = NULL;
		fputs("kelvin: out of memory\n", stderr);
	}
	say_write_lines(stream, indent, text);
}

void cli_write(FILE *stream, size_t indent, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_formatted(stream, indent, format, args);
	va_end(args);
}

void cli_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_formatted(stderr, MESSAGE_INDENT, format, args);
	va_end(args);
}

unsigned int cli_columns(int fd)
{
	enum { DEFAULT_COLUMNS = 120, LEAST_COLUMNS = 40, MOST_COLUMNS = 1000 };
	const char *text = getenv("COLUMNS");
	unsigned long columns = text ? strtoul(text, NULL, 10) : 0;
	struct winsize window;

	if (columns == 0 || columns > MOST_COLUMNS) {
		bool is_terminal = fd >= 0 && isatty(fd) && ioctl(fd, TIOCGWINSZ, &window) == 0;

		columns = is_terminal && window.ws_col > 0 ? window.ws_col : DEFAULT_COLUMNS;
	}
	return columns < LEAST_COLUMNS ? LEAST_COLUMNS : (unsigned int)columns;
}

void cli_print_error(const struct error *err)
{
	cli_say("kelvin: %s", err->message);
}

void cli_print_notices(const struct buffer *notices)
{
	if (notices->size)
		cli_say("%.*s", (int)notices->size, (const char *)notices->data);
}

void cli_print_messages(const struct buffer *lines)
{
	const char *end;

	for (size_t at = 0; at < lines->size; at = (size_t)(end - (const char *)lines->data) + 1) {
		const char *line = (const char *)lines->data + at;

		end = memchr(line, '\n', lines->size - at);
		if (!end)
			end = line + lines->size - at;
		cli_say("kelvin: %.*s\n", (int)(end - line), line);
	}
}

int cli_close_stdout(int code)
{
	if (fclose(stdout) == 0)
		return code;
	fprintf(stderr, "kelvin: cannot write standard output: %m\n");
	return code == CLI_EXIT_OK ? CLI_EXIT_ERROR : code;
}
