/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/work_event.h"

#include "sampler/sampling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 2, PART_BYTES = 256 };

/* An event as it was written, in parts. A path may contain colons. */
struct written {
	bool is_uprobe, is_usdt;
	char path[PATH_MAX];
	char parts[MOST_PARTS][PART_BYTES]; /* subsystem and name; function; provider and name */
	uint64_t offset;
};

/* ---- What was written ---- */

/* Takes the last part off a text; false if there is none, or if it does not fit. */
static bool take_last(char *text, char part[static PART_BYTES])
{
	char *colon = strrchr(text, ':');

	if (!colon || !colon[1] || strlen(colon + 1) >= PART_BYTES)
		return false;
	strcpy(part, colon + 1);
	*colon = '\0';
	return true;
}

static bool parse_offset(char *function, uint64_t *offset)
{
	char *plus = strchr(function, '+'), *end;

	*offset = 0;
	if (!plus)
		return true;
	*plus = '\0';
	errno = 0;
	*offset = strtoull(plus + 1, &end, 0);
	return plus[1] >= '0' && plus[1] <= '9' && *end == '\0' && errno == 0;
}

/* Names of tracepoints become a path: they have letters, digits and a few signs. */
static bool is_tracepoint_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	return name[0] && name[strspn(name, allowed)] == '\0';
}

static bool work_event_parse(const char *text, struct written *written)
{
	char rest[PATH_MAX];

	*written = (struct written){ .is_uprobe = glob_matches("uprobe:*", text),
		.is_usdt = glob_matches("usdt:*", text) };
	if (strlen(text) >= sizeof(rest))
		return false;
	strcpy(rest, text);
	if (!take_last(rest, written->parts[1]))
		return false;
	if (!written->is_uprobe && !written->is_usdt) {
		strcpy(written->parts[0], strlen(rest) < PART_BYTES ? rest : "");
		return is_tracepoint_name(written->parts[0]) && is_tracepoint_name(written->parts[1]);
	}
	if (written->is_usdt && !take_last(rest, written->parts[0]))
		return false;
	if (!glob_matches(written->is_usdt ? "usdt:*" : "uprobe:*", rest))
		return false;
	strcpy(written->path, strchr(rest, ':') + 1);
	return written->path[0] && (written->is_usdt || parse_offset(written->parts[1], &written->offset)) &&
	       written->parts[1][0];
}

bool work_event_check(const char *text, struct error *err)
{
	struct written written;

	return work_event_parse(text, &written) ||
	       error_set(err, ERROR_USAGE,
		       "--work '%.200s': write SUBSYSTEM:NAME of a tracepoint, uprobe:PATH:FUNCTION or usdt:PATH:PROVIDER:NAME",
		       text);
}

bool sampler_check_work_event(const char *text, struct error *err)
{
	return work_event_check(text, err);
}

/* ---- Where it is ---- */

static bool find_tracepoint(struct work_event *event, const struct written *written, struct error *err)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	bool is_mounted = false;

	event->type = PERF_TYPE_TRACEPOINT;
	event->place_count = 1;
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		char path[2 * PART_BYTES + 64];
		int id;

		snprintf(path, sizeof(path), "%s/events", roots[i]);
		is_mounted = is_mounted || access(path, F_OK) == 0;
		snprintf(path, sizeof(path), "%s/events/%s/%s/id", roots[i], written->parts[0], written->parts[1]);
		id = proc_read_number(path);
		event->config = (uint64_t)id;
		if (id >= 0)
			return true;
	}
	if (is_mounted)
		return error_set(err, ERROR_NOT_FOUND,
			"--work '%.200s': the kernel has no such tracepoint; those that it has are below /sys/kernel/tracing/events",
			event->name);
	return error_set(err, ERROR_NOT_FOUND,
		"--work '%.200s': the kernel's tracepoints cannot be read; run 'sudo mount -t tracefs tracefs /sys/kernel/tracing' to make "
		"them readable, and kelvin with sudo",
		event->name);
}

/* Semaphores of probes are passed to the kernel since Linux 4.20: "config:32-63". */
static void find_semaphore_shift(struct work_event *event)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen("/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset", "re");
	unsigned int first;

	if (file && fscanf(file, "config:%u-", &first) == 1 && first < 64)
		event->semaphore_shift = first;
}

static bool work_event_find_places(
	struct work_event *event, const struct written *written, struct elf_image *image, struct error *err)
{
	if (written->is_usdt)
		return work_places_of_probe(
			image, written->parts[0], written->parts[1], event->places, &event->place_count, err);
	event->place_count = 1;
	if (!work_places_of_function(image, written->parts[1], &event->places[0], err))
		return false;
	return checked_add(event->places[0].offset, written->offset, &event->places[0].offset) ||
	       error_set(err, ERROR_USAGE, "the function is not as long");
}

static bool find_in_file(struct work_event *event, const struct written *written, struct error *err)
{
	int type = proc_read_number("/sys/bus/event_source/devices/uprobe/type");
	struct elf_image *image;
	bool ok;

	if (type < 0)
		return error_set(err, ERROR_UNSUPPORTED, "--work '%.200s': this kernel has no uprobes", event->name);
	event->type = (uint32_t)type;
	find_semaphore_shift(event);
	if (!elf_image_open_path(written->path, &image, err))
		return error_prefix(err, "--work");
	ok = work_event_find_places(event, written, image, err);
	elf_image_unref(image);
	if (!ok)
		return error_prefix(err, "--work");
	strcpy(event->path, written->path);
	return true;
}

bool work_event_find(struct work_event *event, const char *text, struct error *err)
{
	struct written written;

	*event = (struct work_event){ .name = text };
	if (!work_event_parse(text, &written))
		return work_event_check(text, err);
	return written.path[0] ? find_in_file(event, &written, err) : find_tracepoint(event, &written, err);
}

struct perf_event_attr work_event_attr(const struct work_event *event, size_t place)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = event->type, .config = event->config, .disabled = 1
	};

	if (!event->path[0])
		return attr;
	attr.config1 = (uint64_t)(uintptr_t)event->path;
	attr.config2 = event->places[place].offset;
	if (event->semaphore_shift > 0)
		attr.config |= event->places[place].semaphore << event->semaphore_shift;
	return attr;
}
