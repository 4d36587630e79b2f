/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf.h"

#include "symbolize/dwarf/claim.h"
#include "symbolize/dwarf/job.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* Number of units whose root entry is searched for the compilation directory. */
enum { MAX_DIRECTORY_UNITS = 64 };

struct resolver {
	const struct dwarf_options *options;
	const uint64_t *addresses;
	size_t count;
	struct dwarf_result *result;
	struct dwarf_file file, alt;
	struct dwarf_package package;
	bool has_alt;
	bool is_short; /* the file was opened in part, and more of it is needed */
};

/* One round: the jobs of all units, which run in parallel. */
struct round {
	struct resolver *resolver;
	struct dwarf_job *jobs;
	struct error *errors; /* [job] */
	bool *failed;         /* [job] */
	size_t job_count;
	uint64_t *addresses;
	struct dwarf_answer **answers;
};

struct claimed {
	uint32_t unit, index;
};

/* The units that claim each address. */
struct claimants {
	uint32_t *first, *second; /* [address] */
	bool *listed;             /* [unit] it has a set in .debug_aranges */
};

static int compare_claimed(const void *left, const void *right)
{
	const struct claimed *a = left, *b = right;

	return a->unit != b->unit ? ORDER(a->unit, b->unit) : ORDER(a->index, b->index);
}

static int compare_jobs(const void *left, const void *right)
{
	const struct dwarf_job *a = left, *b = right;
	uint64_t a_size = a->unit->end - a->unit->offset, b_size = b->unit->end - b->unit->offset;

	return a_size != b_size ? ORDER(b_size, a_size) : ORDER(a->unit->offset, b->unit->offset);
}

static void dwarf_run_job(void *context, size_t index)
{
	struct round *round = context;

	round->failed[index] = !dwarf_job_run(&round->jobs[index], &round->errors[index]);
}

static void round_deinit(struct round *round)
{
	free(round->jobs);
	free(round->errors);
	free(round->failed);
	free(round->addresses);
	free(round->answers);
}

/* Creates one arena for each job; the result keeps them. */
static bool add_arenas(struct round *round, struct error *err)
{
	struct dwarf_result *result = round->resolver->result;
	size_t count = result->arena_count + round->job_count;
	struct arena *arenas = realloc(result->arenas, count * sizeof(*arenas));

	if (!arenas)
		return error_set_memory(err);
	for (size_t i = result->arena_count; i < count; i++) {
		arena_init(&arenas[i], 0);
		round->jobs[i - result->arena_count].arena = &arenas[i];
	}
	result->arenas = arenas;
	result->arena_count = count;
	return true;
}

static void fill_jobs(struct round *round, const struct claimed *claimed, size_t count)
{
	struct resolver *r = round->resolver;
	struct dwarf_job *job = NULL;

	for (size_t i = 0; i < count; i++) {
		round->addresses[i] = r->addresses[claimed[i].index];
		round->answers[i] = &r->result->answers[claimed[i].index];
		if (i == 0 || claimed[i].unit != claimed[i - 1].unit) {
			job = &round->jobs[round->job_count++];
			*job = (struct dwarf_job){
				.unit = &r->file.units[claimed[i].unit],
				.addresses = &round->addresses[i],
				.answers = &round->answers[i],
				.package = &r->package,
				.debug_path = elf_image_path(r->options->debug),
			};
		}
		job->count++;
	}
	/* Largest first, so that no large job runs alone at the end. */
	qsort(round->jobs, round->job_count, sizeof(*round->jobs), compare_jobs);
}

static bool round_init(struct round *round, struct resolver *r, const uint32_t *units, struct error *err)
{
	CLEANUP(cleanup_free) struct claimed *claimed = calloc(r->count + 1, sizeof(*claimed));
	size_t count = 0;

	*round = (struct round){
		.resolver = r,
		.jobs = calloc(r->count + 1, sizeof(*round->jobs)),
		.addresses = calloc(r->count + 1, sizeof(*round->addresses)),
		.answers = calloc(r->count + 1, sizeof(struct dwarf_answer *)),
	};
	if (!claimed || !round->jobs || !round->addresses || !round->answers)
		return error_set_memory(err);
	for (size_t i = 0; i < r->count; i++)
		if (units[i] < DWARF_NO_CODE && r->result->answers[i].count == 0)
			claimed[count++] = (struct claimed){ units[i], (uint32_t)i };
	qsort(claimed, count, sizeof(*claimed), compare_claimed);
	fill_jobs(round, claimed, count);
	if (!ARRAY_ZEROED(&round->errors, round->job_count + 1, err) ||
		!ARRAY_ZEROED(&round->failed, round->job_count + 1, err))
		return false;
	return round->job_count == 0 || add_arenas(round, err);
}

/* Adds what the jobs tell of source files to the result. */
static bool dwarf_add_sources(const struct round *round, struct error *err)
{
	struct dwarf_result *result = round->resolver->result;
	size_t count = result->source_count;
	struct dwarf_source *sources;

	for (size_t i = 0; i < round->job_count; i++)
		count += round->jobs[i].source_count;
	if (count == result->source_count)
		return true;
	sources = realloc(result->sources, count * sizeof(*sources));
	if (!sources)
		return error_set_memory(err);
	result->sources = sources;
	for (size_t i = 0; i < round->job_count; i++) {
		const struct dwarf_job *job = &round->jobs[i];

		memcpy(sources + result->source_count, job->sources, job->source_count * sizeof(*sources));
		result->source_count += job->source_count;
	}
	return true;
}

static bool run_round(struct resolver *r, const uint32_t *units, bool is_exhaustive, struct error *err)
{
	struct round round;
	bool ok = round_init(&round, r, units, err);

	for (size_t i = 0; ok && i < round.job_count; i++)
		round.jobs[i].is_exhaustive = is_exhaustive;
	if (ok)
		work_pool_run(r->options->threads, round.job_count, dwarf_run_job, &round);
	for (size_t i = 0; ok && i < round.job_count; i++) {
		if (!round.failed[i])
			continue;
		*err = round.errors[i];
		ok = false;
	}
	for (size_t i = 0; ok && i < round.job_count; i++)
		r->result->is_split |= round.jobs[i].unit->is_open && round.jobs[i].unit->dwo_name[0];
	ok = ok && dwarf_add_sources(&round, err);
	round_deinit(&round);
	return ok;
}

/* Returns whether a unit is assembly: it has no function entries, so no other search would find one. */
static bool is_assembly(const struct resolver *r, uint32_t unit)
{
	return unit < DWARF_NO_CODE && r->file.units[unit].is_open &&
	       r->file.units[unit].language == DW_LANG_Mips_Assembler;
}

static bool is_complete(const struct resolver *r, const uint32_t *units)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->result->answers[i].count == 0 && units[i] != DWARF_NO_CODE && !is_assembly(r, units[i]))
			return false;
	return true;
}

/* Marks all addresses as unclaimed, but for the linker's own code. */
static void free_all(const struct resolver *r, uint32_t *units)
{
	const struct dwarf_options *options = r->options;

	for (size_t i = 0; i < r->count; i++)
		units[i] = options->is_linkage && options->is_linkage(options->context, r->addresses[i])
				   ? DWARF_NO_CODE
				   : DWARF_NO_UNIT;
}

static bool any_is_free(const struct resolver *r, const uint32_t *units)
{
	for (size_t i = 0; i < r->count; i++)
		if (units[i] == DWARF_NO_UNIT)
			return true;
	return false;
}

/* Removes the units of addresses that are in no function. */
static bool keep_code(const struct resolver *r, uint32_t *units, struct error *err)
{
	CLEANUP(cleanup_free) uint64_t *addresses = malloc((r->count + 1) * sizeof(*addresses));
	CLEANUP(cleanup_free) bool *is_code = calloc(r->count + 1, sizeof(*is_code));
	size_t count = 0;

	if (!addresses || !is_code)
		return error_set_memory(err);
	if (!r->options->find_code)
		return true;
	for (size_t i = 0; i < r->count; i++)
		if (r->result->answers[i].count == 0)
			addresses[count++] = r->addresses[i];
	r->options->find_code(r->options->context, addresses, count, is_code);
	count = 0;
	for (size_t i = 0; i < r->count; i++)
		if (r->result->answers[i].count == 0 && !is_code[count++])
			units[i] = DWARF_NO_CODE;
	return true;
}

/*
 * Resolves the remaining addresses. Units without a set in .debug_aranges claim by their root entries. Code without an
 * answer is then searched for in all entries of its unit, and finally in all units: a set may cover less than the unit.
 */
static bool resolve_rest(struct resolver *r, struct claimants *c, struct error *err)
{
	if (!dwarf_claim_by_roots(&r->file, r->addresses, r->count, c->listed, c->first, c->second, err) ||
		!run_round(r, c->second, false, err))
		return false;
	if (is_complete(r, c->first))
		return true;
	if (!keep_code(r, c->first, err))
		return false;
	for (size_t i = 0; i < r->count; i++)
		if (c->first[i] == DWARF_NO_CODE)
			c->second[i] = DWARF_NO_CODE;
	if (!run_round(r, c->first, true, err) || !run_round(r, c->second, true, err))
		return false;
	for (size_t i = 0; i < r->count; i++)
		if (r->result->answers[i].count > 0)
			c->second[i] = DWARF_NO_CODE;
		else if (c->second[i] != DWARF_NO_CODE)
			c->second[i] = DWARF_NO_UNIT;
	return !any_is_free(r, c->second) ||
	       (dwarf_claim_by_roots(&r->file, r->addresses, r->count, NULL, c->first, c->second, err) &&
		       run_round(r, c->second, false, err));
}

/* Resolves addresses by the units that .debug_aranges gives, and the rest by other units that claim them. */
static bool dwarf_resolve_all(struct resolver *r, struct error *err)
{
	CLEANUP(cleanup_free) uint32_t *first = malloc((r->count + 1) * sizeof(*first));
	CLEANUP(cleanup_free) uint32_t *second = malloc((r->count + 1) * sizeof(*second));
	CLEANUP(cleanup_free) bool *listed = calloc(r->file.unit_count + 1, sizeof(*listed));
	struct claimants claimants = { first, second, listed };

	if (!first || !second || !listed)
		return error_set_memory(err);
	if (r->file.unit_count == 0)
		return true;
	free_all(r, first);
	free_all(r, second);
	dwarf_claim_by_aranges(&r->file, r->addresses, r->count, listed, first);
	if (!run_round(r, first, false, err))
		return false;
	if (is_complete(r, first))
		return true;
	r->is_short = r->file.is_part;
	return r->is_short || resolve_rest(r, &claimants, err);
}

/* Reads the directory in which a unit was compiled; "" if it is absent, or the unit does not count. */
static bool dwarf_read_directory(const struct dwarf_unit *unit, const char **directory, struct error *err)
{
	struct dwarf_unit copy = *unit;
	struct error why = { 0 };

	*directory = "";
	if (!dwarf_unit_read_root(&copy, &why)) {
		if (why.code != ERROR_MEMORY)
			return true;
		*err = why;
		return false;
	}
	if (copy.language != DW_LANG_Mips_Assembler)
		*directory = copy.directory;
	return true;
}

/*
 * Finds the program's compilation directory. A program begins with the C library's start code, which is assembly and
 * was compiled elsewhere. If a unit's directory is relative, paths were kept out of the build, and no further unit is
 * read.
 */
static bool dwarf_find_directory(struct resolver *r, struct error *err)
{
	bool is_relative = false;
	size_t looked_at = 0;

	for (size_t i = 0; i < r->file.unit_count && looked_at < MAX_DIRECTORY_UNITS; i++) {
		const struct dwarf_unit *unit = &r->file.units[i];
		const char *directory, *kept;

		if (unit->type == DW_UT_partial || unit->type == DW_UT_type)
			continue;
		looked_at++;
		if (!dwarf_read_directory(unit, &directory, err))
			return false;
		is_relative |= directory[0] != '\0' && directory[0] != '/';
		if (directory[0] != '/')
			continue;
		kept = arena_copy_string(&r->result->arena, directory, strlen(directory));
		if (!kept)
			return error_set_memory(err);
		r->result->directory = kept;
		return true;
	}
	r->is_short |= r->file.is_part && !is_relative && looked_at < MAX_DIRECTORY_UNITS;
	return true;
}

static bool open_files(struct resolver *r, uint64_t info_bytes, struct error *err)
{
	enum dwarf_file_kind kind = r->options->no_lines ? DWARF_FILE_WITHOUT_LINES : DWARF_FILE_WHOLE;

	if (!dwarf_file_init(&r->file, r->options->debug, kind, info_bytes, err))
		return false;
	if (r->options->alt) {
		if (!dwarf_file_init(&r->alt, r->options->alt, DWARF_FILE_WHOLE, UINT64_MAX, err))
			return false;
		r->has_alt = true;
		r->file.alt = &r->alt;
	}
	return r->file.unit_count == 0 || dwarf_package_init(&r->package, r->options->opener, r->options->path,
						  elf_image_path(r->options->debug), err);
}

/* Closes files, including those opened in part. */
static void close_files(struct resolver *r)
{
	dwarf_package_deinit(&r->package);
	dwarf_file_deinit(&r->file);
	if (r->has_alt)
		dwarf_file_deinit(&r->alt);
}

/* Resolves with part of .debug_info. `is_short`: all of .debug_info is needed. */
static bool resolve_in(struct resolver *r, uint64_t info_bytes, bool *is_short, struct error *err)
{
	bool ok;

	r->is_short = false;
	r->result->is_split = false;
	r->result->source_count = 0;
	for (size_t i = 0; i < r->count; i++)
		r->result->answers[i] = (struct dwarf_answer){ .file = "" };
	ok = open_files(r, info_bytes, err) && dwarf_resolve_all(r, err) &&
	     (r->options->no_lines || dwarf_find_directory(r, err));
	*is_short = r->is_short || atomic_load(&r->file.is_short);
	r->result->is_refused = dwarf_file_is_spent(&r->file) || (r->has_alt && dwarf_file_is_spent(&r->alt)) ||
				(r->package.image && dwarf_file_is_spent(&r->package.file));
	close_files(r);
	return ok;
}

bool dwarf_resolve(const struct dwarf_options *options, const uint64_t *addresses, size_t count,
	struct dwarf_result *result, struct error *err)
{
	struct resolver r = { .options = options, .addresses = addresses, .count = count, .result = result };
	CLEANUP(cleanup_free) uint32_t *units = malloc((count + 1) * sizeof(*units));
	bool ok, is_short;

	*result = (struct dwarf_result){ .answers = calloc(count + 1, sizeof(*result->answers)), .directory = "" };
	arena_init(&result->arena, 0);
	if (!result->answers || !units) {
		dwarf_result_deinit(result);
		return error_set_memory(err);
	}
	free_all(&r, units);
	ok = resolve_in(&r, dwarf_claim_extent(options->debug, addresses, count, units), &is_short, err) &&
	     (!is_short || result->is_refused || resolve_in(&r, UINT64_MAX, &is_short, err));
	if (!ok)
		dwarf_result_deinit(result);
	/* Answers that depend on where the budget ended would differ from run to run. */
	if (ok && result->is_refused)
		result->source_count = 0;
	for (size_t i = 0; ok && result->is_refused && i < count; i++)
		result->answers[i] = (struct dwarf_answer){ .file = "" };
	return ok;
}

void dwarf_result_deinit(struct dwarf_result *result)
{
	for (size_t i = 0; i < result->arena_count; i++)
		arena_deinit(&result->arenas[i]);
	arena_deinit(&result->arena);
	free(result->arenas);
	free(result->sources);
	free(result->answers);
	*result = (struct dwarf_result){ 0 };
}
