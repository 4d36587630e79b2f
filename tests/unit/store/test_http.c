/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/http.h"

#include "tests/unit/store/small_server.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct store_secrets none;
static const struct store_secrets with_token = { .token = (char *)(uintptr_t) "swordfish" };

/* A server, and a client of it that has a token. */
struct setting {
	struct small_server server;
	struct http *http;
	struct http_answer answer;
	struct error err;
	bool was_done;
};

static void set_up(struct setting *setting, const struct small_step *steps, size_t count)
{
	*setting = (struct setting){ .answer = { .fd = -1 } };
	small_server_start(&setting->server, steps, count);
	if (!http_create(setting->server.origin, &with_token, &setting->http, &setting->err))
		fail_msg("%s", setting->err.message);
}

static void tear_down(struct setting *setting)
{
	http_answer_deinit(&setting->answer);
	http_destroy(setting->http);
	small_server_end(&setting->server);
}

static const struct http_request push = { .method = "POST",
	.path = "/push?x=%20",
	.headers = { "Content-Type: application/proto" },
	.body = "some bytes",
	.body_bytes = 10,
	.stall_s = 1,
	.total_s = 2 };
static const struct http_request get = { .method = "GET", .path = "/", .stall_s = 1, .total_s = 2 };

static bool try(struct setting *setting, const struct http_request *request, double patience_s)
{
	return http_send(setting->http, request, &(struct http_patience){ .seconds = patience_s }, &setting->answer,
		&setting->was_done, &setting->err);
}

static void expect_words(const struct setting *setting, const char *words)
{
	if (!strstr(setting->err.message, words))
		fail_msg("'%s' is not in: %s", words, setting->err.message);
	assert_null(strstr(setting->err.message, "swordfish"));
	assert_null(strchr(setting->err.message, '\033'));
	assert_null(strchr(setting->err.message, '\n'));
}

static void a_request_arrives_as_it_is(void **state)
{
	struct setting setting;

	set_up(&setting, (const struct small_step[]){ { SMALL_ANSWER } }, 1);
	assert_true(try(&setting, &push, 0));
	assert_int_equal(setting.answer.status, 200);
	assert_string_equal(setting.answer.body.data, "{}");
	assert_true(http_check(setting.http, &setting.answer, "x", &setting.err));
	assert_true(small_server_saw(&setting.server, "POST /push?x=%20 HTTP/1.1\r\n"));
	assert_true(small_server_saw(&setting.server, "Content-Type: application/proto\r\n"));
	assert_true(small_server_saw(&setting.server, "Authorization: Bearer swordfish\r\n"));
	assert_true(small_server_saw(&setting.server, "\r\n\r\nsome bytes"));
	assert_false(small_server_saw(&setting.server, "Expect"));
	tear_down(&setting);
}

static void bodies_come_from_and_go_to_files(void **state)
{
	struct setting setting;
	struct http_request request = push;
	char bytes[8] = "";

	request.body_fd = memfd_create("body", 0);
	request.has_body_fd = true;
	assert_int_equal(write(request.body_fd, "from a file", 11), 11);
	request.body_bytes = 11;
	request.to_file = true;
	set_up(&setting, (const struct small_step[]){ { SMALL_ANSWER } }, 1);
	assert_true(try(&setting, &request, 0));
	assert_true(small_server_saw(&setting.server, "\r\n\r\nfrom a file"));
	assert_int_equal(read(setting.answer.fd, bytes, sizeof(bytes)), 2);
	assert_string_equal(bytes, "{}");
	http_answer_deinit(&setting.answer);
	/* It is shorter than it was said to be. */
	request.body_bytes = 100;
	assert_false(try(&setting, &request, 0));
	expect_words(&setting, "cannot be read");
	close(request.body_fd);
	tear_down(&setting);
}

static void user_and_password_are_sent(void **state)
{
	const struct store_secrets secrets = { .user = (char *)(uintptr_t) "me",
		.password = (char *)(uintptr_t) "pass" };
	struct small_server server;
	struct http_answer answer;
	struct http *http;
	struct error err;
	enum http_outcome outcome;

	small_server_start(&server, (const struct small_step[]){ { SMALL_ANSWER } }, 1);
	assert_true(http_create(server.origin, &secrets, &http, &err));
	assert_true(http_once(http, &get, &answer, &outcome, &err));
	assert_true(small_server_saw(&server, "Authorization: Basic bWU6cGFzcw==\r\n"));
	http_answer_deinit(&answer);
	http_destroy(http);
	small_server_end(&server);
}

static void failures_of_the_server_are_waited_out(void **state)
{
	static const struct small_step steps[] = {
		{ SMALL_ANSWER, "HTTP/1.1 500 no\r\nContent-Length: 0\r\n\r\n" },
		{ SMALL_CLOSE },
		{ SMALL_ANSWER, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut" },
		{ SMALL_ANSWER, "HTTP/1.1 429 slow down\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n" },
		{ SMALL_STALL, "HTTP/1.1 200 OK\r\n" },
		{ SMALL_ANSWER, "" },
		{ SMALL_ANSWER },
	};
	enum { COUNT = sizeof(steps) / sizeof(steps[0]) };
	struct setting setting;

	set_up(&setting, steps, COUNT);
	if (!try(&setting, &push, 60))
		fail_msg("%s", setting.err.message);
	assert_int_equal(setting.answer.status, 200);
	assert_true(setting.server.record->connections >= COUNT - 1);
	tear_down(&setting);
}

static void patience_ends(void **state)
{
	struct setting setting;
	size_t connections;

	set_up(&setting,
		(const struct small_step[]){ { SMALL_ANSWER,
			"HTTP/1.1 503 \033[31mred\r\nContent-Length: 28\r\n\r\nno room, swordfish\033[0m\nreally" } },
		1);
	assert_false(try(&setting, &push, 1));
	expect_words(&setting, "503");
	expect_words(&setting, "tries in ");
	expect_words(&setting, "no room");
	/* That of the requests that follow, too. */
	connections = setting.server.record->connections;
	assert_false(try(&setting, &push, 1));
	assert_int_equal(setting.server.record->connections, connections + 1);
	tear_down(&setting);
}

static void patience_begins_anew_with_success(void **state)
{
	static const char busy[] = "HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n",
			  found[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	struct setting setting;

	set_up(&setting,
		(const struct small_step[]){ { SMALL_ANSWER, busy }, { SMALL_ANSWER, busy }, { SMALL_ANSWER, found },
			{ SMALL_ANSWER, busy }, { SMALL_ANSWER, found } },
		5);
	assert_false(try(&setting, &push, 0));
	assert_false(try(&setting, &push, 0));
	assert_true(try(&setting, &push, 30));
	assert_true(try(&setting, &push, 30));
	assert_int_equal(setting.answer.status, 200);
	tear_down(&setting);
}

static void a_longer_wait_than_patience_is_no_wait(void **state)
{
	struct setting setting;

	set_up(&setting,
		(const struct small_step[]){
			{ SMALL_ANSWER, "HTTP/1.1 429 x\r\nRetry-After: 99999\r\nContent-Length: 0\r\n\r\n" } },
		1);
	assert_false(try(&setting, &push, 5));
	assert_int_equal(setting.server.record->connections, 1);
	expect_words(&setting, "429");
	tear_down(&setting);
}

static bool say_done(void *context, bool *is_done, struct error *err)
{
	++*(int *)context;
	*is_done = true;
	return true;
}

/* The connection was closed behind the request: whether it was carried out is asked, and it is not sent again. */
static void what_was_carried_out_is_not_sent_again(void **state)
{
	struct setting setting;
	int asked = 0;
	const struct http_patience patience = { .seconds = 10, .is_done = say_done, .context = &asked };

	set_up(&setting, (const struct small_step[]){ { SMALL_CLOSE } }, 1);
	assert_true(http_send(setting.http, &push, &patience, &setting.answer, &setting.was_done, &setting.err));
	assert_true(setting.was_done);
	assert_int_equal(asked, 1);
	tear_down(&setting);
}

static void refusals_are_answers(void **state)
{
	static const struct {
		const char *bytes, *words;
	} rows[] = {
		{ "HTTP/1.1 400 x\r\nContent-Length: 15\r\n\r\nlabel \033is wrong", "label" },
		{ "HTTP/1.1 401 x\r\nContent-Length: 0\r\n\r\n", "KELVIN_STORE_TOKEN" },
		{ "HTTP/1.1 403 x\r\nContent-Length: 9\r\n\r\nswordfish", "KELVIN_STORE_TOKEN" },
		{ "HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n", "right address" },
		{ "HTTP/1.1 501 x\r\nContent-Length: 0\r\n\r\n", "501" },
		{ "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 6\r\n\r\n<html>",
			"page for people" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct small_step step = { SMALL_ANSWER, rows[i].bytes };
		struct setting setting;

		set_up(&setting, &step, 1);
		assert_true(try(&setting, &push, 10));
		assert_int_equal(setting.server.record->connections, 1);
		assert_false(http_check(setting.http, &setting.answer, "cannot push a.pb.gz", &setting.err));
		expect_words(&setting, rows[i].words);
		expect_words(&setting, "cannot push a.pb.gz");
		tear_down(&setting);
	}
}

static void nothing_follows_a_redirect(void **state)
{
	struct small_server other;
	char bytes[256];
	const char *targets[] = { "", "file:///etc/passwd", "/\033[31mpath", "gopher://127.0.0.1:1/" };

	small_server_start(&other, (const struct small_step[]){ { SMALL_ANSWER } }, 1);
	targets[0] = other.origin;
	for (int status = 301; status <= 308; status += status == 303 ? 4 : 1) {
		for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
			const struct small_step step = { SMALL_ANSWER, bytes };
			struct setting setting;

			snprintf(bytes, sizeof(bytes), "HTTP/1.1 %d x\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n",
				status, targets[i]);
			set_up(&setting, &step, 1);
			assert_true(try(&setting, i % 2 ? &get : &push, 10));
			assert_false(http_check(setting.http, &setting.answer, "cannot push", &setting.err));
			expect_words(&setting, "leads elsewhere");
			expect_words(&setting, i == 2 ? "path" : targets[i]);
			tear_down(&setting);
		}
	}
	assert_int_equal(other.record->connections, 0);
	small_server_end(&other);
}

static void what_has_no_end_is_ended(void **state)
{
	static const struct small_step steps[] = {
		{ SMALL_ENDLESS, "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n" },
		{ SMALL_ENDLESS_HEAD },
		{ SMALL_ENDLESS, "HTTP/1.1 200 OK\r\nX: " },
		{ SMALL_DRIP, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" },
		{ SMALL_DRIP, "HTTP/1.1 200 OK\r\nX: y\r\n" },
		{ SMALL_ENDLESS, "\0\0\0\0 no HTTP at all", 20 },
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct setting setting;
		int64_t start_ns = clock_read_ns(CLOCK_MONOTONIC);

		set_up(&setting, &steps[i], 1);
		if (try(&setting, &push, 0))
			fail_msg("step %zu was answered", i);
		expect_words(&setting, setting.server.origin);
		assert_true(clock_read_ns(CLOCK_MONOTONIC) - start_ns < INT64_C(20000000000));
		tear_down(&setting);
	}
}

/* 10 MB of zeros in 10 kB. */
static void a_bomb_is_not_unpacked(void **state)
{
	enum { BOMB_BYTES = 10 << 20 };
	CLEANUP(cleanup_free) char *zeros = calloc(1, BOMB_BYTES);
	struct buffer answer, packed;
	struct error err;

	buffer_init(&answer, 2 * BOMB_BYTES);
	buffer_init(&packed, 2 * BOMB_BYTES);
	assert_true(gzip_compress(zeros, BOMB_BYTES, &packed, &err));
	buffer_printf(&answer, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n", packed.size);
	buffer_append(&answer, packed.data, packed.size);
	for (int to_file = 0; to_file < 2; to_file++) {
		const struct small_step step = { SMALL_ANSWER, answer.data, answer.size };
		struct http_request request = get;
		struct setting setting;

		request.to_file = to_file;
		set_up(&setting, &step, 1);
		assert_false(try(&setting, &request, 10));
		assert_int_equal(setting.err.code, ERROR_LIMIT);
		assert_int_equal(setting.server.record->connections, 1);
		tear_down(&setting);
	}
	buffer_deinit(&answer);
	buffer_deinit(&packed);
}

static void who_is_not_there_is_named(void **state)
{
	struct small_server server;
	struct http_answer answer;
	struct http *http;
	struct error err;
	bool was_done;

	small_server_start(&server, (const struct small_step[]){ { SMALL_ANSWER } }, 1);
	small_server_end(&server);
	assert_true(http_create(server.origin, &none, &http, &err));
	assert_false(http_send(http, &get, &(struct http_patience){ .seconds = 1 }, &answer, &was_done, &err));
	assert_non_null(strstr(err.message, server.origin));
	http_destroy(http);
}

static void text_is_encoded(void **state)
{
	struct buffer path;

	buffer_init(&path, 100);
	http_encode(&path, "a-z_9.~ /?&=%\n\xc3\xa4");
	assert_string_equal(path.data, "a-z_9.~%20%2F%3F%26%3D%25%0A%C3%A4");
	buffer_deinit(&path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_arrives_as_it_is),
		cmocka_unit_test(bodies_come_from_and_go_to_files),
		cmocka_unit_test(user_and_password_are_sent),
		cmocka_unit_test(failures_of_the_server_are_waited_out),
		cmocka_unit_test(patience_ends),
		cmocka_unit_test(patience_begins_anew_with_success),
		cmocka_unit_test(a_longer_wait_than_patience_is_no_wait),
		cmocka_unit_test(what_was_carried_out_is_not_sent_again),
		cmocka_unit_test(refusals_are_answers),
		cmocka_unit_test(nothing_follows_a_redirect),
		cmocka_unit_test(what_has_no_end_is_ended),
		cmocka_unit_test(a_bomb_is_not_unpacked),
		cmocka_unit_test(who_is_not_there_is_named),
		cmocka_unit_test(text_is_encoded),
	};

	/* Whoever runs the test may have a proxy. */
	(void)setenv("no_proxy", "127.0.0.1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
