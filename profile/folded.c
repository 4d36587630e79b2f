/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads Brendan Gregg's folded stacks (FlameGraph, stackcollapse-*.pl): `root;...;leaf count`, one stack a line. */
#include "profile/model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FRAMES = 1 << 16, PIECE_BYTES = 1 << 20 };
/* Two units only, so that most files of weights can be compared: the second is that of seconds in nanoseconds. */
enum { USUAL_DECIMALS = 6, MAX_DECIMALS = 9, MAX_EXPONENT_DIGITS = 3 };
static const size_t max_piece_bytes = (size_t)1 << 31;

/*
 * The state from which reading a line goes on: a frame that is not inlined into the one before it, and the stack of its
 * callers.
 */
struct folded_start {
	size_t offset, frames; /* offset of the frame in the line; frames before it */
	uint32_t stack;
};

struct folded_reader {
	struct profile *profile;
	uint32_t thread, kernel_mapping; /* `kernel_mapping`: PROFILE_NONE until a frame of the kernel is met */
	size_t line;
	size_t stacks, two_counts; /* lines with a stack; lines with a stack that seem to end in two counts */
	unsigned int decimals;     /* weights are kept in this power of ten's parts of one: 0, 6 or 9 */
	/* The location that is being read: a frame with those inlined into it, outermost first. */
	struct profile_line *frames;
	size_t frame_count, frame_capacity;
	uint32_t mapping;
	struct buffer name; /* scratch */
	/* The line that is being read; until that is parsed, the line before it. */
	const char *text, *end;
	struct folded_start *starts;
	size_t start_count, start_capacity;
};

static void folded_reader_deinit(struct folded_reader *r)
{
	profile_destroy(r->profile);
	free(r->frames);
	free(r->starts);
	buffer_deinit(&r->name);
}

static bool fail_line(const struct folded_reader *r, struct error *err, const char *why)
{
	return error_set(err, ERROR_FORMAT, "line %zu: %s", r->line, why);
}

/* FlameGraph's annotations of frames: `_[k]` kernel, `_[i]` inlined, `_[j]` JIT, `_[w]` waker. */
static char take_mark(const char *frame, size_t *size)
{
	if (*size < 4 || memcmp(frame + *size - 4, "_[", 2) != 0 || frame[*size - 1] != ']' ||
		!strchr("kijw", frame[*size - 2]))
		return '\0';
	*size -= 4;
	return frame[*size + 2];
}

static bool kernel_mapping(struct folded_reader *r, uint32_t *id, struct error *err)
{
	struct profile_mapping mapping = { .kind = PROFILE_MAPPING_KERNEL };

	if (r->kernel_mapping == PROFILE_NONE &&
		(!profile_intern(r->profile, "[kernel.kallsyms]", &mapping.path, err) ||
			!profile_add_mapping(r->profile, &mapping, &r->kernel_mapping, err)))
		return false;
	*id = r->kernel_mapping;
	return true;
}

/* Puts the location that is being read on the stack. A location has its innermost frame first. */
static bool profile_folded_add_location(struct folded_reader *r, uint32_t *stack, struct error *err)
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

static bool start_location(struct folded_reader *r, const char *frame, size_t frames, uint32_t stack, struct error *err)
{
	return ARRAY_APPEND(&r->starts, &r->start_capacity, &r->start_count, MAX_FRAMES + 1, err,
		(struct folded_start){ (size_t)(frame - r->text), frames, stack });
}

static bool profile_folded_add_frame(
	struct folded_reader *r, struct profile_frame_span span, size_t number, uint32_t *stack, struct error *err)
{
	struct profile_function function = { .name_source = PROFILE_NAME_IMPORTED };
	struct profile_frame_text parts;
	char mark = take_mark(span.text, &span.size);
	struct profile_line *line;

	if (mark != 'i' || r->frame_count == 0) {
		if (!profile_folded_add_location(r, stack, err) || !start_location(r, span.text, number, *stack, err))
			return false;
		r->mapping = PROFILE_NONE;
		if (mark == 'k' && !kernel_mapping(r, &r->mapping, err))
			return false;
	}
	if (r->mapping != PROFILE_NONE)
		function.module = r->profile->mappings[r->mapping].module;
	if (span.size == 0)
		span = (struct profile_frame_span){ "[unnamed]", strlen("[unnamed]") };
	if (!ARRAY_RESERVE(&r->frames, &r->frame_capacity, r->frame_count + 1, MAX_FRAMES, err))
		return false;
	parts = profile_frame_split(span, &r->name);
	line = &r->frames[r->frame_count++];
	*line = (struct profile_line){ .line = parts.line };
	return buffer_ok(&r->name, err) &&
	       string_table_add(r->profile->strings, parts.name.text, parts.name.size, &function.name, err) &&
	       string_table_add(r->profile->strings, parts.file.text, parts.file.size, &function.file, err) &&
	       profile_add_function(r->profile, &function, &line->function, err);
}

static size_t common_prefix(const char *a, const char *b, size_t most)
{
	size_t size = 0;

	/* Eight bytes at a time: lines of a thousand bytes are common. */
	while (most - size >= sizeof(uint64_t) && memcmp(a + size, b + size, sizeof(uint64_t)) == 0)
		size += sizeof(uint64_t);
	while (size < most && a[size] == b[size])
		size++;
	return size;
}

/*
 * Files are usually sorted, so a line shares most of its frames with the line before, whose stack is known already.
 * Reading goes on at the last location that both lines share as a whole, because the frame after it may be inlined into
 * it.
 */
static struct folded_start folded_resume(struct folded_reader *r, const char *text, const char *end)
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
	/* The last shared location is read again, since more frames may be inlined into it. */
	r->start_count -= 2;
	return r->starts[r->start_count];
}

/*
 * Returns the end of a descriptor of Java, `(ILjava/lang/String;)V`, whose first ";" is at `stop`; NULL: it is in none.
 */
static const char *end_of_descriptor(const char *text, const char *stop, const char *end)
{
	const char *open = memrchr(text, '(', (size_t)(stop - text)), *at;

	if (!open || open == text)
		return NULL;
	at = open + 1 + strspn(open + 1, "BCDFIJSZ[");
	if (at >= stop || *at != 'L')
		return NULL;
	for (; at < end && *at != ')'; at++)
		if (!isalnum((unsigned char)*at) && !strchr("/$_;[", *at) && !((unsigned char)*at & 0x80))
			return NULL;
	return at < end ? at + 1 : NULL;
}

/* Returns the end of type arguments of Go, `[go.shape.struct { A int; B int }]`, likewise. */
static const char *end_of_structure(const char *text, const char *stop, const char *end)
{
	const char *open = memchr(text, '[', (size_t)(stop - text));
	size_t depth = 0;

	if (!open || !memmem(open, (size_t)(stop - open), " {", 2))
		return NULL;
	for (const char *at = open; at < end; at++) {
		depth += *at == '[';
		if (*at == ']' && --depth == 0)
			return at + 1;
	}
	return NULL;
}

/* Returns the end of the frame at `text`: the next ";" that is no part of a function's name. */
static const char *folded_frame_end(const char *text, const char *end)
{
	const char *stop = memchr(text, ';', (size_t)(end - text)), *inner;

	if (!stop)
		return end;
	inner = end_of_descriptor(text, stop, end);
	inner = inner ? inner : end_of_structure(text, stop, end);
	stop = inner ? memchr(inner, ';', (size_t)(end - inner)) : stop;
	return stop ? stop : end;
}

static bool profile_folded_add_stack(
	struct folded_reader *r, const char *text, const char *end, uint32_t *stack, struct error *err)
{
	struct folded_start start = folded_resume(r, text, end);
	size_t frames = start.frames;

	*stack = start.stack;
	for (text += start.offset; text < end; frames++) {
		const char *stop = folded_frame_end(text, end);

		if (frames >= MAX_FRAMES)
			return fail_line(r, err, "more than 65,536 frames");
		if (!profile_folded_add_frame(
			    r, (struct profile_frame_span){ text, (size_t)(stop - text) }, frames, stack, err))
			return false;
		text = stop + 1;
	}
	return profile_folded_add_location(r, stack, err);
}

/* ---- Counts ---- */

/* The number at the end of a line: `digits` without the point. Weights may have decimals, as FlameGraph's may. */
struct folded_number {
	int64_t digits;
	unsigned int decimals; /* at most MAX_DECIMALS; zeros at the end are none */
	bool is_negative;
};

static bool multiply_by_ten(int64_t *value, unsigned int times)
{
	while (times-- > 0)
		if (__builtin_mul_overflow(*value, 10, value))
			return false;
	return true;
}

/* Cuts an exponent from the end of a number, as of `1e+06`, which awk and R write. False: what looks like one is none.
 */
static bool take_exponent(const char *text, const char **end, int *exponent)
{
	const char *mark = memchr(text, 'e', (size_t)(*end - text)), *at;
	bool is_negative;

	*exponent = 0;
	mark = mark ? mark : memchr(text, 'E', (size_t)(*end - text));
	if (!mark)
		return true;
	at = mark + 1;
	is_negative = at < *end && *at == '-';
	at += at < *end && (*at == '-' || *at == '+');
	if (at == *end || *end - at > MAX_EXPONENT_DIGITS)
		return false;
	for (; at < *end; at++) {
		if (!isdigit((unsigned char)*at))
			return false;
		*exponent = *exponent * 10 + (*at - '0');
	}
	*exponent = is_negative ? -*exponent : *exponent;
	*end = mark;
	return true;
}

/* A number that is too large has more decimals than the most. */
static bool parse_number(const char *text, const char *end, struct folded_number *number)
{
	const char *point;
	int decimals = 0, exponent;
	bool fits = true;

	*number = (struct folded_number){ 0 };
	if (text < end && *text == '-') {
		number->is_negative = true;
		text++;
	}
	if (!take_exponent(text, &end, &exponent))
		return false;
	point = memchr(text, '.', (size_t)(end - text));
	while (point && end[-1] == '0')
		end--;
	if (text == end || !isdigit((unsigned char)*text))
		return false;
	for (; text < end; text++) {
		if (text == point)
			continue;
		if (!isdigit((unsigned char)*text))
			return false;
		if (point && text > point && decimals - exponent >= MAX_DECIMALS)
			continue;
		fits = fits && multiply_by_ten(&number->digits, 1) &&
		       !__builtin_add_overflow(number->digits, *text - '0', &number->digits);
		decimals += point && text > point;
	}
	for (decimals -= exponent; decimals > MAX_DECIMALS; decimals--)
		number->digits /= 10;
	for (; decimals < 0 && fits && number->digits > 0; decimals++)
		fits = multiply_by_ten(&number->digits, 1);
	number->decimals = decimals < 0 ? 0 : (unsigned int)decimals;
	while (number->decimals > 0 && number->digits % 10 == 0) {
		number->digits /= 10;
		number->decimals--;
	}
	if (!fits)
		*number = (struct folded_number){ INT64_MAX, MAX_DECIMALS + 1, number->is_negative };
	return true;
}

/* Takes a weight in the unit of those before it; where it needs a smaller one, they are brought to that. */
static bool scale_weight(
	struct folded_reader *r, const struct folded_number *number, int64_t *weight, struct error *err)
{
	unsigned int needed = number->decimals == 0                ? 0
			      : number->decimals <= USUAL_DECIMALS ? USUAL_DECIMALS
								   : MAX_DECIMALS;
	bool fits = number->decimals <= MAX_DECIMALS;

	for (size_t i = 0; needed > r->decimals && fits && i < r->profile->sample_count; i++)
		fits = multiply_by_ten(&r->profile->values[2 * i + 1], needed - r->decimals);
	if (needed > r->decimals)
		r->decimals = needed;
	*weight = number->digits;
	return (fits && multiply_by_ten(weight, r->decimals - number->decimals)) ||
	       fail_line(r, err, "its count is too large");
}

static bool is_space_or_tab(char c)
{
	return c == ' ' || c == '\t';
}

/* Returns the last space or tab of a text; NULL: there is none. */
static const char *last_blank(const char *text, const char *end)
{
	while (end > text && !is_space_or_tab(end[-1]))
		end--;
	return end > text ? end - 1 : NULL;
}

/*
 * difffolded.pl writes two counts behind every stack. One line alone does not prove it: a function's name may end in a
 * number.
 */
static bool has_two_counts(const char *text, const char *space)
{
	const char *before = last_blank(text, space);
	struct folded_number ignored;

	return before && parse_number(before + 1, space, &ignored);
}

/* Skips the frames that stand for the thread, and finds that. */
static bool profile_folded_find_thread(
	struct folded_reader *r, const char **text, const char *end, uint32_t *thread, struct error *err)
{
	struct profile_frame_owner owner;
	struct profile_thread found = { 0 };
	size_t skipped = profile_frame_owner((struct profile_frame_span){ *text, (size_t)(end - *text) }, &owner);

	*thread = r->thread;
	if (skipped == 0)
		return true;
	*text += skipped;
	found.pid = owner.pid;
	found.tid = owner.tid;
	return string_table_add(
		       r->profile->strings, owner.process.text, owner.process.size, &found.process_name, err) &&
	       string_table_add(r->profile->strings, owner.thread.text, owner.thread.size, &found.name, err) &&
	       profile_add_thread(r->profile, &found, thread, err);
}

static bool folded_read_line(struct folded_reader *r, const char *text, const char *end, struct error *err)
{
	const char *space;
	struct folded_number number;
	int64_t values[2] = { 1, 0 };
	uint32_t stack, thread;

	while (end > text && (end[-1] == '\r' || is_space_or_tab(end[-1])))
		end--;
	if (end == text || *text == '#')
		return true;
	space = last_blank(text, end);
	if (!space || !parse_number(space + 1, end, &number))
		return fail_line(r, err, "no count at its end; folded stacks are `root;...;leaf count`");
	if (number.is_negative && number.digits > 0)
		return fail_line(r, err,
			"its count is below 0: this is a difference of two profiles, as of what a heap took and gave back; give the two themselves");
	if (!scale_weight(r, &number, &values[1], err))
		return false;
	r->stacks++;
	r->two_counts += has_two_counts(text, space);
	while (space > text && is_space_or_tab(space[-1]))
		space--;
	return profile_folded_find_thread(r, &text, space, &thread, err) &&
	       profile_folded_add_stack(r, text, space, &stack, err) &&
	       profile_add_sample(r->profile, stack, thread, values, -1, err);
}

static bool profile_folded_read_lines(struct folded_reader *r, const char *text, size_t size, struct error *err)
{
	const char *end = text + size;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		stop = stop ? stop : end;
		r->line++;
		if (!folded_read_line(r, text, stop, err))
			return false;
		text = stop + 1;
	}
	return true;
}

static bool folded_begin(struct folded_reader *r, struct error *err)
{
	struct profile_run run = { .exit_status = -1 };
	struct profile_thread thread = { 0 };

	*r = (struct folded_reader){ .kernel_mapping = PROFILE_NONE, .text = "", .end = "" };
	buffer_init(&r->name, max_piece_bytes);
	return profile_create(&r->profile, err) && profile_add_value_type(r->profile, "weight", "", err) &&
	       profile_add_run(r->profile, &run, &thread.run, err) &&
	       profile_add_thread(r->profile, &thread, &r->thread, err);
}

/* The weights equal the numbers of samples, so they need no value type of their own. */
static void drop_weights(struct profile *profile)
{
	for (size_t i = 0; i < profile->sample_count; i++)
		profile->values[i] = profile->values[2 * i + 1];
	profile->value_type_count = 1;
	profile->default_value_type = 0;
}

/* Numbers with decimals count no samples. Their unit tells which part of one it is. */
static bool settle_decimals(struct profile *profile, unsigned int decimals, struct error *err)
{
	profile->default_value_type = 1;
	profile->counts_of[0] = profile->counts_of[1] = PROFILE_NONE;
	return profile_intern(
		profile, decimals == USUAL_DECIMALS ? "1/1000000" : "1/1000000000", &profile->value_types[1].unit, err);
}

static bool settle_weights(struct profile *profile, struct error *err)
{
	int64_t period;

	if (profile->sample_count == 0 ||
		weights_kind(profile->values + 1, profile->sample_count, 2, &period) == WEIGHTS_COUNTS) {
		drop_weights(profile);
		return true;
	}
	profile->default_value_type = 1;
	profile->weight_is_unnamed = !weights_is_clock_period(period);
	if (!profile->weight_is_unnamed &&
		(!profile_intern(profile, "time", &profile->value_types[1].type, err) ||
			!profile_intern(profile, "nanoseconds", &profile->value_types[1].unit, err)))
		return false;
	weights_settle(profile, 1);
	return true;
}

static bool folded_check(struct folded_reader *r, struct error *err)
{
	if (r->stacks > 0 && r->two_counts == r->stacks)
		return error_set(err, ERROR_FORMAT,
			"two counts on every line: this is a difference of two profiles (difffolded.pl); give the two themselves");
	r->profile->weight_is_unnamed = true;
	if (!profile_validate(r->profile, err) ||
		!(r->decimals ? settle_decimals(r->profile, r->decimals, err) : settle_weights(r->profile, err)))
		return false;
	for (size_t i = 0; i < r->profile->sample_count; i++)
		r->profile->quality.samples += (uint64_t)r->profile->values[i * r->profile->value_type_count];
	return true;
}

/* ---- Reading in pieces ---- */

/* The part of the text that is in memory: from the line before the one being read, because the two are compared. */
struct folded_piece {
	char *bytes; /* owned */
	size_t size, capacity;
	size_t done; /* the bytes before this offset have been read */
};

static void piece_deinit(struct folded_piece *piece)
{
	free(piece->bytes);
}

/* Moves the bytes that are still needed to the start of the buffer, so that there is room behind them. */
static bool move_on(struct folded_reader *r, struct folded_piece *piece, struct error *err)
{
	size_t before = r->stacks ? (size_t)(r->text - piece->bytes) : piece->done,
	       before_size = (size_t)(r->end - r->text);
	char *moved;

	memmove(piece->bytes, piece->bytes + before, piece->size - before);
	piece->size -= before;
	piece->done -= before;
	if (piece->size == piece->capacity) {
		if (piece->capacity >= max_piece_bytes)
			return error_set(
				err, ERROR_LIMIT, "line %zu is longer than %zu bytes", r->line + 1, max_piece_bytes);
		moved = realloc(piece->bytes, 2 * piece->capacity);
		if (!moved)
			return error_set_memory(err);
		piece->bytes = moved;
		piece->capacity *= 2;
	}
	if (r->stacks) {
		r->text = piece->bytes;
		r->end = r->text + before_size;
	}
	return true;
}

static bool read_whole_lines(struct folded_reader *r, struct folded_piece *piece, struct error *err)
{
	const char *last = memrchr(piece->bytes + piece->done, '\n', piece->size - piece->done);
	size_t end = last ? (size_t)(last + 1 - piece->bytes) : piece->done;
	bool ok = profile_folded_read_lines(r, piece->bytes + piece->done, end - piece->done, err);

	piece->done = end;
	return ok;
}

static bool profile_folded_read_pieces(struct folded_reader *r, struct folded_piece *piece,
	const struct text_source *text, bool *failed, struct error *err)
{
	size_t got = 1;

	while (got > 0) {
		if (!read_whole_lines(r, piece, err) || !move_on(r, piece, err))
			return false;
		*failed = !text->read(
			text->context, piece->bytes + piece->size, piece->capacity - piece->size, &got, err);
		if (*failed)
			return false;
		piece->size += got;
	}
	return profile_folded_read_lines(r, piece->bytes + piece->done, piece->size - piece->done, err) &&
	       folded_check(r, err);
}

static bool read_all_pieces(struct folded_reader *r, const struct text_source *text, bool *failed, struct error *err)
{
	CLEANUP(piece_deinit)
	struct folded_piece piece = { .capacity = text->head_bytes > PIECE_BYTES ? text->head_bytes : PIECE_BYTES };

	piece.bytes = malloc(piece.capacity);
	if (!piece.bytes)
		return error_set_memory(err);
	if (text->head_bytes)
		memcpy(piece.bytes, text->head, text->head_bytes);
	piece.size = text->head_bytes;
	return profile_folded_read_pieces(r, &piece, text, failed, err);
}

bool profile_read_folded(const struct text_source *text, const char *name, size_t most_stacks, struct profile **profile,
	struct error *err)
{
	CLEANUP(folded_reader_deinit) struct folded_reader r;
	bool failed = false, is_read;

	if (!folded_begin(&r, err))
		return false;
	profile_limit_stacks(r.profile, most_stacks);
	is_read = text->read
			  ? read_all_pieces(&r, text, &failed, err)
			  : profile_folded_read_lines(&r, text->head, text->head_bytes, err) && folded_check(&r, err);
	if (!is_read)
		return failed ? false : error_prefix(err, "cannot read %s", name);
	*profile = TAKE(r.profile);
	return true;
}
