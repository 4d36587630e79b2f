/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/control.h"

#include "cli/options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

void control_init(struct control *control)
{
	*control = (struct control){ .commands = -1, .answers = -1 };
}

static bool take_descriptor(const char *text, int *fd, struct error *err)
{
	uint64_t number;

	if (!options_parse_count("--control fd:", text, INT_MAX, &number, err))
		return false;
	if (fcntl((int)number, F_GETFD) < 0)
		return error_set(err, ERROR_USAGE, "--control fd:%s: this file descriptor is not open", text);
	*fd = (int)number;
	return true;
}

/*
 * Opens the fifo for reading and writing, as perf does: opening then does not wait for the other side, and the fifo
 * stays open when that closes.
 */
static bool cli_control_open_fifo(const char *path, int *fd, struct error *err)
{
	struct stat info;

	*fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0)
		return error_set_errno(
			err, errno, "--control: cannot open %s ('mkfifo %s' makes a named pipe)", path, path);
	if (fstat(*fd, &info) == 0 && !S_ISFIFO(info.st_mode))
		return error_set(err, ERROR_USAGE, "--control: %s is not a named pipe; 'mkfifo' makes one", path);
	return true;
}

bool control_open(struct control *control, const char *text, struct error *err)
{
	bool is_fifo = strncmp(text, "fifo:", 5) == 0;
	bool (*take)(const char *, int *, struct error *) = is_fifo ? cli_control_open_fifo : take_descriptor;
	CLEANUP(cleanup_free) char *copy = NULL;
	char *answers;

	if (!is_fifo && strncmp(text, "fd:", 3) != 0)
		return error_set(err, ERROR_USAGE, "--control '%.80s': write fifo:CTL[,ACK] or fd:N[,M]", text);
	copy = strdup(strchr(text, ':') + 1);
	if (!copy)
		return error_set_memory(err);
	answers = strchr(copy, ',');
	if (answers)
		*answers++ = '\0';
	if (!copy[0] || (answers && !answers[0]))
		return error_set(err, ERROR_USAGE, "--control '%.80s': a name is empty", text);
	control->owns_them = is_fifo;
	return take(copy, &control->commands, err) && (!answers || take(answers, &control->answers, err));
}

void control_close(struct control *control)
{
	if (control->owns_them && control->commands >= 0)
		close(control->commands);
	if (control->owns_them && control->answers >= 0)
		close(control->answers);
	control_init(control);
}

static enum control_command command_of(const char *line)
{
	static const struct {
		const char *word;
		enum control_command command;
	} words[] = {
		{ "enable", CONTROL_ENABLE },
		{ "disable", CONTROL_DISABLE },
		{ "ping", CONTROL_PING },
		{ "stop", CONTROL_STOP },
		{ "evlist", CONTROL_EVLIST },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t size = strlen(words[i].word);

		/* perf allows an event's name or a flag after the word; kelvin has one event and ignores them. */
		if (strncmp(line, words[i].word, size) == 0 && (line[size] == '\0' || line[size] == ' '))
			return words[i].command;
	}
	return CONTROL_OTHER;
}

/* Stops polling when nobody can send a command any more: a descriptor that is always ready would wake us up forever. */
static void stop_listening(struct control *control)
{
	if (control->owns_them)
		close(control->commands);
	control->commands = -1;
}

enum control_command control_next(struct control *control)
{
	struct pollfd ready = { .fd = control->commands, .events = POLLIN };
	char byte;

	/*
	 * poll() is called for each byte: the descriptor may be blocking, and bytes after the line may belong to
	 * another reader.
	 */
	while (control->commands >= 0 && poll(&ready, 1, 0) == 1) {
		ssize_t got = ready.revents & POLLIN ? read(control->commands, &byte, 1) : 0;

		if (got == 0)
			stop_listening(control);
		if (got != 1)
			break;
		if (byte != '\n' && byte != '\0') {
			if (control->line_bytes + 1 < CONTROL_LINE_BYTES)
				control->line[control->line_bytes++] = byte;
			continue;
		}
		if (control->line_bytes == 0)
			continue;
		control->line[control->line_bytes] = '\0';
		control->line_bytes = 0;
		return command_of(control->line);
	}
	return CONTROL_NONE;
}

void control_answer(const struct control *control)
{
	static const char answer[] = "ack\n"; /* the final NUL is sent too */
	struct pollfd ready = { .fd = control->answers, .events = POLLOUT };

	/* A pipe holds thousands of answers; if it is full nobody reads them, and the recording does not wait. */
	if (control->answers >= 0 && poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) &&
		write(control->answers, answer, sizeof(answer)) < 0)
		return;
}
