/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Which words of a request a route's name may hold.
 *
 * The model: a word that a programmer has chosen reads as one, and all else is somebody's data. A text is letters and
 * digits between `-`, `_` and `.`; any other byte makes it data. Its tokens are words if their pairs of neighbouring
 * letters are more likely in the words of a text than drawn from the alphabet (sampler/routes/letter_pairs.h). Digits
 * are part of a word only as a version (`v1`, `v2beta1`, `v1.2`), as one digit behind letters (`oauth2`, `s3`), or in
 * a term of the table in word.c (`sha256`).
 */
enum {
	WORD_MOST_BYTES = 32,        /* of a segment; a longer one is data */
	WORD_MOST_DOTTED_BYTES = 40, /* kept of a longer one that has dots, as a service of gRPC: its last parts */
	WORD_MOST_READ = 128,        /* a longer one is data, whatever it has */
};

/* What of `text` may be named: all or the last dotted parts of it, or nothing (an empty text). */
struct text_cursor word_kept(struct text_cursor text);
