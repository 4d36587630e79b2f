/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/frame_text.h"

#include "profile/model.h"

#include <ctype.h>
#include <string.h>

enum { MOST_NUMBER = 999999999 }; /* of a line, a column, a process or a thread */

static const struct profile_frame_span none = { "", 0 };

static bool frame_text_starts_with(struct profile_frame_span s, const char *prefix)
{
	size_t size = strlen(prefix);

	return s.size >= size && memcmp(s.text, prefix, size) == 0;
}

static bool frame_text_ends_with(struct profile_frame_span s, const char *suffix)
{
	size_t size = strlen(suffix);

	return s.size >= size && memcmp(s.text + s.size - size, suffix, size) == 0;
}

static struct profile_frame_span span_between(const char *from, const char *to)
{
	return (struct profile_frame_span){ from, (size_t)(to - from) };
}

/* ---- Numbers ---- */

static size_t count_digits_at_end(struct profile_frame_span s)
{
	size_t count = 0;

	while (count < s.size && isdigit((unsigned char)s.text[s.size - 1 - count]))
		count++;
	return count;
}

/* Cuts `:8` from the end. Something has to stand before it. */
static bool frame_text_cut_number(struct profile_frame_span *s, uint32_t *number)
{
	size_t count = count_digits_at_end(*s);
	struct text_cursor digits = { s->text + s->size - count, s->text + s->size };
	uint64_t found;

	if (s->size < count + 2 || digits.at[-1] != ':' || !text_take_number(&digits, MOST_NUMBER, &found))
		return false;
	*number = (uint32_t)found;
	s->size -= count + 1;
	return true;
}

/* Cuts a line, or a line and a column. */
static bool cut_line(struct profile_frame_span *s, uint32_t *line)
{
	uint32_t last;

	if (!frame_text_cut_number(s, &last))
		return false;
	*line = last;
	(void)!frame_text_cut_number(s, line);
	return true;
}

/* ---- Functions and files ---- */

/* Tells names such as `shop/index.py`, and what CPython calls code without a file: `<frozen runpy>`. */
static bool is_python_file(struct profile_frame_span file)
{
	return frame_text_ends_with(file, ".py") || frame_text_ends_with(file, ".pyx") ||
	       (file.size > 2 && file.text[0] == '<' && file.text[file.size - 1] == '>');
}

struct profile_frame_span profile_frame_name(
	struct profile_frame_span name, struct profile_frame_span file, struct buffer *scratch)
{
	if (!is_python_file(file) || memchr(name.text, ':', name.size))
		return name;
	scratch->size = 0;
	buffer_append_string(scratch, "py::");
	buffer_append(scratch, name.text, name.size);
	buffer_append_byte(scratch, ':');
	buffer_append(scratch, file.text, file.size);
	return scratch->failed ? name : (struct profile_frame_span){ scratch->data, scratch->size };
}

/* Returns the last colon that divides: in C++ two of them are one word. */
static const char *dividing_colon(struct profile_frame_span s)
{
	const char *colon = memrchr(s.text, ':', s.size);

	return colon && colon > s.text && colon[-1] != ':' && colon + 1 < s.text + s.size ? colon : NULL;
}

/* Splits `digest (shop/index.py:8)`: a line must stand there, since a C++ function's arguments look alike. */
static void split_bracketed(struct profile_frame_span text, struct buffer *scratch, struct profile_frame_text *parts)
{
	struct profile_frame_span inner = { text.text, text.size - 1 };
	const char *open;
	uint32_t line;

	if (!cut_line(&inner, &line))
		return;
	open = memrchr(inner.text, '(', inner.size);
	if (!open || open < text.text + 2 || open[-1] != ' ' || open + 1 == inner.text + inner.size)
		return;
	parts->line = line;
	parts->file = span_between(open + 1, inner.text + inner.size);
	parts->name = span_between(text.text, open - 1);
	if (is_python_file(parts->file)) {
		parts->name = profile_frame_name(parts->name, parts->file, scratch);
		return;
	}
	scratch->size = 0;
	buffer_append(scratch, inner.text, inner.size);
	buffer_append_byte(scratch, ')');
	parts->name = scratch->failed ? text : (struct profile_frame_span){ scratch->data, scratch->size };
}

/* Splits off the text before a line number: a file and a function in either order, or a function alone. */
static void split_unbracketed(struct profile_frame_span rest, struct buffer *scratch, struct profile_frame_text *parts)
{
	const char *end = rest.text + rest.size, *dash = memmem(rest.text, rest.size, " - ", 3);
	const char *colon = dividing_colon(rest);
	struct profile_frame_span before, behind;

	parts->name = rest;
	if (dash && dash > rest.text && dash + 3 < end) {
		parts->file = span_between(dash + 3, end);
		return;
	}
	if (!colon)
		return;
	before = span_between(rest.text, colon);
	behind = span_between(colon + 1, end);
	if (is_python_file(before)) {
		parts->file = before;
		parts->name = profile_frame_name(behind, before, scratch);
	} else if (before.size == 1 && *before.text == '~') {
		/* CPython's own: `~:<native>:0`. */
		parts->name = behind;
	} else if (memchr(behind.text, '.', behind.size) && !memchr(behind.text, ' ', behind.size)) {
		parts->file = behind;
		parts->name = before;
	}
}

/* V8 puts the place where a function stands into its name; its reader takes it out again (profile_javascript_name()).
 */
static bool is_of_v8(struct profile_frame_span text, struct buffer *scratch)
{
	struct profile_script_name parts;

	scratch->size = 0;
	buffer_append(scratch, text.text, text.size);
	buffer_append_byte(scratch, '\0');
	return !scratch->failed && profile_javascript_name(scratch->data, &parts);
}

struct profile_frame_text profile_frame_split(struct profile_frame_span text, struct buffer *scratch)
{
	struct profile_frame_text parts = { .name = text, .file = none };
	struct profile_frame_span rest = text;

	if (frame_text_ends_with(text, ")"))
		split_bracketed(text, scratch, &parts);
	else if (cut_line(&rest, &parts.line) && !is_of_v8(text, scratch))
		split_unbracketed(rest, scratch, &parts);
	return parts;
}

/* ---- Processes and threads ---- */

/* Reads digits, and what must stand behind them. */
static bool take_id(struct profile_frame_span *s, char behind, int32_t *id)
{
	struct text_cursor rest = text_over(s->text, s->size);
	uint64_t number;

	if (!text_take_number(&rest, MOST_NUMBER, &number) ||
		(behind ? !text_take_byte(&rest, behind) : text_left(rest) > 0))
		return false;
	*id = (int32_t)number;
	*s = span_between(rest.at, rest.end);
	return true;
}

static struct profile_frame_span behind_prefix(struct profile_frame_span s, size_t size)
{
	return (struct profile_frame_span){ s.text + size, s.size - size };
}

/* Takes `7:"python app.py"` behind the word: the process is called by the name of its program's file. */
static bool take_py_spy_process(struct profile_frame_span rest, struct profile_frame_owner *owner)
{
	const char *end, *slash;
	int32_t pid;

	if (!take_id(&rest, ':', &pid) || rest.size < 2 || rest.text[0] != '"')
		return false;
	rest = behind_prefix(rest, 1);
	for (end = rest.text; end < rest.text + rest.size && *end != ' ' && *end != '"'; end++)
		;
	slash = memrchr(rest.text, '/', (size_t)(end - rest.text));
	owner->pid = pid;
	owner->process = span_between(slash ? slash + 1 : rest.text, end);
	return true;
}

/* `(8): worker` behind the word, or `(8)` alone. */
static bool take_py_spy_thread(struct profile_frame_span rest, struct profile_frame_owner *owner)
{
	int32_t tid;

	if (!take_id(&rest, ')', &tid))
		return false;
	owner->tid = tid;
	if (frame_text_starts_with(rest, ": "))
		owner->thread = behind_prefix(rest, 2);
	return true;
}

/* Takes `[worker tid=8]`, or `[tid=8]`. */
static bool take_async_profiler(struct profile_frame_span frame, struct profile_frame_owner *owner)
{
	static const char mark[] = "tid=";
	const char *at = memmem(frame.text, frame.size, mark, sizeof(mark) - 1);
	struct profile_frame_span rest;
	int32_t tid;

	if (!at || (at[-1] != ' ' && at[-1] != '['))
		return false;
	rest = behind_prefix(frame, (size_t)(at - frame.text) + sizeof(mark) - 1);
	if (!take_id(&rest, ']', &tid) || rest.size > 0)
		return false;
	owner->tid = tid;
	if (at > frame.text + 1)
		owner->thread = span_between(frame.text + 1, at - 1);
	return true;
}

/* Takes `java-7/8`, or `java-?/8`. */
static bool take_perf_thread(struct profile_frame_span frame, struct profile_frame_owner *owner)
{
	size_t digits = count_digits_at_end(frame);
	struct profile_frame_span pid = { frame.text, frame.size - digits }, last = { frame.text + pid.size, digits },
				  rest;
	const char *dash;
	int32_t tid;

	if (pid.size < 3 || pid.text[pid.size - 1] != '/' || !take_id(&last, '\0', &tid))
		return false;
	dash = memrchr(pid.text, '-', pid.size);
	if (!dash || dash == frame.text)
		return false;
	rest = span_between(dash + 1, pid.text + pid.size - 1);
	if (!(rest.size == 1 && *rest.text == '?') && !take_id(&rest, '\0', &owner->pid))
		return false;
	owner->tid = tid;
	owner->process = owner->thread = span_between(frame.text, dash);
	return true;
}

/* Takes `P7;T0:8`, or `P7;T8`: the interpreter's number stands before the thread's since austin 3.7. */
static const char *take_austin(struct profile_frame_span stack, struct profile_frame_owner *owner)
{
	const char *end = stack.text + stack.size, *divide = memchr(stack.text, ';', stack.size), *stop;
	struct profile_frame_span pid, tid;
	int32_t ignored;

	if (!divide || end - divide < 3 || divide[1] != 'T')
		return NULL;
	stop = memchr(divide + 1, ';', (size_t)(end - divide - 1));
	stop = stop ? stop : end;
	pid = span_between(stack.text + 1, divide);
	tid = span_between(divide + 2, stop);
	(void)!take_id(&tid, ':', &ignored);
	return take_id(&pid, '\0', &owner->pid) && take_id(&tid, '\0', &owner->tid) ? stop : NULL;
}

/* Returns where the first frame ends if it stands for the stack's owner; NULL: it is a function. */
static const char *take_owner(struct profile_frame_span stack, struct profile_frame_owner *owner)
{
	const char *end = stack.text + stack.size, *divide = memchr(stack.text, ';', stack.size);
	const char *stop = divide ? divide : end;
	struct profile_frame_span frame = span_between(stack.text, stop), rest;
	bool is_owner;

	if (frame_text_starts_with(frame, "process ")) {
		is_owner = take_py_spy_process(behind_prefix(frame, 8), owner);
	} else if (frame_text_starts_with(frame, "thread (")) {
		is_owner = take_py_spy_thread(behind_prefix(frame, 8), owner);
	} else if (frame_text_starts_with(frame, "tid:")) {
		rest = behind_prefix(frame, 4);
		is_owner = take_id(&rest, '\0', &owner->tid);
	} else if (frame_text_starts_with(frame, "[")) {
		is_owner = take_async_profiler(frame, owner);
	} else if (frame_text_starts_with(frame, "P")) {
		stop = take_austin(stack, owner);
		is_owner = stop != NULL;
	} else {
		is_owner = owner->tid == 0 && take_perf_thread(frame, owner);
	}
	return is_owner ? stop : NULL;
}

size_t profile_frame_owner(struct profile_frame_span stack, struct profile_frame_owner *owner)
{
	const char *at = stack.text, *end = stack.text + stack.size, *stop;

	*owner = (struct profile_frame_owner){ .process = none, .thread = none };
	while (at < end && (stop = take_owner(span_between(at, end), owner)))
		at = stop < end ? stop + 1 : end;
	return (size_t)(at - stack.text);
}
