/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbolize.h"

#include "symbolize/jit.h"
#include "symbolize/kallsyms.h"
#include "symbolize/kernel.h"
#include "symbolize/maps.h"
#include "symbolize/origin.h"
#include "symbolize/result.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The locations of one mapping, and their resolved frames. */
struct batch {
	struct elf_image *image; /* borrowed; NULL: not resolved from a file */
	uint64_t *addresses;
	uint32_t *locations;
	size_t count, capacity, location_capacity;
	struct symbolize_result *result;
	struct symbol_map *map;
	struct symbol_map *inherited; /* code of the process that this one was forked from; NULL: none */
	struct error err;
	bool failed;
};

/* A profile's function that frames belong to; its strings are those of a batch's result. */
struct known_function {
	const char *name, *linkage_name, *file;
	uint64_t fingerprint;
	uint32_t start_line, mapping, function;
	enum profile_name_source source;
};

enum { KNOWN_BITS = 7 };

struct work {
	struct profile *profile;
	const struct symbolize_options *options;
	struct origin_context origins;
	struct batch *batches; /* [mapping id], and one more for addresses in no mapping */
	size_t batch_count;
	struct symbolize_stats *stats;
	struct profile_line *lines; /* room for the frames of one address */
	size_t line_capacity;
	struct known_function known[1 << KNOWN_BITS]; /* a later one replaces an earlier one */
};

static bool add_to_batch(struct batch *batch, uint64_t address, uint32_t location, struct error *err)
{
	if (!ARRAY_RESERVE(&batch->addresses, &batch->capacity, batch->count + 1, ARRAY_MAX_IDS, err) ||
		!ARRAY_RESERVE(&batch->locations, &batch->location_capacity, batch->count + 1, ARRAY_MAX_IDS, err))
		return false;
	batch->addresses[batch->count] = address;
	batch->locations[batch->count++] = location;
	return true;
}

static bool sort_into_batches(struct work *w, struct error *err)
{
	const struct profile *profile = w->profile;

	w->batch_count = profile->mapping_count + 1;
	w->batches = calloc(w->batch_count, sizeof(*w->batches));
	if (!w->batches)
		return error_set_memory(err);
	for (uint32_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];
		size_t batch = location->mapping == PROFILE_NONE ? profile->mapping_count : location->mapping;

		if (location->line_count == 0 && !add_to_batch(&w->batches[batch], location->address, i, err))
			return false;
	}
	return true;
}

/* Resolves one image on one worker: images share only the options. */
static void resolve_batch(void *context, size_t index)
{
	struct work *w = context;
	struct batch *batch = &w->batches[index];

	if (batch->count == 0 || !batch->image)
		return;
	batch->failed = !symbolize_addresses(
		batch->image, batch->addresses, batch->count, w->options, &batch->result, &batch->err);
}

/* For more addresses, reading all symbols of the kernel is faster than looking each up. */
enum { MOST_ASKED = 50000 };

static bool read_kernel_symbols(struct work *w, struct batch *batch, struct buffer *notices, struct error *err)
{
	static const char running[] = "/proc/kallsyms";
	const char *path = w->options->kallsyms_path ? w->options->kallsyms_path : running;
	bool is_running = strcmp(path, running) == 0 || w->options->kernel_is_running;

	if (is_running && batch->count <= MOST_ASKED && !kernel_ask(batch->addresses, batch->count, &batch->map, err))
		return false;
	if (batch->map)
		return true;
	if (!kallsyms_read(path, batch->addresses, batch->count, &batch->map, &w->stats->kernel_restricted, err))
		return false;
	if (w->stats->kernel_restricted && notices)
		buffer_append_string(notices,
			"kernel functions stay unnamed: kernel.kptr_restrict hides their addresses; "
			"run 'sudo sysctl kernel.kptr_restrict=0' or run kelvin as root\n");
	return true;
}

/* Reads the maps. Unreadable ones leave code unnamed, which is no error. */
static bool read_jit(const struct batch *batch, const struct file_opened *file, struct symbol_map **map,
	struct buffer *notices, struct error *err)
{
	struct error why;

	if (!file || !file->name || jit_read(file, batch->addresses, batch->count, map, &why))
		return true;
	if (why.code == ERROR_MEMORY)
		return error_set_memory(err);
	if (notices)
		buffer_printf(notices, "%s: the code that it tells of stays unnamed\n", why.message);
	return true;
}

static bool read_maps(struct work *w, const struct file_opened *jit_maps, struct buffer *notices, struct error *err)
{
	const struct file_opened *inherited = w->options->inherited_jit_maps;

	for (size_t i = 0; i < w->profile->mapping_count; i++) {
		struct batch *batch = &w->batches[i];

		if (batch->count == 0)
			continue;
		if (w->profile->mappings[i].kind == PROFILE_MAPPING_KERNEL) {
			if (!read_kernel_symbols(w, batch, notices, err))
				return false;
		} else if (!read_jit(batch, jit_maps ? &jit_maps[i] : NULL, &batch->map, notices, err) ||
			   !read_jit(batch, inherited ? &inherited[i] : NULL, &batch->inherited, notices, err)) {
			return false;
		}
	}
	return true;
}

/* ---- From frames to lines of the profile ---- */

/* Whether the image is a program. Some libraries can be executed too, to print their version. */
static bool is_program(const struct elf_image *image, const char *module)
{
	return image && elf_image_is_executable(image) && !strstr(module, ".so");
}

static bool add_function(
	struct work *w, const struct symbolize_frame *frame, uint32_t mapping, uint32_t *function, struct error *err)
{
	struct profile *profile = w->profile;
	const struct profile_mapping *in = mapping == PROFILE_NONE ? NULL : &profile->mappings[mapping];
	const char *file = frame->decl_file[0] ? frame->decl_file : frame->file;
	struct profile_function added = {
		.start_line = frame->decl_line,
		.name_source = frame->source,
		.module = in ? in->module : 0,
		.fingerprint = frame->fingerprint,
	};
	const struct origin_evidence evidence = {
		.name = frame->name,
		.module = profile_string(profile, added.module),
		.file = file,
		.path = in ? profile_string(profile, in->path) : "",
		.kind = in ? in->kind : PROFILE_MAPPING_ANON,
		.has_mapping = in != NULL,
		.is_program = in && is_program(w->batches[mapping].image, profile_string(profile, in->module)),
	};

	if (!w->options->names_only) {
		struct origin_decision decision = origin_decide(&w->origins, &evidence);

		added.origin = decision.origin;
		added.origin_rule = (uint16_t)decision.rule;
	}
	if (!profile_intern(profile, frame->name[0] ? frame->name : "[unnamed]", &added.name, err) ||
		!profile_intern(profile, strcmp(frame->linkage_name, frame->name) == 0 ? "" : frame->linkage_name,
			&added.linkage_name, err) ||
		!profile_intern(profile, file, &added.file, err))
		return false;
	return profile_add_function(profile, &added, function, err);
}

/* Other names are in a buffer that is reused. */
static bool has_lasting_strings(const struct symbolize_frame *frame)
{
	return frame->source != PROFILE_NAME_NONE && frame->source != PROFILE_NAME_KALLSYMS &&
	       frame->source != PROFILE_NAME_JIT;
}

/* Finds the function by the addresses of its strings: many locations are of one function. */
static bool symbolize_find_function(
	struct work *w, const struct symbolize_frame *frame, uint32_t mapping, uint32_t *function, struct error *err)
{
	const char *file = frame->decl_file[0] ? frame->decl_file : frame->file;
	uint64_t hash = hash_mix((uintptr_t)frame->name ^ mapping, (uintptr_t)file + frame->decl_line);
	struct known_function *known = &w->known[hash >> (64 - KNOWN_BITS)];

	if (!has_lasting_strings(frame))
		return add_function(w, frame, mapping, function, err);
	if (known->name == frame->name && known->linkage_name == frame->linkage_name && known->file == file &&
		known->fingerprint == frame->fingerprint && known->start_line == frame->decl_line &&
		known->mapping == mapping && known->source == frame->source) {
		*function = known->function;
		return true;
	}
	if (!add_function(w, frame, mapping, function, err))
		return false;
	*known = (struct known_function){ frame->name, frame->linkage_name, file, frame->fingerprint, frame->decl_line,
		mapping, *function, frame->source };
	return true;
}

static bool set_frames(
	struct work *w, uint32_t location, const struct symbolize_frame *frames, size_t count, struct error *err)
{
	uint32_t mapping = w->profile->locations[location].mapping;

	if (!ARRAY_RESERVE(&w->lines, &w->line_capacity, count, ARRAY_MAX_IDS, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		w->lines[i] = (struct profile_line){ .line = frames[i].line };
		if (!symbolize_find_function(w, &frames[i], mapping, &w->lines[i].function, err))
			return false;
	}
	w->stats->addresses++;
	w->stats->by_source[frames[count - 1].source]++;
	w->stats->with_line += frames[0].line > 0;
	w->stats->inlined_frames += count - 1;
	return profile_set_lines(w->profile, location, w->lines, count, err);
}

static bool set_by_address(struct work *w, uint32_t location, struct error *err)
{
	const struct profile_location *at = &w->profile->locations[location];
	const struct profile_mapping *mapping = at->mapping == PROFILE_NONE ? NULL : &w->profile->mappings[at->mapping];
	struct symbolize_frame frame = { .linkage_name = "", .file = "", .decl_file = "", .source = PROFILE_NAME_NONE };
	const char *module = mapping ? profile_string(w->profile, mapping->module) : "[unmapped]";
	char name[512];

	/* Kernel addresses are secret on restricted systems. */
	if (mapping && mapping->kind == PROFILE_MAPPING_KERNEL)
		snprintf(name, sizeof(name), "[kernel]");
	else
		snprintf(name, sizeof(name), "%.480s+0x%" PRIx64, module, at->address);
	frame.name = name;
	return set_frames(w, location, &frame, 1, err);
}

/*
 * The name without the prefix of padding. Kernels reserve room before their functions, and call it by another name. A
 * function that was interrupted at its first instruction is looked up there, by the previous address, as return
 * addresses are.
 */
static const char *kernel_name(const char *symbol)
{
	static const char room[] = "__pfx_";

	return strncmp(symbol, room, strlen(room)) == 0 ? symbol + strlen(room) : symbol;
}

/* Finds code made at run time. Code that a forked process made later replaces inherited code at its place. */
static bool find_in_maps(const struct batch *batch, uint64_t address, struct symbol_map_symbol *hit)
{
	return (batch->map && symbol_map_find(batch->map, address, hit)) ||
	       (batch->inherited && symbol_map_find(batch->inherited, address, hit));
}

static bool set_by_map(struct work *w, const struct batch *batch, uint32_t location, struct error *err)
{
	const struct profile_location *at = &w->profile->locations[location];
	bool is_kernel = w->profile->mappings[at->mapping].kind == PROFILE_MAPPING_KERNEL;
	struct symbolize_frame frame = { .linkage_name = "",
		.file = "",
		.decl_file = "",
		.source = is_kernel ? PROFILE_NAME_KALLSYMS : PROFILE_NAME_JIT };
	struct symbol_map_symbol hit;
	char name[1024];

	if (!find_in_maps(batch, at->address, &hit))
		return set_by_address(w, location, err);
	snprintf(name, sizeof(name), "%.900s%s%.100s", is_kernel ? kernel_name(hit.name) : hit.name,
		hit.module[0] ? " " : "", hit.module);
	frame.name = name;
	frame.file = hit.file;
	frame.line = hit.line;
	return set_frames(w, location, &frame, 1, err);
}

static bool set_batch(struct work *w, const struct batch *batch, struct error *err)
{
	for (size_t i = 0; i < batch->count; i++) {
		uint32_t location = batch->locations[i];
		struct symbolize_frames found = { 0 };
		bool ok;

		if (batch->result)
			found = symbolize_result_frames(batch->result, i);
		if (found.count > 0)
			ok = set_frames(w, location, found.frames, found.count, err);
		else
			ok = batch->map || batch->inherited ? set_by_map(w, batch, location, err)
							    : set_by_address(w, location, err);
		if (!ok)
			return false;
	}
	return true;
}

static bool set_all(struct work *w, struct buffer *notices, struct error *err)
{
	for (size_t i = 0; i < w->batch_count; i++) {
		const struct batch *batch = &w->batches[i];

		if (batch->failed && batch->err.code == ERROR_MEMORY) {
			*err = batch->err;
			return false;
		}
		if (batch->failed && notices)
			buffer_printf(notices, "%s: its code stays unnamed\n", batch->err.message);
		if (batch->result && symbolize_result_refused(batch->result) && notices)
			buffer_printf(notices,
				"%s: its debug information refers to the same bytes over and over, as no compiler's does: not used; its symbols name its code\n",
				elf_image_path(batch->image));
		if (!set_batch(w, batch, err))
			return false;
	}
	return true;
}

static void note_refused_debug_files(const struct work *w, struct buffer *notices)
{
	for (size_t i = 0; notices && i < w->batch_count; i++) {
		enum elf_debug_source source;
		struct error why;

		if (!w->batches[i].image || w->batches[i].count == 0)
			continue;
		elf_image_debug(w->batches[i].image, &w->options->debug, &source, &why);
		if (source == ELF_DEBUG_REFUSED)
			buffer_printf(notices, "%s\n", why.message);
	}
}

static void work_deinit(struct work *w)
{
	for (size_t i = 0; w->batches && i < w->batch_count; i++) {
		free(w->batches[i].addresses);
		free(w->batches[i].locations);
		symbolize_result_destroy(w->batches[i].result);
		symbol_map_destroy(w->batches[i].map);
		symbol_map_destroy(w->batches[i].inherited);
	}
	free(w->batches);
	free(w->lines);
}

bool symbolize_profile(struct profile *profile, struct elf_image *const *images, const struct file_opened *jit_maps,
	const struct symbolize_options *options, struct symbolize_stats *stats, struct buffer *notices,
	struct error *err)
{
	struct symbolize_stats counted = { 0 };
	struct work w = {
		.profile = profile, .options = options, .stats = &counted, .origins = { .options = options }
	};
	bool ok = sort_into_batches(&w, err);

	for (size_t i = 0; ok && images && i < profile->mapping_count; i++)
		w.batches[i].image = images[i];
	ok = ok && read_maps(&w, jit_maps, notices, err);
	if (ok) {
		work_pool_run(options->threads, w.batch_count, resolve_batch, &w);
		w.origins = origin_context_of(options, profile);
		/* The place where an interpreter was compiled is unrelated to the program that it runs. */
		if (w.batches[0].result && !origin_is_runtime(profile_string(profile, profile->mappings[0].module)))
			w.origins.compilation_directory = symbolize_result_directory(w.batches[0].result);
		ok = set_all(&w, notices, err);
	}
	if (ok)
		note_refused_debug_files(&w, notices);
	work_deinit(&w);
	if (ok && stats)
		*stats = counted;
	return ok && (options->names_only || symbolize_origins(profile, options, err));
}

bool symbolize_origins(struct profile *profile, const struct symbolize_options *options, struct error *err)
{
	const struct origin_context context = origin_context_of(options, profile);

	(void)err;
	for (size_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];
		const struct profile_mapping *in =
			location->mapping == PROFILE_NONE ? NULL : &profile->mappings[location->mapping];

		for (uint32_t k = 0; k < location->line_count; k++) {
			struct profile_function *function =
				&profile->functions[profile->lines[location->first_line + k].function];
			const struct origin_evidence evidence = {
				.name = profile_string(profile, function->name),
				.module = profile_string(profile, function->module),
				.file = profile_string(profile, function->file),
				.path = in ? profile_string(profile, in->path) : "",
				.kind = in ? in->kind : PROFILE_MAPPING_ANON,
				.has_mapping = in != NULL,
			};
			struct origin_decision decision = { function->origin,
				(enum symbolize_rule)function->origin_rule };

			decision = decision.rule == SYMBOLIZE_RULE_NONE ? origin_decide(&context, &evidence)
									: origin_revise(&context, &evidence, decision);
			function->origin = decision.origin;
			function->origin_rule = (uint16_t)decision.rule;
		}
	}
	return true;
}

bool symbolize_frame_origin(const struct symbolize_result *result, const struct elf_image *image,
	const struct symbolize_frame *frame, const struct symbolize_options *options, enum profile_origin *origin,
	enum symbolize_rule *rule, struct error *err)
{
	const struct origin_context context = { .options = options,
		.main_path = elf_image_path(image),
		.compilation_directory = symbolize_result_directory(result) };
	struct origin_evidence evidence = {
		.name = frame->name,
		.file = frame->decl_file[0] ? frame->decl_file : frame->file,
		.path = elf_image_path(image),
		.kind = PROFILE_MAPPING_FILE,
		.has_mapping = true,
	};
	struct origin_decision decision;
	struct buffer module;

	buffer_init(&module, PATH_MAX);
	profile_module_name(elf_image_path(image), &module);
	if (!buffer_ok(&module, err)) {
		buffer_deinit(&module);
		return false;
	}
	evidence.module = module.data ? module.data : "";
	evidence.is_program = is_program(image, evidence.module);
	decision = origin_decide(&context, &evidence);
	buffer_deinit(&module);
	*origin = decision.origin;
	*rule = decision.rule;
	return true;
}
