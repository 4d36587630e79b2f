/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Real repositories of each kind, made by git itself, are read through the git directory of ours. */
#include "diff/repository/repository.h"

#include "tests/unit/support/shell.h"
#include "tests/unit/support/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STRANGER = 12345, MEGABYTE = 1 << 20 };

static char work[64];

/* What the shell does in the directory of the test. */
static void sh(const char *script)
{
	shell_in(work, script);
}

static const char *below(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", work, name);
	return path;
}

/* The user's own configuration is in the test's directory. */
static int set_up(void **state)
{
	if (access("/usr/bin/git", X_OK) != 0)
		return 0;
	snprintf(work, sizeof(work), "/tmp/test-repository-XXXXXX");
	if (!mkdtemp(work) || chmod(work, 0755) != 0 || setenv("HOME", work, 1) != 0 || setenv("TMPDIR", work, 1) != 0)
		return -1;
	unsetenv("GIT_CONFIG_GLOBAL");
	sh("git config --global user.name a; git config --global user.email a@b; git config --global protocol.file.allow always\n"
	   "git config --global init.defaultBranch main; git config --global advice.detachedHead false\n"
	   "git init -q one; cd one; mkdir -p src; echo first >src/a.c; ln -s a.c src/link.c; git add .; git commit -qm first\n"
	   "git tag v1; echo second >>src/a.c; git commit -qam second; git tag -am annotated v2; git branch side v1");
	return 0;
}

static int tear_down(void **state)
{
	if (work[0])
		sh("chmod -R u+rwX . && rm -rf -- \"$PWD\"");
	return 0;
}

static void need_git(void)
{
	if (!work[0])
		skip();
}

static struct repository *open_one(const char *name)
{
	struct repository *repository = NULL;
	struct error err = { 0 };

	if (!repository_open(below(name), NULL, &repository, &err))
		fail_msg("%s: %s", name, err.message);
	return repository;
}

static void take(int fd, char *text, size_t size)
{
	ssize_t got = read(fd, text, size - 1);

	assert_true(got >= 0);
	text[got] = '\0';
	assert_int_equal(read(fd, text + got, 1), 0);
	close(fd);
}

static void expect_file(const struct repository *repository, const char *revision, const char *path, const char *want)
{
	char id[REPOSITORY_ID_BYTES], text[4096];
	struct error err = { 0 };
	int fd = -1;

	if (!repository_resolve(repository, revision, id, &err) ||
		!repository_read_file(repository, id, path, MEGABYTE, &fd, &err))
		fail_msg("%s", err.message);
	take(fd, text, sizeof(text));
	assert_string_equal(text, want);
}

static void expect_error(bool is_done, const struct error *err, enum error_code code, const char *words)
{
	assert_false(is_done);
	if (err->code != code || !strstr(err->message, words))
		fail_msg("'%s' (%d) does not say '%s'", err->message, (int)err->code, words);
}

/* Opened by its name, at both tags. */
static void expect_both(const char *name)
{
	struct repository *repository = open_one(name);

	expect_file(repository, "v1", "src/a.c", "first\n");
	expect_file(repository, "v2", "src/a.c", "first\nsecond\n");
	expect_file(repository, "HEAD~1", "src/a.c", "first\n");
	repository_close(repository);
}

static void repositories_of_every_kind(void **state)
{
	need_git();
	expect_both("one");
	expect_both("one/src");
	expect_both("one/.git");
	sh("git clone -q --bare one bare.git; git -C bare.git gc -q; git -C one worktree add -q ../tree v2\n"
	   "git init -q super; cd super; git submodule add -q ../one sub >/dev/null 2>&1; git -C sub fetch -q --tags\n"
	   "cd ..; cp -r one packed; git -C packed pack-refs --all; git -C packed gc -q; ln -s one/.git linked.git\n"
	   "mkdir links; ln -s ../one/.git links/.git; ln -sf refs/heads/main packed/.git/HEAD");
	expect_both("bare.git");
	expect_both("tree");
	expect_both("super/sub");
	expect_both("packed");
	expect_both("linked.git");
	expect_both("links");
	sh("git init -q --object-format=sha256 long; cd long; mkdir src; echo first >src/a.c; git add .; git commit -qm 1\n"
	   "git tag v1; echo second >>src/a.c; git commit -qam 2; git tag v2");
	expect_both("long");
}

static void revisions_are_commits(void **state)
{
	char id[REPOSITORY_ID_BYTES], same[REPOSITORY_ID_BYTES];
	struct repository *repository;
	struct error err = { 0 };

	need_git();
	repository = open_one("one");
	assert_true(repository_resolve(repository, "v2", id, &err));
	assert_true(repository_resolve(repository, "main@{0}", same, &err));
	assert_string_equal(id, same);
	id[7] = '\0';
	assert_true(repository_resolve(repository, id, id, &err));
	assert_string_equal(id, same);
	expect_error(repository_resolve(repository, "v9", id, &err), &err, ERROR_NOT_FOUND, "no commit 'v9'");
	expect_error(repository_resolve(repository, "--all", id, &err), &err, ERROR_NOT_FOUND, "no commit '--all'");
	expect_error(repository_resolve(repository, "", id, &err), &err, ERROR_NOT_FOUND, "no commit ''");
	expect_error(repository_resolve(repository, "v1..v2", id, &err), &err, ERROR_NOT_FOUND, "no commit");
	expect_error(repository_resolve(repository, "HEAD:src/a.c", id, &err), &err, ERROR_NOT_FOUND, "no commit");
	repository_close(repository);
	sh("git init -q empty");
	repository = open_one("empty");
	expect_error(repository_resolve(repository, "HEAD", id, &err), &err, ERROR_NOT_FOUND, "no commit 'HEAD'");
	repository_close(repository);
}

static void paths_are_any_bytes(void **state)
{
	static const char weird[] = "a\nb \"c\" \xff.c", listed[] = ":(glob)*.c\0a\nb \"c\" \xff.c";
	char id[REPOSITORY_ID_BYTES], text[256];
	struct repository *repository;
	struct error err = { 0 };
	int fd = -1;

	need_git();
	sh("git init -q weird; cd weird; echo odd >\"$(printf 'a\\nb \"c\" \\377.c')\"; echo magic >':(glob)*.c'; git add .\n"
	   "git commit -qm weird");
	repository = open_one("weird");
	expect_file(repository, "HEAD", weird, "odd\n");
	expect_file(repository, "HEAD", ":(glob)*.c", "magic\n");
	assert_true(repository_resolve(repository, "HEAD", id, &err));
	assert_true(repository_list_files(repository, id, MEGABYTE, &fd, &err));
	assert_int_equal(read(fd, text, sizeof(text)), sizeof(listed));
	assert_memory_equal(text, listed, sizeof(listed));
	close(fd);
	repository_close(repository);
}

static void what_is_no_file_is_not_found(void **state)
{
	static const char *const paths[] = { "src", "src/", "/src/a.c", "../one/src/a.c", "src/../src/a.c", "./src/a.c",
		"src//a.c", "src/b.c", "src/link.c", "", ".", "*", "src/a.c/" };
	char id[REPOSITORY_ID_BYTES];
	struct repository *repository;
	struct error err = { 0 };
	int fd = -1;

	need_git();
	repository = open_one("one");
	assert_true(repository_resolve(repository, "v2", id, &err));
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		expect_error(repository_read_file(repository, id, paths[i], MEGABYTE, &fd, &err), &err, ERROR_NOT_FOUND,
			"has no file");
	expect_error(repository_read_file(repository, "v2", "src/a.c", MEGABYTE, &fd, &err), &err, ERROR_NOT_FOUND,
		"no file");
	expect_error(repository_list_files(repository, "v2", MEGABYTE, &fd, &err), &err, ERROR_NOT_FOUND, "no commit");
	assert_int_equal(fd, -1);
	repository_close(repository);
}

static void sizes_are_capped(void **state)
{
	char id[REPOSITORY_ID_BYTES];
	struct repository *repository;
	struct error err = { 0 };
	struct stat info;
	int fd = -1;

	need_git();
	sh("git init -q large; cd large; head -c 30000000 /dev/zero >huge.c; git add .; git commit -qm huge");
	repository = open_one("large");
	assert_true(repository_resolve(repository, "HEAD", id, &err));
	expect_error(repository_read_file(repository, id, "huge.c", MEGABYTE, &fd, &err), &err, ERROR_LIMIT, "1024 kB");
	assert_true(repository_read_file(repository, id, "huge.c", 30000000, &fd, &err));
	assert_int_equal(fstat(fd, &info), 0);
	assert_int_equal(info.st_size, 30000000);
	close(fd);
	repository_close(repository);
	repository = open_one("one");
	assert_true(repository_resolve(repository, "HEAD", id, &err));
	expect_error(repository_list_files(repository, id, 8, &fd, &err), &err, ERROR_LIMIT, "more than");
	repository_close(repository);
}

static void what_is_not_there_is_told(void **state)
{
	char id[REPOSITORY_ID_BYTES];
	struct repository *repository = NULL;
	struct error err = { 0 };
	int fd = -1;

	need_git();
	expect_error(repository_open(below("gone"), NULL, &repository, &err), &err, ERROR_NOT_FOUND, "gone");
	sh("mkdir plain");
	expect_error(
		repository_open(below("plain"), NULL, &repository, &err), &err, ERROR_NOT_FOUND, "no git repository");
	sh("git -C one config uploadpack.allowFilter true; url=file://$PWD/one\n"
	   "git clone -q --depth 1 $url shallow; git clone -q --no-checkout --filter=blob:none $url partial");
	repository = open_one("shallow");
	expect_file(repository, "HEAD", "src/a.c", "first\nsecond\n");
	expect_error(repository_resolve(repository, "HEAD~1", id, &err), &err, ERROR_NOT_FOUND, "fetch --unshallow");
	repository_close(repository);
	repository = open_one("partial");
	assert_true(repository_resolve(repository, "v1", id, &err));
	expect_error(repository_read_file(repository, id, "src/a.c", MEGABYTE, &fd, &err), &err, ERROR_NOT_FOUND,
		"as a partial clone does");
	repository_close(repository);
	sh("cp -r one broken; cd broken; rm -f .git/objects/$(git rev-parse v1^{tree} | sed 's|^..|&/|')");
	repository = open_one("broken");
	assert_true(repository_resolve(repository, "v1", id, &err));
	expect_error(repository_list_files(repository, id, MEGABYTE, &fd, &err), &err, ERROR_NOT_FOUND, "lacks a part");
	repository_close(repository);
}

/* git of a PATH in which others can put programs is not run. */
static void git_is_needed(void **state)
{
	struct repository *repository = NULL;
	char before[4096], path[256];
	struct error err = { 0 };

	need_git();
	snprintf(before, sizeof(before), "%s", getenv("PATH"));
	snprintf(path, sizeof(path), "bin:.:%s/bin", work);
	sh("mkdir bin; ln -s /usr/bin/git bin/git; chmod 777 bin");
	setenv("PATH", path, 1);
	expect_error(repository_open(below("one"), NULL, &repository, &err), &err, ERROR_UNSUPPORTED,
		"sudo apt install git");
	setenv("PATH", before, 1);
}

/* Root opens it only as git would, and then reads with the owner's rights: no alternates into what is only root's. */
static void others_are_trusted_when_the_user_says_so(void **state)
{
	char id[REPOSITORY_ID_BYTES], script[512];
	struct repository *repository = NULL;
	struct error err = { 0 };

	need_git();
	if (geteuid() != 0)
		skip();
	snprintf(script, sizeof(script),
		"cp -r one secret; cd secret; echo secret >s.c; git add .; git commit -qm secret; git tag secret; cd ..\n"
		"cp -r one theirs; echo $PWD/secret/.git/objects >theirs/.git/objects/info/alternates\n"
		"git -C secret rev-parse secret >theirs/.git/refs/tags/secret\n"
		"chmod 700 secret; chown -R %d:%d theirs",
		STRANGER, STRANGER);
	sh(script);
	expect_error(repository_open(below("theirs"), NULL, &repository, &err), &err, ERROR_PERMISSION,
		"git config --global --add safe.directory");
	assert_non_null(strstr(err.message, below("theirs")));
	sh("git config --global --add safe.directory \"$PWD/theirs\"; git -C theirs show secret:s.c >/dev/null");
	expect_both("theirs");
	repository = open_one("theirs");
	expect_error(repository_resolve(repository, "secret", id, &err), &err, ERROR_NOT_FOUND, "no commit 'secret'");
	repository_close(repository);
}

static void an_owner_who_is_shut_out_is_told(void **state)
{
	struct repository *repository = NULL;
	char script[512];
	struct error err = { 0 };

	need_git();
	if (geteuid() != 0)
		skip();
	snprintf(script, sizeof(script),
		"mkdir closed; cp -r one closed/theirs; chown -R %d:%d closed/theirs; chmod 700 closed\n"
		"git config --global --add safe.directory \"$PWD/closed/theirs\"",
		STRANGER, STRANGER);
	sh(script);
	expect_error(repository_open(below("closed/theirs"), NULL, &repository, &err), &err, ERROR_PERMISSION,
		"as user 12345, whose it is, and that user cannot");
}

/* ---- Bounds ---- */

/* Whether git, kept to the directory `outer/served` or to none, reads a file of the commit in a repository there. */
static bool reads_file(const char *name, const char *commit, bool is_bounded)
{
	int served = open(below("outer/served"), O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	const struct repository_bounds bounds = { &served, 1 };
	char path[64], id[REPOSITORY_ID_BYTES], text[64] = "";
	struct repository *repository = NULL;
	struct error err = { 0 };

	snprintf(path, sizeof(path), "outer/served/%s", name);
	if (repository_open(below(path), is_bounded ? &bounds : NULL, &repository, &err) &&
		repository_resolve(repository, commit, id, &err) &&
		repository_read_file(repository, id, "s.c", MEGABYTE, &fd, &err))
		take(fd, text, sizeof(text));
	repository_close(repository);
	close(served);
	return strcmp(text, "secret\n") == 0;
}

static void nothing_is_read_out_of_bounds(void **state)
{
	static const char *const outside[] = { "empty", "file", "link", "tree", "module", "alternates", "objects",
		"loose", "pack", "common" };
	static const char *const inside[] = { "own", "own/sub", "own_tree", "own_alternates", "own_link" };
	char commit[REPOSITORY_ID_BYTES];
	struct repository *repository;
	struct error err = { 0 };

	need_git();
	sh("git init -q outer; cd outer; mkdir sub; echo secret >s.c; echo sub >sub/s.c; git add .; git commit -qm secret\n"
	   "mkdir -p served/empty/.git; cd served; outer=$PWD/..\n"
	   "mkdir file link; echo gitdir: $outer/.git >file/.git; ln -s $outer/.git link/.git\n"
	   "git -C $outer worktree add -q served/tree\n"
	   "git init -q $outer/super; git -C $outer/super submodule --quiet add $outer inner\n"
	   "mv $outer/super/inner module; echo gitdir: $outer/super/.git/modules/inner >module/.git\n"
	   "git config -f $outer/super/.git/modules/inner/config --unset core.worktree\n"
	   "for way in alternates objects loose pack common; do git init -q $way; done\n"
	   "echo $outer/.git/objects >alternates/.git/objects/info/alternates\n"
	   "rm -r objects/.git/objects; ln -s $outer/.git/objects objects/.git/objects\n"
	   "cp -rsf $outer/.git/objects/. loose/.git/objects\n"
	   "git clone -q --bare $outer $outer/packed; git -C $outer/packed repack -qad\n"
	   "cp -rsf $outer/packed/objects/. pack/.git/objects\n"
	   "echo $outer/.git >common/.git/commondir\n"
	   "git clone -q --no-local $outer own; git -C own worktree add -q ../own_tree; ln -s own own_link\n"
	   "git init -q own_alternates; echo ../../../own/.git/objects >own_alternates/.git/objects/info/alternates");
	repository = open_one("outer");
	assert_true(repository_resolve(repository, "HEAD", commit, &err));
	repository_close(repository);
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		if (!reads_file(outside[i], commit, false))
			fail_msg("%s is no way out", outside[i]);
		if (reads_file(outside[i], commit, true))
			fail_msg("%s leads out of bounds", outside[i]);
	}
	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
		if (!reads_file(inside[i], commit, true))
			fail_msg("%s lies within", inside[i]);
}

/* Instead of waiting for as long as git may take: the other files are those that git reads later. */
static void a_fifo_holds_nobody(void **state)
{
	struct repository *repository = NULL;
	char id[REPOSITORY_ID_BYTES];
	struct error err = { 0 };

	need_git();
	sh("cp -r one waits; mkfifo waits/.git/packed-refs; cp -r one waits_at_once; rm waits_at_once/.git/config\n"
	   "mkfifo waits_at_once/.git/config");
	repository = open_one("waits");
	expect_error(repository_resolve(repository, "none", id, &err), &err, ERROR_SYSTEM, "is a FIFO or the like");
	repository_close(repository);
	expect_error(repository_open(below("waits_at_once"), NULL, &repository, &err), &err, ERROR_SYSTEM, "FIFO");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repositories_of_every_kind),
		cmocka_unit_test(revisions_are_commits),
		cmocka_unit_test(paths_are_any_bytes),
		cmocka_unit_test(what_is_no_file_is_not_found),
		cmocka_unit_test(sizes_are_capped),
		cmocka_unit_test(what_is_not_there_is_told),
		cmocka_unit_test(git_is_needed),
		cmocka_unit_test(others_are_trusted_when_the_user_says_so),
		cmocka_unit_test(an_owner_who_is_shut_out_is_told),
		cmocka_unit_test(nothing_is_read_out_of_bounds),
		cmocka_unit_test(a_fifo_holds_nobody),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
