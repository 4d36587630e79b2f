/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/conceal.h"

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

/* The value of `count` digits, or -1. */
static int hex_value(const char *text, size_t count)
{
	int value = 0;

	for (size_t i = 0; i < count; i++) {
		if (!isxdigit((unsigned char)text[i]))
			return -1;
		value = value * 16 + (isdigit((unsigned char)text[i]) ? text[i] - '0' : (text[i] | 0x20) - 'a' + 10);
	}
	return value;
}

/* "&#38;", "&#x26;" or "&amp;": its length, 0 if it is none. */
static size_t read_reference(const char *text, int *byte)
{
	static const struct {
		const char *name;
		int byte;
	} names[] = { { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' }, { "&apos;", '\'' } };
	char *end;

	if (text[1] == '#') {
		bool is_hex = (text[2] | 0x20) == 'x';
		const char *digits = text + (is_hex ? 3 : 2);

		*byte = (int)strtoul(digits, &end, is_hex ? 16 : 10);
		return isxdigit((unsigned char)*digits) && *end == ';' ? (size_t)(end - text) + 1 : 0;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(text, names[i].name, strlen(names[i].name)) == 0) {
			*byte = names[i].byte;
			return strlen(names[i].name);
		}
	return 0;
}

/* A byte that is written in several; the text ends with a NUL. Returns how many, 0 if it is none. */
static size_t read_escape(const char *text, int *byte)
{
	*byte = -1;
	switch (text[0]) {
	case '+': /* as forms write a space */
		*byte = ' ';
		return 1;
	case '%':
		*byte = hex_value(text + 1, 2);
		return *byte >= 0 ? 3 : 0;
	case '&':
		return read_reference(text, byte);
	case '\\':
		if (text[1] == 'u' || text[1] == 'x') {
			size_t digits = text[1] == 'u' ? 4 : 2;

			*byte = hex_value(text + 2, digits);
			return *byte >= 0 ? 2 + digits : 0;
		}
		*byte = (unsigned char)text[1];
		return text[1] && ispunct((unsigned char)text[1]) ? 2 : 0;
	default:
		return 0;
	}
}

static bool decode_view(const struct view *view, struct view *decoded)
{
	if (!view_init(decoded, view->size))
		return false;
	for (size_t at = 0; at < view->size; decoded->size++) {
		int byte;
		size_t size = read_escape(view->bytes + at, &byte);

		decoded->bytes[decoded->size] = (char)(size > 0 && byte > 0 && byte <= 0xff ? byte : view->bytes[at]);
		decoded->from[decoded->size] = view->from[at];
		at += size > 0 ? size : 1;
		decoded->to[decoded->size] = view->to[at - 1];
	}
	decoded->bytes[decoded->size] = '\0';
	return true;
}

/* ---- Forms of a secret ---- */

/* How characters of both are compared: one form has two alphabets, another two cases. */
static char plain(char byte)
{
	return byte;
}

static char of_base64(char byte)
{
	return (char)(byte == '-' ? '+' : byte == '_' ? '/' : byte);
}

static char of_hex(char byte)
{
	return (char)tolower((unsigned char)byte);
}

static char *write_hex(const char *secret)
{
	size_t size = strlen(secret);
	char *text = malloc(2 * size + 1);

	for (size_t i = 0; text && i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", (unsigned char)secret[i]);
	return text;
}

/*
 * The characters of Base64 (RFC 4648) that `secret` determines where `before` bytes stand before it. The last one may
 * be that of its end, which is another one where more bytes follow.
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
	bool ok = mark_parts(view, secret, CONCEAL_LEAST, plain, is_hidden) &&
		  mark_owned(view, write_hex(secret), (size_t)2 * CONCEAL_LEAST, of_hex, is_hidden);

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
	return decode_view(&raw, &once) && decode_view(&once, &twice) && mark_all(&raw, secrets, is_hidden) &&
	       mark_all(&once, secrets, is_hidden) && mark_all(&twice, secrets, is_hidden);
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
