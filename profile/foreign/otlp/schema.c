/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages are named before those that hold them. */
#include "profile/foreign/otlp/schema.h"

#define FIELDS(name, ...)                                                                                              \
	static const struct otlp_field name##_fields[] = { __VA_ARGS__ };                                              \
	static const struct otlp_message name = { name##_fields, sizeof(name##_fields) / sizeof(name##_fields[0]) }

FIELDS(value_type, { "type_strindex", OTLP_TYPE_TYPE, OTLP_NUMBER, NULL },
	{ "unit_strindex", OTLP_TYPE_UNIT, OTLP_NUMBER, NULL });

FIELDS(any_value, { "string_value", OTLP_VALUE_TEXT, OTLP_TEXT, NULL },
	{ "int_value", OTLP_VALUE_NUMBER, OTLP_NUMBER, NULL },
	{ "string_value_strindex", OTLP_VALUE_STRING, OTLP_NUMBER, NULL });

FIELDS(pair, { "key", OTLP_PAIR_KEY, OTLP_TEXT, NULL }, { "value", OTLP_PAIR_VALUE, OTLP_MESSAGE, &any_value },
	{ "key_strindex", OTLP_PAIR_KEY_STRING, OTLP_NUMBER, NULL });

FIELDS(attribute, { "key_strindex", OTLP_ATTRIBUTE_KEY, OTLP_NUMBER, NULL },
	{ "value", OTLP_ATTRIBUTE_VALUE, OTLP_MESSAGE, &any_value });

FIELDS(resource, { "attributes", OTLP_RESOURCE_ATTRIBUTES, OTLP_MESSAGE, &pair });

FIELDS(sample, { "stack_index", OTLP_SAMPLE_STACK, OTLP_NUMBER, NULL },
	{ "attribute_indices", OTLP_SAMPLE_ATTRIBUTES, OTLP_NUMBER, NULL },
	{ "link_index", OTLP_SAMPLE_LINK, OTLP_NUMBER, NULL }, { "values", OTLP_SAMPLE_VALUES, OTLP_NUMBER, NULL },
	{ "timestamps_unix_nano", OTLP_SAMPLE_TIMES, OTLP_FIXED64, NULL });

FIELDS(profile, { "sample_type", OTLP_PROFILE_TYPE, OTLP_MESSAGE, &value_type },
	{ "samples", OTLP_PROFILE_SAMPLES, OTLP_MESSAGE, &sample },
	{ "time_unix_nano", OTLP_PROFILE_TIME, OTLP_FIXED64, NULL },
	{ "duration_nano", OTLP_PROFILE_DURATION, OTLP_NUMBER, NULL },
	{ "period_type", OTLP_PROFILE_PERIOD_TYPE, OTLP_MESSAGE, &value_type },
	{ "period", OTLP_PROFILE_PERIOD, OTLP_NUMBER, NULL },
	{ "attribute_indices", OTLP_PROFILE_ATTRIBUTES, OTLP_NUMBER, NULL });

FIELDS(scope_profiles, { "profiles", OTLP_SCOPE_PROFILES, OTLP_MESSAGE, &profile });

FIELDS(resource_profiles, { "resource", OTLP_RESOURCE_PROFILES_RESOURCE, OTLP_MESSAGE, &resource },
	{ "scope_profiles", OTLP_RESOURCE_PROFILES_SCOPES, OTLP_MESSAGE, &scope_profiles });

FIELDS(mapping, { "memory_start", OTLP_MAPPING_START, OTLP_NUMBER, NULL },
	{ "memory_limit", OTLP_MAPPING_LIMIT, OTLP_NUMBER, NULL },
	{ "file_offset", OTLP_MAPPING_OFFSET, OTLP_NUMBER, NULL },
	{ "filename_strindex", OTLP_MAPPING_FILE, OTLP_NUMBER, NULL },
	{ "attribute_indices", OTLP_MAPPING_ATTRIBUTES, OTLP_NUMBER, NULL });

FIELDS(stack, { "location_indices", OTLP_STACK_LOCATIONS, OTLP_NUMBER, NULL });

FIELDS(line, { "function_index", OTLP_LINE_FUNCTION, OTLP_NUMBER, NULL },
	{ "line", OTLP_LINE_LINE, OTLP_NUMBER, NULL });

FIELDS(location, { "mapping_index", OTLP_LOCATION_MAPPING, OTLP_NUMBER, NULL },
	{ "address", OTLP_LOCATION_ADDRESS, OTLP_NUMBER, NULL }, { "lines", OTLP_LOCATION_LINES, OTLP_MESSAGE, &line },
	{ "attribute_indices", OTLP_LOCATION_ATTRIBUTES, OTLP_NUMBER, NULL });

FIELDS(function, { "name_strindex", OTLP_FUNCTION_NAME, OTLP_NUMBER, NULL },
	{ "system_name_strindex", OTLP_FUNCTION_SYSTEM_NAME, OTLP_NUMBER, NULL },
	{ "filename_strindex", OTLP_FUNCTION_FILE, OTLP_NUMBER, NULL },
	{ "start_line", OTLP_FUNCTION_START_LINE, OTLP_NUMBER, NULL });

FIELDS(dictionary, { "mapping_table", OTLP_DICTIONARY_MAPPINGS, OTLP_MESSAGE, &mapping },
	{ "location_table", OTLP_DICTIONARY_LOCATIONS, OTLP_MESSAGE, &location },
	{ "function_table", OTLP_DICTIONARY_FUNCTIONS, OTLP_MESSAGE, &function },
	{ "string_table", OTLP_DICTIONARY_STRINGS, OTLP_TEXT, NULL },
	{ "attribute_table", OTLP_DICTIONARY_ATTRIBUTES, OTLP_MESSAGE, &attribute },
	{ "stack_table", OTLP_DICTIONARY_STACKS, OTLP_MESSAGE, &stack });

static const struct otlp_field data_fields[] = {
	{ "resource_profiles", OTLP_DATA_RESOURCES, OTLP_MESSAGE, &resource_profiles },
	{ "dictionary", OTLP_DATA_DICTIONARY, OTLP_MESSAGE, &dictionary },
};
const struct otlp_message otlp_data = { data_fields, sizeof(data_fields) / sizeof(data_fields[0]) };
