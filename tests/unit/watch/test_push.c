/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/watch/watch.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- A store ---- */

static const char address[] = "pyroscope+http://store:4040", other_address[] = "pyroscope+http://other:4040";

static void append_line(const struct watch_place *place, const char *name, const char *line)
{
	int fd = openat(place->fd, name, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);

	assert_true(dprintf(fd, "%s\n", line) > 0);
	close(fd);
}

/* Takes what it is sent as a line of the file `stored`, but while there is a file `down`, and never what is called bad.
 */
static bool store(const struct watch_place *place, const struct watch_push *push)
{
	char name[WATCH_NAME_BYTES];

	watch_file_name(&push->file, name);
	append_line(place, "tried", name);
	if (faccessat(place->fd, "down", F_OK, 0) == 0 || strcmp(push->secrets.token, "t0ken") != 0 ||
		strstr(name, "00-00-03Z"))
		return false;
	append_line(place, "stored", name);
	return true;
}

/* ---- A watch ---- */

struct state {
	char directory[32];
	struct watch_place place;
	struct watch_push push;
};

static void begin(struct state *state, const char *to)
{
	struct error err;

	setenv("KELVIN_STORE_TOKEN", "t0ken", 1);
	state->push = (struct watch_push){ 0 };
	if (!watch_push_begin(&state->push, &state->place, to, &err))
		fail_msg("%s", err.message);
	assert_null(getenv("KELVIN_STORE_TOKEN"));
}

static int set_up(void **context)
{
	struct state *state = calloc(1, sizeof(*state));
	struct error err;

	snprintf(state->directory, sizeof(state->directory), "/tmp/test-push-XXXXXX");
	if (!mkdtemp(state->directory) || !watch_place_open(state->directory, &state->place, &err))
		return -1;
	begin(state, address);
	*context = state;
	return 0;
}

static int tear_down(void **context)
{
	struct state *state = *context;
	char line[64];

	watch_push_deinit(&state->push);
	watch_place_deinit(&state->place);
	snprintf(line, sizeof(line), "rm -r %s", state->directory);
	free(state);
	return system(line);
}

static void make(struct state *state, const char *name)
{
	int fd = openat(state->place.fd, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void make_profiles(struct state *state, int first, int last)
{
	char name[64];

	for (int i = first; i <= last; i++) {
		snprintf(name, sizeof(name), "2026-01-01T00-00-%02dZ.pb.gz", i);
		make(state, name);
	}
}

/* Until nothing more happens; how many failures there were. */
static int go_on(struct state *state)
{
	struct watch_push *push = &state->push;
	int failures = 0;
	bool is_due;
	struct error err;

	for (;;) {
		assert_true(watch_push_next(push, &state->place, &is_due, &err));
		if (!is_due)
			return failures;
		if (store(&state->place, push)) {
			assert_true(watch_push_sent(push, &state->place, &err));
		} else {
			watch_push_failed(push);
			failures++;
		}
	}
}

/* How often a line of the file has the name. */
static int count(struct state *state, const char *file, const char *name)
{
	CLEANUP(cleanup_fclose) FILE *in = NULL;
	char path[128], line[256];
	int found = 0;

	snprintf(path, sizeof(path), "%s/%s", state->directory, file);
	in = fopen(path, "re");
	while (in && fgets(line, sizeof(line), in))
		found += strstr(line, name) != NULL;
	return found;
}

/* ---- Tests ---- */

static void each_profile_is_sent_once(void **context)
{
	struct state *state = *context;

	assert_int_equal(go_on(state), 0);
	make_profiles(state, 10, 14);
	make(state, "deploy-2026-01-01T00-00-12Z.html");
	make(state, "2026-01-01T00-00-15Z.pb.gz.part");
	watch_push_wake(&state->push);
	assert_int_equal(go_on(state), 0);
	watch_push_wake(&state->push);
	assert_int_equal(go_on(state), 0);
	assert_int_equal(count(state, "stored", "Z"), 5);
	/* So does another watch in this directory, but with another store. */
	watch_push_deinit(&state->push);
	begin(state, address);
	assert_int_equal(go_on(state), 0);
	assert_int_equal(count(state, "stored", "Z"), 5);
	watch_push_deinit(&state->push);
	begin(state, other_address);
	assert_int_equal(go_on(state), 0);
	assert_int_equal(count(state, "stored", "Z"), 10);
}

static void what_could_not_be_sent_is_sent_later(void **context)
{
	struct state *state = *context;

	make(state, "down");
	make_profiles(state, 10, 19);
	assert_int_equal(go_on(state), 2);
	assert_int_equal(count(state, "tried", "Z"), 2);
	watch_push_wake(&state->push);
	assert_int_equal(go_on(state), 2);
	assert_int_equal(count(state, "stored", "Z"), 0);
	assert_int_equal(unlinkat(state->place.fd, "down", 0), 0);
	watch_push_wake(&state->push);
	assert_int_equal(go_on(state), 0);
	assert_int_equal(count(state, "stored", "Z"), 10);
	for (int i = 10; i <= 19; i++) {
		char name[64];

		snprintf(name, sizeof(name), "00-00-%02dZ", i);
		assert_int_equal(count(state, "stored", name), 1);
	}
}

static void one_that_no_store_will_have_holds_up_none(void **context)
{
	struct state *state = *context;

	make_profiles(state, 1, 6);
	assert_true(go_on(state) > 0);
	assert_int_equal(count(state, "stored", "Z"), 5);
	for (int i = 7; i < 12; i++) {
		make_profiles(state, i, i);
		watch_push_wake(&state->push);
		(void)go_on(state);
		assert_int_equal(count(state, "stored", "Z"), i - 1);
	}
	/* It is not tried again and again. */
	assert_true(count(state, "tried", "00-00-03Z") <= 3 * 6);
}

/* A watch that was killed when it wrote a mark has at most this one twice. */
static void marks_may_be_cut(void **context)
{
	struct state *state = *context;
	struct stat info;
	int fd;

	make_profiles(state, 10, 14);
	assert_int_equal(go_on(state), 0);
	fd = openat(state->place.fd, ".sent", O_WRONLY | O_CLOEXEC);
	assert_int_equal(fstat(fd, &info), 0);
	assert_int_equal(ftruncate(fd, info.st_size - 3), 0);
	close(fd);
	watch_push_deinit(&state->push);
	begin(state, address);
	assert_int_equal(go_on(state), 0);
	assert_int_equal(count(state, "stored", "Z"), 6);
	assert_int_equal(count(state, "stored", "00-00-14Z"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_profile_is_sent_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_could_not_be_sent_is_sent_later, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_no_store_will_have_holds_up_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(marks_may_be_cut, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
