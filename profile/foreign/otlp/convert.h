/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/foreign/otlp/otlp.h"
#include "profile/pprof_message.h"

#include "otlp.pb-c.h"

/* Private to profile/foreign/otlp: what is known of a file while pprof is made of it, and the words that it is written
 * in. */

/* The place of a message or a text in the file. */
struct otlp_place {
	uint32_t start, size;
};

/* The meaning of an attribute. Those that become labels are the last ones. */
enum otlp_meaning {
	OTLP_MEANS_NOTHING,
	OTLP_MEANS_PID,
	OTLP_MEANS_PROCESS,
	OTLP_MEANS_TID,
	OTLP_MEANS_THREAD,
	OTLP_MEANS_KERNEL, /* a frame of the kernel */
	OTLP_MEANS_BUILD_ID,
	OTLP_MEANS_SERVICE,
	OTLP_MEANS_VERSION,
	OTLP_MEANS_ENVIRONMENT,
	OTLP_MEANS_HOST,
	OTLP_MEANS_CONTAINER,
};
enum { OTLP_LABELS = OTLP_MEANS_CONTAINER + 1 - OTLP_MEANS_SERVICE };

/* [meaning - OTLP_MEANS_SERVICE] The profile's labels that these become. */
extern const char *const otlp_label_keys[OTLP_LABELS];

/* The type of a frame of the kernel. */
#define OTLP_FRAME_KERNEL "kernel"

struct otlp_attribute {
	enum otlp_meaning meaning;
	int64_t number;
	struct otlp_place text;
	int64_t string; /* of pprof's table, with that text; 0: none */
	int64_t key;    /* likewise its name, of one of the dictionary that is a label of samples; 0: it is none */
};

/* The attributes of a resource, of a profile in it, and of a sample, as far as they are known. */
struct otlp_owner {
	int64_t pid, tid, process, thread; /* 0: not known; process, thread: strings */
};

/* The attributes of one sample that are labels of it: the program's own, or its exporter's. */
struct otlp_sample_labels {
	uint32_t attributes[PROFILE_MAX_SAMPLE_LABELS]; /* of the reader */
	size_t count;
};

struct otlp_type {
	int64_t type, unit; /* strings */
};

/* A label of all resources. */
struct otlp_label {
	bool is_met, differs;
	struct otlp_place value;
};

struct otlp_reader {
	struct byte_reader file;
	struct buffer out; /* pprof; its strings are appended in order */
	size_t string_count;
	/* The tables of the dictionary; owned. */
	struct otlp_place *strings, *stacks;
	struct otlp_attribute *attributes;
	size_t dictionary_strings, string_capacity, stack_count, stack_capacity, attribute_count, attribute_capacity;
	size_t location_count, function_count, mapping_count;
	bool has_first_function; /* the first function has a name, though it should stand for none */
	int64_t kernel;          /* string: path of the kernel's mapping; its id is mapping_count */
	struct otlp_label labels[OTLP_LABELS];
	/* The figures of the samples. */
	struct otlp_type types[PROFILE_MAX_VALUE_TYPES], period_type;
	size_t type_count;
	int64_t period;
	uint64_t start_ns, end_ns; /* since 1970 */
	bool is_counted;           /* each value is that of one observation */
	bool adds_count;           /* value 0 is the number of observations, which is no type of the file */
	size_t sample_count;
	struct buffer sample, packed; /* scratch */
};

/* The numbers of fields that hold messages. */
#define OTLP_DATA(member) proto_number_of(&otlp__profiles_data__descriptor, offsetof(Otlp__ProfilesData, member))
#define OTLP_RESOURCE(member)                                                                                          \
	proto_number_of(&otlp__resource_profiles__descriptor, offsetof(Otlp__ResourceProfiles, member))
#define OTLP_SCOPE(member) proto_number_of(&otlp__scope_profiles__descriptor, offsetof(Otlp__ScopeProfiles, member))
#define OTLP_PROFILE(member) proto_number_of(&otlp__profile__descriptor, offsetof(Otlp__Profile, member))
#define OTLP_DICTIONARY(member) proto_number_of(&otlp__dictionary__descriptor, offsetof(Otlp__Dictionary, member))

/* ---- Reading ---- */

struct otlp_place otlp_place_of(const struct otlp_reader *r, const struct byte_reader *bytes);
struct byte_reader otlp_bytes_at(const struct otlp_reader *r, struct otlp_place place);

static inline struct text_cursor otlp_text(const struct byte_reader *bytes)
{
	return text_over((const char *)bytes->pos, byte_reader_left(bytes));
}

/* Finds the next message or text of one field: while (otlp_next(&message, ID, &inner)) ... */
bool otlp_next(struct byte_reader *message, uint32_t id, struct byte_reader *inner);

/* Fails unless all of a message was read. */
COMMON_MUST_CHECK
bool otlp_check(const struct byte_reader *message, const char *what, struct error *err);

/* Sets the members of a message that are numbers. */
COMMON_MUST_CHECK
bool otlp_set_members(ProtobufCMessage *message, struct byte_reader bytes, const char *what, struct error *err);

/* ---- Attributes ---- */

/* Reads the kind and the value of an AnyValue. */
COMMON_MUST_CHECK
bool otlp_attribute_value(
	struct otlp_reader *r, struct byte_reader value, struct otlp_attribute *attribute, struct error *err);

/* Returns the meaning of an attribute by its key, and the key that is written. */
enum otlp_meaning otlp_meaning_of(const struct byte_reader *key);
const char *otlp_key_of(enum otlp_meaning meaning);

/* Takes what an attribute tells of who was sampled. */
void otlp_owner_take(struct otlp_owner *owner, const struct otlp_attribute *attribute);

/* Takes attributes of the dictionary, by a repeated field of their indices; `labels` is NULL where none are taken. */
COMMON_MUST_CHECK
bool otlp_owner_take_field(struct otlp_reader *r, struct byte_reader *message, struct protobuf_field *field,
	struct otlp_owner *owner, struct otlp_sample_labels *labels, struct error *err);

/* Returns the attribute of an index; NULL: there is none. */
const struct otlp_attribute *otlp_attribute_at(const struct otlp_reader *r, uint64_t index);

/* Reads a resource's attributes, for its owner and the labels. */
COMMON_MUST_CHECK
bool otlp_read_resource(
	struct otlp_reader *r, struct byte_reader resource, struct otlp_owner *owner, struct error *err);

/* ---- pprof ---- */

/* Adds a string, which is not looked for among those that are there. */
int64_t otlp_add_string(struct otlp_reader *r, const void *text, size_t size);

/* Reads the dictionary and appends pprof's tables. */
COMMON_MUST_CHECK
bool otlp_read_dictionary(struct otlp_reader *r, struct error *err);

/* Reads the samples, after the dictionary, and appends pprof's, and what stands for all. */
COMMON_MUST_CHECK
bool otlp_read_samples(struct otlp_reader *r, struct error *err);

/* Returns the id in pprof of an index: 0 stands for nothing there, so that the first one has the id behind the last. */
static inline uint64_t otlp_id(uint64_t index, size_t count)
{
	return index ? index : count;
}
