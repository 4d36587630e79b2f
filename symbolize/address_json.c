/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbolize.h"

#include <inttypes.h>
#include <jansson.h>

enum { MAX_TEXT_BYTES = 1 << 24 };

/* Returns a new reference; NULL if memory runs out. */
static json_t *address_json_text(const char *text)
{
	json_t *json = json_string(text);
	struct buffer valid = BUFFER_INIT(MAX_TEXT_BYTES);

	if (json)
		return json;
	unicode_append_clean(&valid, text);
	buffer_append_byte(&valid, 0);
	json = valid.failed ? NULL : json_string(valid.data);
	buffer_deinit(&valid);
	return json;
}

static json_t *line_json(uint32_t line)
{
	return line ? json_integer(line) : json_null();
}

static bool address_json_set_frame(json_t *object, const struct symbolize_frame *frame)
{
	return json_object_set_new(object, "function", address_json_text(frame->name)) == 0 &&
	       json_object_set_new(object, "linkage_name", address_json_text(frame->linkage_name)) == 0 &&
	       json_object_set_new(object, "file", address_json_text(frame->file)) == 0 &&
	       json_object_set_new(object, "line", line_json(frame->line)) == 0 &&
	       json_object_set_new(object, "declared_file", address_json_text(frame->decl_file)) == 0 &&
	       json_object_set_new(object, "declared_line", line_json(frame->decl_line)) == 0 &&
	       json_object_set_new(object, "source", json_string(profile_name_source_name(frame->source))) == 0;
}

static bool set_origin(json_t *object, const struct addresses_asked *asked, const struct symbolize_result *result,
	const struct symbolize_frame *frame)
{
	enum profile_origin origin;
	enum symbolize_rule rule;
	struct error ignored;

	return symbolize_frame_origin(result, asked->image, frame, asked->options, &origin, &rule, &ignored) &&
	       json_object_set_new(object, "origin", json_string(profile_origin_name(origin))) == 0 &&
	       json_object_set_new(object, "origin_rule", json_integer(rule)) == 0 &&
	       json_object_set_new(object, "origin_reason", json_string(symbolize_rule_text(rule))) == 0;
}

static bool address_json_add_frames(json_t *list, bool with_origin, const struct addresses_asked *asked,
	const struct symbolize_result *result, const struct symbolize_frames *frames)
{
	for (size_t i = 0; i < frames->count; i++) {
		json_t *object = json_object();

		if (json_array_append_new(list, object) != 0 || !address_json_set_frame(object, &frames->frames[i]) ||
			(with_origin && !set_origin(object, asked, result, &frames->frames[i])))
			return false;
	}
	return true;
}

static bool address_json_dump(struct buffer *out, json_t *json, struct error *err)
{
	CLEANUP(cleanup_free) char *text = json ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	json_decref(json);
	if (!text)
		return error_set_memory(err);
	buffer_append_string(out, text);
	return buffer_ok(out, err);
}

bool address_json_append_text(struct buffer *out, const char *text, struct error *err)
{
	return address_json_dump(out, address_json_text(text), err);
}

bool address_json_append(struct buffer *out, bool with_origin, const struct addresses_asked *asked,
	const struct symbolize_result *result, uint64_t address, const struct symbolize_frames *frames,
	struct error *err)
{
	json_t *object = json_object(), *list = json_array();
	char text[32];
	bool ok;

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	ok = json_object_set_new(object, "address", json_string(text)) == 0 &&
	     json_object_set(object, "frames", list) == 0 &&
	     address_json_add_frames(list, with_origin, asked, result, frames);
	json_decref(list);
	if (ok)
		return address_json_dump(out, object, err);
	json_decref(object);
	return error_set_memory(err);
}
