/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/reading.h"

/*
 * What web servers hand to programs: FastCGI (its specification 1.0), uwsgi (its documentation, "The uwsgi protocol")
 * and AJP (Apache's mod_proxy_ajp). Their routes are those of HTTP.
 */
enum {
	FASTCGI_VERSION = 1,
	FASTCGI_BEGIN = 1,
	FASTCGI_PARAMS = 4,
	FASTCGI_STDOUT = 6,

	FASTCGI_MOST_TYPE = 11,
	FASTCGI_HEADER_BYTES = 8,
	AJP_FORWARD = 2,
	AJP_SEND_HEADERS = 4,

};

/* The parameters of CGI that make a route. */
struct cgi {
	struct text_cursor method, uri, script;
	bool is_uri_cut, is_script_cut;
};

static void take_param(struct cgi *cgi, struct text_cursor name, struct text_cursor value, bool is_cut)
{
	if (text_is(name, "REQUEST_METHOD") && !is_cut) {
		cgi->method = value;
	} else if (text_is(name, "REQUEST_URI")) {
		cgi->uri = value;
		cgi->is_uri_cut = is_cut;
	} else if (text_is(name, "SCRIPT_NAME") || text_is(name, "PATH_INFO")) {
		/* PATH_INFO is the path of a program that is at the root; behind a script it is data of it. */
		if (text_left(value) > 0 && text_left(cgi->script) == 0) {
			cgi->script = value;
			cgi->is_script_cut = is_cut;
		}
	}
}

/* Adds the request, of which the path may not be seen. */
static void add_cgi(struct routes_reading *reading, const struct cgi *cgi)
{
	struct routes *routes = reading->routes;
	const char *method = text_left(cgi->method) > 0 ? http_method(cgi->method) : NULL;
	bool has_uri = text_left(cgi->uri) > 0;
	uint32_t place = PLACE_NONE;

	if (has_uri || text_left(cgi->script) > 0)
		place = http_target(
			routes, has_uri ? cgi->uri : cgi->script, has_uri ? cgi->is_uri_cut : cgi->is_script_cut);
	if (place == PLACE_NONE)
		reading_add_word(reading, "(path not seen)");
	else
		reading_add(reading, places_enter_verb(routes, place, method ? method : "{method}"));
}

static size_t read_length(struct byte_reader *params)
{
	uint32_t length = byte_reader_u8(params);

	if (!(length & 0x80))
		return length;
	return (length & 0x7f) << 24 | read_be24(params);
}

static struct text_cursor take_text(struct byte_reader *params, size_t size, bool *is_cut)
{
	size_t seen = byte_reader_left(params);
	const char *bytes = (const char *)byte_reader_bytes(params, size < seen ? size : seen);

	*is_cut = size > seen;
	return text_over(bytes, size < seen ? size : seen);
}

static void read_fastcgi_params(struct byte_reader params, struct cgi *cgi)
{
	while (byte_reader_left(&params) > 0) {
		size_t name_size = read_length(&params), value_size = read_length(&params);
		struct text_cursor name, value;
		bool is_cut;

		if (!byte_reader_ok(&params))
			return;
		name = take_text(&params, name_size, &is_cut);
		if (is_cut)
			return;
		value = take_text(&params, value_size, &is_cut);
		take_param(cgi, name, value, is_cut);
	}
}

struct fastcgi_record {
	uint8_t type;
	uint32_t size;
	struct byte_reader content; /* as far as it is seen */
	bool is_whole;
};

static bool fastcgi_read_record(struct byte_reader *bytes, struct fastcgi_record *record)
{
	uint32_t id, padding, size;
	size_t seen;

	if (byte_reader_left(bytes) < FASTCGI_HEADER_BYTES || byte_reader_u8(bytes) != FASTCGI_VERSION)
		return false;
	record->type = byte_reader_u8(bytes);
	id = read_be16(bytes);
	record->size = read_be16(bytes);
	padding = byte_reader_u8(bytes);
	byte_reader_skip(bytes, 1);
	seen = byte_reader_left(bytes);
	record->content = byte_reader_over(bytes->pos, record->size < seen ? record->size : seen);
	record->is_whole = record->size + padding <= seen;
	size = record->size + padding < seen ? record->size + padding : (uint32_t)seen;
	byte_reader_skip(bytes, size);
	return record->type >= FASTCGI_BEGIN && record->type <= FASTCGI_MOST_TYPE && id > 0;
}

bool fastcgi_read(struct routes_reading *reading)
{
	struct byte_reader bytes = reading->bytes;
	struct fastcgi_record record;
	struct cgi cgi = { 0 };

	if (!fastcgi_read_record(&bytes, &record))
		return false;
	if (record.type != FASTCGI_BEGIN) {
		/* A body, which goes on. */
		reading->bytes = bytes;
		return reading->connection->protocol == ROUTES_FASTCGI;
	}
	if (record.size != 8)
		return false;
	while (byte_reader_left(&bytes) > 0 && *bytes.pos == FASTCGI_VERSION) {
		struct byte_reader next = bytes;

		if (!fastcgi_read_record(&next, &record) || record.type == FASTCGI_BEGIN)
			break;
		bytes = next;
		if (record.type == FASTCGI_PARAMS)
			read_fastcgi_params(record.content, &cgi);
	}
	add_cgi(reading, &cgi);
	reading->bytes = bytes;
	return true;
}

/* Headers of CGI: a status, if it is not 200, stands first or not at all in these bytes. */
enum routes_outcome fastcgi_answer(struct routes_connection *connection, struct byte_reader bytes)
{
	struct fastcgi_record record;
	struct text_cursor text;

	(void)connection;
	while (fastcgi_read_record(&bytes, &record)) {
		if (record.type != FASTCGI_STDOUT)
			continue;
		text = text_over((const char *)record.content.pos, byte_reader_left(&record.content));
		return text_take_literal(&text, "Status: ") ? http_status(text) : ROUTES_ANSWER_2XX;
	}
	return ROUTES_ANSWER_UNKNOWN;
}

bool uwsgi_read(struct routes_reading *reading)
{
	struct byte_reader params = reading->bytes;
	uint8_t modifier = byte_reader_u8(&params);
	uint32_t size = byte_reader_u16(&params);
	struct cgi cgi = { 0 };
	bool is_first = true;

	if (byte_reader_u8(&params) != 0 || modifier != 0 || !byte_reader_ok(&params) || size == 0)
		return false;
	if (byte_reader_left(&params) > size)
		params.end = params.pos + size;
	while (byte_reader_left(&params) >= 2) {
		struct text_cursor name, value;
		bool is_cut;

		name = take_text(&params, byte_reader_u16(&params), &is_cut);
		/* Names of CGI are capitals: nothing else begins with these four bytes and such a name. */
		if (is_first && (text_left(name) < 2 || *name.at < 'A' || *name.at > 'Z'))
			return false;
		if (is_cut || byte_reader_left(&params) < 2)
			break;
		value = take_text(&params, byte_reader_u16(&params), &is_cut);
		take_param(&cgi, name, value, is_cut);
		is_first = false;
	}
	add_cgi(reading, &cgi);
	reading_skip(reading, (uint64_t)size + 4);
	return true;
}

/* [method of AJP], from 1. */
static const char *const ajp_methods[] = { NULL, "OPTIONS", "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "PROPFIND",
	"PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "ACL", "REPORT", "VERSION-CONTROL", "CHECKIN",
	"CHECKOUT", "UNCHECKOUT", "SEARCH", "MKWORKSPACE", "UPDATE", "LABEL", "MERGE", "BASELINE-CONTROL",
	"MKACTIVITY" };

bool ajp_read(struct routes_reading *reading)
{
	struct byte_reader packet = reading->bytes;
	struct text_cursor uri;
	uint32_t magic = read_be16(&packet), size = read_be16(&packet), place;
	uint8_t type = byte_reader_u8(&packet), method = byte_reader_u8(&packet);
	bool is_cut;

	if (magic != 0x1234 || size == 0)
		return false;
	if (type != AJP_FORWARD || !byte_reader_ok(&packet)) {
		/* A body, a ping. */
		reading_skip(reading, (uint64_t)size + 4);
		return true;
	}
	/* The protocol, then the path; each text ends with a zero byte. */
	take_text(&packet, (size_t)read_be16(&packet) + 1, &is_cut);
	uri = take_text(&packet, read_be16(&packet), &is_cut);
	place = byte_reader_ok(&packet) ? http_target(reading->routes, uri, is_cut) : PLACE_NONE;
	if (place == PLACE_NONE)
		reading_add_word(reading, "(path not seen)");
	else
		reading_add(reading,
			places_enter_verb(reading->routes, place,
				method > 0 && method < sizeof(ajp_methods) / sizeof(*ajp_methods) ? ajp_methods[method]
												  : "{method}"));
	reading_skip(reading, (uint64_t)size + 4);
	return true;
}

enum routes_outcome ajp_answer(struct routes_connection *connection, struct byte_reader bytes)
{
	uint32_t magic = read_be16(&bytes), status;

	(void)connection;
	byte_reader_skip(&bytes, 2);
	if (magic != 0x4142 || byte_reader_u8(&bytes) != AJP_SEND_HEADERS)
		return ROUTES_ANSWER_UNKNOWN;
	status = read_be16(&bytes);
	if (!byte_reader_ok(&bytes) || status < 100 || status > 599)
		return ROUTES_ANSWER_UNKNOWN;
	return ROUTES_ANSWER_1XX + (enum routes_outcome)(status / 100 - 1);
}
