/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/naming.h"

#include "sampler/sampler.h"

static const size_t max_rules_bytes = (size_t)1 << 20;

static bool naming_take_root(void *roots, const char *path, struct error *err)
{
	return options_list_add(roots, path, err);
}

const struct options_row naming_symbolize_rows[] = {
	{ 0, "project-root", "DIR", "functions with sources below DIR are the user's own", naming_take_root,
		offsetof(struct naming, roots), .repeatable = true },
	{ 0, "origin-rules", "FILE", "rules that decide what is user, library or system",
		OPTIONS_TEXT(struct naming, origin_rules_path) },
	{ 0 },
};

const struct options_row naming_rows[] = {
	{ .rows = naming_symbolize_rows },
	{ 0, "wait-rules", "FILE", "rules that decide what threads wait for, as 'idle function *Pool::take*'",
		OPTIONS_TEXT(struct naming, wait_rules_path) },
	{ 0, "no-names", NULL, "names no functions: code is shown as binary+address, and no binary is read for names",
		OPTIONS_FLAG(struct naming, no_names) },
	{ 0, "require-confinement", NULL,
		"fails where a part of the confinement of who reads binaries is not to be had",
		OPTIONS_FLAG(struct naming, require_confinement) },
	{ 0 },
};

const struct options_row naming_sources_rows[] = {
	{ 0, "sources", NULL,
		"keeps the source text around sampled lines in the profile, as it is now (default: that of files below\n"
		"--project-root)",
		OPTIONS_FLAG(struct naming, all_sources) },
	{ 0, "no-sources", NULL, "keeps no source text", OPTIONS_FLAG(struct naming, no_sources) },
	{ 0 },
};

static bool read_rules(
	enum symbolize_rules_kind kind, const char *path, struct symbolize_rules **rules, struct error *err)
{
	struct buffer text = BUFFER_INIT(max_rules_bytes);
	bool ok;

	if (!path)
		return true;
	ok = file_read(path, &text, err) &&
	     symbolize_rules_parse(kind, text.data ? text.data : "", text.size, path, rules, err);
	buffer_deinit(&text);
	return ok;
}

/* Each child asks for itself again before it reads: what a machine allows may change. */
static bool check_confinement(const struct naming *naming, struct error *err)
{
	unsigned int lacks = naming->require_confinement ? confined_probe() : 0;
	char missing[256];

	if (lacks == 0)
		return true;
	confined_describe(lacks, missing, sizeof(missing));
	return error_set(err, ERROR_SYSTEM,
		"nothing is read: --require-confinement asks for a process without rights, and here it would lack %s. "
		"Run 'kelvin doctor', or leave the option out and read only what you trust",
		missing);
}

/* ---- Names that the running kernel prints ---- */

static bool kernel_names_begin(void **names)
{
	struct ebpf_kernel_names *made;
	struct error refusal;

	if (!ebpf_kernel_names_create(&made, &refusal))
		return false;
	*names = made;
	return true;
}

static char *kernel_names_print(void *names, uint64_t address)
{
	return ebpf_kernel_names_print(names, address);
}

static void kernel_names_end(void *names)
{
	ebpf_kernel_names_destroy(names);
}

static const struct symbolize_kernel running_kernel = { kernel_names_begin, kernel_names_print, kernel_names_end };

bool naming_prepare(struct naming *naming, struct symbolize_options *options, struct error *err)
{
	if (!check_confinement(naming, err) ||
		!read_rules(SYMBOLIZE_RULES_OF_ORIGIN, naming->origin_rules_path, &naming->origin_rules, err) ||
		!read_rules(SYMBOLIZE_RULES_OF_WAITS, naming->wait_rules_path, &naming->wait_rules, err))
		return false;
	options->kernel = &running_kernel;
	options->project_roots = naming->roots.items;
	options->project_root_count = naming->roots.count;
	options->origin_rules = naming->origin_rules;
	options->wait_rules = naming->wait_rules;
	options->no_names = naming->no_names;
	options->sources = naming->no_sources    ? SYMBOLIZE_SOURCES_NONE
			   : naming->all_sources ? SYMBOLIZE_SOURCES_ALL
						 : SYMBOLIZE_SOURCES_OF_PROJECT;
	options->require_confinement = naming->require_confinement;
	return true;
}

bool naming_prepare_debuginfod(struct error *err)
{
	setenv("DEBUGINFOD_TIMEOUT", "30", 0);
	if (isatty(STDERR_FILENO))
		setenv("DEBUGINFOD_PROGRESS", "1", 0);
	return symbolize_debuginfod_possible(err);
}

void naming_deinit(struct naming *naming)
{
	options_list_deinit(&naming->roots);
	symbolize_rules_destroy(naming->origin_rules);
	symbolize_rules_destroy(naming->wait_rules);
}
