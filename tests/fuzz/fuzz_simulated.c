/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/sampler.h"

#include "tests/fuzz/scratch.h"

#include <stdlib.h>
#include <string.h>

/* Input: the file of a simulated process. Both steps read it; between them each location gets a function. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool name_locations(struct profile *profile, struct error *err)
{
	struct profile_function function = { .name_source = PROFILE_NAME_SYMTAB };
	struct profile_line line = { .line = 1 };

	if (!profile_intern(profile, "function", &function.name, err) ||
		!profile_add_function(profile, &function, &line.function, err))
		return false;
	for (uint32_t i = 0; i < profile->location_count; i++) {
		line.line = i % 3;
		if (!profile_set_lines(profile, i, &line, 1, err))
			return false;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sampler_simulated simulated = { .command = "program", .tool = "kelvin" };
	struct recording result = { .child_status = -1 };
	struct sampler_simulation *simulation = NULL;
	char path[PATH_MAX];
	struct error err;

	scratch_write("1.0", data, size);
	scratch_path("1.0", path);
	*strrchr(path, '/') = '\0';
	simulated.directory = path;
	if (sampler_simulation_read(&simulated, &simulation, &result, NULL, &err) &&
		name_locations(result.profile, &err) && sampler_simulation_count(simulation, &result, NULL, &err) &&
		result.profile->stack_count == 0)
		__builtin_trap();
	sampler_simulation_destroy(simulation);
	recording_deinit(&result);
	return 0;
}
