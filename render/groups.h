/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/report.h"

/* Lists of groups of samples (diff/groups.h) in text, Markdown and JSON. Nothing where nobody asks for groups. */

struct document;
void groups_put(struct document *d);

/* Appends the member `groups`. */
void groups_json(const struct render_input *input, struct buffer *out);
