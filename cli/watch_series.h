/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Runs in a child of the watch: prints what the profiles of these names tell (watch_series_append()), NULL ends them.
 * Its exit code is 0 also where one cannot be read, of which nothing is known then.
 */
int watch_series_print(const char *const *names);
