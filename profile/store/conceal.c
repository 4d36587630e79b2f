/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/conceal.h"

#include <ctype.h>
#include <string.h>

/* A text, and where each byte of it stands in the one that is to be shown. */
struct view {
	char *bytes;       /* owned; a NUL ends them */
	size_t *from, *to; /* owned: bytes[i] is written by the bytes from[i] to to[i] - 1 */
	size_t size;
};

static void view_deinit(struct view *view)
{
	free(view->bytes);
	free(view->from);
	free(view->to);
}

static bool view_init(struct view *view, size_t room)
{
	*view = (struct view){ .bytes = malloc(room + 1),
		.from = calloc(room + 1, sizeof(*view->from)),
		.to = calloc(room + 1, sizeof(*view->to)) };
	return view->bytes && view->from && view->to;
}

/* ---- Forms of text ---- */

/* Returns the value of `count` digits, or -1. */
static int conceal_hex_value(const char *text, size_t count)
{
	struct text_cursor digits = text_over(text, strnlen(text, count));
	uint64_t value;

	return text_left(digits) == count && text_take_hex(&digits, &value) && text_left(digits) == 0 ? (int)value : -1;
}

/* Several bytes of a text that stand for one. */
struct escape {
	size_t size;       /* of the text; 0: it is none */
	uint32_t code;     /* a byte, or a character */
	bool is_character; /* which secrets have in UTF-8 */
};

/* Reads "&#38;", "&#x26;" or "&amp;". */
static struct escape read_reference(const char *text)
{
	static const struct {
		const char *name;
		char byte;
	} names[] = { { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' }, { "&apos;", '\'' } };
	char *end;

	if (text[1] == '#') {
		bool is_hex = (text[2] | 0x20) == 'x';
		const char *digits = text + (is_hex ? 3 : 2);
		unsigned long code = strtoul(digits, &end, is_hex ? 16 : 10);
		size_t size = isxdigit((unsigned char)*digits) && *end == ';' ? (size_t)(end - text) + 1 : 0;

		return (struct escape){ size, code <= UINT32_MAX ? (uint32_t)code : 0, true };
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(text, names[i].name, strlen(names[i].name)) == 0)
			return (struct escape){ strlen(names[i].name), (uint32_t)names[i].byte, true };
	return (struct escape){ 0 };
}

/* Reads "\u00e9", or a pair of surrogates (RFC 8259, 7). */
static struct escape conceal_read_unit(const char *text)
{
	enum { UNIT_BYTES = 6, HIGH = 0xd800, LOW = 0xdc00, SURROGATES = 0x400 };
	int high = conceal_hex_value(text + 2, 4), low;

	if (high < 0)
		return (struct escape){ 0 };
	if (high < HIGH || high >= LOW || text[UNIT_BYTES] != '\\' || text[UNIT_BYTES + 1] != 'u')
		return (struct escape){ UNIT_BYTES, (uint32_t)high, true };
	low = conceal_hex_value(text + UNIT_BYTES + 2, 4);
	if (low < LOW || low >= LOW + SURROGATES)
		return (struct escape){ UNIT_BYTES, (uint32_t)high, true };
	return (struct escape){ (size_t)2 * UNIT_BYTES, (uint32_t)(0x10000 + (high - HIGH) * SURROGATES + low - LOW),
		true };
}

/* Returns a byte or character that is written in several; the text ends with a NUL. */
static struct escape conceal_read_escape(const char *text)
{
	int byte;

	switch (text[0]) {
	case '+': /* as forms write a space */
		return (struct escape){ 1, ' ', false };
	case '%':
		byte = conceal_hex_value(text + 1, 2);
		return byte > 0 ? (struct escape){ 3, (uint32_t)byte, false } : (struct escape){ 0 };
	case '&':
		return read_reference(text);
	case '\\':
		if (text[1] == 'u')
			return conceal_read_unit(text);
		byte = text[1] == 'x' ? conceal_hex_value(text + 2, 2) : -1;
		if (byte > 0)
			return (struct escape){ 4, (uint32_t)byte, false };
		return text[1] && ispunct((unsigned char)text[1]) ? (struct escape){ 2, (unsigned char)text[1], false }
								  : (struct escape){ 0 };
	default:
		return (struct escape){ 0 };
	}
}

/* Writes a character in UTF-8 (RFC 3629). Returns how many bytes; 0: there is no such character. */
static size_t write_character(uint32_t code, char bytes[4])
{
	size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	static const unsigned char first[] = { 0, 0xc0, 0xe0, 0xf0 };

	if (code == 0 || code > 0x10ffff)
		return 0;
	bytes[0] = (char)(first[more] | code >> 6 * more);
	for (size_t i = 1; i <= more; i++)
		bytes[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3f));
	return more + 1;
}

/* No form of a character is shorter than the character. */
static bool decode_view(const struct view *view, struct view *decoded)
{
	if (!view_init(decoded, view->size))
		return false;
	for (size_t at = 0, size; at < view->size; at += size) {
		struct escape escape = conceal_read_escape(view->bytes + at);
		char bytes[4] = { (char)escape.code };
		size_t count = escape.is_character ? write_character(escape.code, bytes) : 1;

		size = escape.size > 0 && count > 0 ? escape.size : 1;
		if (size != escape.size) {
			bytes[0] = view->bytes[at];
			count = 1;
		}
		for (size_t i = 0; i < count; i++, decoded->size++) {
			decoded->bytes[decoded->size] = bytes[i];
			decoded->from[decoded->size] = view->from[at];
			decoded->to[decoded->size] = view->to[at + size - 1];
		}
	}
	decoded->bytes[decoded->size] = '\0';
	return true;
}

/*
 * Pairs of hexadecimal digits as bytes, where the first pair begins at `first`. What is no pair is a NUL, which no
 * secret has.
 */
static bool decode_hex(const struct view *view, size_t first, struct view *decoded)
{
	if (!view_init(decoded, view->size / 2))
		return false;
	for (size_t at = first; at + 1 < view->size; at += 2, decoded->size++) {
		int byte = conceal_hex_value(view->bytes + at, 2);

		decoded->bytes[decoded->size] = (char)(byte > 0 ? byte : 0);
		decoded->from[decoded->size] = view->from[at];
		decoded->to[decoded->size] = view->to[at + 1];
	}
	decoded->bytes[decoded->size] = '\0';
	return true;
}

/* ---- Forms of a secret ---- */

/* Returns how characters of both are compared: one form has two alphabets. */
static char plain(char byte)
{
	return byte;
}

static char of_base64(char byte)
{
	return (char)(byte == '-' ? '+' : byte == '_' ? '/' : byte);
}

/*
 * Returns the characters of Base64 (RFC 4648) that `secret` determines where `before` bytes stand before it. The last
 * one may be that of its end, which is another one where more bytes follow.
 */
static char *write_base64(const char *secret, size_t before)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t bits = 8 * (before + strlen(secret)), used = 0;
	char *text = malloc(bits / 6 + 2);

	for (size_t bit = (8 * before + 5) / 6 * 6; text && bit < bits; bit += 6) {
		size_t at = bit / 8 - before;
		unsigned int two = (unsigned int)(unsigned char)secret[at] << 8 | (unsigned char)secret[at + 1];

		text[used++] = digits[two >> (10 - bit % 8) & 63];
	}
	if (text)
		text[used] = '\0';
	return text;
}

/* ---- Finding ---- */

/* Marks what of the view is a part of the needle, of `least` bytes or all of it. */
static bool mark_parts(const struct view *view, const char *needle, size_t least, char (*fold)(char), bool *is_hidden)
{
	size_t size = strlen(needle);
	size_t *runs = calloc(size + 1, sizeof(*runs)); /* runs[j + 1]: of equal bytes that end at the needle's j */

	if (!runs)
		return false;
	least = least < size ? least : size;
	for (size_t i = 0; i < view->size; i++)
		for (size_t j = size; j-- > 0;) {
			runs[j + 1] = fold(view->bytes[i]) == fold(needle[j]) ? runs[j] + 1 : 0;
			if (runs[j + 1] < least)
				continue;
			for (size_t at = view->from[i + 1 - least]; at < view->to[i]; at++)
				is_hidden[at] = true;
		}
	free(runs);
	return true;
}

static bool mark_owned(const struct view *view, char *needle, size_t least, char (*fold)(char), bool *is_hidden)
{
	/* A shorter one stands in many a word. */
	enum { LEAST_PART = 5 };
	bool ok = needle && (least < LEAST_PART || mark_parts(view, needle, least, fold, is_hidden));

	if (needle)
		explicit_bzero(needle, strlen(needle));
	free(needle);
	return ok;
}

static bool mark_base64(const struct view *view, const char *secret, size_t before, bool *is_hidden)
{
	char *text = write_base64(secret, before);
	size_t sure = text && text[0] ? strlen(text) - 1 : 0;

	return mark_owned(view, text, sure < CONCEAL_LEAST ? sure : CONCEAL_LEAST, of_base64, is_hidden);
}

static bool mark_secret(const struct view *view, const char *secret, bool *is_hidden)
{
	bool ok = mark_parts(view, secret, CONCEAL_LEAST, plain, is_hidden);

	for (size_t before = 0; ok && before < 3; before++)
		ok = mark_base64(view, secret, before, is_hidden);
	return ok;
}

static bool mark_all(const struct view *view, const struct store_secrets *secrets, bool *is_hidden)
{
	char *both = NULL;
	bool ok;

	if (secrets->token && !mark_secret(view, secrets->token, is_hidden))
		return false;
	if (!secrets->user)
		return true;
	if (asprintf(&both, "%s:%s", secrets->user, secrets->password ? secrets->password : "") < 0)
		return false;
	ok = mark_base64(view, both, 0, is_hidden);
	explicit_bzero(both, strlen(both));
	free(both);
	return ok && (!secrets->password || mark_secret(view, secrets->password, is_hidden));
}

static bool mark_with_hex(const struct view *view, const struct store_secrets *secrets, bool *is_hidden)
{
	bool ok = mark_all(view, secrets, is_hidden);

	for (size_t first = 0; ok && first < 2; first++) {
		CLEANUP(view_deinit) struct view decoded = { 0 };

		ok = decode_hex(view, first, &decoded) && mark_all(&decoded, secrets, is_hidden);
	}
	return ok;
}

static bool mark_views(const struct store_secrets *secrets, const char *text, bool *is_hidden)
{
	enum { VIEWS = 3 };
	CLEANUP(view_deinit) struct view raw = { 0 }, once = { 0 }, twice = { 0 };

	if (!view_init(&raw, strlen(text)))
		return false;
	for (const char *at = text; *at; at++, raw.size++) {
		raw.bytes[raw.size] = *at;
		raw.from[raw.size] = raw.size;
		raw.to[raw.size] = raw.size + 1;
	}
	raw.bytes[raw.size] = '\0';
	return decode_view(&raw, &once) && decode_view(&once, &twice) && mark_with_hex(&raw, secrets, is_hidden) &&
	       mark_with_hex(&once, secrets, is_hidden) && mark_with_hex(&twice, secrets, is_hidden);
}

void conceal_secrets(const struct store_secrets *secrets, char *text)
{
	size_t size = strlen(text), used = 0, run = 0;
	CLEANUP(cleanup_free) bool *is_hidden = calloc(size + 1, sizeof(*is_hidden));

	if (!is_hidden || !mark_views(secrets, text, is_hidden)) {
		text[0] = '\0';
		return;
	}
	for (size_t i = 0; i < size; i++) {
		run = is_hidden[i] ? run + 1 : 0;
		if (run <= 3)
			text[used++] = (char)(run > 0 ? '*' : text[i]);
	}
	text[used] = '\0';
}
