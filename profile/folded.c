/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/pprof_format.h"

#include <stdlib.h>
#include <string.h>

/* Brendan Gregg's folded stacks (FlameGraph, stackcollapse-*.pl): `root;...;leaf count`, one stack a line. */

enum { MAX_FRAMES = 1 << 16 };

/* Where a frame stands that is not inlined into the one before it, and the stack that it is put on. */
struct folded_start {
	size_t offset, frames; /* in the line; before it */
	uint32_t stack;
};

struct folded_reader {
	struct profile *profile;
	uint32_t thread, kernel_mapping; /* PROFILE_NONE until one is needed */
	size_t line;
	size_t stacks, two_counts; /* lines with a stack, and those of them that seem to end in two counts */
	/* The place at hand: a frame with those inlined into it, outermost first. */
	struct profile_line *frames;
	size_t frame_count, frame_capacity;
	uint32_t mapping;
	/* Of the line at hand and, until that is parsed, of the one before it. */
	const char *text, *end;
	struct folded_start *starts;
	size_t start_count, start_capacity;
};

static bool fail_line(const struct folded_reader *r, struct error *err, const char *why)
{
	return error_set(err, ERROR_FORMAT, "line %zu: %s", r->line, why);
}

/* FlameGraph's marks: `_[k]` kernel, `_[i]` inlined, `_[j]` JIT, `_[w]` waker. */
static char take_mark(const char *frame, size_t *size)
{
	if (*size < 4 || memcmp(frame + *size - 4, "_[", 2) != 0 || frame[*size - 1] != ']' || !strchr("kijw", frame[*size - 2]))
		return '\0';
	*size -= 4;
	return frame[*size + 2];
}

static bool kernel_mapping(struct folded_reader *r, uint32_t *id, struct error *err)
{
	struct profile_mapping mapping = { .kind = PROFILE_MAPPING_KERNEL };

	if (r->kernel_mapping == PROFILE_NONE && (!profile_intern(r->profile, "[kernel.kallsyms]", &mapping.path, err) ||
							 !profile_add_mapping(r->profile, &mapping, &r->kernel_mapping, err)))
		return false;
	*id = r->kernel_mapping;
	return true;
}

/* Puts the place at hand on the stack. A location has its innermost frame first. */
static bool add_place(struct folded_reader *r, uint32_t *stack, struct error *err)
{
	size_t count = r->frame_count;
	uint32_t location;

	if (count == 0)
		return true;
	for (size_t i = 0; i < count / 2; i++) {
		struct profile_line outer = r->frames[i];

		r->frames[i] = r->frames[count - 1 - i];
		r->frames[count - 1 - i] = outer;
	}
	r->frame_count = 0;
	return profile_add_location_of_lines(r->profile, r->mapping, r->frames, count, &location, err) &&
	       profile_add_stack(r->profile, *stack, location, stack, err);
}

static bool start_place(struct folded_reader *r, const char *frame, size_t frames, uint32_t stack, struct error *err)
{
	if (!ARRAY_RESERVE(&r->starts, &r->start_capacity, r->start_count + 1, MAX_FRAMES + 1, err))
		return false;
	r->starts[r->start_count++] = (struct folded_start){ (size_t)(frame - r->text), frames, stack };
	return true;
}

/* A frame's text. */
struct span {
	const char *text;
	size_t size;
};

static bool add_frame(struct folded_reader *r, struct span span, size_t number, uint32_t *stack, struct error *err)
{
	struct profile_function function = { .name_source = PROFILE_NAME_IMPORTED };
	char mark = take_mark(span.text, &span.size);
	struct profile_line *line;

	if (mark != 'i' || r->frame_count == 0) {
		if (!add_place(r, stack, err) || !start_place(r, span.text, number, *stack, err))
			return false;
		r->mapping = PROFILE_NONE;
		if (mark == 'k' && !kernel_mapping(r, &r->mapping, err))
			return false;
	}
	if (r->mapping != PROFILE_NONE)
		function.module = r->profile->mappings[r->mapping].module;
	if (span.size == 0)
		span = (struct span){ "[unnamed]", strlen("[unnamed]") };
	if (!ARRAY_RESERVE(&r->frames, &r->frame_capacity, r->frame_count + 1, MAX_FRAMES, err))
		return false;
	line = &r->frames[r->frame_count++];
	*line = (struct profile_line){ 0 };
	return string_table_add(r->profile->strings, span.text, span.size, &function.name, err) &&
	       profile_add_function(r->profile, &function, &line->function, err);
}

static size_t common_prefix(const char *a, const char *b, size_t most)
{
	size_t size = 0;

	/* Eight at a time: lines of a thousand bytes are common. */
	while (most - size >= sizeof(uint64_t) && memcmp(a + size, b + size, sizeof(uint64_t)) == 0)
		size += sizeof(uint64_t);
	while (size < most && a[size] == b[size])
		size++;
	return size;
}

/*
 * Files are sorted as a rule, so that a line shares most of its frames with the one before: they are known already. Goes on at the
 * last place that is the same in both as a whole, since what follows may be inlined into it.
 */
static struct folded_start resume(struct folded_reader *r, const char *text, const char *end)
{
	size_t before = (size_t)(r->end - r->text), size = (size_t)(end - text);
	size_t shared = common_prefix(r->text, text, before < size ? before : size);

	while (r->start_count > 0 && r->starts[r->start_count - 1].offset > shared)
		r->start_count--;
	r->text = text;
	r->end = end;
	if (r->start_count < 2) {
		r->start_count = 0;
		return (struct folded_start){ 0 };
	}
	/* It will be started again. */
	r->start_count -= 2;
	return r->starts[r->start_count];
}

static bool add_stack(struct folded_reader *r, const char *text, const char *end, uint32_t *stack, struct error *err)
{
	struct folded_start start = resume(r, text, end);
	size_t frames = start.frames;

	*stack = start.stack;
	for (text += start.offset; text < end; frames++) {
		const char *stop = memchr(text, ';', (size_t)(end - text));

		stop = stop ? stop : end;
		if (frames >= MAX_FRAMES)
			return fail_line(r, err, "more than 65,536 frames");
		if (!add_frame(r, (struct span){ text, (size_t)(stop - text) }, frames, stack, err))
			return false;
		text = stop + 1;
	}
	return add_place(r, stack, err);
}

static bool parse_count(const char *text, const char *end, int64_t *count)
{
	uint64_t value = 0;

	if (text == end)
		return false;
	for (; text < end; text++) {
		if (*text < '0' || *text > '9' || !checked_mul(value, 10, &value) ||
			!checked_add(value, (uint64_t)(*text - '0'), &value))
			return false;
	}
	*count = (int64_t)value;
	return value <= INT64_MAX;
}

/* difffolded.pl writes two counts behind every stack; a single line may end in a name with a number. */
static bool has_two_counts(const char *text, const char *space)
{
	const char *before = memrchr(text, ' ', (size_t)(space - text));
	int64_t ignored;

	return before && parse_count(before + 1, space, &ignored);
}

static bool read_line(struct folded_reader *r, const char *text, const char *end, struct error *err)
{
	const char *space;
	int64_t count;
	uint32_t stack;

	while (end > text && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	if (end == text || *text == '#')
		return true;
	space = memrchr(text, ' ', (size_t)(end - text));
	if (!space || !parse_count(space + 1, end, &count))
		return fail_line(r, err, "no count at its end; folded stacks are `root;...;leaf count`");
	r->stacks++;
	r->two_counts += has_two_counts(text, space);
	while (space > text && space[-1] == ' ')
		space--;
	return add_stack(r, text, space, &stack, err) && profile_add_sample(r->profile, stack, r->thread, &count, -1, err);
}

static bool read_lines(struct folded_reader *r, const char *text, size_t size, struct error *err)
{
	const char *end = text + size;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		stop = stop ? stop : end;
		r->line++;
		if (!read_line(r, text, stop, err))
			return false;
		text = stop + 1;
	}
	if (r->stacks > 0 && r->two_counts == r->stacks)
		return error_set(err, ERROR_FORMAT,
			"two counts on every line: this is a difference of two profiles (difffolded.pl); give the two themselves");
	for (size_t i = 0; i < r->profile->sample_count; i++)
		r->profile->quality.samples += (uint64_t)r->profile->values[i];
	return profile_validate(r->profile, err);
}

bool folded_read(const char *text, size_t size, const char *name, struct profile **profile, struct error *err)
{
	struct folded_reader r = { .kernel_mapping = PROFILE_NONE, .text = "", .end = "" };
	struct profile_run run = { .exit_status = -1 };
	struct profile_thread thread = { 0 };
	bool ok;

	if (!profile_create(&r.profile, err))
		return false;
	ok = profile_add_run(r.profile, &run, &thread.run, err) && profile_add_thread(r.profile, &thread, &r.thread, err) &&
	     read_lines(&r, text, size, err);
	free(r.frames);
	free(r.starts);
	if (ok) {
		*profile = r.profile;
		return true;
	}
	profile_destroy(r.profile);
	return error_prefix(err, "cannot read %s", name);
}

/* One line to be written: its text lies in a common buffer. */
struct folded_line {
	size_t offset, size;
	int64_t count;
	const char *base;
};

static int compare_lines(const void *left, const void *right)
{
	const struct folded_line *a = left, *b = right;
	size_t size = a->size < b->size ? a->size : b->size;
	int order = memcmp(a->base + a->offset, b->base + b->offset, size);

	if (order != 0)
		return order;
	return a->size < b->size ? -1 : a->size > b->size;
}

/* A `;` or a line end within a name would break the line. */
static void append_name(const char *name, struct buffer *out)
{
	for (;;) {
		size_t plain = strcspn(name, ";\n\r");

		buffer_append(out, name, plain);
		name += plain;
		if (!*name)
			return;
		buffer_append_byte(out, *name++ == ';' ? ':' : ' ');
	}
}

static void append_location(const struct profile *profile, uint32_t id, struct buffer *out)
{
	const struct profile_location *location = &profile->locations[id];
	bool kernel = location->mapping != PROFILE_NONE && profile->mappings[location->mapping].kind == PROFILE_MAPPING_KERNEL;

	for (uint32_t k = location->line_count; k-- > 0;) {
		const struct profile_line *line = &profile->lines[location->first_line + k];

		buffer_append_byte(out, ';');
		append_name(profile_string(profile, profile->functions[line->function].name), out);
		if (kernel)
			buffer_append_string(out, "_[k]");
		else if (k + 1 < location->line_count)
			buffer_append_string(out, "_[i]");
	}
}

static bool append_stack(
	const struct profile *profile, uint32_t stack, uint32_t **path, size_t *capacity, struct buffer *out, struct error *err)
{
	size_t depth = 0;

	for (; stack; stack = profile->stacks[stack].parent) {
		if (!ARRAY_RESERVE(path, capacity, depth + 1, ARRAY_MAX_IDS, err))
			return false;
		(*path)[depth++] = profile->stacks[stack].location;
	}
	while (depth > 0)
		append_location(profile, (*path)[--depth], out);
	return true;
}

static void append_sorted(struct folded_line *lines, size_t count, struct buffer *out)
{
	qsort(lines, count, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < count;) {
		int64_t sum = 0;
		size_t first = i;

		while (i < count && compare_lines(&lines[first], &lines[i]) == 0)
			sum = saturating_add(sum, lines[i++].count);
		buffer_append(out, lines[first].base + lines[first].offset, lines[first].size);
		buffer_printf(out, " %lld\n", (long long)sum);
	}
}

bool profile_write_folded(const struct profile *profile, struct buffer *out, struct error *err)
{
	CLEANUP(cleanup_free) struct folded_line *lines = calloc(profile->sample_count + 1, sizeof(*lines));
	CLEANUP(cleanup_free) uint32_t *path = NULL;
	size_t capacity = 0;
	struct buffer text;
	bool ok = true;

	if (!lines)
		return error_set_memory(err);
	buffer_init(&text, out->max_bytes);
	for (size_t i = 0; ok && i < profile->sample_count; i++) {
		const struct profile_thread *thread = &profile->threads[profile->samples[i].thread];
		size_t offset = text.size;

		append_name(profile_string(profile, thread->process_name), &text);
		ok = append_stack(profile, profile->samples[i].stack, &path, &capacity, &text, err);
		/* Without a comm the line starts with its first frame. */
		if (text.size > offset && !text.failed && text.data[offset] == ';')
			offset++;
		lines[i] = (struct folded_line){ offset, text.size - offset, profile->values[i * profile->value_type_count], NULL };
	}
	ok = ok && buffer_ok(&text, err);
	for (size_t i = 0; ok && i < profile->sample_count; i++)
		lines[i].base = text.data ? text.data : "";
	if (ok)
		append_sorted(lines, profile->sample_count, out);
	buffer_deinit(&text);
	return ok && buffer_ok(out, err);
}
