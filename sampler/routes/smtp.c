/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/reading.h"

/* RFC 5321. Lines of a mail are no requests; one that begins as a command does is taken for it. */

static const struct {
	const char *verb;
	const char *begins; /* how a connection is known by it; NULL: it is not */
} smtp_verbs[] = {
	{ "EHLO", "EHLO " },
	{ "HELO", "HELO " },
	{ "LHLO", "LHLO " },
	{ "MAIL", "MAIL FROM:" },
	{ "RCPT", "RCPT TO:" },
	{ "DATA", NULL },
	{ "BDAT", NULL },
	{ "RSET", NULL },
	{ "NOOP", NULL },
	{ "QUIT", NULL },
	{ "VRFY", NULL },
	{ "EXPN", NULL },
	{ "HELP", NULL },
	{ "AUTH", NULL },
	{ "STARTTLS", NULL },
};

bool smtp_read(struct routes_reading *reading)
{
	struct text_cursor text = reading_text(reading), rest = text, verb = text_take_word(&rest, " \r\n");

	if (text_left(rest) == 0)
		return false;
	for (size_t i = 0; i < sizeof(smtp_verbs) / sizeof(*smtp_verbs); i++) {
		if (text_left(verb) != strlen(smtp_verbs[i].verb) ||
			strncasecmp(verb.at, smtp_verbs[i].verb, text_left(verb)) != 0)
			continue;
		if (reading->connection->protocol != ROUTES_SMTP &&
			(!smtp_verbs[i].begins || text_left(text) < strlen(smtp_verbs[i].begins) ||
				strncasecmp(text.at, smtp_verbs[i].begins, strlen(smtp_verbs[i].begins)) != 0))
			return false;
		reading_add_word(reading, smtp_verbs[i].verb);
		reading_skip_line(reading);
		return true;
	}
	return false;
}

enum routes_outcome smtp_answer(struct routes_connection *connection, struct byte_reader bytes)
{
	uint8_t first = byte_reader_u8(&bytes);

	(void)connection;
	if (first == '4' || first == '5')
		return ROUTES_ANSWER_ERROR;
	return first == '2' || first == '3' ? ROUTES_ANSWER_OK : ROUTES_ANSWER_UNKNOWN;
}
