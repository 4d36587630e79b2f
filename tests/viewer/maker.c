/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STACK_TEXT = 2048 };

void maker_check(bool ok, const struct error *err)
{
	if (ok)
		return;
	fprintf(stderr, "make_page: %s\n", err->message);
	exit(EXIT_FAILURE);
}

static uint32_t intern(struct maker *maker, const char *text)
{
	struct error err;
	uint32_t id;

	maker_check(profile_intern(maker->profile, text, &id, &err), &err);
	return id;
}

struct maker maker_create_empty(const char *command, const char *build_id)
{
	struct maker maker = {
		.run = PROFILE_NONE, .thread = PROFILE_NONE, .build_id = build_id, .process = "app", .pid = 100
	};
	struct error err;

	maker_check(profile_create(&maker.profile, &err), &err);
	maker.profile->facts.command = intern(&maker, command);
	maker.profile->facts.kernel = intern(&maker, "6.1.0");
	maker.profile->facts.cpu_model = intern(&maker, "Test CPU");
	return maker;
}

struct maker maker_create(const char *command, const char *build_id)
{
	struct maker maker = maker_create_empty(command, build_id);
	struct error err;

	maker_check(profile_add_value_type(maker.profile, "cpu", "nanoseconds", &err), &err);
	maker.profile->facts.event = intern(&maker, "cpu-clock");
	maker.profile->facts.frequency_hz = 1000;
	maker.profile->period = MAKER_SAMPLE_NS;
	return maker;
}

void maker_run(struct maker *maker, const char *thread, int64_t duration_ms)
{
	struct profile_run run = { .duration_ns = duration_ms * MAKER_SAMPLE_NS, .whole_command = true };
	struct error err;

	maker_check(profile_add_run(maker->profile, &run, &maker->run, &err), &err);
	maker_thread(maker, thread, 100);
}

void maker_thread(struct maker *maker, const char *name, int32_t tid)
{
	struct profile_thread thread = { .run = maker->run, .pid = maker->pid, .tid = tid };
	struct error err;

	thread.process_name = intern(maker, maker->process);
	thread.name = intern(maker, name);
	maker_check(profile_add_thread(maker->profile, &thread, &maker->thread, &err), &err);
}

static uint64_t hash_of(const char *text)
{
	return hash_bytes(text, strlen(text));
}

static uint32_t add_mapping(struct maker *maker, const char *module)
{
	struct profile_mapping mapping = { .start = 0x1000,
		.end = UINT64_C(1) << 40,
		.path = intern(maker, module),
		.build_id = intern(maker, maker->build_id),
		.kind = strcmp(module, PROFILE_JIT_MODULE) == 0 ? PROFILE_MAPPING_JIT
			: module[0] == '['                      ? PROFILE_MAPPING_KERNEL
								: PROFILE_MAPPING_FILE };
	char build_id[64];
	struct error err;
	uint32_t id;

	/* Mappings are told apart by build id. */
	snprintf(build_id, sizeof(build_id), "%s%016llx", maker->build_id, (unsigned long long)hash_of(module));
	mapping.build_id = intern(maker, build_id);
	maker_check(profile_add_mapping(maker->profile, &mapping, &id, &err), &err);
	return id;
}

uint32_t maker_location(struct maker *maker, const struct maker_frame *frame)
{
	uint32_t mapping = add_mapping(maker, frame->module), location;
	struct profile_function function = { .name = intern(maker, frame->name),
		.module = maker->profile->mappings[mapping].module,
		.origin = frame->origin,
		.origin_rule = frame->origin == PROFILE_ORIGIN_UNKNOWN ? 0 : (uint16_t)frame->origin,
		.fingerprint = frame->fingerprint,
		.name_source = PROFILE_NAME_SYMTAB };
	struct profile_line line = { .line = 7 };
	struct profile_script_name python;
	struct error err;

	if (profile_python_name(frame->name, &python)) {
		function.file = intern(maker, python.file);
		function.start_line = 12;
		function.fingerprint = 0;
	} else if (frame->origin == PROFILE_ORIGIN_USER) {
		function.file = intern(maker, "src/app.c");
		function.start_line = 42;
	}
	maker_check(profile_add_function(maker->profile, &function, &line.function, &err), &err);
	maker_check(profile_add_location_of_lines(maker->profile, mapping, &line, 1, &location, &err), &err);
	return location;
}

uint32_t maker_stack_at(struct maker *maker, uint32_t parent, uint32_t location)
{
	struct error err;
	uint32_t stack;

	maker_check(profile_add_stack(maker->profile, parent, location, &stack, &err), &err);
	return stack;
}

uint32_t maker_stack(struct maker *maker, uint32_t parent, const struct maker_frame *frame)
{
	return maker_stack_at(maker, parent, maker_location(maker, frame));
}

/* What stands behind `mark` in the frame, cut off from it; NULL when there is none. */
static char *cut(char *frame, char mark)
{
	char *found = strrchr(frame, mark);

	if (!found)
		return NULL;
	*found = '\0';
	return found + 1;
}

/* In one program nearly all code is the same before and after. */
static uint64_t fingerprint_of(const struct maker *maker, const char *name, const char *mark)
{
	if (!mark)
		return hash_of(name);
	return *mark == '~' ? hash_of(name) + hash_of(maker->build_id) : strtoull(mark, NULL, 10);
}

static enum profile_origin origin_of(const char *letter)
{
	switch (letter ? *letter : 'u') {
	case 's':
		return PROFILE_ORIGIN_SYSTEM;
	case 'l':
		return PROFILE_ORIGIN_LIBRARY;
	case '?':
		return PROFILE_ORIGIN_UNKNOWN;
	default:
		return PROFILE_ORIGIN_USER;
	}
}

uint32_t maker_stack_of(struct maker *maker, const char *frames)
{
	char copy[MAX_STACK_TEXT], *at = copy, *text;
	struct error err;
	uint32_t stack = 0;

	if (strlen(frames) >= sizeof(copy))
		maker_check(error_set(&err, ERROR_LIMIT, "a stack of more than %d bytes", MAX_STACK_TEXT), &err);
	strcpy(copy, frames);
	while ((text = strsep(&at, ";"))) {
		char *fingerprint = cut(text, '#'), *origin = cut(text, '@'), *module = cut(text, '!');
		struct maker_frame frame = { text, module ? module : "app", origin_of(origin),
			fingerprint_of(maker, text, fingerprint) };

		stack = maker_stack(maker, stack, &frame);
	}
	return stack;
}

void maker_add(struct maker *maker, uint32_t stack, int64_t ms, int64_t at_ms)
{
	struct error err;

	maker->profile->quality.samples += (uint64_t)(ms > 0 ? ms : 0);
	maker->profile->quality.stops[PROFILE_STOP_ROOT] += (uint64_t)(ms > 0 ? ms : 0);
	if (at_ms < 0 && ms > 0) {
		int64_t values[2] = { ms, ms * MAKER_SAMPLE_NS };

		maker_check(profile_add_sample(maker->profile, stack, maker->thread, values, -1, &err), &err);
		return;
	}
	for (int64_t i = 0; i < ms; i++) {
		int64_t values[2] = { 1, MAKER_SAMPLE_NS };

		maker_check(profile_add_sample(
				    maker->profile, stack, maker->thread, values, (at_ms + i) * MAKER_SAMPLE_NS, &err),
			&err);
	}
}

struct profile *maker_finish(struct maker *maker)
{
	struct profile *profile = maker->profile;
	struct error err;

	maker_check(profile_finish(profile, &err), &err);
	maker->profile = NULL;
	return profile;
}
