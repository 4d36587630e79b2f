/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/deploy_line.h"

#include "profile/profile.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static double deploy_line_number_at(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* Appends a number with three digits that count, as people write it. */
static void deploy_line_append_number(struct buffer *out, double value)
{
	int digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;

	buffer_printf(out, "%.*f", digits, value);
}

struct time_unit {
	const char *name;
	double ns;
};

static const struct time_unit *deploy_line_unit_of(double ns)
{
	static const struct time_unit units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "µs", 1e3 }, { "ns", 1 } };
	size_t i = 0;

	while (i + 1 < sizeof(units) / sizeof(units[0]) && ns < units[i].ns)
		i++;
	return &units[i];
}

/* Appends percent with a sign: no more digits than tell something. */
static void deploy_line_append_percent(struct buffer *out, double percent, bool has_plus)
{
	buffer_printf(out, has_plus ? "%+.*f" : "%.*f", fabs(percent) < 10 ? 1 : 0, percent);
}

/*
 * Appends ", CPU per request 1.21 → 1.55 ms (+28 %, 24 to 33)", where requests are what makes both sides comparable.
 * The interval of the JSON is in points, which are percent of the larger total.
 */
static bool append_per_request(struct buffer *out, const json_t *root)
{
	const json_t *totals = json_object_get(root, "totals"), *recordings = json_object_get(root, "recordings");
	const json_t *requests = json_object_get(json_object_get(recordings, "base"), "requests");
	const json_t *ci = json_object_get(totals, "ci");
	double base_ns = deploy_line_number_at(totals, "base_ns"), delta_ns = deploy_line_number_at(totals, "delta_ns");
	double count = deploy_line_number_at(requests, "count"), points = fmax(base_ns, base_ns + delta_ns) / base_ns;
	const struct time_unit *unit;

	if (strcmp(text_at(json_object_get(root, "scale"), "mode"), "per-request") != 0 || !(count > 0) ||
		!(base_ns > 0) || !isfinite(delta_ns) ||
		strcmp(text_at(json_object_get(root, "metric"), "name"), "cpu") != 0)
		return false;
	unit = deploy_line_unit_of(fmin(base_ns, base_ns + delta_ns) / count);
	buffer_append_string(out, ", CPU per request ");
	deploy_line_append_number(out, base_ns / count / unit->ns);
	buffer_append_string(out, " → ");
	deploy_line_append_number(out, (base_ns + delta_ns) / count / unit->ns);
	buffer_printf(out, " %s (", unit->name);
	deploy_line_append_percent(out, 100 * delta_ns / base_ns, true);
	buffer_append_string(out, " %");
	if (json_array_size(ci) == 2) {
		buffer_append_string(out, ", ");
		deploy_line_append_percent(out, points * json_number_value(json_array_get(ci, 0)), false);
		buffer_append_string(out, " to ");
		deploy_line_append_percent(out, points * json_number_value(json_array_get(ci, 1)), false);
	}
	buffer_append_string(
		out, strcmp(text_at(totals, "state"), "unproven") == 0 ? "; of the total not proven)" : ")");
	return true;
}

/* Appends the function that the verdict names: where the cost is. */
static void deploy_line_append_cause(struct buffer *out, const json_t *root)
{
	const json_t *cause = json_object_get(root, "cause");
	const char *leaf = text_at(cause, "leaf"), *function = leaf[0] ? leaf : text_at(cause, "function");

	if (!function[0])
		return;
	buffer_append_string(out, ", ");
	profile_shown_name(function, text_at(cause, "module"), out);
}

static void deploy_line_append_sentence(struct buffer *out, const char *text)
{
	for (; *text; text++)
		if (*text != '`')
			buffer_append_byte(out, (uint8_t)(*text == '\n' ? ' ' : *text));
}

/* A figure and a function where these say it all; else the sentence of the verdict. */
static void deploy_line_append_verdict(struct buffer *out, const json_t *root)
{
	const char *verdict = text_at(root, "verdict");
	bool has_cause = json_is_object(json_object_get(root, "cause"));
	bool is_short = has_cause || strcmp(verdict, "unchanged") == 0;

	buffer_append_string(out, verdict);
	if (is_short && append_per_request(out, root)) {
		deploy_line_append_cause(out, root);
		return;
	}
	buffer_append_string(out, ": ");
	deploy_line_append_sentence(out, text_at(root, "verdict_text"));
}

bool render_deploy_line(const char *json, size_t size, const char *begin, const char *end, struct buffer *out)
{
	json_error_t why;
	json_t *root = json_loadb(json, size, 0, &why);

	buffer_printf(out, "%s: ", begin);
	deploy_line_append_verdict(out, root);
	buffer_printf(out, "; %s\n", end);
	json_decref(root);
	return root != NULL;
}
