/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/perf_script/words.h"

#include <ctype.h>
#include <string.h>

/* perf writes microseconds, or nanoseconds; tools that write as perf does drop zeros at the end. */
enum { USUAL_DECIMALS = 6, MOST_DECIMALS = 9, MOST_DIGITS = 18 };
static const int64_t ns_per_s = 1000000000;

struct script_span script_trim(struct script_span s)
{
	while (s.at < s.end && isspace((unsigned char)*s.at))
		s.at++;
	while (s.at < s.end && isspace((unsigned char)s.end[-1]))
		s.end--;
	return s;
}

/* Returns the first word; `*rest` begins behind it. */
struct script_span script_first_word(struct script_span s, struct script_span *rest)
{
	struct script_span word = { script_trim(s).at, NULL };

	for (word.end = word.at; word.end < s.end && !isspace((unsigned char)*word.end); word.end++)
		;
	*rest = (struct script_span){ word.end, s.end };
	return word;
}

struct script_span script_last_word(struct script_span s, struct script_span *before)
{
	struct script_span word = script_trim(s);
	const char *end = word.end;

	while (end > word.at && !isspace((unsigned char)end[-1]))
		end--;
	*before = (struct script_span){ s.at, end };
	return (struct script_span){ end, word.end };
}

bool script_starts_with(struct script_span s, const char *prefix)
{
	return script_size(s) >= strlen(prefix) && memcmp(s.at, prefix, strlen(prefix)) == 0;
}

/* Reads digits at the start of a span and moves it behind them; false: there are none, or too many. */
static bool perf_script_words_take_number(struct script_span *s, int64_t *number)
{
	const char *from = s->at;

	for (*number = 0; s->at < s->end && isdigit((unsigned char)*s->at); s->at++) {
		if (s->at - from == MOST_DIGITS)
			return false;
		*number = *number * 10 + (*s->at - '0');
	}
	return s->at > from;
}

bool script_is_number(struct script_span s, int64_t *number)
{
	return perf_script_words_take_number(&s, number) && s.at == s.end;
}

/* Returns whether the text is one such as `79524.904175:`. `*is_usual`: it has as many decimals as perf writes. */
static bool perf_script_words_is_time(struct script_span word, int64_t *ns, bool *is_usual)
{
	int64_t seconds, decimals;
	size_t digits;

	if (!perf_script_words_take_number(&word, &seconds) || word.at == word.end || *word.at++ != '.')
		return false;
	digits = script_size(word);
	if (!perf_script_words_take_number(&word, &decimals) || script_size(word) != 1 || *word.at != ':')
		return false;
	digits -= 1;
	if (digits > MOST_DECIMALS || seconds > INT64_MAX / ns_per_s - 1)
		return false;
	*is_usual = digits == USUAL_DECIMALS || digits == MOST_DECIMALS;
	for (; digits < MOST_DECIMALS; digits++)
		decimals *= 10;
	*ns = seconds * ns_per_s + decimals;
	return true;
}

/* Returns whether the text is one such as `27979`, or `27979/27980`. Of a thread alone, the process is not known. */
bool script_is_thread(struct script_span word, struct profile_thread *thread)
{
	int64_t first, second;

	if (!perf_script_words_take_number(&word, &first) || first > INT32_MAX)
		return false;
	if (word.at == word.end) {
		thread->tid = (int32_t)first;
		return true;
	}
	if (*word.at++ != '/' || !script_is_number(word, &second) || second > INT32_MAX)
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
bool script_take_address(struct script_span *s, uint64_t *address)
{
	struct script_span word, rest;

	word = script_first_word(*s, &rest);
	if (word.at == word.end || script_size(word) > 16)
		return false;
	*address = 0;
	for (; word.at < word.end; word.at++) {
		if (!is_hex(*word.at))
			return false;
		*address = *address << 4 |
			   (uint64_t)(isdigit((unsigned char)*word.at) ? *word.at - '0' : *word.at - 'a' + 10);
	}
	*s = rest;
	return true;
}

/* Cuts the bracketed binary from the end, which may have brackets itself: `f (/tmp/x (deleted))`. */
bool script_take_binary(struct script_span *s, struct script_span *binary)
{
	struct script_span all = script_trim(*s);
	size_t depth = 0;

	if (all.at == all.end || all.end[-1] != ')')
		return false;
	for (const char *at = all.end; at > all.at; at--) {
		depth += at[-1] == ')';
		depth -= at[-1] == '(';
		if (depth > 0)
			continue;
		*binary = (struct script_span){ at, all.end - 1 };
		*s = script_trim((struct script_span){ all.at, at - 1 });
		return true;
	}
	return false;
}

/* Cuts `+0x1a` from the end: where a sample was, is no part of what it was in. */
struct script_span script_without_offset(struct script_span s)
{
	const char *at = s.end;

	while (at > s.at && is_hex(at[-1]))
		at--;
	if (at < s.end && at - s.at > 3 && memcmp(at - 3, "+0x", 3) == 0)
		s.end = at - 3;
	return s;
}

/* Returns `cycles` for `cycles:u:`; a tracepoint keeps its two parts. */
struct script_span script_event_name(struct script_span word)
{
	static const char modifiers[] = "ukhIGHpPSDWeb";
	const char *colon, *at;

	word.end--;
	colon = memrchr(word.at, ':', script_size(word));
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
static bool is_among_fields(struct script_span word_before, struct script_span behind)
{
	struct profile_thread ignored;
	struct script_span word, rest = behind;
	int64_t period;

	if (!script_is_thread(word_before, &ignored) && !script_starts_with(word_before, "["))
		return false;
	word = script_first_word(rest, &rest);
	if (script_is_number(word, &period))
		word = script_first_word(rest, &rest);
	return script_size(script_trim(behind)) == 0 || (script_size(word) > 1 && word.end[-1] == ':');
}

/*
 * Finds the time of a sample: `*before` and `*behind` are what stands around it. Names have numbers too, so one that
 * does not look like perf's must have a time's place.
 */
bool script_find_time(struct script_span line, struct script_span *before, struct script_span *behind, int64_t *ns)
{
	struct script_span rest = line, word, last = { line.at, line.at };
	bool is_usual;

	for (; script_size(script_trim(rest)) > 0; rest = *behind, last = word) {
		word = script_first_word(rest, behind);
		*before = (struct script_span){ line.at, word.at };
		if (perf_script_words_is_time(word, ns, &is_usual) && (is_usual || is_among_fields(last, *behind)))
			return true;
	}
	return false;
}
