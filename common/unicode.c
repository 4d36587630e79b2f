/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/unicode.h"

#include "common/order.h"

static const uint32_t replacement = 0xfffd;

struct unicode_range {
	uint32_t first, last;
};

static bool in_ranges(const struct unicode_range *ranges, size_t count, uint32_t code)
{
	size_t low = BISECT(count, i, code > ranges[i].last);

	return low < count && code >= ranges[low].first;
}

/* The length of a sequence by its first byte; 0: no sequence starts with it. */
static unsigned int sequence_size(uint8_t first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first < 0xe0)
		return 2;
	if (first >= 0xe0 && first < 0xf0)
		return 3;
	return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

uint32_t unicode_next(const char **text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *bytes = (const uint8_t *)*text;
	unsigned int size = sequence_size(bytes[0]);
	uint32_t code;

	if (bytes[0] == 0)
		return 0;
	*text += 1;
	if (size <= 1)
		return size ? bytes[0] : replacement;
	code = bytes[0] & (0x7fU >> size);
	for (unsigned int i = 1; i < size; i++) {
		/* The final NUL is no continuation byte either, so this never reads past the end. */
		if ((bytes[i] & 0xc0) != 0x80)
			return replacement;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return replacement;
	*text += size - 1;
	return code;
}

uint32_t unicode_clean(uint32_t code)
{
	static const struct unicode_range hidden[] = {
		{ 0x00, 0x1f },
		{ 0x7f, 0x9f },
		{ 0xad, 0xad },
		{ 0x061c, 0x061c },
		{ 0x200b, 0x200f },
		{ 0x2028, 0x202e },
		{ 0x2060, 0x206f },
		{ 0xfdd0, 0xfdef },
		{ 0xfeff, 0xfeff },
		{ 0xfff0, 0xfffb },
		{ 0xfffe, 0xffff },
		{ 0xe0000, 0xe0fff },
	};

	if (in_ranges(hidden, sizeof(hidden) / sizeof(hidden[0]), code) || (code & 0xfffe) == 0xfffe)
		return replacement;
	return code;
}

void unicode_append(struct buffer *out, uint32_t code)
{
	if (code < 0x80) {
		buffer_append_byte(out, (uint8_t)code);
		return;
	}
	if (code < 0x800) {
		buffer_append_byte(out, (uint8_t)(0xc0 | code >> 6));
	} else {
		if (code < 0x10000) {
			buffer_append_byte(out, (uint8_t)(0xe0 | code >> 12));
		} else {
			buffer_append_byte(out, (uint8_t)(0xf0 | code >> 18));
			buffer_append_byte(out, (uint8_t)(0x80 | (code >> 12 & 0x3f)));
		}
		buffer_append_byte(out, (uint8_t)(0x80 | (code >> 6 & 0x3f)));
	}
	buffer_append_byte(out, (uint8_t)(0x80 | (code & 0x3f)));
}

void unicode_append_clean(struct buffer *out, const char *text)
{
	for (uint32_t code; (code = unicode_next(&text)) != 0;)
		unicode_append(out, unicode_clean(code));
}

unsigned int unicode_width(uint32_t code)
{
	static const struct unicode_range combining[] = {
		{ 0x0300, 0x036f },
		{ 0x0483, 0x0489 },
		{ 0x0591, 0x05bd },
		{ 0x0610, 0x061a },
		{ 0x064b, 0x065f },
		{ 0x0900, 0x0902 },
		{ 0x093c, 0x093c },
		{ 0x0e31, 0x0e31 },
		{ 0x0e34, 0x0e3a },
		{ 0x0e47, 0x0e4e },
		{ 0x1ab0, 0x1aff },
		{ 0x1dc0, 0x1dff },
		{ 0x20d0, 0x20ff },
		{ 0xfe00, 0xfe0f },
		{ 0xfe20, 0xfe2f },
	};
	static const struct unicode_range wide[] = {
		{ 0x1100, 0x115f },
		{ 0x231a, 0x231b },
		{ 0x2e80, 0x303e },
		{ 0x3041, 0x33ff },
		{ 0x3400, 0x4dbf },
		{ 0x4e00, 0x9fff },
		{ 0xa000, 0xa4cf },
		{ 0xa960, 0xa97f },
		{ 0xac00, 0xd7a3 },
		{ 0xf900, 0xfaff },
		{ 0xfe30, 0xfe6f },
		{ 0xff00, 0xff60 },
		{ 0xffe0, 0xffe6 },
		{ 0x1f300, 0x1f64f },
		{ 0x1f680, 0x1f6ff },
		{ 0x1f900, 0x1f9ff },
		{ 0x20000, 0x3fffd },
	};

	if (in_ranges(combining, sizeof(combining) / sizeof(combining[0]), code))
		return 0;
	return in_ranges(wide, sizeof(wide) / sizeof(wide[0]), code) ? 2 : 1;
}

size_t unicode_text_width(const char *text)
{
	size_t width = 0;

	for (uint32_t code; (code = unicode_next(&text)) != 0;)
		width += unicode_width(code);
	return width;
}

void unicode_append_middle(struct buffer *out, const char *text, size_t width)
{
	size_t rest = 0, used = 0;
	const char *tail = text;

	for (const char *at = text; *at;)
		rest += unicode_width(unicode_clean(unicode_next(&at)));
	if (rest > width) {
		while (rest > (width - 1) / 2)
			rest -= unicode_width(unicode_clean(unicode_next(&tail)));
		for (uint32_t code; text < tail; used += unicode_width(code)) {
			code = unicode_clean(unicode_next(&text));
			if (used + unicode_width(code) + rest >= width)
				break;
			unicode_append(out, code);
		}
		unicode_append(out, 0x2026);
	}
	unicode_append_clean(out, tail);
}
