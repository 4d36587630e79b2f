/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/history.h"

#include "diff/function_units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The values that are summed up, and where the sums go. */
struct summarize_summing {
	struct summary_set *set;
	const struct profile *profile;
	const struct diff_function_units *units;
	struct summary *summary; /* the last one of the set */
};

/* Returns the standard error of counting samples; no value is exact. */
static float summing_error(const struct summarize_summing *s, double sum)
{
	return (float)sqrt(sum * s->units->sample_weight);
}

/* ---- Strings ---- */

static bool summing_text(const struct summarize_summing *s, const char *text, uint32_t *id, struct error *err)
{
	return string_table_add(s->set->strings, text, strlen(text), id, err);
}

static bool summing_string(const struct summarize_summing *s, uint32_t from, uint32_t *id, struct error *err)
{
	return summing_text(s, profile_string(s->profile, from), id, err);
}

static bool summing_diff_string(const struct summarize_summing *s, uint32_t from, uint32_t *id, struct error *err)
{
	return summing_text(s, diff_string(s->units->diff, from), id, err);
}

/* ---- Functions ---- */

static bool summing_function(
	const struct summarize_summing *s, const struct diff_function *f, uint32_t *id, struct error *err)
{
	struct summary_function function = {
		.origin = f->origin, .language = f->language, .interrupt = f->interrupt || f->compiles
	};

	return summing_diff_string(s, f->key, &function.key, err) &&
	       summing_diff_string(s, f->name, &function.name, err) &&
	       summing_diff_string(s, f->shown, &function.shown, err) &&
	       summing_diff_string(s, f->shown_in, &function.shown_in, err) &&
	       summing_diff_string(s, f->module, &function.module, err) &&
	       summing_diff_string(s, f->file, &function.file, err) && summary_add_function(s->set, &function, id, err);
}

static bool summing_rows(const struct summarize_summing *s, struct error *err)
{
	const struct diff *diff = s->units->diff;

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		struct summary_row row = { .fingerprint = s->units->fingerprint[i],
			.self = f->raw_self[DIFF_HEAD],
			.total = f->raw_total[DIFF_HEAD] };

		if (row.self == 0 && row.total == 0)
			continue;
		row.self_error = summing_error(s, row.self);
		row.total_error = summing_error(s, row.total);
		if (!summing_function(s, f, &row.function, err) || !summary_add_row(s->set, &row, err))
			return false;
	}
	return true;
}

/* ---- Binaries ---- */

static bool summing_has_users_functions(const struct profile *profile, uint32_t module)
{
	for (size_t i = 0; i < profile->function_count; i++)
		if (profile->functions[i].origin == PROFILE_ORIGIN_USER && profile->functions[i].module == module)
			return true;
	return false;
}

/* Returns whether the module is the first word of the command, or the name of the first process. */
static bool summing_is_command(const struct profile *profile, uint32_t module)
{
	enum { COMM_CHARS = 15 };
	const char *name = profile_string(profile, module), *command = profile_string(profile, profile->facts.command);
	const char *process = profile->thread_count ? profile_string(profile, profile->threads[0].process_name) : "";
	const char *end = command + strcspn(command, " "), *word = end;

	while (word > command && word[-1] != '/')
		word--;
	if (*name == '\0')
		return false;
	return (strlen(name) == (size_t)(end - word) && strncmp(name, word, strlen(name)) == 0) ||
	       (*process && strncmp(name, process, COMM_CHARS) == 0);
}

static bool summing_binary(const struct summarize_summing *s, const struct profile_mapping *mapping, struct error *err)
{
	struct summary_binary binary = { .is_program = summing_has_users_functions(s->profile, mapping->module) };

	return summing_string(s, mapping->module, &binary.module, err) &&
	       summing_string(s, mapping->path, &binary.path, err) &&
	       summing_string(s, mapping->build_id, &binary.build_id, err) && summary_add_binary(s->set, &binary, err);
}

static bool summing_binaries(const struct summarize_summing *s, struct error *err)
{
	const struct profile *profile = s->profile;
	CLEANUP(cleanup_free) bool *sampled = memory_zeroed(profile->mapping_count + 1, sizeof(*sampled));
	bool has_program = false;

	for (size_t i = 0; i < profile->location_count; i++)
		if (profile->locations[i].mapping != PROFILE_NONE)
			sampled[profile->locations[i].mapping] = true;
	for (size_t i = 0; i < profile->mapping_count; i++) {
		const struct profile_mapping *mapping = &profile->mappings[i];

		if (!sampled[i] || mapping->kind != PROFILE_MAPPING_FILE)
			continue;
		if (!summing_binary(s, mapping, err))
			return false;
		has_program |= s->summary->binaries[s->summary->binary_count - 1].is_program;
	}
	for (size_t i = 0, added = 0; i < profile->mapping_count && !has_program; i++)
		if (sampled[i] && profile->mappings[i].kind == PROFILE_MAPPING_FILE)
			s->summary->binaries[added++].is_program =
				summing_is_command(profile, profile->mappings[i].module);
	return true;
}

/* ---- Circumstances ---- */

static bool summing_facts(const struct summarize_summing *s, struct error *err)
{
	struct summary *summary = s->summary;
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	summary->facts = s->profile->facts;
	for (size_t i = 0; i < count; i++) {
		uint32_t id = profile_fact_get(&s->profile->facts, &facts[i]);

		if (facts[i].type != PROFILE_FACT_STRING)
			continue;
		if (!summing_string(s, id, &id, err))
			return false;
		profile_fact_set(&summary->facts, &facts[i], id);
	}
	summary->label_count = s->profile->label_count;
	for (size_t i = 0; i < summary->label_count; i++)
		if (!summing_string(s, s->profile->labels[i].key, &summary->labels[i].key, err) ||
			!summing_string(s, s->profile->labels[i].value, &summary->labels[i].value, err))
			return false;
	return true;
}

static void summing_runs(const struct summarize_summing *s, int64_t file_time_unix_ns)
{
	const struct profile *profile = s->profile;
	struct summary *summary = s->summary;

	summary->runs = profile->run_count ? profile->run_count : 1;
	summary->whole_commands = profile->run_count > 0;
	for (size_t i = 0; i < profile->run_count; i++) {
		const struct profile_run *run = &profile->runs[i];

		if (run->start_unix_ns && (!summary->start_unix_ns || run->start_unix_ns < summary->start_unix_ns))
			summary->start_unix_ns = run->start_unix_ns;
		if (run->duration_ns > 0)
			summary->duration_ns = saturating_add(summary->duration_ns, run->duration_ns);
		summary->whole_commands &= run->whole_command;
	}
	summary->is_time_of_file = !summary->start_unix_ns && file_time_unix_ns;
	if (summary->is_time_of_file)
		summary->start_unix_ns = file_time_unix_ns;
}

/* Returns the share of samples that were lost, or whose stacks were cut. */
static double summing_lost(const struct profile_quality *quality)
{
	double kept = (double)quality->samples, all = kept + (double)quality->lost;
	double cut = 100 - profile_quality_whole_percent(quality) - profile_quality_open_percent(quality);

	return all > 0 ? ((double)quality->lost + kept * fmax(cut, 0) / 100) / all : 0;
}

static void summing_values(const struct summarize_summing *s)
{
	const struct diff *diff = s->units->diff;
	const struct profile_quality *quality = &s->profile->quality;
	struct summary *summary = s->summary;

	summary->is_time = diff->is_time;
	summary->is_duration = diff->is_duration;
	summary->is_counted = diff->is_counted;
	summary->is_exact = diff->is_exact;
	summary->total = diff->total.head;
	summary->interrupts = diff->interrupts.raw[DIFF_HEAD] + diff->compilation.raw[DIFF_HEAD];
	if (s->units->sample_weight > 0)
		summary->samples =
			(uint64_t)llround((diff->total.head + summary->interrupts) / s->units->sample_weight);
	summary->lost = profile_knows_whole_stacks(s->profile) ? summing_lost(quality) : 0;
	summary->work = s->units->counts_requests ? diff->requests[DIFF_HEAD].source : PROFILE_WORK_UNKNOWN;
	summary->requests = s->units->counts_requests ? diff->requests[DIFF_HEAD].count : 0;
}

static bool summing_words(const struct summarize_summing *s, const struct summary_options *options, struct error *err)
{
	const struct diff *diff = s->units->diff;
	struct summary *summary = s->summary;

	return summing_text(s, options->name ? options->name : "", &summary->name, err) &&
	       summing_diff_string(s, diff->metric, &summary->metric, err) &&
	       summing_diff_string(s, diff->unit, &summary->unit, err) &&
	       summing_diff_string(s, diff->metric_words, &summary->metric_words, err) &&
	       summing_diff_string(s, diff->requests[DIFF_HEAD].event, &summary->work_event, err);
}

static bool summing_fill(struct summarize_summing *s, const struct summary_options *options, struct error *err)
{
	s->summary->id[0] = options->id[0];
	s->summary->id[1] = options->id[1];
	summing_runs(s, options->file_time_unix_ns);
	summing_values(s);
	if (s->units->counts_requests)
		s->summary->total_error = summing_error(s, s->summary->total);
	return summing_words(s, options, err) && summing_facts(s, err) && summing_binaries(s, err) &&
	       summing_rows(s, err) && summary_finish(s->set, err);
}

bool history_summarize(struct summary_set *set, const struct profile *profile, const struct summary_options *options,
	struct error *err)
{
	CLEANUP(diff_function_units_cleanup) struct diff_function_units *units = NULL;
	struct summarize_summing summing = { .set = set, .profile = profile };

	if (!diff_function_units_create(profile, &(struct diff_options){ .metric = options->metric }, &units, err) ||
		!summary_add_empty(set, &summing.summary, err))
		return false;
	summing.units = units;
	if (summing_fill(&summing, options, err))
		return true;
	summary_drop_last(set);
	return false;
}
