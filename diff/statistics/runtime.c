/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/runtime.h"

#include "diff/constants.h"
#include "diff/statistics/basis.h"

#include <math.h>
#include <string.h>

/*
 * A language is chosen if its functions and the modules of its runtime have more than this share of a side's time. The
 * share is low where most code is compiled at run time, since that is in a module of its own.
 */
static const double least_shares[PROFILE_VARIATION_COUNT] = {
	[PROFILE_VARIATION_NATIVE] = 0, /* C, C++, Rust */
	[PROFILE_VARIATION_INTERPRETED] = 0.5,
	[PROFILE_VARIATION_V8] = 0.125,
	[PROFILE_VARIATION_HOTSPOT] = 0.0625,
	[PROFILE_VARIATION_GO] = 0.5,
	[PROFILE_VARIATION_UNKNOWN] = 0.5,
};

static bool has_variation(enum profile_language language)
{
	return profile_languages[language].variation != PROFILE_VARIATION_NATIVE;
}

static enum profile_language language_of_module(const char *module)
{
	enum profile_language language = profile_language_of_module(module);

	return has_variation(language) ? language : PROFILE_LANGUAGE_NATIVE;
}

static enum profile_language language_of_function(const struct diff *diff, const struct diff_function *f)
{
	if (has_variation(f->language))
		return f->language;
	if (f->name_source == PROFILE_NAME_GO)
		return PROFILE_LANGUAGE_GO;
	/* Files of other tools may name no module, which says nothing about the language. */
	if (f->module == 0 && f->origin == PROFILE_ORIGIN_UNKNOWN)
		return PROFILE_LANGUAGE_UNKNOWN;
	return language_of_module(diff_string(diff, f->module));
}

/*
 * Returns the language of a thread that waits: that of the innermost frame that is not native. Threads of all languages
 * wait in the C library.
 */
static enum profile_language language_of_wait(const struct diff *diff, uint32_t node)
{
	while ((node = diff->nodes[node].parent) != 0) {
		const struct diff_function *f = &diff->functions[diff->nodes[node].function];
		enum profile_language language = language_of_function(diff, f);

		if (language != PROFILE_LANGUAGE_NATIVE && language != PROFILE_LANGUAGE_UNKNOWN)
			return language;
	}
	return PROFILE_LANGUAGE_NATIVE;
}

enum profile_language runtime_language(const struct diff *diff)
{
	double times[PROFILE_LANGUAGE_COUNT] = { 0 }, all = 0;

	if (diff->whole)
		return basis_of(diff)->language;
	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		bool is_wait = diff_wait_class(diff, f) != PROFILE_WAIT_NONE;
		double time = f->interrupt || is_wait ? 0 : f->self.base + f->self.head;

		all += time;
		times[language_of_function(diff, f)] += time;
	}
	for (uint32_t node = 1; diff->waiting != DIFF_WAITING_NONE && node < diff->node_count; node++) {
		double time = diff->node_self[DIFF_BASE][node] + diff->node_self[DIFF_HEAD][node] * diff->scale.factor;

		if (!(time > 0) || !build_is_wait(diff, node))
			continue;
		all += time;
		times[language_of_wait(diff, node)] += time;
	}
	for (int i = PROFILE_LANGUAGE_NATIVE + 1; i < PROFILE_LANGUAGE_COUNT; i++)
		if (times[i] > least_shares[profile_languages[i].variation] * all)
			return (enum profile_language)i;
	return PROFILE_LANGUAGE_NATIVE;
}

enum profile_language runtime_language_of_profile(const struct profile *profile)
{
	for (size_t i = 0; i < profile->mapping_count; i++) {
		enum profile_language language =
			language_of_module(profile_string(profile, profile->mappings[i].module));

		if (language != PROFILE_LANGUAGE_NATIVE)
			return language;
	}
	for (size_t i = 0; i < profile->function_count; i++)
		if (profile->functions[i].name_source == PROFILE_NAME_GO)
			return PROFILE_LANGUAGE_GO;
	return PROFILE_LANGUAGE_NATIVE;
}

bool runtime_compiles(enum profile_language language)
{
	enum profile_variation variation = profile_languages[language].variation;

	return variation == PROFILE_VARIATION_V8 || variation == PROFILE_VARIATION_HOTSPOT;
}
