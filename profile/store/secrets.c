/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/store.h"

#include <string.h>
#include <unistd.h>

enum { MOST_SECRET_BYTES = 4096 };

/* What a header of HTTP cannot have would end it, and begin another. */
static bool check_secret(const char *name, const char *value, struct error *err)
{
	if (strlen(value) > MOST_SECRET_BYTES)
		return error_set(err, ERROR_USAGE, "%s is longer than %d bytes", name, MOST_SECRET_BYTES);
	for (const char *c = value; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return error_set(err, ERROR_USAGE,
				"%s has a control character, such as the end of a line; set it without", name);
	return true;
}

/*
 * The kernel shows the strings that a process began with (proc_pid_environ(5)), whatever becomes of its variables: they
 * are overwritten where they stand. A variable may be there twice.
 */
static void wipe_variable(const char *name)
{
	size_t size = strlen(name);

	for (char **variable = environ; variable && *variable; variable++)
		if (strncmp(*variable, name, size) == 0 && (*variable)[size] == '=')
			explicit_bzero(*variable + size + 1, strlen(*variable + size + 1));
	(void)unsetenv(name);
}

/* `*secret` NULL: the variable is not set, or empty. */
static bool take_variable(const char *name, char **secret, struct error *err)
{
	const char *value = getenv(name);
	bool ok = true;

	*secret = NULL;
	if (value && value[0] && check_secret(name, value, err)) {
		*secret = undumped_alloc(strlen(value) + 1);
		if (*secret)
			strcpy(*secret, value);
		ok = *secret || error_set_memory(err);
	} else if (value && value[0]) {
		ok = false;
	}
	wipe_variable(name);
	return ok;
}

bool store_take_secrets(struct store_secrets *secrets, struct error *err)
{
	struct store_secrets taken = { 0 };
	struct error later;
	/* All of them leave the environment, also when one of them is wrong. */
	bool ok = take_variable("KELVIN_STORE_TOKEN", &taken.token, err);

	ok = take_variable("KELVIN_STORE_USER", &taken.user, ok ? err : &later) && ok;
	ok = take_variable("KELVIN_STORE_PASSWORD", &taken.password, ok ? err : &later) && ok;
	if (ok && taken.token && (taken.user || taken.password))
		ok = error_set(err, ERROR_USAGE,
			"both KELVIN_STORE_TOKEN and KELVIN_STORE_USER or KELVIN_STORE_PASSWORD are set; unset one of them");
	if (ok && taken.password && !taken.user)
		ok = error_set(
			err, ERROR_USAGE, "KELVIN_STORE_PASSWORD is set, and KELVIN_STORE_USER is not; set both");
	if (!ok) {
		store_secrets_deinit(&taken);
		return false;
	}
	*secrets = taken;
	return true;
}

static void secrets_forget(char *secret)
{
	size_t size = secret ? strlen(secret) + 1 : 0;

	if (!secret)
		return;
	explicit_bzero(secret, size);
	undumped_free(secret, size);
}

void store_secrets_deinit(struct store_secrets *secrets)
{
	secrets_forget(secrets->token);
	secrets_forget(secrets->user);
	secrets_forget(secrets->password);
	*secrets = (struct store_secrets){ 0 };
}
