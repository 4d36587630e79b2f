/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/foreign.h"

#include "profile/foreign/callgrind/callgrind.h"
#include "profile/foreign/cpuprofile/cpuprofile.h"
#include "profile/foreign/otlp/otlp.h"
#include "profile/foreign/owners.h"
#include "profile/foreign/perf_script/perf_script.h"
#include "profile/foreign/speedscope/speedscope.h"
#include "profile/foreign/unsupported.h"
#include "profile/foreign/utf16.h"

#include <ctype.h>
#include <string.h>

/*
 * The largest ratio of inflated to compressed size that is accepted: real profiles shrink to a tenth, stacks of one
 * deep recursion to a hundredth. Deflate compresses zeros to a thousandth.
 */
enum { MAX_RATIO = 120 };
static const size_t max_profile_bytes = (size_t)2 << 30, small_profile_bytes = (size_t)64 << 20;

struct plain_file {
	const void *bytes;
	size_t size;
	const char *name; /* for messages */
};

static bool bytes_start_with(const void *bytes, size_t size, const char *magic)
{
	return size >= strlen(magic) && memcmp(bytes, magic, strlen(magic)) == 0;
}

/* Returns the text behind a byte order mark of UTF-8, if it begins with one. */
static struct text_source without_mark(const struct text_source *text)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct text_source behind = *text;

	if (bytes_start_with(text->head, text->head_bytes, mark)) {
		behind.head = (const char *)text->head + strlen(mark);
		behind.head_bytes -= strlen(mark);
	}
	return behind;
}

static size_t inflated_limit(size_t size)
{
	size_t limit = size < max_profile_bytes / MAX_RATIO ? size * MAX_RATIO : max_profile_bytes;

	return limit < small_profile_bytes ? small_profile_bytes : limit;
}

/* pprof starts with a field of a profile: usually sample_type, but protobuf allows any (wire type and field number). */
static bool looks_like_pprof(const uint8_t *bytes, size_t size)
{
	unsigned int field = size > 0 ? bytes[0] >> 3 : 0, wire_type = size > 0 ? bytes[0] & 7 : 7;

	if (field < 1 || field > 15 || (wire_type != 2 && wire_type != 0))
		return false;
	/*
	 * `
	 * ` may start both the first field of pprof and a text, but a text has no other control bytes.
	 */
	for (size_t i = 0; i < size && i < 64; i++)
		if (bytes[i] < 0x20 && bytes[i] != '\n' && bytes[i] != '\r' && bytes[i] != '\t')
			return true;
	return false;
}

/* Returns whether the first line that is neither empty nor a comment is a folded stack. */
static bool looks_like_folded(const char *text, size_t size)
{
	const char *end = memchr(text, '\n', size);
	const char *count;

	while (end && (end == text || *text == '#' || *text == '\r')) {
		size -= (size_t)(end + 1 - text);
		text = end + 1;
		end = memchr(text, '\n', size);
	}
	end = end ? end : text + size;
	while (end > text && strchr("\r \t", end[-1]))
		end--;
	for (count = end; count > text && count[-1] != ' ' && count[-1] != '\t';)
		count--;
	if (count == text || count == end || memchr(text, '\0', size < 4096 ? size : 4096) != NULL)
		return false;
	count += *count == '-';
	return count < end && *count >= '0' && *count <= '9' && (end[-1] == '.' || (end[-1] >= '0' && end[-1] <= '9'));
}

/* Returns whether a word is among the keys of a header. */
static bool is_key(const char *key, size_t size, const char *const keys[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(keys[i]) == size && memcmp(keys[i], key, size) == 0)
			return true;
	return false;
}

/*
 * Both formats start with lines `key: value`, of which `events:` is one. callgrind's first line may say what it is; its
 * header has keys that cachegrind's has not. pyprof2calltree's has nothing but events, cachegrind's at least a command.
 */
static enum foreign_kind valgrind_kind(const char *text, size_t size)
{
	static const char *const own[] = { "version", "creator", "pid", "part", "thread", "positions" },
				 *const both[] = { "desc", "cmd" }, *const events[] = { "event", "events" };
	const char *end = text + size;
	bool is_callgrind = bytes_start_with(text, size, "# callgrind format"), is_cachegrind = false;

	for (const char *line = text, *stop; line < end; line = stop + 1) {
		const char *colon;

		stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop ? stop : end;
		if (line == stop || *line == '#' || *line == '\r')
			continue;
		colon = memchr(line, ':', (size_t)(stop - line));
		if (!colon)
			return FOREIGN_UNKNOWN;
		if (is_key(line, (size_t)(colon - line), own, sizeof(own) / sizeof(own[0])))
			is_callgrind = true;
		else if (is_key(line, (size_t)(colon - line), both, sizeof(both) / sizeof(both[0])))
			is_cachegrind = true;
		else if (!is_callgrind &&
			 !is_key(line, (size_t)(colon - line), events, sizeof(events) / sizeof(events[0])))
			return FOREIGN_UNKNOWN;
		if (bytes_start_with(line, (size_t)(stop - line), "events:"))
			return is_callgrind || !is_cachegrind ? FOREIGN_CALLGRIND : FOREIGN_CACHEGRIND;
	}
	return FOREIGN_UNKNOWN;
}

/*
 * Tells the kind by words that stand in such a file as keys or values; each of the two that are read may begin with
 * either.
 */
static enum foreign_kind json_kind(const char *text, size_t size)
{
	static const char schema[] = "speedscope.app/file-format-schema", frame[] = "\"callFrame\"";
	static const char *const keys[] = { "nodes", "startTime", "endTime", "samples", "timeDeltas", "typeId", "uid",
		"title" };
	const char *end = text + size, *key;

	while (text < end && isspace((unsigned char)*text))
		text++;
	if (text == end || *text != '{')
		return FOREIGN_UNKNOWN;
	if (memmem(text, (size_t)(end - text), schema, strlen(schema)))
		return FOREIGN_SPEEDSCOPE;
	do {
		text++;
	} while (text < end && isspace((unsigned char)*text));
	if (text == end || *text++ != '"')
		return FOREIGN_UNKNOWN;
	key = text;
	text = memchr(key, '"', (size_t)(end - key));
	return text && is_key(key, (size_t)(text - key), keys, sizeof(keys) / sizeof(keys[0])) &&
			       memmem(text, (size_t)(end - text), frame, strlen(frame))
		       ? FOREIGN_CPUPROFILE
		       : FOREIGN_UNKNOWN;
}

enum foreign_kind foreign_kind(const void *given, size_t given_size)
{
	struct text_source text = without_mark(&(struct text_source){ .head = given, .head_bytes = given_size });
	const void *bytes = text.head;
	size_t size = text.head_bytes;
	enum foreign_kind kind;

	if (bytes_start_with(bytes, size, "PERFILE2") || bytes_start_with(bytes, size, "2ELIFREP"))
		return FOREIGN_PERF_DATA;
	/* The second is the start of files of older versions. */
	if (bytes_start_with(bytes, size, PROFILE_INCREMENTS_MAGIC) || bytes_start_with(bytes, size, "KELVINPART"))
		return FOREIGN_PART;
	if (utf16_is(bytes, size))
		return FOREIGN_UTF16;
	if (unsupported_is_marked(bytes, size))
		return FOREIGN_UNKNOWN;
	if (otlp_is(bytes, size))
		return FOREIGN_OTLP;
	if (gzip_is(bytes, size) || looks_like_pprof(bytes, size))
		return FOREIGN_PPROF;
	if (otlp_is_json(bytes, size))
		return FOREIGN_OTLP_JSON;
	kind = valgrind_kind(bytes, size);
	if (kind == FOREIGN_UNKNOWN)
		kind = json_kind(bytes, size);
	if (kind != FOREIGN_UNKNOWN)
		return kind;
	if (perf_script_is(bytes, size))
		return FOREIGN_PERF_SCRIPT;
	return looks_like_folded(bytes, size) ? FOREIGN_FOLDED : FOREIGN_UNKNOWN;
}

/*
 * A frame of a stack takes a byte of an inflated profile and 80 bytes in a report, so one that is packed well could
 * take thousands of times its size. Profiles have less than one different frame for each of their packed bytes;
 * recursion may have many in a few bytes.
 */
static size_t stacks_limit(size_t stored)
{
	const size_t free_stacks = (size_t)8 << 20, stacks_of_a_byte = 2;

	return stored < (ARRAY_MAX_IDS - free_stacks) / stacks_of_a_byte ? free_stacks + stored * stacks_of_a_byte
									 : ARRAY_MAX_IDS;
}

/*
 * Takes processes and threads out of the stacks of a file that does not tell them in another way. Calls of callgrind
 * and nodes of V8 have none.
 */
static bool foreign_finish(enum foreign_kind kind, struct profile **profile, struct error *err)
{
	return kind == FOREIGN_CALLGRIND || kind == FOREIGN_CACHEGRIND || kind == FOREIGN_CPUPROFILE ||
	       owners_take(profile, err);
}

/* `stored`: the profile's bytes in its file, which may be packed. */
static bool read_as_it_is(const struct plain_file *from, size_t stored, enum foreign_kind *found,
	struct profile **profile, struct error *err)
{
	const char *name = from->name;
	const struct text_source text =
		without_mark(&(struct text_source){ .head = from->bytes, .head_bytes = from->size });
	const void *bytes = text.head;
	size_t size = text.head_bytes;
	const char *unsupported;
	enum foreign_kind kind;

	if (size == 0)
		return error_set(err, ERROR_FORMAT, "cannot read %s: it is empty; record it again", name);
	kind = *found = foreign_kind(bytes, size);
	switch (kind) {
	case FOREIGN_PPROF:
		return profile_read_pprof(bytes, size, stacks_limit(stored), profile, err) ||
		       error_prefix(err, "cannot read %s", name);
	case FOREIGN_OTLP:
	case FOREIGN_OTLP_JSON:
		return otlp_read(bytes, size, kind == FOREIGN_OTLP_JSON, stacks_limit(stored), profile, err) ||
		       error_prefix(err, "cannot read %s", name);
	case FOREIGN_FOLDED:
		return profile_read_folded(&text, name, stacks_limit(stored), profile, err);
	case FOREIGN_CALLGRIND:
	case FOREIGN_CACHEGRIND:
		return callgrind_read(&text, kind == FOREIGN_CACHEGRIND, name, profile, err);
	case FOREIGN_PERF_SCRIPT:
		return perf_script_read(&text, name, stacks_limit(stored), profile, err);
	case FOREIGN_CPUPROFILE:
		return cpuprofile_read(bytes, size, stacks_limit(stored), profile, err) ||
		       error_prefix(err, "cannot read %s", name);
	case FOREIGN_SPEEDSCOPE:
		return speedscope_read(bytes, size, stacks_limit(stored), profile, err) ||
		       error_prefix(err, "cannot read %s", name);
	case FOREIGN_PERF_DATA:
		return error_set(err, ERROR_UNSUPPORTED,
			"cannot read %s: it is a packed perf.data file; unpack it first: gunzip", name);
	case FOREIGN_PART:
		return error_set(err, ERROR_UNSUPPORTED,
			"cannot read %s: it is a packed unfinished recording; unpack it first: gunzip", name);
	case FOREIGN_UTF16: /* whoever reads a file has decoded it: this is a text within such a text */
	case FOREIGN_UNKNOWN:
		break;
	}
	unsupported = unsupported_text(bytes, size);
	if (unsupported)
		return error_set(err, ERROR_UNSUPPORTED, "cannot read %s: %s", name, unsupported);
	return error_set(err, ERROR_FORMAT,
		"cannot read %s: not a profile (pprof, OTLP, perf.data, perf script, folded stacks, callgrind.out, .cpuprofile or speedscope); 'kelvin record -o FILE' makes one",
		name);
}

static bool read_plain(const struct plain_file *from, size_t stored, struct profile **profile, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *made = NULL;
	enum foreign_kind kind = FOREIGN_UNKNOWN;

	if (!read_as_it_is(from, stored, &kind, &made, err) || !foreign_finish(kind, &made, err))
		return false;
	*profile = TAKE(made);
	return true;
}

static bool foreign_read_plain(
	const struct plain_file *from, size_t stored, struct profile **profile, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(max_profile_bytes);

	if (!utf16_is(from->bytes, from->size))
		return read_plain(from, stored, profile, err);
	utf16_append(from->bytes, from->size, &text);
	return (buffer_ok(&text, err) || error_prefix(err, "cannot read %s", from->name)) &&
	       read_plain(&(struct plain_file){ text.data, text.size, from->name }, stored, profile, err);
}

bool foreign_read(const void *bytes, size_t size, const char *name, struct profile **profile, struct error *err)
{
	struct buffer inflated;
	bool ok;

	if (!gzip_is(bytes, size))
		return foreign_read_plain(&(struct plain_file){ bytes, size, name }, size, profile, err);
	buffer_init(&inflated, inflated_limit(size));
	ok = gzip_decompress(bytes, size, &inflated, err);
	if (!ok)
		error_prefix(err, "cannot read %s", name);
	ok = ok && foreign_read_plain(&(struct plain_file){ inflated.data, inflated.size, name }, size, profile, err);
	buffer_deinit(&inflated);
	return ok;
}

bool foreign_is_lines(enum foreign_kind kind)
{
	return kind == FOREIGN_FOLDED || kind == FOREIGN_CALLGRIND || kind == FOREIGN_CACHEGRIND ||
	       kind == FOREIGN_PERF_SCRIPT;
}

bool foreign_read_text(const struct text_source *given, const char *name, struct profile **profile, struct error *err)
{
	struct text_source text = without_mark(given);
	enum foreign_kind kind = foreign_kind(text.head, text.head_bytes);

	CLEANUP(profile_cleanup) struct profile *made = NULL;
	bool ok = kind == FOREIGN_PERF_SCRIPT ? perf_script_read(&text, name, ARRAY_MAX_IDS, &made, err)
		  : kind == FOREIGN_FOLDED    ? profile_read_folded(&text, name, ARRAY_MAX_IDS, &made, err)
					      : callgrind_read(&text, kind == FOREIGN_CACHEGRIND, name, &made, err);

	if (!ok || !foreign_finish(kind, &made, err))
		return false;
	*profile = TAKE(made);
	return true;
}
