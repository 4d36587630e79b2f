/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts are asked for by a process without rights, and by whoever takes it over. */
#include "diff/texts/texts.h"

#include "cli/worker.h"

#include "tests/unit/support/shell.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char work[64], v1[REPOSITORY_ID_BYTES];

static void sh(const char *script)
{
	shell_in(work, script);
}

static const char *below(const char *name)
{
	static char paths[4][256];
	static int at;

	at = (at + 1) % 4;
	snprintf(paths[at], sizeof(paths[at]), "%s/%s", work, name);
	return paths[at];
}

static int set_up(void **state)
{
	FILE *file;

	if (access("/usr/bin/git", X_OK) != 0)
		return 0;
	snprintf(work, sizeof(work), "/tmp/test-texts-XXXXXX");
	if (!mkdtemp(work) || chmod(work, 0755) != 0 || setenv("HOME", work, 1) != 0 || setenv("TMPDIR", work, 1) != 0)
		return -1;
	sh("git config --global user.name a; git config --global user.email a@b; git config --global init.defaultBranch main\n"
	   "git init -q one; cd one; mkdir src; echo first >src/a.c; git add .; git commit -qm first; git tag v1\n"
	   "echo second >>src/a.c; git commit -qam second; git tag v2; git rev-parse v1 >../v1; git branch abcdef0123 v2\n"
	   "mkdir -p ../tree/src ../none; cd ../tree; echo now >src/a.c; echo top >config.h; echo secret >../secret\n"
	   "ln -s ../secret out; ln -s /etc/passwd src/passwd; ln -s src/a.c in; ln -s .. up; mkfifo pipe\n"
	   "head -c 9000000 /dev/zero >huge");
	file = fopen(below("v1"), "re");
	if (!file || fscanf(file, "%64s", v1) != 1)
		return -1;
	fclose(file);
	return chdir(below("none"));
}

static int tear_down(void **state)
{
	if (work[0])
		sh("rm -rf -- \"$PWD\"");
	return 0;
}

static void add_map(struct texts *texts, const char *map)
{
	struct error err = { 0 };

	if (!texts_add_map(texts, map, &err))
		fail_msg("%s: %s", map, err.message);
}

static void take(int fd, char *text, size_t size)
{
	ssize_t got;

	assert_true(fd >= 0);
	got = read(fd, text, size - 1);
	assert_true(got >= 0);
	text[got] = '\0';
	close(fd);
}

static void expect_text(int fd, const char *want)
{
	char text[4096];

	take(fd, text, sizeof(text));
	assert_string_equal(text, want);
}

static int question(struct texts *texts, uint32_t kind, uint32_t side, const char *path, const char *build_id)
{
	struct texts_question question = { .kind = kind, .side = side };

	snprintf(question.path, sizeof(question.path), "%s", path);
	snprintf(question.build_id, sizeof(question.build_id), "%s", build_id);
	return texts_answer(texts, &question, sizeof(question));
}

__attribute__((format(printf, 1, 2))) static void say_nothing(const char *format, ...)
{
}

static void prepare(struct texts *texts)
{
	struct error err = { 0 };

	texts->say = say_nothing;

	if (!texts_prepare(texts, &err))
		fail_msg("%s", err.message);
}

/* ---- What a worker gets that was taken over ---- */

static void nothing_is_opened_that_nobody_named(void **state)
{
	static const char *const paths[] = { "/etc/passwd", "etc/passwd", "../secret", "/etc/../etc/passwd", "", "/",
		"/proc/self/environ" };
	struct texts texts = { 0 };

	if (!work[0])
		skip();
	prepare(&texts);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		for (uint32_t kind = 0; kind < 8; kind++)
			for (uint32_t side = 0; side < 4; side++)
				assert_int_equal(question(&texts, kind, side, paths[i], "abcdef"), -1);
	texts_deinit(&texts);
}

static void only_files_below_the_map_are_opened(void **state)
{
	static const char *const refused[] = { "/b/out", "/b/src/passwd", "/b/../secret", "/b/up/secret", "/b/src",
		"/b/pipe", "/b/huge", "/b", "/b/", "/bb/src/a.c", "/etc/passwd", "secret", "/b/none.c",
		"/b/src/../../secret", "/b//etc/passwd" };
	struct texts texts = { 0 };

	if (!work[0])
		skip();
	add_map(&texts, below("none"));
	{
		char map[300];

		snprintf(map, sizeof(map), "/b/=%s", below("tree"));
		add_map(&texts, map);
	}
	prepare(&texts);
	expect_text(question(&texts, TEXTS_MAPPED, 0, "/b/src/a.c", ""), "now\n");
	expect_text(question(&texts, TEXTS_MAPPED, 1, "/b//src/./a.c", ""), "now\n");
	expect_text(question(&texts, TEXTS_MAPPED, 1, "/b/in", ""), "now\n");
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		int fd = question(&texts, TEXTS_MAPPED, 0, refused[i], "");

		if (fd >= 0)
			fail_msg("%s was opened", refused[i]);
	}
	texts_deinit(&texts);
}

static void a_tree_is_searched_by_the_end(void **state)
{
	struct texts texts = { 0 };

	if (!work[0])
		skip();
	add_map(&texts, below("tree"));
	expect_text(question(&texts, TEXTS_MAPPED, 0, "/home/u/x/src/a.c", ""), "now\n");
	expect_text(question(&texts, TEXTS_MAPPED, 0, "src/a.c", ""), "now\n");
	expect_text(question(&texts, TEXTS_MAPPED, 0, "/home/u/config.h", ""), "top\n");
	assert_int_equal(question(&texts, TEXTS_MAPPED, 0, "/usr/include/config.h", ""), -1);
	assert_int_equal(question(&texts, TEXTS_MAPPED, 0, "/x/up/secret", ""), -1);
	assert_int_equal(question(&texts, TEXTS_MAPPED, 0, "/x/secret", ""), -1);
	texts_deinit(&texts);
}

static void a_question_has_its_form(void **state)
{
	struct texts texts = { 0 };
	CLEANUP(cleanup_free) char *bytes = malloc(sizeof(struct texts_question) + 8);

	assert_non_null(bytes);
	memset(bytes, 'x', sizeof(struct texts_question) + 8);
	for (size_t size = 0; size < sizeof(struct texts_question) + 8; size += 8)
		assert_int_equal(texts_answer(&texts, bytes, size), -1);
	memset(bytes, 0, 8);
	assert_int_equal(texts_answer(&texts, bytes, sizeof(struct texts_question)), -1);
	assert_int_equal(texts.question_count, 0);
}

static void a_label_is_the_id_of_a_commit(void **state)
{
	static const char *const labels[] = { "v1", "HEAD", "main", "", "abcdef", "abcdef0123", "-x", "HEAD~1",
		"ffffffffffffffffffffffffffffffffffffffff" };
	struct texts texts = { .directory = below("one") };
	char label[16];

	if (!work[0])
		skip();
	prepare(&texts);
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		assert_int_equal(question(&texts, TEXTS_COMMIT, 0, labels[i], ""), -1);
		assert_int_equal(question(&texts, TEXTS_LIST, 0, "", ""), -1);
		assert_int_equal(question(&texts, TEXTS_FILE, 0, "src/a.c", ""), -1);
	}
	snprintf(label, sizeof(label), "%.8s", v1);
	snprintf(label + 8, 2, "%c", v1[8]);
	expect_text(question(&texts, TEXTS_COMMIT, 0, label, ""), label);
	expect_text(question(&texts, TEXTS_FILE, 0, "src/a.c", ""), "first\n");
	assert_int_equal(question(&texts, TEXTS_FILE, 0, "../secret", ""), -1);
	assert_int_equal(question(&texts, TEXTS_FILE, 1, "src/a.c", ""), -1);
	texts_deinit(&texts);
}

static void questions_end(void **state)
{
	struct texts texts = { .question_count = TEXTS_MOST_QUESTIONS - 1 };

	if (!work[0])
		skip();
	add_map(&texts, below("tree"));
	expect_text(question(&texts, TEXTS_MAPPED, 0, "src/a.c", ""), "now\n");
	assert_int_equal(question(&texts, TEXTS_MAPPED, 0, "src/a.c", ""), -1);
	texts_deinit(&texts);
}

/* ---- What a listing gets ---- */

struct listed {
	struct texts texts;
	struct worker worker;
	struct profile *profiles[DIFF_SIDES];
};

static void expect_opened(
	const struct listing_opener *opener, enum diff_side side, enum listing_place place, const char *want)
{
	expect_text(opener->open(opener->context, side, place, "/gone/build/../src/a.c", ""), want);
}

static int ask_parent(void *worker, const void *bytes, size_t size, struct error *err)
{
	return worker_ask(worker, bytes, size, err);
}

/* Behind the filter of the worker, too: a failed assertion ends it with another code. */
static int ask_all(void *context)
{
	struct listed *listed = context;
	struct texts_asker asker;
	const struct listing_opener *opener = &asker.opener;
	char words[64];

	texts_asker_init(&asker, &listed->texts, listed->worker.socket ? ask_parent : NULL, &listed->worker,
		(const struct profile *const *)listed->profiles);
	snprintf(words, sizeof(words), "v2 (");
	if (!opener->revision[DIFF_HEAD] || strncmp(opener->revision[DIFF_HEAD], words, 4) != 0 ||
		strncmp(opener->revision[DIFF_BASE], v1, 9) != 0)
		return 3;
	expect_opened(opener, DIFF_BASE, LISTING_REVISION, "first\n");
	expect_opened(opener, DIFF_HEAD, LISTING_REVISION, "first\nsecond\n");
	expect_opened(opener, DIFF_HEAD, LISTING_DISK, "now\n");
	if (opener->open(opener->context, DIFF_HEAD, LISTING_DEBUGINFOD, "/gone/src/a.c", "abcdef") >= 0 ||
		opener->open(opener->context, DIFF_HEAD, LISTING_REVISION, "/gone/src/none.c", "") >= 0 ||
		opener->open(opener->context, DIFF_HEAD, LISTING_DISK, "/etc/passwd", "") >= 0)
		return 4;
	texts_asker_deinit(&asker);
	return 0;
}

static int answer_by_texts(void *context, const void *bytes, size_t size, struct error *err)
{
	(void)err;
	return texts_answer(context, bytes, size);
}

static void texts_come_from_two_revisions(void **state)
{
	struct listed listed = { .texts.directory = below("one"),
		.worker = { .subject = "profiles", .answer = answer_by_texts, .context = &listed.texts } };
	struct error err = { 0 };
	int code = -1;

	if (!work[0])
		skip();
	listed.texts.revision[DIFF_HEAD] = "v2";
	add_map(&listed.texts, below("tree"));
	prepare(&listed.texts);
	for (int side = 0; side < DIFF_SIDES; side++)
		assert_true(profile_create(&listed.profiles[side], &err));
	assert_true(profile_set_label(listed.profiles[DIFF_BASE], "commit", v1, &err));
	/* The option comes before the label. */
	assert_true(profile_set_label(listed.profiles[DIFF_HEAD], "commit", v1, &err));
	assert_int_equal(ask_all(&listed), 0);
	assert_true(worker_run(&listed.worker, ask_all, &listed, &code, &err));
	assert_int_equal(code, 0);
	for (int side = 0; side < DIFF_SIDES; side++)
		profile_destroy(listed.profiles[side]);
	texts_deinit(&listed.texts);
}

static void what_was_named_is_refused_at_once(void **state)
{
	struct texts texts = { .revision = { "v1" } }, other = { .directory = below("one"), .revision = { "v9" } };
	struct error err = { 0 };

	if (!work[0])
		skip();
	assert_false(texts_prepare(&texts, &err));
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_non_null(strstr(err.message, "no git repository"));
	texts_deinit(&texts);
	assert_false(texts_prepare(&other, &err));
	assert_non_null(strstr(err.message, "no commit 'v9'"));
	texts_deinit(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_opened_that_nobody_named),
		cmocka_unit_test(only_files_below_the_map_are_opened),
		cmocka_unit_test(a_tree_is_searched_by_the_end),
		cmocka_unit_test(a_question_has_its_form),
		cmocka_unit_test(a_label_is_the_id_of_a_commit),
		cmocka_unit_test(questions_end),
		cmocka_unit_test(texts_come_from_two_revisions),
		cmocka_unit_test(what_was_named_is_refused_at_once),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
