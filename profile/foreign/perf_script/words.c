/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/perf_script/words.h"

#include <ctype.h>
#include <string.h>

/* perf writes microseconds, or nanoseconds; tools that write as perf does drop zeros at the end. */
enum { USUAL_DECIMALS = 6, MOST_DECIMALS = 9 };
static const uint64_t ns_per_s = 1000000000, most_number = UINT64_C(999999999999999999);

struct text_cursor script_trim(struct text_cursor s)
{
	while (s.at < s.end && isspace((unsigned char)*s.at))
		s.at++;
	while (s.at < s.end && isspace((unsigned char)s.end[-1]))
		s.end--;
	return s;
}

/* Returns the first word; `*rest` begins behind it. */
struct text_cursor script_first_word(struct text_cursor s, struct text_cursor *rest)
{
	struct text_cursor word = { script_trim(s).at, NULL };

	for (word.end = word.at; word.end < s.end && !isspace((unsigned char)*word.end); word.end++)
		;
	*rest = (struct text_cursor){ word.end, s.end };
	return word;
}

struct text_cursor script_last_word(struct text_cursor s, struct text_cursor *before)
{
	struct text_cursor word = script_trim(s);
	const char *end = word.end;

	while (end > word.at && !isspace((unsigned char)end[-1]))
		end--;
	*before = (struct text_cursor){ s.at, end };
	return (struct text_cursor){ end, word.end };
}

bool script_is_number(struct text_cursor s, int64_t *number)
{
	uint64_t value;

	if (!text_take_number(&s, most_number, &value) || s.at < s.end)
		return false;
	*number = (int64_t)value;
	return true;
}

/* Returns whether the text is one such as `79524.904175:`. `*is_usual`: it has as many decimals as perf writes. */
static bool perf_script_words_is_time(struct text_cursor word, int64_t *ns, bool *is_usual)
{
	uint64_t seconds, decimals;
	size_t digits;

	if (!text_take_number(&word, INT64_MAX / ns_per_s - 1, &seconds) || !text_take_byte(&word, '.'))
		return false;
	digits = text_left(word) - 1;
	if (!text_take_number(&word, most_number, &decimals) || !text_is(word, ":") || digits > MOST_DECIMALS)
		return false;
	*is_usual = digits == USUAL_DECIMALS || digits == MOST_DECIMALS;
	for (; digits < MOST_DECIMALS; digits++)
		decimals *= 10;
	*ns = (int64_t)(seconds * ns_per_s + decimals);
	return true;
}

/* Returns whether the text is one such as `27979`, or `27979/27980`. Of a thread alone, the process is not known. */
bool script_is_thread(struct text_cursor word, struct profile_thread *thread)
{
	uint64_t first, second;

	if (!text_take_number(&word, INT32_MAX, &first))
		return false;
	if (word.at == word.end) {
		thread->tid = (int32_t)first;
		return true;
	}
	if (!text_take_byte(&word, '/') || !text_take_number(&word, INT32_MAX, &second) || word.at < word.end)
		return false;
	thread->pid = (int32_t)first;
	thread->tid = (int32_t)second;
	return true;
}

static bool is_hex(char c)
{
	return isdigit((unsigned char)c) || (c >= 'a' && c <= 'f');
}

/* Reads an address in front of a frame; false: there is none. */
bool script_take_address(struct text_cursor *s, uint64_t *address)
{
	struct text_cursor word, rest;

	word = script_first_word(*s, &rest);
	if (word.at == word.end || text_left(word) > 16)
		return false;
	*address = 0;
	for (; word.at < word.end; word.at++) {
		if (!is_hex(*word.at))
			return false;
		*address = *address << 4 | text_hex_digit(*word.at);
	}
	*s = rest;
	return true;
}

/* Cuts the bracketed binary from the end, which may have brackets itself: `f (/tmp/x (deleted))`. */
bool script_take_binary(struct text_cursor *s, struct text_cursor *binary)
{
	struct text_cursor all = script_trim(*s);
	size_t depth = 0;

	if (all.at == all.end || all.end[-1] != ')')
		return false;
	for (const char *at = all.end; at > all.at; at--) {
		depth += at[-1] == ')';
		depth -= at[-1] == '(';
		if (depth > 0)
			continue;
		*binary = (struct text_cursor){ at, all.end - 1 };
		*s = script_trim((struct text_cursor){ all.at, at - 1 });
		return true;
	}
	return false;
}

/* Cuts `+0x1a` from the end: where a sample was, is no part of what it was in. */
struct text_cursor script_without_offset(struct text_cursor s)
{
	const char *at = s.end;

	while (at > s.at && is_hex(at[-1]))
		at--;
	if (at < s.end && at - s.at > 3 && memcmp(at - 3, "+0x", 3) == 0)
		s.end = at - 3;
	return s;
}

/* Returns `cycles` for `cycles:u:`; a tracepoint keeps its two parts. */
struct text_cursor script_event_name(struct text_cursor word)
{
	static const char modifiers[] = "ukhIGHpPSDWeb";
	const char *colon, *at;

	word.end--;
	colon = memrchr(word.at, ':', text_left(word));
	for (at = colon; at && ++at < word.end;)
		if (!strchr(modifiers, *at))
			return word;
	if (colon)
		word.end = colon;
	return word;
}

/*
 * Returns whether what stands around a number is what stands around a time: a thread or a CPU in front of it, and
 * behind it nothing, or an event with its colon.
 */
static bool is_among_fields(struct text_cursor word_before, struct text_cursor behind)
{
	struct profile_thread ignored;
	struct text_cursor word, rest = behind;
	int64_t period;

	if (!script_is_thread(word_before, &ignored) && !text_is_at(word_before, '['))
		return false;
	word = script_first_word(rest, &rest);
	if (script_is_number(word, &period))
		word = script_first_word(rest, &rest);
	return text_left(script_trim(behind)) == 0 || (text_left(word) > 1 && word.end[-1] == ':');
}

/*
 * Finds the time of a sample: `*before` and `*behind` are what stands around it. Names have numbers too, so one that
 * does not look like perf's must have a time's place.
 */
bool script_find_time(struct text_cursor line, struct text_cursor *before, struct text_cursor *behind, int64_t *ns)
{
	struct text_cursor rest = line, word, last = { line.at, line.at };
	bool is_usual;

	for (; text_left(script_trim(rest)) > 0; rest = *behind, last = word) {
		word = script_first_word(rest, behind);
		*before = (struct text_cursor){ line.at, word.at };
		if (perf_script_words_is_time(word, ns, &is_usual) && (is_usual || is_among_fields(last, *behind)))
			return true;
	}
	return false;
}
