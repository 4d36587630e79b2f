/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/worker.h"

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 16 };
/* TCGETS2, which newer C libraries use in isatty(); its header does not go together with that of ioctl(). */
#define ASK_TERMINAL UINT32_C(0x802c542a)
static const uint64_t max_output_bytes = (uint64_t)2 << 30, max_question_bytes = (uint64_t)65 << 20;

/* The signals by which a user, a terminal or a service manager ends the command. */
static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
enum { ENDING_COUNT = sizeof(ending) / sizeof(ending[0]) };

/* The worker sends this before the bytes of a question, or of a piece of an output. The parent does not trust it. */
struct message_header {
	uint64_t output, bytes, more; /* more: other than 0 before all pieces but the last, which alone is answered */
};
static const uint64_t question = UINT64_MAX; /* in place of an output's number */

/* ---- The worker ---- */

/* No namespaces come with a child; nobody outside is in the reach of a signal (rights_no_files()). */
#define CHILDREN                                                                                                       \
	FILTER_OPENS, FILTER_IF(clone, 0, NAMESPACES, 0), FILTER_ALWAYS(wait4), FILTER_ALWAYS(kill),                   \
		FILTER_ALWAYS(getppid), FILTER_IF(prctl, 0, UINT32_MAX, PR_SET_PDEATHSIG),                             \
		FILTER_IF(prlimit64, 0, UINT32_MAX, 0)
#define NAMESPACES                                                                                                     \
	(CLONE_NEWCGROUP | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUSER | CLONE_NEWUTS)

/*
 * A terminal takes no ioctl() but those that ask about it: one of the others types into it. What a machine does not
 * allow is missing from all readers: `kelvin doctor` shows it.
 */
static void worker_give_up_rights(const struct worker *worker, const int *kept, size_t count)
{
	static const struct filter_rule talks[] = { FILTER_ALWAYS(write), FILTER_ALWAYS(writev), FILTER_ALWAYS(recvmsg),
		FILTER_ALWAYS(poll), FILTER_ALWAYS(ppoll), FILTER_IF(ioctl, 1, UINT32_MAX, TCGETS),
		FILTER_IF(ioctl, 1, UINT32_MAX, ASK_TERMINAL), FILTER_IF(ioctl, 1, UINT32_MAX, TIOCGWINSZ) };
	static const struct filter_rule starts[] = { CHILDREN };
	struct confinement confinement = { .descriptors = kept,
		.descriptor_count = count,
		.user = CONFINED_NOBODY,
		.more_calls = { FILTER_SET(talks) } };

	if (worker->has_children)
		confinement.more_calls[1] = (struct filter_set)FILTER_SET(starts);
	(void)confined_enter(&confinement);
}

static void worker_confine(const struct worker *worker)
{
	const int own[] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, worker->socket };
	enum { OWN = sizeof(own) / sizeof(own[0]) };
	CLEANUP(cleanup_free) int *kept = malloc((OWN + worker->input_count) * sizeof(*kept));
	bool reads_stdin = false;

	if (!kept)
		_exit(CLI_EXIT_ERROR);
	memcpy(kept, own, sizeof(own));
	for (size_t i = 0; i < worker->input_count; i++) {
		kept[OWN + i] = worker->inputs[i];
		reads_stdin |= worker->inputs[i] == STDIN_FILENO;
	}
	/* Nothing that is opened later gets its number. */
	if (!reads_stdin) {
		close(STDIN_FILENO);
		(void)!open("/dev/null", O_RDONLY);
	}
	worker_give_up_rights(worker, kept, OWN + worker->input_count);
}

/* Memory that is out ends the worker; its parent says so, of which file, and what was needed. */
static void worker_prepare_end(const struct worker *worker)
{
	static struct memory_end end = { .exit_code = CLI_EXIT_ERROR };

	end.need = worker->need;
	memory_set_end(&end);
}

/* The end of the sanitizers would look for leaks by means that the worker does not have. */
static _Noreturn void end_worker(int code)
{
	_exit(cli_close_stdout(code));
}

static bool worker_read_whole(int fd, void *into, size_t size)
{
	for (size_t got = 0; got < size;) {
		ssize_t count = read(fd, (char *)into + got, size - got);

		if (count <= 0 && !(count < 0 && errno == EINTR))
			return false;
		got += count > 0 ? (size_t)count : 0;
	}
	return true;
}

static bool worker_send_message(
	const struct worker *worker, const struct message_header *header, const void *bytes, struct error *err)
{
	return (file_write_all(worker->socket, header, sizeof(*header)) &&
		       file_write_all(worker->socket, bytes, header->bytes)) ||
	       error_set_errno(err, errno, "cannot hand over %s", worker->outputs[header->output].path);
}

bool worker_write_piece(const struct worker *worker, size_t output, const void *bytes, size_t size, struct error *err)
{
	return worker_send_message(worker, &(struct message_header){ output, size, true }, bytes, err);
}

bool worker_write(const struct worker *worker, size_t output, const void *bytes, size_t size, struct error *err)
{
	const struct worker_output *to = &worker->outputs[output];
	struct error answer;

	if (worker->socket == 0 || strcmp(to->path, "-") == 0)
		return file_write(to->path, bytes, size, to->mode, err);
	if (!worker_send_message(worker, &(struct message_header){ output, size, false }, bytes, err))
		return false;
	if (!worker_read_whole(worker->socket, &answer, sizeof(answer)))
		return error_set_errno(err, errno, "cannot hand over %s", to->path);
	if (answer.code == ERROR_NONE)
		return true;
	*err = answer;
	return false;
}

int worker_ask(const struct worker *worker, const void *bytes, size_t size, struct error *err)
{
	const struct message_header header = { .output = question, .bytes = size };
	int fd = -1;

	*err = (struct error){ .code = ERROR_SYSTEM };
	if (file_write_all(worker->socket, &header, sizeof(header)) && file_write_all(worker->socket, bytes, size))
		(void)!message_receive(worker->socket, err, sizeof(*err), MSG_WAITALL, &fd);
	return fd;
}

/* ---- The parent ---- */

struct parent {
	const struct worker *worker;
	pid_t pid;
	int socket, signals;      /* owned; signalfd(2) of those that end the command */
	sigset_t mask;            /* these signals */
	bool *is_written;         /* owned, [output] */
	struct memory_need *need; /* owned: shared with the worker, which has written it when its memory was out */
};

static void parent_deinit(struct parent *parent)
{
	cleanup_close(&parent->socket);
	cleanup_close(&parent->signals);
	free(parent->is_written);
	if (parent->need)
		munmap(parent->need, sizeof(*parent->need));
}

/* Waits for bytes of the worker; false if the user ends the command, or the worker has ended. */
static ssize_t receive(const struct parent *parent, void *into, size_t room)
{
	struct pollfd fds[] = { { .fd = parent->socket, .events = POLLIN },
		{ .fd = parent->signals, .events = POLLIN } };
	ssize_t got;

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	if (fds[1].revents)
		return -1;
	do
		got = read(parent->socket, into, room);
	while (got < 0 && errno == EINTR);
	return got;
}

static bool receive_header(const struct parent *parent, struct message_header *header)
{
	for (size_t got = 0; got < sizeof(*header);) {
		ssize_t count = receive(parent, (char *)header + got, sizeof(*header) - got);

		if (count <= 0)
			return false;
		got += (size_t)count;
	}
	return true;
}

/*
 * Takes the bytes of an output, and writes them as they come; after a failure the rest is thrown away, and the answer
 * to the worker says so. False if they end early.
 */
static bool worker_pass_on(const struct parent *parent, struct file_writing *writing, uint64_t bytes, struct error *why)
{
	char chunk[CHUNK_BYTES];

	while (bytes > 0) {
		ssize_t got = receive(parent, chunk, bytes < sizeof(chunk) ? (size_t)bytes : sizeof(chunk));

		if (got <= 0)
			return false;
		if (why->code == ERROR_NONE)
			(void)!file_append(writing, chunk, (size_t)got, why);
		bytes -= (uint64_t)got;
	}
	return true;
}

/* The same of an output with all its pieces, of which the first is announced. */
static bool pass_on_pieces(const struct parent *parent, struct file_writing *writing,
	const struct message_header *first, struct error *why)
{
	struct message_header header = *first;
	uint64_t left = max_output_bytes;

	for (;;) {
		if (header.output != first->output || header.bytes > left) {
			(void)kill(parent->pid, SIGKILL);
			return false;
		}
		if (!worker_pass_on(parent, writing, header.bytes, why))
			return false;
		left -= header.bytes;
		if (!header.more)
			return true;
		if (!receive_header(parent, &header))
			return false;
	}
}

/* While a file lies beside the output, a signal must not end this process before it is removed. */
static bool write_output(const struct parent *parent, const struct message_header *header, struct error *why)
{
	const struct worker_output *to = &parent->worker->outputs[header->output];
	struct file_writing *writing = NULL;
	sigset_t before;
	bool is_whole;

	if (!file_begin(to->path, to->mode, &writing, why))
		return pass_on_pieces(parent, NULL, header, why);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	if (file_is_beside(writing))
		pthread_sigmask(SIG_BLOCK, &parent->mask, NULL);
	is_whole = pass_on_pieces(parent, writing, header, why);
	if (!is_whole || why->code != ERROR_NONE)
		file_abandon(writing);
	else if (file_commit(writing, why))
		parent->is_written[header->output] = true;
	/* A worker that a signal of the user does not end with its parent is ended here, before the signal comes. */
	if (!is_whole)
		(void)kill(parent->pid, SIGKILL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return is_whole;
}

static bool worker_is_valid(const struct parent *parent, const struct message_header *header)
{
	const struct worker *worker = parent->worker;

	if (header->output == question)
		return worker->answer && header->bytes <= max_question_bytes;
	return header->output < worker->output_count && worker->outputs[header->output].path &&
	       strcmp(worker->outputs[header->output].path, "-") != 0 && !parent->is_written[header->output] &&
	       header->bytes <= max_output_bytes;
}

static bool answer_question(const struct parent *parent, const struct message_header *header)
{
	CLEANUP(cleanup_free) char *bytes = malloc((size_t)header->bytes + 1);
	CLEANUP(cleanup_close) int fd = -1;
	struct error why = { 0 };

	if (!bytes || !worker_read_whole(parent->socket, bytes, (size_t)header->bytes))
		return false;
	fd = parent->worker->answer(parent->worker->context, bytes, (size_t)header->bytes, &why);
	return message_send(parent->socket, &why, sizeof(why), fd);
}

static bool worker_take_output(const struct parent *parent, const struct message_header *header)
{
	struct error why = { 0 };

	return write_output(parent, header, &why) && message_send(parent->socket, &why, sizeof(why), -1);
}

/* Writes what the worker hands over and answers what it asks, until it has ended. */
static void worker_serve(const struct parent *parent)
{
	struct message_header header;

	while (worker_read_whole(parent->socket, &header, sizeof(header))) {
		if (!worker_is_valid(parent, &header)) {
			(void)kill(parent->pid, SIGKILL);
			return;
		}
		if (!(header.output == question ? answer_question(parent, &header)
						: worker_take_output(parent, &header)))
			return;
	}
}

/* Ends this process by the signal that has ended the worker, unless it is one of a crash. */
static void end_alike(int number)
{
	bool is_alike = number == SIGPIPE;

	for (size_t i = 0; i < ENDING_COUNT; i++)
		is_alike |= number == ending[i];
	if (!is_alike)
		return;
	signal(number, SIG_DFL);
	raise(number);
}

static const char *worker_find_written(const struct parent *parent)
{
	const char *written = NULL;

	for (size_t i = 0; i < parent->worker->output_count; i++)
		if (parent->is_written[i])
			written = parent->worker->outputs[i].path;
	return written;
}

static bool refuse_crash(const struct parent *parent, int number, struct error *err)
{
	const struct worker *worker = parent->worker;
	const char *written = worker_find_written(parent), *how = "crashed";

	if (number == SIGKILL)
		how = "was killed";
	if (number == SIGSYS)
		how = "did what no reader does, and was ended";
	return error_set(err, ERROR_SYSTEM, "cannot read %s: the process that reads it %s (%s), and %s%s; %s",
		worker->subject, how, strsignal(number), written ? written : "nothing",
		written ? " was written before" : " was written",
		number == SIGKILL
			? "is there memory enough?"
			: "the file is damaged, or made to do this: make it anew, or report it (SECURITY.md)");
}

static bool refuse_need(const struct parent *parent, struct error *err)
{
	const char *written = worker_find_written(parent);

	return error_set(err, ERROR_MEMORY,
		"cannot read %s: out of memory: %llu more bytes were needed, beside %llu in use, and %s%s; end other programs, or allow this one more (ulimit -v, the container's limit)",
		parent->worker->subject, (unsigned long long)parent->need->bytes,
		(unsigned long long)parent->need->in_use, written ? written : "nothing",
		written ? " was written before" : " was written");
}

static bool worker_judge(const struct parent *parent, int status, int *code, struct error *err)
{
	const struct worker *worker = parent->worker;

	if (!WIFEXITED(status)) {
		end_alike(WTERMSIG(status));
		return refuse_crash(parent, WTERMSIG(status), err);
	}
	*code = WEXITSTATUS(status);
	if (*code == CLI_EXIT_ERROR && parent->need->bytes > 0)
		return refuse_need(parent, err);
	for (size_t i = 0; *code != CLI_EXIT_ERROR && i < worker->output_count; i++)
		if (worker->outputs[i].path && strcmp(worker->outputs[i].path, "-") != 0 &&
			!worker->outputs[i].is_optional && !parent->is_written[i])
			return error_set(err, ERROR_SYSTEM,
				"cannot read %s: the process that read it ended before %s was written", worker->subject,
				worker->outputs[i].path);
	return true;
}

static void choose_signals(struct parent *parent)
{
	sigemptyset(&parent->mask);
	for (size_t i = 0; i < ENDING_COUNT; i++) {
		struct sigaction action;

		/* A signal that is ignored (nohup) would wait as soon as it is blocked. */
		if (sigaction(ending[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&parent->mask, ending[i]);
	}
}

static bool worker_prepare(struct parent *parent, struct error *err)
{
	struct memory_need *need;

	choose_signals(parent);
	parent->is_written = memory_zeroed(parent->worker->output_count + 1, sizeof(*parent->is_written));
	need = mmap(NULL, sizeof(*need), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (need == MAP_FAILED)
		return error_set_memory(err);
	parent->need = need;
	parent->signals = signalfd(-1, &parent->mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return parent->signals >= 0 ||
	       error_set_errno(err, errno, "cannot start a process that reads %s", parent->worker->subject);
}

bool worker_run(struct worker *worker, int (*work)(void *context), void *context, int *code, struct error *err)
{
	CLEANUP(parent_deinit) struct parent parent = { .worker = worker, .socket = -1, .signals = -1 };
	int socket;

	if (!worker_prepare(&parent, err))
		return false;
	fflush(NULL);
	parent.pid = child_fork_linked(CHILD_ENDS_WITH_PARENT, CHILD_STREAM, &socket);
	if (parent.pid < 0)
		return error_set_errno(err, errno, "cannot start a process that reads %s", worker->subject);
	if (parent.pid == 0) {
		worker->socket = socket;
		worker->need = parent.need;
		worker_confine(worker);
		worker_prepare_end(worker);
		end_worker(work(context));
	}
	parent.socket = socket;
	worker_serve(&parent);
	return worker_judge(&parent, child_reap(parent.pid), code, err);
}
