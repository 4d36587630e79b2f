/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/word.h"

#include "sampler/routes/letter_pairs.h"

/* In eighths of a bit, as the scores of letter_pairs.h. */
enum {
	BITS = 8,
	TOKEN_PRIOR = 2 * BITS,   /* a token is a word with odds of 4 to 1, before it is looked at */
	CASE_GAIN = BITS,         /* of a letter that has the case of words: a drawn one has it by 1 of 2 */
	END_GAIN = 38,            /* log2(27): what letter_pairs.h adds for an end, which drawn letters do not have */
	SECOND_CAPITAL_COST = 26, /* log2(1/10): behind a capital, one in ten letters of words is one */
	BYTES_LOOKED_AT = 8,      /* fewer tell nothing: `xml`, `svc` and `mgmt` are words, too */
	CAPITALS_LOOKED_AT = 5,   /* but where capitals stand behind a first letter, there are no such words */
	HEX_BYTES_ARE_DATA = 8,   /* no word of English with so many letters has none above `f` */
	VERSION_DIGITS = 2,
};

/* Terms in which digits mean something else than a number of somebody's. */
static const char *const terms[] = { "2fa", "3d", "3ds", "a11y", "b2b", "b2c", "base32", "base64", "c2s", "d3d", "e2e",
	"h264", "h265", "i18n", "iso8601", "k3s", "k8s", "l10n", "log4j", "o2o", "p2p", "pkcs11", "pkcs12", "rfc3339",
	"s2s", "sha224", "sha256", "sha384", "sha512", "utf16", "utf32", "w3c", "win32", "win64", "x11", "x509", "x64",
	"x86" };

/* What was found in the tokens of a text. */
struct word_evidence {
	int score;
	unsigned int bytes, numbered; /* bytes looked at; tokens with digits */
	bool is_data, is_hex, has_capitals;
};

static bool word_is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool word_is_letter(char byte)
{
	return ((unsigned char)byte | 0x20) - (unsigned int)'a' < LETTERS;
}

static bool word_is_upper(char byte)
{
	return byte >= 'A' && byte <= 'Z';
}

static unsigned int letter_number(char byte)
{
	return ((unsigned char)byte | 0x20) - (unsigned int)'a' + 1;
}

static size_t count_digits(struct text_cursor text)
{
	size_t count = 0;

	while (count < text_left(text) && word_is_digit(text.at[count]))
		count++;
	return count;
}

static bool take_version_number(struct text_cursor *text)
{
	size_t count = count_digits(*text);

	text->at += count;
	return count > 0 && count <= VERSION_DIGITS;
}

/* `v1`, `v1beta1`, `v1p1beta1`, `v1.2`. */
static bool word_is_version(struct text_cursor text)
{
	if (!text_take_byte(&text, 'v') && !text_take_byte(&text, 'V'))
		return false;
	if (!take_version_number(&text))
		return false;
	if (text_take_byte(&text, 'p') && !take_version_number(&text))
		return false;
	if (text_take_literal(&text, "alpha") || text_take_literal(&text, "beta") || text_take_literal(&text, "rc"))
		return text_left(text) == 0 || (take_version_number(&text) && text_left(text) == 0);
	while (text_take_byte(&text, '.'))
		if (!take_version_number(&text))
			return false;
	return text_left(text) == 0;
}

static bool word_is_term(struct text_cursor token)
{
	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++)
		if (text_left(token) == strlen(terms[i]) && strncasecmp(token.at, terms[i], text_left(token)) == 0)
			return true;
	return false;
}

/*
 * Adds what the case of a token's letters says, if capitals stand within: they begin another word, or are an
 * abbreviation.
 */
static void weigh_case(struct text_cursor token, struct word_evidence *evidence)
{
	int score = 0;
	bool has_capitals = false;

	for (const char *at = token.at + 1; at < token.end; at++) {
		has_capitals |= word_is_upper(*at);
		score += CASE_GAIN;
		if (word_is_upper(*at))
			score -= word_is_upper(at[-1]) ? SECOND_CAPITAL_COST : END_GAIN;
	}
	evidence->has_capitals |= has_capitals;
	evidence->score += has_capitals ? score : 0;
}

/* Adds what the letters of a token say, which has nothing else. */
static void weigh_letters(struct text_cursor token, struct word_evidence *evidence)
{
	unsigned int before = 0;

	evidence->score += TOKEN_PRIOR;
	for (const char *at = token.at; at < token.end; at++) {
		unsigned int letter = letter_number(*at);

		if (at > token.at && word_is_upper(*at) && !word_is_upper(at[-1])) {
			/* A word ends, and another begins. */
			evidence->score += letter_pairs[before][0];
			before = 0;
		}
		evidence->score += letter_pairs[before][letter];
		evidence->is_hex &= letter <= 6;
		before = letter;
	}
	evidence->score += letter_pairs[before][0];
	weigh_case(token, evidence);
}

static void weigh_token(struct text_cursor token, struct word_evidence *evidence)
{
	size_t size = text_left(token), letters = 0;

	if (size == 0)
		return;
	while (letters < size && word_is_letter(token.at[letters]))
		letters++;
	if (letters < size) {
		if (word_is_version(token) || word_is_term(token))
			return;
		evidence->numbered++;
		/* Letters, and one digit at the end. */
		evidence->is_data |= letters == 0 || letters != size - 1 || !word_is_digit(token.at[letters]);
	}
	weigh_letters((struct text_cursor){ token.at, token.at + letters }, evidence);
	evidence->bytes += (unsigned int)size;
}

static bool word_is_kept(struct text_cursor text)
{
	struct word_evidence evidence = { .is_hex = true };

	if (word_is_version(text))
		return true;
	while (!evidence.is_data) {
		weigh_token(text_take_word(&text, "-_."), &evidence);
		if (text_left(text) == 0)
			break;
		text.at++;
	}
	/* Two tokens with digits are parts of a number that somebody has, as `a1-b2`. */
	if (evidence.is_data || evidence.numbered > 1)
		return false;
	if (evidence.bytes >= HEX_BYTES_ARE_DATA && evidence.is_hex)
		return false;
	return evidence.bytes < (evidence.has_capitals ? CAPITALS_LOOKED_AT : BYTES_LOOKED_AT) || evidence.score >= 0;
}

struct text_cursor word_kept(struct text_cursor text)
{
	struct text_cursor kept = text;

	if (text_left(text) > WORD_MOST_READ || !word_is_kept(text))
		return (struct text_cursor){ text.at, text.at };
	if (text_left(text) <= WORD_MOST_BYTES)
		return text;
	while (text_left(kept) > WORD_MOST_DOTTED_BYTES) {
		text_take_word(&kept, ".");
		if (!text_take_byte(&kept, '.'))
			break;
	}
	/* It has no dots, or none that leaves it short enough. */
	return memchr(text.at, '.', text_left(text)) ? kept : (struct text_cursor){ text.at, text.at };
}
