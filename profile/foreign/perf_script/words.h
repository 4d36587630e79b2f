/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/model.h"

/* The words of a line of perf script. */

/* Bytes of a line; not NUL-terminated. */
struct script_span {
	const char *at, *end;
};

static inline size_t script_size(struct script_span s)
{
	return (size_t)(s.end - s.at);
}

/* Returns it without the white space around it. */
struct script_span script_trim(struct script_span s);

/* Returns the first word; `*rest` begins behind it. The last one; `*before` ends in front of it. */
struct script_span script_first_word(struct script_span s, struct script_span *rest);
struct script_span script_last_word(struct script_span s, struct script_span *before);

bool script_starts_with(struct script_span s, const char *prefix);

/* Returns whether the text is a whole number, and nothing else. */
bool script_is_number(struct script_span s, int64_t *number);

/* Returns whether the text is one such as `27979`, or `27979/27980`. Of a thread alone, the process is not known. */
bool script_is_thread(struct script_span word, struct profile_thread *thread);

/* Finds the time of a sample, `79524.904175:`: `*before` and `*behind` are what stands around it. */
bool script_find_time(struct script_span line, struct script_span *before, struct script_span *behind, int64_t *ns);

/* Returns `cycles` for `cycles:u:`; a tracepoint keeps its two parts. The word ends with a colon. */
struct script_span script_event_name(struct script_span word);

/* Reads an address in front of a frame; false: there is none. */
bool script_take_address(struct script_span *s, uint64_t *address);

/* Cuts the bracketed binary from the end, which may have brackets itself: `f (/tmp/x (deleted))`. */
bool script_take_binary(struct script_span *s, struct script_span *binary);

/* Cuts `+0x1a` from the end: where a sample was, is no part of what it was in. */
struct script_span script_without_offset(struct script_span s);
