/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of the model's enums, what is asked of a diff, and what frees it. */
#include "diff/build.h"

#include <string.h>

const char *diff_scale_mode_name(enum diff_scale_mode mode)
{
	switch (mode) {
	case DIFF_SCALE_AUTO:
		return "auto";
	case DIFF_SCALE_PER_RUN:
		return "per-run";
	case DIFF_SCALE_ROBUST:
		return "robust";
	case DIFF_SCALE_SHARE:
		return "share";
	case DIFF_SCALE_RATE:
		return "rate";
	case DIFF_SCALE_PER_REQUEST:
		return "per-request";
	case DIFF_SCALE_WORK:
		return "work";
	}
	return "";
}

const char *diff_variance_name(enum diff_variance part)
{
	switch (part) {
	case DIFF_VARIANCE_COUNTING:
		return "counting";
	case DIFF_VARIANCE_STARTS:
		return "starts";
	case DIFF_VARIANCE_LOAD:
		return "load";
	case DIFF_VARIANCE_SESSION:
		return "session";
	}
	return "";
}

const char *diff_evidence_mode_name(enum diff_evidence_mode mode)
{
	switch (mode) {
	case DIFF_EVIDENCE_NONE:
		return "none";
	case DIFF_EVIDENCE_RUNS:
		return "runs";
	case DIFF_EVIDENCE_SINGLE:
		return "single";
	case DIFF_EVIDENCE_COUNTS:
		return "counts";
	case DIFF_EVIDENCE_EXACT:
		return "exact";
	}
	return "";
}

const char *diff_state_name(enum diff_state state)
{
	switch (state) {
	case DIFF_STATE_SAME:
		return "same";
	case DIFF_STATE_UNPROVEN:
		return "unproven";
	case DIFF_STATE_MORE:
		return "more";
	case DIFF_STATE_LESS:
		return "less";
	case DIFF_STATE_NEW:
		return "new";
	case DIFF_STATE_GONE:
		return "gone";
	case DIFF_STATE_MOVED:
		return "moved";
	}
	return "";
}

const char *diff_side_name(int side)
{
	return side == DIFF_BASE ? "base" : "head";
}

const char *diff_verdict_name(enum diff_verdict verdict)
{
	switch (verdict) {
	case DIFF_UNCHANGED:
		return "unchanged";
	case DIFF_REGRESSED:
		return "regressed";
	case DIFF_IMPROVED:
		return "improved";
	case DIFF_INCONCLUSIVE:
		return "inconclusive";
	case DIFF_MIXED:
		return "mixed";
	case DIFF_MINOR:
		return "minor";
	case DIFF_MACHINE:
		return "machine";
	case DIFF_PLACEMENT:
		return "placement";
	}
	return "";
}

const char *diff_tier_name(enum diff_tier tier)
{
	switch (tier) {
	case DIFF_TIER_SAME:
		return "same";
	case DIFF_TIER_CODE:
		return "code";
	case DIFF_TIER_RENUMBERED:
		return "renumbered";
	case DIFF_TIER_GROUP:
		return "group";
	case DIFF_TIER_PLACE:
		return "place";
	case DIFF_TIER_ONE_SIDED:
		return "one-sided";
	}
	return "";
}

const char *diff_code_name(enum diff_code code)
{
	switch (code) {
	case DIFF_CODE_UNKNOWN:
		return "unknown";
	case DIFF_CODE_SAME:
		return "same";
	case DIFF_CODE_CHANGED:
		return "changed";
	}
	return "";
}

bool diff_state_is_difference(enum diff_state state)
{
	switch (state) {
	case DIFF_STATE_MORE:
	case DIFF_STATE_LESS:
	case DIFF_STATE_NEW:
	case DIFF_STATE_GONE:
		return true;
	case DIFF_STATE_SAME:
	case DIFF_STATE_UNPROVEN:
	case DIFF_STATE_MOVED:
		return false;
	}
	return false;
}

enum profile_wait_class diff_wait_class(const struct diff *diff, const struct diff_function *function)
{
	/* A function of this name in a binary is a function. */
	return function->module == 0 ? profile_wait_class_of_name(diff_string(diff, function->name))
				     : PROFILE_WAIT_NONE;
}

bool diff_has_wait_class(const struct diff *diff, enum profile_wait_class wait_class)
{
	return diff->waiting != DIFF_WAITING_NONE && profile_wait_info(wait_class)->is_idle == diff->is_idle;
}

uint32_t diff_released_by(const struct diff *diff, const struct diff_wait_site *site)
{
	return site->release_count > 0 ? diff->wait_releases[site->first_release].function : PROFILE_NONE;
}

uint32_t diff_released_by_on(const struct diff *diff, const struct diff_wait_site *site, enum diff_side side)
{
	const struct diff_wait_release *first = &diff->wait_releases[site->first_release], *found = NULL;

	for (size_t i = 0; i < site->release_count; i++)
		if (first[i].raw[side] > (found ? found->raw[side] : 0))
			found = &first[i];
	return found ? found->function : PROFILE_NONE;
}

const char *diff_release_words(enum profile_wait_class wait_class)
{
	return wait_class == PROFILE_WAIT_LOCK ? "held by" : "ended by";
}

const char *diff_same_code_words(const struct diff *diff, bool with_callees)
{
	static const char *const counted_by_instruction[] = { "instructions", "system-calls" };

	/* Where code and data lie in memory changes which accesses miss a cache, but not what is executed. */
	for (size_t i = 0; diff->is_exact && i < sizeof(counted_by_instruction) / sizeof(counted_by_instruction[0]);
		i++)
		if (strcmp(diff_string(diff, diff->metric), counted_by_instruction[i]) == 0)
			return with_callees ? "only how often it is called, its data, or what it calls differs"
					    : "only how often it is called, or its data, differs";
	return "only its placement or its workload differs";
}

const char *diff_scale_words(enum diff_scale_mode mode)
{
	switch (mode) {
	case DIFF_SCALE_PER_RUN:
		return "per run";
	case DIFF_SCALE_RATE:
		return "per second";
	case DIFF_SCALE_PER_REQUEST:
		return "per request";
	case DIFF_SCALE_WORK:
		return "per unit of work";
	case DIFF_SCALE_AUTO:
	case DIFF_SCALE_ROBUST:
		return "at a guessed load";
	case DIFF_SCALE_SHARE:
		return "as a share of the total";
	}
	return "";
}

void diff_destroy(struct diff *diff)
{
	if (!diff)
		return;
	string_table_destroy(diff->strings);
	basis_destroy(diff->basis);
	free(diff->nodes);
	free(diff->functions);
	free(diff->function_costs);
	free(diff->warnings);
	free(diff->runs.outliers);
	free(diff->instances.outliers);
	free(diff->instances.cpus);
	free(diff->members);
	free(diff->renamings);
	free(diff->wait_sites);
	free(diff->wait_releases);
	free(diff->changes);
	free(diff->change_functions);
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(diff->node_self[side]);
		free(diff->node_total[side]);
		free(diff->sample_nodes[side]);
		free(diff->node_cost[side]);
		free(diff->leads[side]);
	}
	free(diff);
}
