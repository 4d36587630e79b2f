/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RFC 3986 (generic syntax of URIs), as far as an address of a store needs it. */
#include "profile/store/moment.h"
#include "profile/store/store.h"

#include <ctype.h>
#include <string.h>

static const struct {
	const char *scheme;
	enum store_kind kind;
} schemes[] = {
	{ "pyroscope+http", STORE_PYROSCOPE },
	{ "clickhouse+http", STORE_CLICKHOUSE },
	{ "clickhouse+coroot+http", STORE_COROOT },
};

enum {
	MOST_ADDRESS_BYTES = 8192,
	MOST_PORT = 65535,
	SHOWN_BYTES = 200, /* of an address that an error quotes */
};

/* Returns the row of the address's scheme, or -1; `*rest` is what follows "://". */
static int find_scheme(const char *text, bool *is_secure, const char **rest)
{
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		size_t size = strlen(schemes[i].scheme);

		if (strncmp(text, schemes[i].scheme, size) != 0)
			continue;
		*is_secure = text[size] == 's';
		if (strncmp(text + size + *is_secure, "://", 3) != 0)
			continue;
		*rest = text + size + *is_secure + 3;
		return (int)i;
	}
	return -1;
}

bool store_is_address(const char *text)
{
	const char *rest;
	bool is_secure;

	return find_scheme(text, &is_secure, &rest) >= 0;
}

/* ---- Host ---- */

static bool is_port(const char *text, size_t size)
{
	struct text_cursor left = text_over(text, size);
	uint64_t port;

	return size <= 5 && text_take_number(&left, MOST_PORT, &port) && text_left(left) == 0 && port > 0;
}

/* Returns the size of "[::1]", as far as letters tell: libcurl parses what is in the brackets. */
static size_t bracketed_bytes(const char *text, size_t size)
{
	size_t digits = size > 0 && text[0] == '[' ? strspn(text + 1, "0123456789abcdefABCDEF:.") : 0;

	return digits > 1 && digits + 1 < size && text[digits + 1] == ']' ? digits + 2 : 0;
}

static size_t name_bytes(const char *text, size_t size)
{
	size_t bytes = 0;

	while (bytes < size && (isalnum((unsigned char)text[bytes]) || strchr("-._", text[bytes])))
		bytes++;
	return bytes;
}

/* Returns whether the text is HOST or HOST:PORT. */
static bool is_authority(const char *text, size_t size)
{
	size_t host = text[0] == '[' ? bracketed_bytes(text, size) : name_bytes(text, size);

	return host > 0 && (host == size || (text[host] == ':' && is_port(text + host + 1, size - host - 1)));
}

static bool take_authority(
	struct store_address *address, const char **rest, bool is_secure, const char *shown, struct error *err)
{
	size_t size = strcspn(*rest, "/?#");

	/* The address is not quoted: what stands before the '@' may be a password. */
	if (memchr(*rest, '@', size))
		return error_set(err, ERROR_USAGE,
			"user and password do not belong into the address of a store, where every process of this machine can read them; set KELVIN_STORE_USER and KELVIN_STORE_PASSWORD, or KELVIN_STORE_TOKEN");
	if (!is_authority(*rest, size))
		return error_set(err, ERROR_USAGE, "the address %.*s names no host; write it as in %s://HOST:PORT/",
			SHOWN_BYTES, shown, schemes[address->kind].scheme);
	if (asprintf(&address->url, "http%s://%.*s", is_secure ? "s" : "", (int)size, *rest) < 0) {
		address->url = NULL;
		return error_set_memory(err);
	}
	*rest += size;
	return true;
}

/* ---- Path ---- */

static bool is_path_byte(unsigned char byte)
{
	return isalnum(byte) || strchr("-._~!$&'()*+,;=:@%/", byte);
}

static bool address_is_name(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
			return false;
	return size > 0;
}

/* Pyroscope has its API below any path, and ClickHouse a database. */
static bool take_path(struct store_address *address, const char **rest, const char *shown, struct error *err)
{
	const char *start = *rest;
	size_t size = strcspn(start, "?#");

	*rest += size;
	while (size > 0 && start[size - 1] == '/')
		size--;
	if (address->kind != STORE_PYROSCOPE) {
		start += size > 0;
		size -= size > 0;
		if (!address_is_name(start, size))
			return error_set(err, ERROR_USAGE,
				"the address %.*s names no database; write it as in %s://HOST:8123/DATABASE",
				SHOWN_BYTES, shown, schemes[address->kind].scheme);
	}
	for (size_t i = 0; i < size; i++)
		if (!is_path_byte((unsigned char)start[i]))
			return error_set(err, ERROR_USAGE,
				"the address %.*s has a character in its path that belongs into none; write it as %%XX",
				SHOWN_BYTES, shown);
	address->path = strndup(start, size);
	return address->path || error_set_memory(err);
}

/* ---- Query ---- */

static int hex_digit(char digit)
{
	const char *const digits = "0123456789abcdef";
	const char *found = digit ? strchr(digits, tolower((unsigned char)digit)) : NULL;

	return found ? (int)(found - digits) : -1;
}

/*
 * Decodes %XX. A '+' stays: it is part of times such as 12:00:00+01:00. NULL: out of memory, or a control character or
 * no such code (`*is_wrong`).
 */
static char *address_decode(const char *text, size_t size, bool *is_wrong)
{
	char *decoded = malloc(size + 1);
	size_t to = 0;

	*is_wrong = false;
	for (size_t from = 0; decoded && from < size; from++, to++) {
		int high = 0, low = (unsigned char)text[from];

		if (text[from] == '%') {
			high = from + 2 < size ? hex_digit(text[from + 1]) : -1;
			low = high >= 0 ? hex_digit(text[from + 2]) : -1;
			from += 2;
		}
		if (high < 0 || low < 0 || high * 16 + low < ' ' || high * 16 + low == 0x7f) {
			*is_wrong = true;
			free(decoded);
			return NULL;
		}
		decoded[to] = (char)(high * 16 + low);
	}
	if (decoded)
		decoded[to] = '\0';
	return decoded;
}

static bool decode_part(const char *text, size_t size, const char *shown, char **decoded, struct error *err)
{
	bool is_wrong;

	*decoded = address_decode(text, size, &is_wrong);
	if (is_wrong)
		return error_set(err, ERROR_USAGE,
			"the query of the address %.*s has a control character or a %% that begins no code such as %%20",
			SHOWN_BYTES, shown);
	return *decoded || error_set_memory(err);
}

static bool is_secret(const char *key)
{
	static const char *const secrets[] = { "token", "password", "user", "access_token", "api_key" };

	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
		if (strcasecmp(key, secrets[i]) == 0)
			return true;
	return false;
}

static bool add_filter(struct store_address *address, char *key, char *value, struct error *err)
{
	if (address->filter_count == STORE_MAX_FILTERS) {
		free(key);
		free(value);
		return error_set(err, ERROR_USAGE, "the query of an address may have %d conditions; leave some out",
			STORE_MAX_FILTERS);
	}
	address->filters[address->filter_count++] = (struct store_filter){ key, value };
	return true;
}

static bool take_moment(int64_t *at, const char *key, const char *value, int64_t now_unix_ns, struct error *err)
{
	if (*at != 0)
		return error_set(err, ERROR_USAGE, "the query of an address has %s twice; leave one out", key);
	return store_parse_moment(value, now_unix_ns, at, err) || error_prefix(err, "%s", key);
}

/* Takes KEY=VALUE, decoded. */
static bool take_pair(struct store_address *address, const char *text, size_t size, int64_t now_unix_ns,
	const char *shown, struct error *err)
{
	const char *equals = memchr(text, '=', size);
	size_t key_size = equals ? (size_t)(equals - text) : 0;
	CLEANUP(cleanup_free) char *key = NULL;
	CLEANUP(cleanup_free) char *value = NULL;

	if (key_size == 0)
		return error_set(err, ERROR_USAGE, "the query of the address %.*s has '%.*s', which is no KEY=VALUE",
			SHOWN_BYTES, shown, (int)(size < 64 ? size : 64), text);
	if (!decode_part(text, key_size, shown, &key, err))
		return false;
	/* Its value is not quoted. */
	if (is_secret(key))
		return error_set(err, ERROR_USAGE,
			"%s does not belong into the address of a store, where every process of this machine can read it; set KELVIN_STORE_TOKEN, or KELVIN_STORE_USER and KELVIN_STORE_PASSWORD",
			key);
	if (!decode_part(equals + 1, size - key_size - 1, shown, &value, err))
		return false;
	if (strcmp(key, "from") == 0)
		return take_moment(&address->from_unix_ns, key, value, now_unix_ns, err);
	if (strcmp(key, "until") == 0)
		return take_moment(&address->until_unix_ns, key, value, now_unix_ns, err);
	return add_filter(address, TAKE(key), TAKE(value), err);
}

static bool take_query(
	struct store_address *address, const char *rest, int64_t now_unix_ns, const char *shown, struct error *err)
{
	while (*rest == '?' || *rest == '&') {
		size_t size = strcspn(++rest, "&#");

		if (size > 0 && !take_pair(address, rest, size, now_unix_ns, shown, err))
			return false;
		rest += size;
	}
	if (*rest != '\0')
		return error_set(err, ERROR_USAGE,
			"the address %.*s has a '#', which belongs into none; write it as %%23", SHOWN_BYTES, shown);
	if (address->from_unix_ns > 0 && address->until_unix_ns > 0 && address->until_unix_ns <= address->from_unix_ns)
		return error_set(err, ERROR_USAGE, "the query of the address %.*s ends (until) before it begins (from)",
			SHOWN_BYTES, shown);
	return true;
}

/* ---- The address ---- */

bool store_address_parse(const char *text, int64_t now_unix_ns, struct store_address *address, struct error *err)
{
	struct store_address parsed = { 0 };
	const char *rest = text;
	bool is_secure, ok;
	int row = find_scheme(text, &is_secure, &rest);

	if (row < 0)
		return error_set(err, ERROR_USAGE,
			"'%.64s' is no address of a store; write pyroscope+http://HOST:PORT/, or clickhouse+http://HOST:PORT/DATABASE; https instead of http where the store has TLS",
			text);
	if (strlen(text) > MOST_ADDRESS_BYTES)
		return error_set(err, ERROR_USAGE, "the address of a store may have %d bytes", MOST_ADDRESS_BYTES);
	parsed.kind = schemes[row].kind;
	ok = take_authority(&parsed, &rest, is_secure, text, err) && take_path(&parsed, &rest, text, err) &&
	     take_query(&parsed, rest, now_unix_ns, text, err);
	parsed.text = ok ? strdup(text) : NULL;
	if (ok && !parsed.text)
		ok = error_set_memory(err);
	if (!ok) {
		store_address_deinit(&parsed);
		return false;
	}
	*address = parsed;
	return true;
}

void store_address_deinit(struct store_address *address)
{
	free(address->url);
	free(address->path);
	free(address->text);
	for (size_t i = 0; i < address->filter_count; i++) {
		free(address->filters[i].key);
		free(address->filters[i].value);
	}
	*address = (struct store_address){ 0 };
}

const char *store_address_filter(const struct store_address *address, const char *key)
{
	for (size_t i = 0; i < address->filter_count; i++)
		if (strcmp(address->filters[i].key, key) == 0)
			return address->filters[i].value;
	return NULL;
}
