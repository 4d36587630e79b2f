/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps the source around sampled functions in the profile: has its files read, and proves what can be proven of them.
 */
#include "symbolize/source_answer.h"
#include "symbolize/source_plan.h"
#include "symbolize/source_reader.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_READERS = 16, MAX_ALL_ANSWER_BYTES = MOST_READERS * SOURCE_MAX_ANSWER_BYTES };
static const int64_t all_readers_ns = 4000000000; /* for all files of a recording */

/* ---- As whom, and where ---- */

/* Returns whether a file is of our tree: of a command, everything that is not known to be elsewhere is where we are. */
static bool is_our_tree(
	const struct profile_symbols *symbols, const struct symbolize_options *options, uint64_t tree, uint64_t ours)
{
	return tree == ours ? tree != 0 : options->is_command && (tree == 0 || tree == symbols->command_tree);
}

/* A process that has the tree still; 0: none is known. */
static int32_t symbolize_sources_find_process(const struct profile_symbols *symbols, uint64_t tree)
{
	for (size_t i = 0; tree && i < symbols->process_count; i++)
		if (symbols->processes[i].tree == tree && in_root_tree_of(symbols->processes[i].pid) == tree)
			return symbols->processes[i].pid;
	return 0;
}

/*
 * Sets as whom a file is read. Root's are those of processes that have been root's for all their life, or of binaries
 * that are root's: a process may have begun as root's, and have run another user's code at its end. False: not at all,
 * since we have more rights than the processes' user and cannot become it.
 */
static bool symbolize_sources_choose_user(const struct source_place *place, struct source_reader *reader)
{
	bool is_trusted = place->is_user_known && (place->user != 0 || place->has_stayed || place->is_root_built);

	reader->is_user_known = is_trusted;
	reader->user = is_trusted ? place->user : 0;
	return geteuid() == 0 || (is_trusted && place->user == geteuid());
}

static bool choose_reader(const struct profile_symbols *symbols, const struct symbolize_options *options, uint64_t ours,
	const struct source_place *place, struct source_reader *reader)
{
	bool is_ours = is_our_tree(symbols, options, place->tree, ours);

	reader->tree = is_ours ? ours : place->tree;
	reader->pid = is_ours ? 0 : symbolize_sources_find_process(symbols, place->tree);
	return symbolize_sources_choose_user(place, reader) && (is_ours || reader->pid != 0);
}

static bool is_same_reader(const struct source_reader *left, const struct source_reader *right)
{
	return left->is_user_known == right->is_user_known && left->user == right->user && left->pid == right->pid &&
	       left->tree == right->tree;
}

/* ---- Reading ---- */

struct keeping {
	struct profile *profile;
	const struct profile_symbols *symbols;
	const struct symbolize_options *options;
	struct source_plan plan;
	struct source_reader readers[MOST_READERS];
	size_t reader_count;
	uint8_t *of_files; /* owned: [file of the plan] its reader; MOST_READERS: none */
	struct buffer answers;
	size_t ends[MOST_READERS]; /* of each reader's answers */
	struct source_read read;
	struct symbolize_kept_sources kept;
};

static void keeping_deinit(struct keeping *k)
{
	source_plan_deinit(&k->plan);
	source_read_deinit(&k->read);
	buffer_deinit(&k->answers);
	free(k->of_files);
}

/* Readers come in order of their most sampled files. */
static bool share_files(struct keeping *k, struct error *err)
{
	uint64_t ours = in_root_tree_of((int32_t)getpid());

	k->of_files = malloc(k->plan.file_count + 1);
	if (!k->of_files)
		return error_set_memory(err);
	for (size_t i = 0; i < k->plan.file_count; i++) {
		struct source_reader wanted = { .plan = &k->plan };
		size_t at = 0;

		k->of_files[i] = MOST_READERS;
		if (!choose_reader(k->symbols, k->options, ours, &k->plan.files[i].place, &wanted))
			continue;
		while (at < k->reader_count && !is_same_reader(&k->readers[at], &wanted))
			at++;
		if (at == MOST_READERS) {
			k->kept.is_cut = true;
			continue;
		}
		if (at == k->reader_count)
			k->readers[k->reader_count++] = wanted;
		k->of_files[i] = (uint8_t)at;
	}
	return true;
}

static bool *asked_of(const struct keeping *k, size_t reader)
{
	bool *is_asked = calloc(k->plan.file_count + 1, sizeof(*is_asked));

	for (size_t i = 0; is_asked && i < k->plan.file_count; i++)
		is_asked[i] = k->of_files[i] == reader;
	return is_asked;
}

static bool symbolize_sources_read_all(struct keeping *k, struct error *err)
{
	int64_t deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + all_readers_ns * child_slowdown();

	buffer_init(&k->answers, MAX_ALL_ANSWER_BYTES);
	for (size_t i = 0; i < k->reader_count; i++) {
		CLEANUP(cleanup_free) bool *is_asked = asked_of(k, i);

		if (!is_asked)
			return error_set_memory(err);
		k->readers[i].is_asked = is_asked;
		k->kept.is_cut |= !source_reader_run(&k->readers[i], k->options, deadline_ns, &k->answers);
		k->readers[i].is_asked = NULL;
		k->ends[i] = k->answers.size;
	}
	return true;
}

/* The answers stay where they are now. */
static bool symbolize_sources_take_answers(struct keeping *k, struct error *err)
{
	size_t start = 0;

	if (!source_read_init(&k->read, &k->plan, err))
		return false;
	for (size_t i = 0; i < k->reader_count; i++) {
		CLEANUP(cleanup_free) bool *is_asked = asked_of(k, i);

		if (!is_asked)
			return error_set_memory(err);
		if (k->ends[i] > start && !source_read_take(&k->read, &k->plan, is_asked,
						  byte_reader_over(k->answers.data + start, k->ends[i] - start), err))
			return false;
		start = k->ends[i];
	}
	return true;
}

/* ---- Keeping ---- */

/* Describes what is proven of a file that was read, beside what the profile knows of it. */
static struct profile_source_file describe_file(
	const struct profile *profile, const struct source_wanted *wanted, const struct source_answer *answer)
{
	uint32_t id = profile_find_source_file(profile, wanted->path);
	const struct profile_source_file *known = id == PROFILE_NONE ? NULL : &profile->source_files[id];
	bool has_build = known && known->has_md5 && known->is_md5_of_build;
	struct profile_source_file file = { .path = wanted->path };

	if (answer->is_changing)
		return file;
	if (has_build && answer->has_md5) {
		if (memcmp(known->md5, answer->md5, sizeof(known->md5)) == 0)
			file.proof = PROFILE_SOURCE_SAME_BYTES;
		return file;
	}
	if (wanted->built_ns > 0 && answer->modified_ns <= wanted->built_ns)
		file.proof = PROFILE_SOURCE_NOT_NEWER;
	file.has_md5 = answer->has_md5 && !has_build;
	if (file.has_md5)
		memcpy(file.md5, answer->md5, sizeof(file.md5));
	return file;
}

static int compare_taken(const void *left, const void *right)
{
	const struct source_taken *a = left, *b = right;
	int order = ORDER(b->weight, a->weight);

	if (order == 0)
		order = ORDER(a->file, b->file);
	return order ? order : ORDER(a->first_line, b->first_line);
}

static bool symbolize_sources_keep_text(
	struct keeping *k, const struct source_taken *taken, uint32_t file, struct error *err)
{
	CLEANUP(cleanup_free) char *text = strndup(taken->text, taken->bytes);

	return text ? profile_add_source_text(k->profile, file, taken->first_line, text, err) : error_set_memory(err);
}

static uint64_t symbolize_sources_text_bytes(const struct profile *profile)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < profile->source_text_count; i++)
		bytes += string_table_size(profile->strings, profile->source_texts[i].text);
	return bytes;
}

/* Adds texts, most sampled first, until a recording has enough. */
static bool keep_texts(struct keeping *k, struct error *err)
{
	uint64_t bytes = symbolize_sources_text_bytes(k->profile);
	CLEANUP(cleanup_free) uint32_t *files = malloc((k->plan.file_count + 1) * sizeof(*files));

	if (!files)
		return error_set_memory(err);
	memset(files, 0xff, (k->plan.file_count + 1) * sizeof(*files));
	if (k->read.taken_count > 0)
		qsort(k->read.taken, k->read.taken_count, sizeof(*k->read.taken), compare_taken);
	for (size_t i = 0; i < k->read.taken_count; i++) {
		const struct source_taken *taken = &k->read.taken[i];
		uint32_t *file = &files[taken->file];

		if (bytes + taken->bytes > PROFILE_MAX_SOURCE_BYTES) {
			k->kept.is_cut = true;
			continue;
		}
		if (*file == PROFILE_NONE) {
			struct profile_source_file described =
				describe_file(k->profile, &k->plan.files[taken->file], &k->read.answers[taken->file]);

			if (!profile_add_source_file(k->profile, &described, file, err))
				return false;
			k->kept.files++;
			k->kept.files_that_may_differ += described.proof == PROFILE_SOURCE_MAY_DIFFER;
		}
		if (!symbolize_sources_keep_text(k, taken, *file, err))
			return false;
		bytes += taken->bytes;
		k->kept.functions += taken->is_function;
	}
	k->kept.functions += k->plan.embedded_functions;
	k->kept.bytes = symbolize_sources_text_bytes(k->profile);
	return true;
}

bool symbolize_keep_sources(struct profile *profile, const struct profile_symbols *symbols,
	const struct symbolize_options *options, struct symbolize_kept_sources *kept, struct error *err)
{
	CLEANUP(keeping_deinit)
	struct keeping k = { .profile = profile, .symbols = symbols, .options = options };

	*kept = (struct symbolize_kept_sources){ 0 };
	if (options->sources == SYMBOLIZE_SOURCES_NONE || options->no_names ||
		(options->sources == SYMBOLIZE_SOURCES_OF_PROJECT && options->project_root_count == 0))
		return true;
	if (!source_plan_make(&k.plan, profile, symbols, options, err) || !share_files(&k, err) ||
		!symbolize_sources_read_all(&k, err) || !symbolize_sources_take_answers(&k, err) ||
		!keep_texts(&k, err))
		return false;
	*kept = k.kept;
	return true;
}

void symbolize_append_kept(const struct symbolize_kept_sources *kept, struct buffer *text)
{
	if (kept->bytes == 0)
		return;
	buffer_printf(text, "source text of %llu function%s kept, %llu kB", (unsigned long long)kept->functions,
		kept->functions == 1 ? "" : "s", (unsigned long long)(kept->bytes + 999) / 1000);
	if (kept->files_that_may_differ)
		buffer_printf(text, "; %llu file%s may differ from what was built",
			(unsigned long long)kept->files_that_may_differ, kept->files_that_may_differ == 1 ? "" : "s");
	if (kept->is_cut)
		buffer_append_string(
			text, "; the text of other files is missing, as there was too much or it took too long");
	buffer_append_byte(text, '\n');
}
