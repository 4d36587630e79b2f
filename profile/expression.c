/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/expression.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 200, MOST_REPEATS = 32767 /* RE_DUP_MAX */, SET_BYTES = (UCHAR_MAX + 1) / 8 };

enum expression_step { STEP_SET, STEP_ASSERT, STEP_SPLIT, STEP_JUMP, STEP_MATCH };
enum assertion { AT_START, AT_END, AT_WORD_START, AT_WORD_END, AT_WORD_EDGE, IN_WORD };

/* Jumps are relative, so that a part of the program can be copied to another place. */
struct instruction {
	enum expression_step step;
	int32_t to;    /* STEP_JUMP; of STEP_SPLIT, the other way is the next instruction */
	uint32_t what; /* the set, or the assertion */
};

struct byte_set {
	uint8_t bits[SET_BYTES];
};

struct expression {
	struct instruction *program; /* owned, as all others */
	size_t count, capacity;
	struct byte_set *sets;
	size_t set_count, set_capacity;
	struct byte_set first; /* with which a match may begin */
	bool may_be_empty;     /* a match may be anywhere */
	/*
	 * The state of a match: the states at two positions, those that a position has, and those that lead to others.
	 */
	uint32_t *states[2], *marks, *stack;
	uint32_t position;
};

/* ---- Sets of bytes ---- */

static void set_add(struct byte_set *set, unsigned int byte)
{
	set->bits[byte / 8] |= (uint8_t)(1U << byte % 8);
}

static bool set_has(const struct byte_set *set, unsigned char byte)
{
	return set->bits[byte / 8] >> byte % 8 & 1;
}

static int is_word_byte(int byte)
{
	return isalnum(byte) || byte == '_';
}

static void set_add_class(struct byte_set *set, int (*is_member)(int byte), bool is_negative)
{
	for (unsigned int byte = 1; byte <= UCHAR_MAX; byte++)
		if ((is_member((int)byte) != 0) != is_negative)
			set_add(set, byte);
}

static void set_ignore_case(struct byte_set *set)
{
	for (unsigned int byte = 1; byte <= UCHAR_MAX; byte++)
		if (set_has(set, (unsigned char)byte)) {
			set_add(set, (unsigned int)tolower((int)byte) & UCHAR_MAX);
			set_add(set, (unsigned int)toupper((int)byte) & UCHAR_MAX);
		}
}

static void set_negate(struct byte_set *set)
{
	for (size_t i = 0; i < SET_BYTES; i++)
		set->bits[i] = (uint8_t)~set->bits[i];
}

/* ---- The text ---- */

struct parser {
	struct expression *made;
	const char *at;
	bool ignores_case;
	unsigned int depth;
	struct error *err;
};

static bool expression_refuse(const struct parser *p, const char *why)
{
	return error_set(p->err, ERROR_USAGE, "%s", why);
}

static bool emit(struct parser *p, struct instruction instruction)
{
	struct expression *made = p->made;

	if (made->count >= EXPRESSION_MOST_INSTRUCTIONS)
		return expression_refuse(p, "it is too large, or repeats too much");
	return ARRAY_APPEND(
		&made->program, &made->capacity, &made->count, EXPRESSION_MOST_INSTRUCTIONS, p->err, instruction);
}

/* Puts an instruction before those from `start` on. */
static bool emit_before(struct parser *p, size_t start, struct instruction instruction)
{
	if (!emit(p, instruction))
		return false;
	memmove(&p->made->program[start + 1], &p->made->program[start],
		(p->made->count - 1 - start) * sizeof(*p->made->program));
	p->made->program[start] = instruction;
	return true;
}

static bool emit_set(struct parser *p, const struct byte_set *set)
{
	struct expression *made = p->made;

	if (!ARRAY_APPEND(
		    &made->sets, &made->set_capacity, &made->set_count, EXPRESSION_MOST_INSTRUCTIONS, p->err, *set))
		return false;
	return emit(p, (struct instruction){ .step = STEP_SET, .what = (uint32_t)made->set_count - 1 });
}

static bool emit_byte(struct parser *p, char byte)
{
	struct byte_set set = { 0 };

	set_add(&set, (unsigned char)byte);
	if (p->ignores_case)
		set_ignore_case(&set);
	return emit_set(p, &set);
}

static bool emit_assertion(struct parser *p, enum assertion assertion)
{
	return emit(p, (struct instruction){ .step = STEP_ASSERT, .what = assertion });
}

static bool emit_class(struct parser *p, int (*is_member)(int byte), bool is_negative)
{
	struct byte_set set = { 0 };

	set_add_class(&set, is_member, is_negative);
	return emit_set(p, &set);
}

/* ---- Brackets ---- */

/* Parses "[:alpha:]", behind its first two characters. */
static bool parse_class(struct parser *p, struct byte_set *set)
{
	static const struct {
		const char *name;
		int (*is_member)(int byte);
	} classes[] = { { "alpha:]", isalpha }, { "digit:]", isdigit }, { "alnum:]", isalnum }, { "upper:]", isupper },
		{ "lower:]", islower }, { "space:]", isspace }, { "blank:]", isblank }, { "punct:]", ispunct },
		{ "print:]", isprint }, { "graph:]", isgraph }, { "cntrl:]", iscntrl }, { "xdigit:]", isxdigit } };

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strncmp(p->at, classes[i].name, strlen(classes[i].name)) == 0) {
			set_add_class(set, classes[i].is_member, false);
			p->at += strlen(classes[i].name);
			return true;
		}
	return expression_refuse(p, "a class such as [:alpha:] has an unknown name");
}

/* Parses a byte, also as [.x.] or [=x=]. */
static bool parse_end_of_range(struct parser *p, unsigned char *byte)
{
	const char *at = p->at;

	if (at[0] == '[' && (at[1] == '.' || at[1] == '=')) {
		if (at[2] == '\0' || at[3] != at[1] || at[4] != ']')
			return expression_refuse(p, "[. .] and [= =] have one character");
		*byte = (unsigned char)at[2];
		p->at += 5;
		return true;
	}
	*byte = (unsigned char)*at;
	p->at += *at != '\0';
	return true;
}

static bool parse_member(struct parser *p, struct byte_set *set)
{
	unsigned char first, last;

	if (p->at[0] == '[' && p->at[1] == ':') {
		p->at += 2;
		return parse_class(p, set);
	}
	if (!parse_end_of_range(p, &first))
		return false;
	last = first;
	if (p->at[0] == '-' && p->at[1] != ']' && p->at[1] != '\0') {
		p->at++;
		if (!parse_end_of_range(p, &last))
			return false;
	}
	if (last < first)
		return expression_refuse(p, "a range ends before it begins");
	for (unsigned int byte = first; byte <= last; byte++)
		set_add(set, byte);
	return true;
}

/* Parses from behind its first character. */
static bool parse_bracket(struct parser *p)
{
	struct byte_set set = { 0 };
	bool is_negative = *p->at == '^', is_first = true;

	p->at += is_negative;
	for (; *p->at != '\0' && (is_first || *p->at != ']'); is_first = false)
		if (!parse_member(p, &set))
			return false;
	if (*p->at == '\0')
		return expression_refuse(p, "a bracket is not closed");
	p->at++;
	if (p->ignores_case)
		set_ignore_case(&set);
	if (is_negative)
		set_negate(&set);
	return emit_set(p, &set);
}

/* ---- Atoms ---- */

static bool parse_branches(struct parser *p);

static bool parse_group(struct parser *p)
{
	if (++p->depth > MOST_DEPTH)
		return expression_refuse(p, "its parentheses are nested too deeply");
	if (!parse_branches(p))
		return false;
	p->depth--;
	if (*p->at != ')')
		return expression_refuse(p, "a parenthesis is not closed");
	p->at++;
	return true;
}

static bool parse_escape(struct parser *p)
{
	char byte = *p->at;

	if (byte == '\0')
		return expression_refuse(p, "it ends in a backslash");
	p->at++;
	switch (byte) {
	case 'w':
	case 'W':
		return emit_class(p, is_word_byte, byte == 'W');
	case 's':
	case 'S':
		return emit_class(p, isspace, byte == 'S');
	case 'b':
		return emit_assertion(p, AT_WORD_EDGE);
	case 'B':
		return emit_assertion(p, IN_WORD);
	case '<':
		return emit_assertion(p, AT_WORD_START);
	case '>':
		return emit_assertion(p, AT_WORD_END);
	case '`':
		return emit_assertion(p, AT_START);
	case '\'':
		return emit_assertion(p, AT_END);
	default:
		return byte >= '1' && byte <= '9' ? expression_refuse(p, "back references are not supported")
						  : emit_byte(p, byte);
	}
}

static bool parse_atom(struct parser *p)
{
	struct byte_set any = { 0 };
	char byte = *p->at++;

	switch (byte) {
	case '(':
		return parse_group(p);
	case '[':
		return parse_bracket(p);
	case '\\':
		return parse_escape(p);
	case '^':
		return emit_assertion(p, AT_START);
	case '$':
		return emit_assertion(p, AT_END);
	case '.':
		set_negate(&any);
		return emit_set(p, &any);
	case '*':
	case '+':
	case '?':
	case '{':
		return expression_refuse(p, "nothing stands before a repetition");
	default:
		return emit_byte(p, byte);
	}
}

/* ---- Repetitions ---- */

static bool emit_copy(struct parser *p, const struct instruction *part, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!emit(p, part[i]))
			return false;
	return true;
}

/* Repeats what was emitted from `start` on. `most` INT_MAX: without end. */
static bool repeat(struct parser *p, size_t start, int least, int most)
{
	size_t size = p->made->count - start;
	CLEANUP(cleanup_free) struct instruction *part = malloc((size + 1) * sizeof(*part));
	const int32_t over = (int32_t)size + 1;

	if (!part)
		return error_set_memory(p->err);
	if (size > 0)
		memcpy(part, &p->made->program[start], size * sizeof(*part));
	p->made->count = start;
	for (int i = 0; i < least; i++)
		if (!emit_copy(p, part, size))
			return false;
	if (most == INT_MAX)
		return emit(p, (struct instruction){ .step = STEP_SPLIT, .to = over + 1 }) &&
		       emit_copy(p, part, size) && emit(p, (struct instruction){ .step = STEP_JUMP, .to = -over });
	for (int left = most - least; left > 0; left--)
		if (!emit(p, (struct instruction){ .step = STEP_SPLIT, .to = left * over }) ||
			!emit_copy(p, part, size))
			return false;
	return true;
}

static bool parse_repeats(struct parser *p, int *number)
{
	if (!isdigit((unsigned char)*p->at))
		return expression_refuse(p, "braces hold no repetition, as {2,5}");
	for (*number = 0; isdigit((unsigned char)*p->at); p->at++) {
		*number = *number * 10 + (*p->at - '0');
		if (*number > MOST_REPEATS)
			return expression_refuse(p, "it is too large, or repeats too much");
	}
	return true;
}

/* Parses "{2,5}", behind its first character. */
static bool parse_bounds(struct parser *p, int *least, int *most)
{
	*least = 0;
	if (*p->at != ',' && !parse_repeats(p, least))
		return false;
	*most = *least;
	if (*p->at == ',') {
		p->at++;
		*most = INT_MAX;
		if (*p->at != '}' && !parse_repeats(p, most))
			return false;
	}
	if (*p->at != '}' || *most < *least)
		return expression_refuse(p, "braces hold no repetition, as {2,5}");
	p->at++;
	return true;
}

static bool parse_piece(struct parser *p)
{
	size_t start = p->made->count;
	int least, most;

	if (!parse_atom(p))
		return false;
	while (*p->at != '\0' && strchr("*+?{", *p->at)) {
		char byte = *p->at++;

		least = byte == '+';
		most = byte == '?' ? 1 : INT_MAX;
		if ((byte == '{' && !parse_bounds(p, &least, &most)) || !repeat(p, start, least, most))
			return false;
	}
	return true;
}

/* Parses up to the end, or the parenthesis that closes the group; one that closes none stands for itself. */
static bool parse_branches(struct parser *p)
{
	size_t start = p->made->count, jump = SIZE_MAX;

	while (true) {
		if (*p->at == '\0' || *p->at == '|' || (*p->at == ')' && p->depth > 0)) {
			if (jump != SIZE_MAX)
				p->made->program[jump].to = (int32_t)(p->made->count - jump);
			if (*p->at != '|')
				return true;
			p->at++;
			if (!emit_before(p, start,
				    (struct instruction){
					    .step = STEP_SPLIT, .to = (int32_t)(p->made->count - start) + 2 }) ||
				!emit(p, (struct instruction){ .step = STEP_JUMP }))
				return false;
			jump = p->made->count - 1;
		} else if (!parse_piece(p)) {
			return false;
		}
	}
}

/* ---- Matching ---- */

static bool assertion_holds(enum assertion assertion, const char *text, size_t size, size_t at)
{
	bool before = at > 0 && is_word_byte((unsigned char)text[at - 1]);
	bool behind = at < size && is_word_byte((unsigned char)text[at]);

	switch (assertion) {
	case AT_START:
		return at == 0;
	case AT_END:
		return at == size;
	case AT_WORD_START:
		return !before && behind;
	case AT_WORD_END:
		return before && !behind;
	case AT_WORD_EDGE:
		return before != behind;
	case IN_WORD:
		return before == behind;
	}
	return false;
}

/*
 * The place of a match, and what has been found there. `text` NULL: all assertions hold, as before there is any text.
 */
struct expression_match {
	struct expression *of;
	const char *text;
	size_t size, at;
	uint32_t *states;
	size_t count;
	bool has_matched;
};

/* Adds the states to which an instruction leads without another byte. Each is added once for a position. */
static void add_states(struct expression_match *match, uint32_t instruction)
{
	struct expression *of = match->of;
	size_t waiting = 0;

	of->stack[waiting++] = instruction;
	while (waiting > 0) {
		uint32_t at = of->stack[--waiting];
		const struct instruction *now = &of->program[at];

		if (of->marks[at] == of->position)
			continue;
		of->marks[at] = of->position;
		switch (now->step) {
		case STEP_SET:
			match->states[match->count++] = at;
			break;
		case STEP_ASSERT:
			if (!match->text ||
				assertion_holds((enum assertion)now->what, match->text, match->size, match->at))
				of->stack[waiting++] = at + 1;
			break;
		case STEP_SPLIT:
			of->stack[waiting++] = at + 1;
			of->stack[waiting++] = (uint32_t)((int32_t)at + now->to);
			break;
		case STEP_JUMP:
			of->stack[waiting++] = (uint32_t)((int32_t)at + now->to);
			break;
		case STEP_MATCH:
			match->has_matched = true;
			break;
		}
	}
}

static void next_position(struct expression *of)
{
	if (++of->position == 0) {
		memset(of->marks, 0, of->count * sizeof(*of->marks));
		of->position = 1;
	}
}

bool expression_matches(struct expression *expression, const char *text, size_t size)
{
	struct expression_match match = { .of = expression, .text = text, .size = size };
	size_t before = 0;

	for (size_t at = 0; at <= size; at++) {
		const uint32_t *states = expression->states[(at + 1) % 2];

		if (before == 0 && !expression->may_be_empty &&
			(at == size || !set_has(&expression->first, (unsigned char)text[at])))
			continue;
		next_position(expression);
		match.at = at;
		match.states = expression->states[at % 2];
		match.count = 0;
		for (size_t i = 0; i < before; i++)
			if (set_has(&expression->sets[expression->program[states[i]].what],
				    (unsigned char)text[at - 1]))
				add_states(&match, states[i] + 1);
		add_states(&match, 0);
		if (match.has_matched)
			return true;
		before = match.count;
	}
	return false;
}

/* ---- Making ---- */

static bool make_room_for_states(struct expression *made, struct error *err)
{
	for (size_t i = 0; i < 2; i++)
		made->states[i] = calloc(made->count, sizeof(**made->states));
	made->marks = calloc(made->count, sizeof(*made->marks));
	made->stack = calloc(2 * made->count + 1, sizeof(*made->stack));
	return (made->states[0] && made->states[1] && made->marks && made->stack) || error_set_memory(err);
}

static void find_first_bytes(struct expression *made)
{
	struct expression_match match = { .of = made, .states = made->states[0] };

	next_position(made);
	add_states(&match, 0);
	made->may_be_empty = match.has_matched;
	for (size_t i = 0; i < match.count; i++)
		for (size_t k = 0; k < SET_BYTES; k++)
			made->first.bits[k] |= made->sets[made->program[match.states[i]].what].bits[k];
}

bool expression_create(const char *text, bool ignores_case, struct expression **expression, struct error *err)
{
	struct parser parser = { .at = text, .ignores_case = ignores_case, .err = err };

	parser.made = calloc(1, sizeof(*parser.made));
	if (!parser.made)
		return error_set_memory(err);
	if (!parse_branches(&parser) || !emit(&parser, (struct instruction){ .step = STEP_MATCH }) ||
		!make_room_for_states(parser.made, err)) {
		expression_destroy(parser.made);
		return false;
	}
	find_first_bytes(parser.made);
	*expression = parser.made;
	return true;
}

void expression_destroy(struct expression *expression)
{
	if (!expression)
		return;
	free(expression->program);
	free(expression->sets);
	free(expression->states[0]);
	free(expression->states[1]);
	free(expression->marks);
	free(expression->stack);
	free(expression);
}
