/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "made.h"

#include <stdlib.h>

static const size_t max_file_bytes = (size_t)1 << 30;

void must(bool ok, const struct error *err)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", err->message);
	exit(1);
}

uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

uint32_t intern(struct profile *profile, const char *format, unsigned int number)
{
	struct error err;
	char text[256];
	uint32_t id;

	snprintf(text, sizeof(text), format, number);
	must(profile_intern(profile, text, &id, &err), &err);
	return id;
}

/* One function of those that changed: the eighth of each of them. */
static bool is_changed(const struct service_shape *shape, uint32_t function)
{
	return shape->changed_one_in > 0 && function % shape->changed_one_in == 7;
}

void add_service_code(struct profile *profile, const struct service_shape *shape)
{
	struct error err;
	uint32_t id;

	for (uint32_t i = 0; i < shape->modules; i++) {
		struct profile_mapping mapping = { .start = 0x1000,
			.end = 0x10000000,
			.path = intern(profile, "/usr/lib/libmodule_%u.so", i),
			.build_id = intern(profile, shape->side ? "head%08x" : "base%08x", i) };

		must(profile_add_mapping(profile, &mapping, &id, &err), &err);
	}
	for (uint32_t i = 0; i < shape->functions; i++) {
		struct profile_function function = { .name = intern(profile,
							     "component::Handler<int, %u>::process(request const&)", i),
			.file = intern(profile, "/src/component_%u.cc", i / 20),
			.start_line = 10 + i % 500,
			.module = profile->mappings[i % shape->modules].module,
			.fingerprint = mix(i + (is_changed(shape, i) ? shape->side * 1000003 : 0)),
			.origin = i % shape->modules < 5 ? PROFILE_ORIGIN_USER : PROFILE_ORIGIN_LIBRARY,
			.name_source = PROFILE_NAME_DWARF };

		must(profile_add_function(profile, &function, &id, &err), &err);
	}
	for (uint32_t i = 0; i < shape->locations; i++) {
		struct profile_line line = { .function = i % shape->functions, .line = 20 + i / shape->functions };

		must(profile_add_location(
			     profile, i % shape->functions % shape->modules, 0x1000 + (uint64_t)i * 64, &id, &err),
			&err);
		must(profile_set_lines(profile, id, &line, 1, &err), &err);
	}
}

void add_grown_stacks(struct profile *profile, uint32_t stacks, uint32_t most_depth, uint32_t locations, uint64_t side)
{
	uint8_t *depths = calloc((size_t)stacks + 2, 1);
	struct error err;
	uint32_t id;

	must(depths || error_set_memory(&err), &err);
	for (uint64_t i = 1; profile->stack_count <= stacks; i++) {
		uint64_t random = mix(i * 3 + (i % 10 == 9 ? side : 0)),
			 recent = profile->stack_count < 300 ? profile->stack_count : 300;
		uint32_t parent = (uint32_t)(random & 3 ? profile->stack_count - 1 - (random >> 8) % recent
							: (random >> 8) % profile->stack_count);

		if (depths[parent] >= most_depth)
			parent = 0;
		must(profile_add_stack(profile, parent, (uint32_t)(mix(random) % locations), &id, &err), &err);
		depths[id] = (uint8_t)(depths[parent] + 1);
	}
	free(depths);
}

size_t write_profile(const struct profile *profile, const char *path)
{
	struct buffer out;
	struct error err;
	size_t size;

	buffer_init(&out, max_file_bytes);
	must(profile_write_pprof(profile, &out, &err) && buffer_ok(&out, &err) &&
			file_write(path, out.data, out.size, 0644, &err),
		&err);
	size = out.size;
	buffer_deinit(&out);
	return size;
}
