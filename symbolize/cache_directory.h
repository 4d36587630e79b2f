/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Makes the directory in which frame caches are kept. False when nothing can be written there. */
bool cache_directory_prepare(const char *directory);

/* Takes the oldest files away when there are too many or too much. */
void cache_directory_prune(const char *directory);
