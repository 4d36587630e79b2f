/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/model.h"

/* The words of a line of perf script. */

/* Returns the text without the white space around it. */
struct text_cursor script_trim(struct text_cursor s);

/* Returns the first word; `*rest` begins behind it. The last one; `*before` ends in front of it. */
struct text_cursor script_first_word(struct text_cursor s, struct text_cursor *rest);
struct text_cursor script_last_word(struct text_cursor s, struct text_cursor *before);

/* Reads a whole number; false where there is anything else. */
bool script_is_number(struct text_cursor s, int64_t *number);

/* Returns whether the word is one such as `27979`, or `27979/27980`. Of a thread alone, the process is not known. */
bool script_is_thread(struct text_cursor word, struct profile_thread *thread);

/* Finds the time of a sample, `79524.904175:`: `*before` and `*behind` are what stands around it. */
bool script_find_time(struct text_cursor line, struct text_cursor *before, struct text_cursor *behind, int64_t *ns);

/* Returns `cycles` for `cycles:u:`; a tracepoint keeps its two parts. The word ends with a colon. */
struct text_cursor script_event_name(struct text_cursor word);

/* Reads an address in front of a frame; false: there is none. */
bool script_take_address(struct text_cursor *s, uint64_t *address);

/* Cuts the bracketed binary from the end, which may have brackets itself: `f (/tmp/x (deleted))`. */
bool script_take_binary(struct text_cursor *s, struct text_cursor *binary);

/* Cuts `+0x1a` from the end: where a sample was, is no part of what it was in. */
struct text_cursor script_without_offset(struct text_cursor s);
