/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns whether a process has a stream socket that listens, as far as /proc shows: it answers requests then. False
 * also where its descriptors may not be read.
 */
bool listening_has_socket(int32_t pid);
