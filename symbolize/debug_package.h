/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The package with the debug symbols of a file that was installed from a package of Debian or Ubuntu, by the lists of
 * files that dpkg keeps: "postgresql-15-dbgsym". False if no package has the file, or none can be found out.
 */
bool debug_package_of(const char *path, char *package, size_t size);
