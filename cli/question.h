/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/options.h"
#include "render/render.h"

/* The options of a struct question, with their heading, which `report` and `diff` share. */
extern const struct options_row question_option_rows[];

/*
 * Fills what outputs show: the diff and the profiles of the part, which the answer owns, and `shown`, which `input`
 * borrows.
 */
void question_show(const struct question *question, const struct answer *answer, struct render_question *shown,
	struct render_input *input);

/* Returns what outputs are told where nothing is asked but how long lists are. */
struct render_question question_shown(const struct question *question);
