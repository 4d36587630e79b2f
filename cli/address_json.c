/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/address_json.h"

#include <inttypes.h>

enum { MAX_TEXT_BYTES = 1 << 24 };

json_t *address_json_text(const char *text)
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

static bool set_origin(json_t *object, const struct address_json *json, const struct symbolize_result *result,
	const struct symbolize_frame *frame)
{
	enum profile_origin origin;
	enum symbolize_rule rule;
	struct error ignored;

	return symbolize_frame_origin(result, json->image, frame, json->options, &origin, &rule, &ignored) &&
	       json_object_set_new(object, "origin", json_string(profile_origin_name(origin))) == 0 &&
	       json_object_set_new(object, "origin_rule", json_integer(rule)) == 0 &&
	       json_object_set_new(object, "origin_reason", json_string(symbolize_rule_text(rule))) == 0;
}

static bool address_json_add_frames(json_t *list, const struct address_json *json,
	const struct symbolize_result *result, const struct symbolize_frames *frames)
{
	for (size_t i = 0; i < frames->count; i++) {
		json_t *object = json_object();

		if (json_array_append_new(list, object) != 0 || !address_json_set_frame(object, &frames->frames[i]) ||
			(json->with_origin && !set_origin(object, json, result, &frames->frames[i])))
			return false;
	}
	return true;
}

json_t *address_json_create(const struct address_json *json, const struct symbolize_result *result, uint64_t address,
	const struct symbolize_frames *frames)
{
	json_t *object = json_object(), *list = json_array();
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	if (json_object_set_new(object, "address", json_string(text)) == 0 &&
		json_object_set(object, "frames", list) == 0 && address_json_add_frames(list, json, result, frames)) {
		json_decref(list);
		return object;
	}
	json_decref(list);
	json_decref(object);
	return NULL;
}
