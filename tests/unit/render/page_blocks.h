/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <jansson.h>

#include "common/common.h"

/* The place of a block in a page; NULL: it has none. */
const char *page_block_find(const char *page, const char *name);

/* A block of JSON, as the viewer reads it, to be released by json_decref(). */
json_t *page_block_json(const char *page, const char *name);
