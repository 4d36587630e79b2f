/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Creates the directory of frame caches. False if it is not the user's own, or not writable. */
bool cache_directory_prepare(const char *directory);

/* Removes the oldest files if there are too many, or they are too large together. */
void cache_directory_prune(const char *directory);
