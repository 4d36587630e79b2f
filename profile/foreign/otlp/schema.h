/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The messages of OTLP profiles, as far as they are read and written:
 * opentelemetry/proto/profiles/v1development/profiles.proto and common/v1/common.proto of opentelemetry-proto 1.10. A
 * field's number stands here alone.
 */

enum { OTLP_DATA_RESOURCES = 1, OTLP_DATA_DICTIONARY = 2 };

enum {
	OTLP_DICTIONARY_MAPPINGS = 1,
	OTLP_DICTIONARY_LOCATIONS = 2,
	OTLP_DICTIONARY_FUNCTIONS = 3,
	OTLP_DICTIONARY_LINKS = 4,
	OTLP_DICTIONARY_STRINGS = 5,
	OTLP_DICTIONARY_ATTRIBUTES = 6,
	OTLP_DICTIONARY_STACKS = 7,
};

enum { OTLP_RESOURCE_PROFILES_RESOURCE = 1, OTLP_RESOURCE_PROFILES_SCOPES = 2 };
enum { OTLP_RESOURCE_ATTRIBUTES = 1 };
enum { OTLP_SCOPE_SCOPE = 1, OTLP_SCOPE_PROFILES = 2 };
enum { OTLP_SCOPE_NAME = 1 };

enum {
	OTLP_PROFILE_TYPE = 1,
	OTLP_PROFILE_SAMPLES = 2,
	OTLP_PROFILE_TIME = 3,
	OTLP_PROFILE_DURATION = 4,
	OTLP_PROFILE_PERIOD_TYPE = 5,
	OTLP_PROFILE_PERIOD = 6,
	OTLP_PROFILE_ATTRIBUTES = 11,
};

enum {
	OTLP_SAMPLE_STACK = 1,
	OTLP_SAMPLE_ATTRIBUTES = 2,
	OTLP_SAMPLE_LINK = 3,
	OTLP_SAMPLE_VALUES = 4,
	OTLP_SAMPLE_TIMES = 5,
};

enum { OTLP_TYPE_TYPE = 1, OTLP_TYPE_UNIT = 2 };

enum {
	OTLP_MAPPING_START = 1,
	OTLP_MAPPING_LIMIT = 2,
	OTLP_MAPPING_OFFSET = 3,
	OTLP_MAPPING_FILE = 4,
	OTLP_MAPPING_ATTRIBUTES = 5,
};

enum { OTLP_STACK_LOCATIONS = 1 };
enum { OTLP_LOCATION_MAPPING = 1, OTLP_LOCATION_ADDRESS = 2, OTLP_LOCATION_LINES = 3, OTLP_LOCATION_ATTRIBUTES = 4 };
enum { OTLP_LINE_FUNCTION = 1, OTLP_LINE_LINE = 2 };
enum { OTLP_FUNCTION_NAME = 1, OTLP_FUNCTION_SYSTEM_NAME = 2, OTLP_FUNCTION_FILE = 3, OTLP_FUNCTION_START_LINE = 4 };

/* The fields of a resource's attribute (KeyValue), whose key may be a string of the dictionary too. */
enum { OTLP_PAIR_KEY = 1, OTLP_PAIR_VALUE = 2, OTLP_PAIR_KEY_STRING = 3 };
/* The fields of an attribute of the dictionary (KeyValueAndUnit). */
enum { OTLP_ATTRIBUTE_KEY = 1, OTLP_ATTRIBUTE_VALUE = 2 };
enum { OTLP_VALUE_TEXT = 1, OTLP_VALUE_NUMBER = 3, OTLP_VALUE_STRING = 8 };

/* ---- For JSON, which names its fields ---- */

enum otlp_field_type { OTLP_MESSAGE, OTLP_TEXT, OTLP_NUMBER, OTLP_FIXED64 };

struct otlp_field {
	const char *name; /* as in the .proto file: time_unix_nano */
	uint32_t id;
	enum otlp_field_type type;
	const struct otlp_message *message; /* of OTLP_MESSAGE */
};

struct otlp_message {
	const struct otlp_field *fields;
	size_t count;
};

extern const struct otlp_message otlp_data;

/* Appends the message of a JSON text as protobuf. ERROR_UNSUPPORTED: another one follows. */
COMMON_MUST_CHECK
bool otlp_from_json(const void *text, size_t size, struct buffer *out, struct error *err);
