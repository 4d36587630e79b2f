/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/store.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char secret[] = "glsa_Swordfish42";

/* What is done in a process that began with the environment. */
static bool environment_has(const char *path, const char *words)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen(path, "re");
	char bytes[1 << 16];
	size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;

	return size > 0 && memmem(bytes, size, words, strlen(words));
}

static int end_with_secrets(void)
{
	struct store_secrets secrets;
	struct error err;

	if (!environment_has("/proc/self/environ", secret))
		return 10;
	if (!store_take_secrets(&secrets, &err))
		return environment_has("/proc/self/environ", secret) || strstr(err.message, secret) ? 11 : 12;
	if (environment_has("/proc/self/environ", secret) || !environment_has("/proc/self/environ", "OTHER=stays"))
		return 13;
	if (system("env | grep -q Swordfish") == 0 || getenv("KELVIN_STORE_TOKEN"))
		return 14;
	if (!(secrets.token && strcmp(secrets.token, secret) == 0) &&
		!(secrets.user && secrets.password && strcmp(secrets.password, secret) == 0))
		return 15;
	store_secrets_deinit(&secrets);
	return 0;
}

/* The exit code of a process that this program becomes with the environment. */
static int run_with(const char *const *environment)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		execle("/proc/self/exe", "test", "take", (char *)NULL, (char *const *)(uintptr_t)environment);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void a_token_leaves_the_environment(void **state)
{
	assert_int_equal(run_with((const char *const[]){
				 "KELVIN_STORE_TOKEN=glsa_Swordfish42", "OTHER=stays", "PATH=/usr/bin:/bin", NULL }),
		0);
}

static void user_and_password_leave_it(void **state)
{
	assert_int_equal(run_with((const char *const[]){ "KELVIN_STORE_USER=me", "OTHER=stays", "PATH=/usr/bin:/bin",
				 "KELVIN_STORE_PASSWORD=glsa_Swordfish42", NULL }),
		0);
}

static void a_variable_that_is_there_twice_leaves_it(void **state)
{
	assert_int_equal(run_with((const char *const[]){ "KELVIN_STORE_TOKEN=glsa_Swordfish42", "OTHER=stays",
				 "PATH=/usr/bin:/bin", "KELVIN_STORE_TOKEN=glsa_Swordfish42", NULL }),
		0);
}

/* They leave the environment even so, and no error says them. */
static void what_cannot_be_sent_is_refused(void **state)
{
	assert_int_equal(
		run_with((const char *const[]){ "KELVIN_STORE_TOKEN=glsa_Swordfish42\r\nX-Evil: 1", NULL }), 12);
	assert_int_equal(run_with((const char *const[]){ "KELVIN_STORE_PASSWORD=glsa_Swordfish42", NULL }), 12);
	assert_int_equal(run_with((const char *const[]){
				 "KELVIN_STORE_TOKEN=glsa_Swordfish42", "KELVIN_STORE_USER=glsa_Swordfish42", NULL }),
		12);
}

static void none_are_none(void **state)
{
	struct store_secrets secrets = { .token = (char *)1 };
	struct error err;

	assert_true(store_take_secrets(&secrets, &err));
	assert_null(secrets.token);
	assert_null(secrets.user);
	store_secrets_deinit(&secrets);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_token_leaves_the_environment),
		cmocka_unit_test(user_and_password_leave_it),
		cmocka_unit_test(a_variable_that_is_there_twice_leaves_it),
		cmocka_unit_test(what_cannot_be_sent_is_refused),
		cmocka_unit_test(none_are_none),
	};

	if (argc > 1)
		return end_with_secrets();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
