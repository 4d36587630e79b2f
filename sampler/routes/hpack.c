/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/hpack.h"

#include "sampler/routes/hpack_tables.h"
#include "sampler/routes/reading.h"

/* RFC 7541: where numbers and values of the static table stand, and the bits that begin a field (section 6). */
enum {
	STATIC_METHOD_GET = 2,
	STATIC_METHOD_POST = 3,
	STATIC_PATH = 4,
	STATIC_PATH_INDEX = 5,
	STATIC_STATUS = 8,
	STATIC_STATUS_LAST = 14,
	INDEXED = 0x80,
	INDEXED_BITS = 7,
	ADDED = 0x40,
	ADDED_BITS = 6,
	RESIZED = 0x20,
	RESIZED_BITS = 5,
	LITERAL_BITS = 4,
	HUFFMAN = 0x80,
	TEXT_BYTES = 256, /* of a name or value that is looked at; a path that is longer is cut */
};

/* A name or a value. */
struct hpack_text {
	char bytes[TEXT_BYTES];
	size_t size; /* may be more than there is room for */
	bool is_cut; /* its end is not seen */
};

struct hpack *hpack_create(bool is_known)
{
	struct hpack *table = memory_zeroed(1, sizeof(*table));

	table->most_bytes = HPACK_TABLE_BYTES;
	table->is_known = is_known;
	return table;
}

/* A number whose first bits share a byte with something else (5.1). What has more than 28 bits fails the reader. */
static uint32_t hpack_read_number(struct byte_reader *block, uint8_t first, unsigned int bits)
{
	uint32_t most = (1u << bits) - 1, number = first & most;

	if (number < most)
		return number;
	for (unsigned int shift = 0; shift < 28; shift += 7) {
		uint8_t byte = byte_reader_u8(block);

		number += (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return number;
	}
	block->failed = true;
	return 0;
}

static void hpack_put(struct hpack_text *text, char byte)
{
	if (text->size < TEXT_BYTES)
		text->bytes[text->size] = byte;
	text->size++;
}

/* Decodes bit by bit: a code of so many bits is one of those that begin at `first`. */
static void read_huffman(const uint8_t *bytes, size_t size, struct hpack_text *text)
{
	uint32_t code = 0, first = 0, index = 0;
	unsigned int length = 0;

	for (size_t bit = 0; bit < size * 8; bit++) {
		code |= bytes[bit / 8] >> (7 - bit % 8) & 1u;
		length++;
		if (code - first < huffman_counts[length]) {
			hpack_put(text, (char)huffman_symbols[index + code - first]);
			code = first = index = length = 0;
			continue;
		}
		if (length == HUFFMAN_LONGEST)
			return;
		index += huffman_counts[length];
		first = (first + huffman_counts[length]) << 1;
		code <<= 1;
	}
}

/* A name or a value (5.2), or what is seen of it, which fails the reader. */
static void hpack_read_text(struct byte_reader *block, struct hpack_text *text)
{
	uint8_t first = byte_reader_u8(block);
	uint32_t size = hpack_read_number(block, first, 7);
	size_t seen = byte_reader_left(block);
	const uint8_t *bytes;

	text->size = 0;
	text->is_cut = !byte_reader_ok(block) || size > seen;
	if (!byte_reader_ok(block))
		return;
	bytes = byte_reader_bytes(block, size < seen ? size : seen);
	if (first & HUFFMAN)
		read_huffman(bytes, size < seen ? size : seen, text);
	else
		for (size_t i = 0; i < size && i < seen; i++)
			hpack_put(text, (char)bytes[i]);
	block->failed |= text->is_cut;
}

static void hpack_resize(struct hpack *table, uint32_t most_bytes)
{
	table->most_bytes = most_bytes;
	while (table->count > 0 && table->bytes > most_bytes)
		table->bytes -= table->entries[(table->first + --table->count) % HPACK_ENTRIES].bytes;
}

/* Adds an entry, for which the oldest ones make room (4.4). */
static void add_entry(struct hpack *table, const struct hpack_entry *entry)
{
	uint32_t most_bytes = table->most_bytes;

	hpack_resize(table, entry->bytes > most_bytes ? 0 : most_bytes - entry->bytes);
	table->most_bytes = most_bytes;
	if (entry->bytes > most_bytes)
		return;
	table->first = (table->first + HPACK_ENTRIES - 1) % HPACK_ENTRIES;
	table->entries[table->first] = *entry;
	table->count++;
	table->bytes += entry->bytes;
}

/* Finds the entry of an index: its name is HPACK_OTHER_NAME, and it has no bytes, where it is not known. */
static struct hpack_entry find_entry(const struct hpack *table, struct routes *routes, uint32_t index)
{
	struct hpack_entry entry = { .name_bytes = index <= HPACK_STATIC ? hpack_name_bytes[index] : 0 };

	if (index == STATIC_METHOD_GET || index == STATIC_METHOD_POST) {
		entry.name = HPACK_METHOD;
		entry.method = index == STATIC_METHOD_GET ? "GET" : "POST";
	} else if (index == STATIC_PATH || index == STATIC_PATH_INDEX) {
		entry.name = HPACK_PATH;
		entry.place = places_enter_path(routes,
			index == STATIC_PATH ? text_over("/", 1) : text_over("/index.html", strlen("/index.html")),
			false);
	} else if (index > HPACK_STATIC && index - HPACK_STATIC - 1 < table->count && table->is_known) {
		entry = table->entries[(table->first + index - HPACK_STATIC - 1) % HPACK_ENTRIES];
	}
	return entry;
}

/* What a value says under a name. */
static void hpack_read_value(struct routes *routes, const struct hpack_text *text, struct hpack_entry *entry)
{
	bool is_short = text->size <= TEXT_BYTES;
	struct text_cursor value = text_over(text->bytes, is_short ? text->size : TEXT_BYTES);

	if (entry->name == HPACK_METHOD)
		entry->method = text->is_cut || !is_short ? NULL : http_method(value);
	else if (entry->name == HPACK_PATH)
		entry->place = http_target(routes, value, text->is_cut || !is_short);
}

static enum hpack_name name_of(const struct hpack_text *text)
{
	struct text_cursor name = text_over(text->bytes, text->size < TEXT_BYTES ? text->size : TEXT_BYTES);

	if (text_is(name, ":path"))
		return HPACK_PATH;
	return text_is(name, ":method") ? HPACK_METHOD : HPACK_OTHER_NAME;
}

/* A field whose value stands there: its name may be that of an entry. */
static struct hpack_entry read_literal(
	struct hpack *table, struct routes *routes, struct byte_reader *block, uint32_t index)
{
	struct hpack_entry entry = { 0 }, named;
	struct hpack_text text;

	if (index > 0) {
		named = find_entry(table, routes, index);
		entry.name = named.name;
		entry.name_bytes = named.name_bytes;
		table->is_known &= named.name_bytes > 0;
	} else {
		hpack_read_text(block, &text);
		if (!byte_reader_ok(block))
			return entry;
		entry.name = name_of(&text);
		entry.name_bytes = (uint32_t)text.size;
	}
	hpack_read_text(block, &text);
	hpack_read_value(routes, &text, &entry);
	entry.bytes = entry.name_bytes + (uint32_t)text.size + HPACK_ENTRY_BYTES;
	return entry;
}

/* Reads one field (section 6). */
static struct hpack_entry hpack_read_field(struct hpack *table, struct routes *routes, struct byte_reader *block)
{
	uint8_t first = byte_reader_u8(block);
	struct hpack_entry entry = { 0 };

	if (first & INDEXED) {
		entry = find_entry(table, routes, hpack_read_number(block, first, INDEXED_BITS));
	} else if (first & ADDED) {
		entry = read_literal(table, routes, block, hpack_read_number(block, first, ADDED_BITS));
		if (byte_reader_ok(block))
			add_entry(table, &entry);
	} else if (first & RESIZED) {
		uint32_t most_bytes = hpack_read_number(block, first, RESIZED_BITS);

		hpack_resize(table, most_bytes < HPACK_TABLE_BYTES ? most_bytes : HPACK_TABLE_BYTES);
		/* A table that is emptied is known again; one that is larger than ours is not. */
		table->is_known = most_bytes == 0 || (table->is_known && most_bytes <= HPACK_TABLE_BYTES);
	} else {
		entry = read_literal(table, routes, block, hpack_read_number(block, first, LITERAL_BITS));
	}
	return entry;
}

void hpack_read_request(struct hpack *table, struct routes *routes, struct byte_reader block, bool is_whole,
	struct hpack_request *request)
{
	*request = (struct hpack_request){ .place = PLACE_NONE };
	while (byte_reader_left(&block) > 0 && byte_reader_ok(&block)) {
		struct hpack_entry entry = hpack_read_field(table, routes, &block);

		if (entry.name == HPACK_METHOD)
			request->method = entry.method;
		else if (entry.name == HPACK_PATH)
			request->place = entry.place;
	}
	if (!is_whole || !byte_reader_ok(&block))
		table->is_known = false;
}

enum routes_outcome hpack_read_status(struct byte_reader block)
{
	static const char *const statuses[] = { "200", "204", "206", "304", "400", "404", "500" };
	struct hpack_text text;
	uint8_t first = byte_reader_u8(&block);
	uint32_t index;

	while (byte_reader_ok(&block) && (first & (INDEXED | ADDED | RESIZED)) == RESIZED) {
		hpack_read_number(&block, first, RESIZED_BITS);
		first = byte_reader_u8(&block);
	}
	if (first & INDEXED)
		index = hpack_read_number(&block, first, INDEXED_BITS);
	else
		index = hpack_read_number(&block, first, first & ADDED ? ADDED_BITS : LITERAL_BITS);
	if (!byte_reader_ok(&block) || index < STATIC_STATUS || index > STATIC_STATUS_LAST)
		return ROUTES_ANSWER_UNKNOWN;
	if (first & INDEXED)
		return http_status(text_over(statuses[index - STATIC_STATUS], 3));
	hpack_read_text(&block, &text);
	return http_status(text_over(text.bytes, text.size < TEXT_BYTES ? text.size : TEXT_BYTES));
}
