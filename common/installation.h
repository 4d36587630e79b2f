/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* The programs that lie beside this one, and are its own. */

/*
 * Finds the folder of an executable file: `built` in a build folder, where this program is cli/kelvin, else `installed`
 * below libexec/kelvin ("": libexec/kelvin itself), which may have been moved as a whole with bin/kelvin.
 */
bool installation_find(const char *built, const char *installed, const char *file, char folder[PATH_MAX]);

/*
 * Returns the user who owns this program, and so decides what it does, whoever runs it; (uid_t)-1: that is not known.
 */
uid_t installation_owner(void);
