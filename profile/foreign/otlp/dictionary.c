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
		if (walk->dictionary.failed || !otlp_next(&walk->file, OTLP_DATA(dictionary), &walk->dictionary))
			return false;
	return true;
}

static bool table_check(const struct table_walk *walk, struct error *err)
{
	return otlp_check(&walk->dictionary, "the dictionary", err) && otlp_check(&walk->file, "the file", err);
}

static bool dictionary_read_strings(struct otlp_reader *r, struct error *err)
{
	struct table_walk walk = table_walk(r, OTLP_DICTIONARY(string_table));
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
	struct table_walk walk = table_walk(r, OTLP_DICTIONARY(attribute_table));
	struct byte_reader message;

	while (table_next(&walk, &message)) {
		struct otlp_attribute attribute = { 0 };
		struct byte_reader value = byte_reader_over(NULL, 0), key = value;
		struct protobuf_field field;
		uint64_t name = 0;

		while (protobuf_next_field(&message, &field)) {
			size_t member = proto_member(&otlp__attribute__descriptor, field.id);

			if (member == offsetof(Otlp__Attribute, key_strindex) && field.number < r->dictionary_strings) {
				name = field.number;
				key = otlp_bytes_at(r, r->strings[name]);
			}
			if (member == offsetof(Otlp__Attribute, value) && field.has_bytes)
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
	struct table_walk walk = table_walk(r, OTLP_DICTIONARY(stack_table));
	struct byte_reader message;

	while (table_next(&walk, &message)) {
		if (!ARRAY_APPEND(&r->stacks, &r->stack_capacity, &r->stack_count, ARRAY_MAX_IDS, err,
			    otlp_place_of(r, &message)))
			return false;
	}
	return table_check(&walk, err);
}

/* Returns the first attribute of a message that has this meaning; NULL: none. */
static const struct otlp_attribute *attribute_of(const struct otlp_reader *r, struct byte_reader message,
	const ProtobufCMessageDescriptor *type, size_t member, enum otlp_meaning meaning)
{
	uint32_t field_id = proto_number_of(type, member);
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
	struct table_walk walk = table_walk(r, OTLP_DICTIONARY(mapping_table));
	struct byte_reader message;
	Pprof__Mapping out;

	for (; table_next(&walk, &message); r->mapping_count++) {
		const struct otlp_attribute *build_id = attribute_of(r, message, &otlp__mapping__descriptor,
			offsetof(Otlp__Mapping, attribute_indices), OTLP_MEANS_BUILD_ID);
		Otlp__Mapping in = OTLP__MAPPING__INIT;

		if (!otlp_set_members(&in.base, message, "a mapping", err))
			return false;
		pprof__mapping__init(&out);
		out.id = r->mapping_count;
		out.memory_start = in.memory_start;
		out.memory_limit = in.memory_limit;
		out.file_offset = in.file_offset;
		out.filename = in.filename_strindex;
		out.build_id = build_id ? build_id->string : 0;
		if (r->mapping_count > 0)
			proto_append(&r->out, PPROF_PROFILE(mapping), &out.base, NULL);
	}
	r->mapping_count += r->mapping_count == 0;
	pprof__mapping__init(&out);
	out.id = r->mapping_count;
	out.filename = r->kernel;
	proto_append(&r->out, PPROF_PROFILE(mapping), &out.base, NULL);
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
	struct table_walk walk = table_walk(r, OTLP_DICTIONARY(function_table));
	struct byte_reader message;

	r->function_count = count_entries(r, OTLP_DICTIONARY(function_table));
	for (size_t i = 0; table_next(&walk, &message); i++) {
		Otlp__Function in = OTLP__FUNCTION__INIT;
		Pprof__Function out = PPROF__FUNCTION__INIT;

		if (!otlp_set_members(&in.base, message, "a function", err))
			return false;
		out.id = otlp_id(i, r->function_count);
		out.name = in.name_strindex;
		out.system_name = in.system_name_strindex;
		out.filename = in.filename_strindex;
		out.start_line = in.start_line;
		r->has_first_function |= i == 0 && (out.name || out.system_name || out.filename || out.start_line);
		proto_append(&r->out, PPROF_PROFILE(function), &out.base, NULL);
	}
	return table_check(&walk, err);
}

/* A line of function 0, which stands for none, is left out, so that the location is named by its address. */
static bool dictionary_write_line(struct otlp_reader *r, struct byte_reader message, struct error *err)
{
	Otlp__Line in = OTLP__LINE__INIT;
	Pprof__Line out = PPROF__LINE__INIT;

	if (!otlp_set_members(&in.base, message, "a line", err))
		return false;
	out.function_id = otlp_id(in.function_index, r->function_count);
	out.line = in.line;
	if (in.function_index || r->has_first_function)
		proto_append(&r->packed, proto_number_of(&pprof__location__descriptor, offsetof(Pprof__Location, line)),
			&out.base, NULL);
	return true;
}

static bool write_location(struct otlp_reader *r, struct byte_reader message, size_t index, struct error *err)
{
	bool is_kernel = attribute_of(r, message, &otlp__location__descriptor,
		offsetof(Otlp__Location, attribute_indices), OTLP_MEANS_KERNEL);
	struct proto_walk lines = proto_walk(message, &otlp__location__descriptor, offsetof(Otlp__Location, lines));
	Otlp__Location in = OTLP__LOCATION__INIT;
	Pprof__Location out = PPROF__LOCATION__INIT;
	struct byte_reader line;

	r->packed.size = 0;
	while (proto_next_entry(&lines, &line))
		if (!dictionary_write_line(r, line, err))
			return false;
	if (!otlp_set_members(&in.base, message, "a location", err))
		return false;
	if (in.mapping_index >= r->mapping_count)
		return error_set(err, ERROR_FORMAT, "location %zu references mapping %llu, which is not there", index,
			(unsigned long long)in.mapping_index);
	out.id = otlp_id(index, r->location_count);
	out.mapping_id = is_kernel ? r->mapping_count : in.mapping_index;
	out.address = in.address;
	proto_append(&r->out, PPROF_PROFILE(location), &out.base, &r->packed);
	return true;
}

static bool dictionary_write_locations(struct otlp_reader *r, struct error *err)
{
	struct table_walk walk = table_walk(r, OTLP_DICTIONARY(location_table));
	struct byte_reader message;

	r->location_count = count_entries(r, OTLP_DICTIONARY(location_table));
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
