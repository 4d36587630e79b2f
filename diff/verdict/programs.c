/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/programs.h"

#include "diff/constants.h"

#include <math.h>
#include <string.h>

/* The code of a side that is characteristic of its program. */
struct side_code {
	/* self time of all such code; self time of that in functions of both sides */
	double own, common;
	const struct diff_function *greatest; /* the one with the most self time */
};

/*
 * Returns whether a function tells no program from another: any two programs share the kernel and the C library, and
 * code without a name cannot be compared.
 */
static bool is_in_any_program(const struct diff_build *build, const struct diff_function *f)
{
	const char *module = diff_string(build->diff, f->module);

	if (strncmp(diff_string(build->diff, f->key), "[unnamed]", 9) == 0 ||
		diff_wait_class(build->diff, f) != PROFILE_WAIT_NONE)
		return true;
	return f->origin == PROFILE_ORIGIN_SYSTEM && build_has_module(build->profiles[DIFF_BASE], module) &&
	       build_has_module(build->profiles[DIFF_HEAD], module);
}

static void sum_code(const struct diff_build *build, struct side_code code[DIFF_SIDES])
{
	for (size_t i = 0; i < build->diff->function_count; i++) {
		const struct diff_function *f = &build->diff->functions[i];
		bool both = f->raw_total[DIFF_BASE] > 0 && f->raw_total[DIFF_HEAD] > 0;

		if (is_in_any_program(build, f))
			continue;
		for (int side = 0; side < DIFF_SIDES; side++) {
			code[side].own += f->raw_self[side];
			code[side].common += both ? f->raw_self[side] : 0;
			if (!code[side].greatest || f->raw_self[side] > code[side].greatest->raw_self[side])
				code[side].greatest = f;
		}
	}
}

bool programs_is_shell(const char *name)
{
	return glob_matches_any(GLOBS("sh", "dash", "bash", "busybox", "zsh"), name);
}

/* Returns the program's name. If a shell started it, the shell is not the program. */
static const char *name_program(const struct diff_build *build, enum diff_side side, const struct side_code *code)
{
	const struct profile *profile = build->profiles[side];
	const char *name = profile->mapping_count ? profile_string(profile, profile->mappings[0].module) : "";

	return programs_is_shell(name) ? diff_string(build->diff, code->greatest->module) : name;
}

bool programs_differ(const struct diff_build *build, char *text, size_t size)
{
	struct side_code code[DIFF_SIDES] = { 0 };
	const char *names[DIFF_SIDES];
	double percent = 0;

	sum_code(build, code);
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (!code[side].greatest || code[side].own < programs_min_own_samples * build->sample_weight[side])
			return false;
		percent = fmax(percent, code[side].common / code[side].own * 100);
		names[side] = name_program(build, (enum diff_side)side, &code[side]);
		if (names[side][0] == '\0')
			return false;
	}
	if (percent >= programs_min_common_percent || strcmp(names[DIFF_BASE], names[DIFF_HEAD]) == 0)
		return false;
	snprintf(text, size,
		"base and head look like different programs ('%.60s' and '%.60s'): apart from system code, at most %.1f %% of either side's time is in functions that both have",
		names[DIFF_BASE], names[DIFF_HEAD], percent);
	return true;
}
