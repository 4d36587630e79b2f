/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the tables that all samples share, and makes those of pprof of them. */
#include "profile/foreign/otlp/convert.h"

#include <string.h>

/* A walk over one table of the dictionary, which may stand in several pieces. */
struct table_walk {
	struct byte_reader file, dictionary;
	uint32_t table;
};

static struct table_walk table_walk(const struct otlp_reader *r, uint32_t table)
{
	return (struct table_walk){ r->file, byte_reader_over(NULL, 0), table };
}

static bool table_next(struct table_walk *walk, struct byte_reader *entry)
{
	while (!otlp_next(&walk->dictionary, walk->table, entry))
		if (walk->dictionary.failed || !otlp_next(&walk->file, OTLP_DATA_DICTIONARY, &walk->dictionary))
			return false;
	return true;
}

static bool table_check(const struct table_walk *walk, struct error *err)
{
	return otlp_check(&walk->dictionary, "the dictionary", err) && otlp_check(&walk->file, "the file", err);
}

static bool dictionary_read_strings(struct otlp_reader *r, struct error *err)
{
	struct table_walk walk = table_walk(r, OTLP_DICTIONARY_STRINGS);
	struct byte_reader text;

	while (table_next(&walk, &text)) {
		if (!ARRAY_APPEND(&r->strings, &r->string_capacity, &r->dictionary_strings, ARRAY_MAX_IDS, err,
			    otlp_place_of(r, &text)))
			return false;
		(void)otlp_add_string(r, text.pos, byte_reader_left(&text));
	}
	if (!table_check(&walk, err))
		return false;
	return (r->dictionary_strings > 0 && r->strings[0].size == 0) ||
	       error_set(err, ERROR_FORMAT,
		       "its string table does not start with an empty string: it is cut off, or of OTLP before 1.10");
}

static bool dictionary_read_attributes(struct otlp_reader *r, struct error *err)
{
	struct table_walk walk = table_walk(r, OTLP_DICTIONARY_ATTRIBUTES);
	struct byte_reader message;

	while (table_next(&walk, &message)) {
		struct otlp_attribute attribute = { 0 };
		struct byte_reader value = byte_reader_over(NULL, 0), key = value;
		struct protobuf_field field;
		uint64_t name = 0;

		while (protobuf_next_field(&message, &field)) {
			if (field.id == OTLP_ATTRIBUTE_KEY && field.number < r->dictionary_strings) {
				name = field.number;
				key = otlp_bytes_at(r, r->strings[name]);
			}
			if (field.id == OTLP_ATTRIBUTE_VALUE && field.has_bytes)
				value = field.bytes;
		}
		attribute.meaning = otlp_meaning_of(&key);
		if (attribute.meaning == OTLP_MEANS_NOTHING || attribute.meaning >= OTLP_MEANS_SERVICE)
			attribute.key = (int64_t)name; /* Strings of the dictionary are pprof's first ones. */
		if (!otlp_check(&message, "an attribute", err) || !otlp_attribute_value(r, value, &attribute, err) ||
			!ARRAY_APPEND(&r->attributes, &r->attribute_capacity, &r->attribute_count, ARRAY_MAX_IDS, err,
				attribute))
			return false;
	}
	return table_check(&walk, err);
}

static bool read_stacks(struct otlp_reader *r, struct error *err)
{
	struct table_walk walk = table_walk(r, OTLP_DICTIONARY_STACKS);
	struct byte_reader message;

	while (table_next(&walk, &message)) {
		if (!ARRAY_APPEND(&r->stacks, &r->stack_capacity, &r->stack_count, ARRAY_MAX_IDS, err,
			    otlp_place_of(r, &message)))
			return false;
	}
	return table_check(&walk, err);
}

/* Returns the first attribute of a message that has this meaning; NULL: none. */
static const struct otlp_attribute *attribute_of(
	const struct otlp_reader *r, struct byte_reader message, uint32_t field_id, enum otlp_meaning meaning)
{
	struct protobuf_field field;
	uint64_t index;

	while (protobuf_next_field(&message, &field)) {
		while (field.id == field_id && protobuf_next_number(&message, &field, &index)) {
			const struct otlp_attribute *attribute = otlp_attribute_at(r, index);

			if (attribute && attribute->meaning == meaning)
				return attribute;
		}
	}
	return NULL;
}

/* Mapping 0 stands for none, as in pprof. */
static bool dictionary_write_mappings(struct otlp_reader *r, struct error *err)
{
	struct table_walk walk = table_walk(r, OTLP_DICTIONARY_MAPPINGS);
	struct byte_reader message;

	for (; table_next(&walk, &message); r->mapping_count++) {
		static const uint32_t fields[] = {
			[OTLP_MAPPING_START] = PPROF_MAPPING_START,
			[OTLP_MAPPING_LIMIT] = PPROF_MAPPING_LIMIT,
			[OTLP_MAPPING_OFFSET] = PPROF_MAPPING_OFFSET,
			[OTLP_MAPPING_FILE] = PPROF_MAPPING_FILE,
		};
		const struct otlp_attribute *build_id =
			attribute_of(r, message, OTLP_MAPPING_ATTRIBUTES, OTLP_MEANS_BUILD_ID);
		struct protobuf_field field;

		r->packed.size = 0;
		otlp_append_number(&r->packed, PPROF_MAPPING_ID, r->mapping_count);
		while (protobuf_next_field(&message, &field))
			if (field.id < sizeof(fields) / sizeof(fields[0]) && !field.has_bytes)
				otlp_append_number(&r->packed, fields[field.id], field.number);
		if (build_id)
			otlp_append_number(&r->packed, PPROF_MAPPING_BUILD_ID, (uint64_t)build_id->string);
		if (!otlp_check(&message, "a mapping", err))
			return false;
		if (r->mapping_count > 0)
			otlp_append_bytes(&r->out, PPROF_PROFILE_MAPPING, r->packed.data, r->packed.size);
	}
	r->mapping_count += r->mapping_count == 0;
	r->packed.size = 0;
	otlp_append_number(&r->packed, PPROF_MAPPING_ID, r->mapping_count);
	otlp_append_number(&r->packed, PPROF_MAPPING_FILE, (uint64_t)r->kernel);
	otlp_append_bytes(&r->out, PPROF_PROFILE_MAPPING, r->packed.data, r->packed.size);
	return table_check(&walk, err);
}

static size_t count_entries(const struct otlp_reader *r, uint32_t table)
{
	struct table_walk walk = table_walk(r, table);
	struct byte_reader message;
	size_t count = 0;

	while (table_next(&walk, &message))
		count++;
	return count;
}

static bool dictionary_write_functions(struct otlp_reader *r, struct error *err)
{
	struct table_walk walk = table_walk(r, OTLP_DICTIONARY_FUNCTIONS);
	struct byte_reader message;

	r->function_count = count_entries(r, OTLP_DICTIONARY_FUNCTIONS);
	for (size_t i = 0; table_next(&walk, &message); i++) {
		static const uint32_t fields[] = {
			[OTLP_FUNCTION_NAME] = PPROF_FUNCTION_NAME,
			[OTLP_FUNCTION_SYSTEM_NAME] = PPROF_FUNCTION_SYSTEM_NAME,
			[OTLP_FUNCTION_FILE] = PPROF_FUNCTION_FILE,
			[OTLP_FUNCTION_START_LINE] = PPROF_FUNCTION_START_LINE,
		};
		struct protobuf_field field;

		r->packed.size = 0;
		otlp_append_number(&r->packed, PPROF_FUNCTION_ID, otlp_id(i, r->function_count));
		while (protobuf_next_field(&message, &field)) {
			if (field.id >= sizeof(fields) / sizeof(fields[0]) || field.has_bytes)
				continue;
			otlp_append_number(&r->packed, fields[field.id], field.number);
			r->has_first_function |= i == 0 && field.number != 0;
		}
		if (!otlp_check(&message, "a function", err))
			return false;
		otlp_append_bytes(&r->out, PPROF_PROFILE_FUNCTION, r->packed.data, r->packed.size);
	}
	return table_check(&walk, err);
}

/* A line of function 0, which stands for none, is left out, so that the location is named by its address. */
static bool dictionary_write_line(struct otlp_reader *r, struct byte_reader message, struct error *err)
{
	struct protobuf_field field;
	uint64_t function = 0, line = 0;
	struct buffer *out = &r->sample;

	while (protobuf_next_field(&message, &field)) {
		if (field.id == OTLP_LINE_FUNCTION)
			function = field.number;
		if (field.id == OTLP_LINE_LINE)
			line = field.number;
	}
	if (function == 0 && !r->has_first_function)
		return otlp_check(&message, "a line", err);
	out->size = 0;
	otlp_append_number(out, PPROF_LINE_FUNCTION, otlp_id(function, r->function_count));
	otlp_append_number(out, PPROF_LINE_LINE, line);
	otlp_append_bytes(&r->packed, PPROF_LOCATION_LINE, out->data, out->size);
	return otlp_check(&message, "a line", err);
}

static bool write_location(struct otlp_reader *r, struct byte_reader message, size_t index, struct error *err)
{
	bool is_kernel = attribute_of(r, message, OTLP_LOCATION_ATTRIBUTES, OTLP_MEANS_KERNEL) != NULL;
	uint64_t mapping = 0, address = 0;
	struct protobuf_field field;

	r->packed.size = 0;
	while (protobuf_next_field(&message, &field)) {
		if (field.id == OTLP_LOCATION_MAPPING)
			mapping = field.number;
		if (field.id == OTLP_LOCATION_ADDRESS)
			address = field.number;
		if (field.id == OTLP_LOCATION_LINES && field.has_bytes && !dictionary_write_line(r, field.bytes, err))
			return false;
	}
	if (mapping >= r->mapping_count)
		return error_set(err, ERROR_FORMAT, "location %zu references mapping %llu, which is not there", index,
			(unsigned long long)mapping);
	otlp_append_number(&r->packed, PPROF_LOCATION_ID, otlp_id(index, r->location_count));
	otlp_append_number(&r->packed, PPROF_LOCATION_MAPPING, is_kernel ? r->mapping_count : mapping);
	otlp_append_number(&r->packed, PPROF_LOCATION_ADDRESS, address);
	otlp_append_bytes(&r->out, PPROF_PROFILE_LOCATION, r->packed.data, r->packed.size);
	return otlp_check(&message, "a location", err);
}

static bool dictionary_write_locations(struct otlp_reader *r, struct error *err)
{
	struct table_walk walk = table_walk(r, OTLP_DICTIONARY_LOCATIONS);
	struct byte_reader message;

	r->location_count = count_entries(r, OTLP_DICTIONARY_LOCATIONS);
	for (size_t i = 0; table_next(&walk, &message); i++)
		if (!write_location(r, message, i, err))
			return false;
	return table_check(&walk, err);
}

bool otlp_read_dictionary(struct otlp_reader *r, struct error *err)
{
	static const char kernel[] = "[kernel.kallsyms]";

	if (!dictionary_read_strings(r, err))
		return false;
	r->kernel = otlp_add_string(r, kernel, strlen(kernel));
	return dictionary_read_attributes(r, err) && read_stacks(r, err) && dictionary_write_mappings(r, err) &&
	       dictionary_write_functions(r, err) && dictionary_write_locations(r, err);
}
