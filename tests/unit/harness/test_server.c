/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/server.h"
#include "sampler/harness/tee.h"

#include "tests/unit/support/bytes.h"
#include "tests/unit/support/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

enum { PATIENCE_MS = 20000 };

/* ---- Answers ---- */

/* Pipes do what FIFOs do: `ours` are the harness's ends. */
struct talk {
	struct fifo_pair fifos;
	int commands, answers;
	struct server *server;
};

static void begin(struct talk *talk)
{
	int commands[2], answers[2];
	char path[64];
	struct error err;

	assert_int_equal(pipe2(commands, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(pipe2(answers, O_CLOEXEC | O_NONBLOCK), 0);
	talk->commands = commands[1];
	talk->answers = answers[0];
	talk->fifos.commands = commands[0];
	/* For reading and writing, as a FIFO is opened. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", answers[1]);
	talk->fifos.answers = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	close(answers[1]);
	if (!server_start(&talk->fifos, PROTOCOL_WALLTIME, &talk->server, &err))
		fail_msg("%s", err.message);
}

static void end(struct talk *talk)
{
	server_destroy(talk->server);
	close(talk->commands);
	close(talk->answers);
	close(talk->fifos.commands);
	close(talk->fifos.answers);
}

static uint32_t hear(const struct talk *talk)
{
	struct pollfd wait = { talk->answers, POLLIN, 0 };
	uint32_t words[3] = { 0 };

	assert_int_equal(poll(&wait, 1, PATIENCE_MS), 1);
	assert_int_equal(read(talk->answers, words, 8), 8);
	if (words[0] == 8)
		assert_int_equal(read(talk->answers, &words[2], 4), 4);
	return words[1];
}

static uint32_t ask(const struct talk *talk, const void *payload, size_t size)
{
	struct bytes bytes = { 0 };

	bytes_put32(&bytes, (uint32_t)size);
	bytes_put(&bytes, payload, size);
	assert_int_equal(write(talk->commands, bytes.data, bytes.size), bytes.size);
	return hear(talk);
}

static uint32_t ask_word(const struct talk *talk, uint32_t word)
{
	return ask(talk, &word, sizeof(word));
}

static void test_a_talk(void **state)
{
	static const uint8_t version[] = { 8, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0 };
	struct harness_result result = { 0 };
	double ack_us[2];
	struct talk talk;
	struct error err;

	begin(&talk);
	assert_int_equal(ask(&talk, version, sizeof(version)), PROTOCOL_ACK);
	assert_int_equal(ask_word(&talk, PROTOCOL_MODE), PROTOCOL_MODE_IS);
	assert_int_equal(ask_word(&talk, PROTOCOL_START), PROTOCOL_ACK);
	assert_int_equal(ask_word(&talk, 4711), PROTOCOL_ERR);
	assert_int_equal(ask_word(&talk, PROTOCOL_STOP), PROTOCOL_ACK);
	server_stop(talk.server);
	assert_int_equal(server_latency(talk.server, ack_us), 5);
	assert_true(ack_us[0] > 0 && ack_us[1] >= ack_us[0]);
	assert_true(session_finish(server_session(talk.server), INT64_MAX, &result, NULL, &err));
	assert_int_equal(result.window_count, 1);
	harness_result_deinit(&result);
	end(&talk);
}

static void test_a_stream_out_of_step(void **state)
{
	static const uint32_t length = PROTOCOL_MAX_FRAME_BYTES + 1;
	struct talk talk;

	begin(&talk);
	assert_int_equal(write(talk.commands, &length, sizeof(length)), sizeof(length));
	assert_int_equal(hear(&talk), PROTOCOL_ERR);
	assert_int_equal(ask_word(&talk, PROTOCOL_START), PROTOCOL_ACK);
	/* A harness that was killed within a frame is given up after a while. */
	assert_int_equal(write(talk.commands, &length, 3), 3);
	assert_int_equal(hear(&talk), PROTOCOL_ERR);
	assert_int_equal(ask_word(&talk, PROTOCOL_STOP), PROTOCOL_ACK);
	end(&talk);
}

/* A harness that reads no answers: the FIFO is full of them at some time, and commands are taken still. */
static void test_answers_that_nobody_reads(void **state)
{
	enum { COMMANDS = 20000 };
	static const uint32_t frame[] = { 4, PROTOCOL_PING };
	double ack_us[2];
	struct talk talk;

	begin(&talk);
	for (int i = 0; i < COMMANDS; i++) {
		struct pollfd wait = { talk.commands, POLLOUT, 0 };

		assert_int_equal(poll(&wait, 1, PATIENCE_MS), 1);
		assert_int_equal(write(talk.commands, frame, sizeof(frame)), sizeof(frame));
	}
	server_stop(talk.server);
	assert_int_equal(server_latency(talk.server, ack_us), COMMANDS);
	end(&talk);
}

/* ---- Output ---- */

static void read_all(int fd, char *into, size_t size)
{
	for (size_t got = 0; got < size;) {
		ssize_t more = read(fd, into + got, size - got);

		assert_true(more > 0);
		got += (size_t)more;
	}
}

/* More than pipes hold, of all bytes, to a reader that begins only when the writer waits. */
static void test_output_is_passed_on_unchanged(void **state)
{
	enum { SIZE = 150000 };
	static char sent[SIZE], received[SIZE];
	struct harness_output *output;
	int ends[2], reader[2];
	struct tee *tee;
	struct error err;

	for (size_t i = 0; i < SIZE; i++)
		sent[i] = (char)(i * 31 % 257);
	assert_int_equal(pipe2(reader, O_CLOEXEC), 0);
	assert_true(harness_output_create(&output, &err));
	assert_true(tee_start((int[]){ reader[1], -1 }, output, &tee, &err));
	tee_ends(tee, ends);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	for (size_t written = 0; written < SIZE;) {
		ssize_t more = write(ends[0], sent + written, SIZE - written);

		if (more > 0) {
			written += (size_t)more;
			read_all(reader[0], received + written - (size_t)more, (size_t)more);
		}
	}
	assert_memory_equal(received, sent, SIZE);
	assert_int_equal(write(ends[1], "nowhere", 7), 7);
	tee_stop(tee);
	tee_destroy(tee);
	harness_output_destroy(output);
	close(reader[0]);
	close(reader[1]);
}

/* The command is told by its own writes, as without us; and a reader that takes nothing does not hold up the end. */
static void test_a_reader_that_is_gone(void **state)
{
	enum { MUCH = 1 << 20 };
	static char much[MUCH];
	struct harness_output *output;
	int ends[2], gone[2], idle[2];
	struct tee *tee;
	struct error err;
	ssize_t written;

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe2(gone, O_CLOEXEC), 0);
	assert_int_equal(pipe2(idle, O_CLOEXEC), 0);
	close(gone[0]);
	assert_true(harness_output_create(&output, &err));
	assert_true(tee_start((int[]){ gone[1], idle[1] }, output, &tee, &err));
	tee_ends(tee, ends);
	do {
		written = write(ends[0], much, sizeof(much));
	} while (written > 0);
	assert_int_equal(errno, EPIPE);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	while (write(ends[1], much, 4096) > 0)
		;
	tee_destroy(tee);
	harness_output_destroy(output);
	close(gone[1]);
	close(idle[0]);
	close(idle[1]);
}

/* A process that the command left behind writes for ever: the end does not wait for it. */
static void test_a_writer_that_stays(void **state)
{
	struct harness_output *output;
	struct tee *tee;
	struct error err;
	int ends[2], null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	pid_t child;

	assert_true(harness_output_create(&output, &err));
	assert_true(tee_start((int[]){ null, null }, output, &tee, &err));
	tee_ends(tee, ends);
	child = fork();
	if (child == 0) {
		signal(SIGPIPE, SIG_DFL);
		while (write(ends[0], "yes\n", 4) > 0)
			;
		_exit(0);
	}
	tee_destroy(tee);
	harness_output_destroy(output);
	close(null);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_talk),
		cmocka_unit_test(test_a_stream_out_of_step),
		cmocka_unit_test(test_answers_that_nobody_reads),
		cmocka_unit_test(test_output_is_passed_on_unchanged),
		cmocka_unit_test(test_a_reader_that_is_gone),
		cmocka_unit_test(test_a_writer_that_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
