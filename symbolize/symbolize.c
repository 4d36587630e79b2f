/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbolize.h"

#include "symbolize/dwarf_sources.h"
#include "symbolize/first_events.h"
#include "symbolize/kernel.h"
#include "symbolize/maps.h"
#include "symbolize/naming.h"
#include "symbolize/origin.h"
#include "symbolize/result.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The locations of one mapping, and their resolved frames. */
struct symbolize_batch {
	struct elf_image *image; /* borrowed; NULL: not resolved from a file */
	uint64_t *addresses;
	uint32_t *locations;
	size_t count, capacity, location_capacity;
	uint64_t *data; /* addresses of locks in the image's data */
	size_t data_count, data_capacity;
	struct symbol_map *map; /* of the kernel's functions, if it named them itself */
	uint32_t task;          /* which names the others; PROFILE_NONE: none */
};

/* A profile's function that frames belong to; its strings are those of a batch's result. */
struct known_function {
	const char *name, *linkage_name, *file;
	uint64_t fingerprint;
	uint32_t start_line, mapping, function;
	enum profile_name_source source;
};

enum { KNOWN_BITS = 7 };

struct symbolize_work {
	struct profile *profile;
	const struct profile_symbols *symbols;
	const struct symbolize_options *options;
	struct origin_context origins;
	struct symbolize_batch *batches; /* [mapping id], and one more for addresses in no mapping */
	size_t batch_count;
	struct naming_task *tasks;
	size_t task_count;
	struct file_opened kallsyms;
	struct arena arena;         /* frames of tasks */
	struct profile_line *lines; /* room for the frames of one address */
	size_t line_capacity;
	struct profile_generation *generations; /* of code made at run time */
	size_t generation_count, generation_capacity;
	int64_t *first_events; /* owned: [location of the profile as it was]; NULL: not asked for yet */
	struct known_function known[1 << KNOWN_BITS]; /* a later one replaces an earlier one */
};

static bool add_to_batch(struct symbolize_batch *batch, uint64_t address, uint32_t location, struct error *err)
{
	if (!ARRAY_RESERVE(&batch->addresses, &batch->capacity, batch->count + 1, ARRAY_MAX_IDS, err) ||
		!ARRAY_RESERVE(&batch->locations, &batch->location_capacity, batch->count + 1, ARRAY_MAX_IDS, err))
		return false;
	batch->addresses[batch->count] = address;
	batch->locations[batch->count++] = location;
	return true;
}

static bool sort_into_batches(struct symbolize_work *w, struct error *err)
{
	const struct profile *profile = w->profile;

	w->batch_count = profile->mapping_count + 1;
	if (!ARRAY_ZEROED(&w->batches, w->batch_count, err))
		return false;
	for (size_t i = 0; i < w->batch_count; i++)
		w->batches[i].task = PROFILE_NONE;
	for (uint32_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];
		size_t batch = location->mapping == PROFILE_NONE ? profile->mapping_count : location->mapping;

		if (location->line_count == 0 && !add_to_batch(&w->batches[batch], location->address, i, err))
			return false;
	}
	return true;
}

/* The batch of a lock's address; NULL: it is in no image's data. */
static struct symbolize_batch *batch_of_lock(struct symbolize_work *w, size_t lock)
{
	const struct profile_lock_address *addresses = w->symbols->lock_addresses;
	struct symbolize_batch *batch =
		addresses && addresses[lock].mapping != PROFILE_NONE ? &w->batches[addresses[lock].mapping] : NULL;

	return batch && batch->image ? batch : NULL;
}

static bool sort_locks_into_batches(struct symbolize_work *w, struct error *err)
{
	for (size_t i = 0; i < w->profile->lock_count; i++) {
		struct symbolize_batch *batch = batch_of_lock(w, i);

		if (!batch)
			continue;
		if (!ARRAY_APPEND(&batch->data, &batch->data_capacity, &batch->data_count, ARRAY_MAX_IDS, err,
			    w->symbols->lock_addresses[i].address))
			return false;
	}
	return true;
}

/* The number of addresses above which reading all symbols of the kernel is faster than looking each up. */
enum { MOST_ASKED = 50000 };

/* Asks the running kernel. If it does not answer, opens its symbols, or those of the recorded one. */
static bool find_kernel_symbols(struct symbolize_work *w, struct symbolize_batch *batch, struct error *err)
{
	static const char running[] = "/proc/kallsyms";
	const char *path = w->symbols->kallsyms ? w->symbols->kallsyms : running;
	bool is_running = strcmp(path, running) == 0 || w->symbols->kernel_is_running;
	const struct symbolize_namer *namer = w->options->namer;
	struct error ignored;

	if (is_running && !namer && w->options->kernel && batch->count <= MOST_ASKED &&
		!kernel_ask(w->options->kernel, batch->addresses, batch->count, &batch->map, err))
		return false;
	if (batch->map || w->kallsyms.name || path[0] == '\0')
		return true;
	w->kallsyms.fd = namer ? namer->open_kernel(namer->context, path, &ignored)
			       : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (w->kallsyms.fd < 0)
		return true;
	w->kallsyms.name = strdup(path);
	return w->kallsyms.name || error_set_memory(err);
}

static const struct file_opened *opened_or_null(const struct file_opened *files, size_t index)
{
	return files && files[index].name ? &files[index] : NULL;
}

/* A recording has one run, whose events are in order of time. */
static struct jit_clock clock_of(const struct symbolize_work *w, size_t mapping)
{
	if (!w->profile->has_timeline || w->profile->run_count != 1)
		return (struct jit_clock){ 0 };
	return (struct jit_clock){ w->symbols->clock_ns, w->symbols->growths ? &w->symbols->growths[mapping] : NULL };
}

/* Makes the task of a mapping; false if there is nothing that it could be named by. */
static bool task_of(const struct symbolize_work *w, size_t mapping, struct naming_task *task)
{
	const struct symbolize_batch *batch = &w->batches[mapping];
	bool is_kernel = w->profile->mappings[mapping].kind == PROFILE_MAPPING_KERNEL;

	*task = (struct naming_task){
		.image = batch->image,
		.label = profile_string(w->profile, w->profile->mappings[mapping].path),
		.addresses = batch->addresses,
		.count = batch->count,
		.data = batch->data,
		.data_count = batch->data_count,
	};
	if (is_kernel && !batch->map && w->kallsyms.name)
		task->kallsyms = &w->kallsyms;
	if (!is_kernel) {
		task->map = opened_or_null(w->symbols->jit_maps, mapping);
		task->inherited = opened_or_null(w->symbols->inherited_jit_maps, mapping);
		task->clock = clock_of(w, mapping);
	}
	if (!task->image && task->map)
		task->label = task->map->name;
	return (batch->count > 0 && (task->image || task->map || task->inherited || task->kallsyms)) ||
	       batch->data_count > 0;
}

static bool make_tasks(struct symbolize_work *w, struct error *err)
{
	if (!ARRAY_ZEROED(&w->tasks, w->batch_count, err))
		return false;
	for (size_t i = 0; i < w->profile->mapping_count; i++) {
		struct symbolize_batch *batch = &w->batches[i];

		if (batch->count > 0 && w->profile->mappings[i].kind == PROFILE_MAPPING_KERNEL &&
			!find_kernel_symbols(w, batch, err))
			return false;
		if (task_of(w, i, &w->tasks[w->task_count]))
			batch->task = (uint32_t)w->task_count++;
	}
	return true;
}

static void note_restricted(struct symbolize_work *w, struct buffer *notices)
{
	bool is_restricted = false;

	for (size_t i = 0; i < w->task_count; i++)
		is_restricted |= w->tasks[i].is_kallsyms_restricted;
	if (is_restricted && notices)
		buffer_append_string(notices,
			"kernel functions stay unnamed: kernel.kptr_restrict hides their addresses; "
			"run 'sudo sysctl kernel.kptr_restrict=0' or run kelvin as root\n");
}

/* ---- From frames to lines of the profile ---- */

/* Returns whether the image is a program. Some libraries can be executed too, to print their version. */
static bool is_program(const struct elf_image *image, const char *module)
{
	return image && elf_image_is_executable(image) && !strstr(module, ".so");
}

/*
 * Interns a function's name. One without a name is called by the file of its image, in place of which stands the name
 * under which the main program was started (symbolize_name_program()).
 */
static bool intern_name(struct profile *profile, const struct symbolize_frame *frame, uint32_t mapping, uint32_t *name,
	struct error *err)
{
	const char *offset = strstr(frame->name, "+0x"), *program;
	char text[1024];

	if (mapping != 0 || (frame->source != PROFILE_NAME_NONE && frame->source != PROFILE_NAME_FDE) || !offset ||
		profile->mappings[0].kind != PROFILE_MAPPING_FILE)
		return profile_intern(profile, frame->name[0] ? frame->name : "[unnamed]", name, err);
	program = profile_string(profile, profile->mappings[0].path);
	program = strrchr(program, '/') ? strrchr(program, '/') + 1 : program;
	snprintf(text, sizeof(text), "%.480s%.480s", program, offset);
	return profile_intern(profile, text, name, err);
}

static bool symbolize_add_function(struct symbolize_work *w, const struct symbolize_frame *frame, uint32_t mapping,
	uint32_t *function, struct error *err)
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
	if (!intern_name(profile, frame, mapping, &added.name, err) ||
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
static bool symbolize_find_function(struct symbolize_work *w, const struct symbolize_frame *frame, uint32_t mapping,
	uint32_t *function, struct error *err)
{
	const char *file = frame->decl_file[0] ? frame->decl_file : frame->file;
	uint64_t hash = hash_mix((uintptr_t)frame->name ^ mapping, (uintptr_t)file + frame->decl_line);
	struct known_function *known = &w->known[hash >> (64 - KNOWN_BITS)];

	if (!has_lasting_strings(frame))
		return symbolize_add_function(w, frame, mapping, function, err);
	if (known->name == frame->name && known->linkage_name == frame->linkage_name && known->file == file &&
		known->fingerprint == frame->fingerprint && known->start_line == frame->decl_line &&
		known->mapping == mapping && known->source == frame->source) {
		*function = known->function;
		return true;
	}
	if (!symbolize_add_function(w, frame, mapping, function, err))
		return false;
	*known = (struct known_function){ frame->name, frame->linkage_name, file, frame->fingerprint, frame->decl_line,
		mapping, *function, frame->source };
	return true;
}

/* Returns whether two paths of a table of lines are of one file: `a/../b.h` is `b.h`. */
static bool symbolize_is_same_file(const char *left, const char *right)
{
	char paths[2][PATH_MAX];

	if (strcmp(left, right) == 0)
		return true;
	if (strlen(left) >= PATH_MAX || strlen(right) >= PATH_MAX)
		return false;
	strcpy(paths[0], left);
	strcpy(paths[1], right);
	return file_normalize_path(paths[0]) && file_normalize_path(paths[1]) && strcmp(paths[0], paths[1]) == 0;
}

/* A line of a file that is not known would be read as one of the function's file. */
static bool set_line(
	struct symbolize_work *w, const struct symbolize_frame *frame, struct profile_line *line, struct error *err)
{
	*line = (struct profile_line){ .line = frame->line };
	if (!frame->line || !frame->decl_file[0] || symbolize_is_same_file(frame->file, frame->decl_file))
		return true;
	if (!frame->file[0])
		line->line = 0;
	return profile_intern(w->profile, frame->file, &line->file, err);
}

/* Makes w->lines of frames. */
static bool make_lines(struct symbolize_work *w, uint32_t mapping, const struct symbolize_frame *frames, size_t count,
	struct error *err)
{
	if (!ARRAY_RESERVE(&w->lines, &w->line_capacity, count, ARRAY_MAX_IDS, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!set_line(w, &frames[i], &w->lines[i], err) ||
			!symbolize_find_function(w, &frames[i], mapping, &w->lines[i].function, err))
			return false;
	}
	return true;
}

static bool set_frames(struct symbolize_work *w, uint32_t location, const struct symbolize_frame *frames, size_t count,
	struct error *err)
{
	return make_lines(w, w->profile->locations[location].mapping, frames, count, err) &&
	       profile_set_lines(w->profile, location, w->lines, count, err);
}

static bool set_by_address(struct symbolize_work *w, uint32_t location, struct error *err)
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

/* Sets the kernel's own answer. */
static bool set_by_kernel(
	struct symbolize_work *w, const struct symbolize_batch *batch, uint32_t location, struct error *err)
{
	struct symbolize_frame frame;
	char name[SYMBOL_MAP_NAME_BYTES];

	return symbol_map_frame(batch->map, w->profile->locations[location].address, true, &frame, name)
		       ? set_frames(w, location, &frame, 1, err)
		       : set_by_address(w, location, err);
}

/* Adds code that stood at a location until other code took its place. */
static bool add_generation(struct symbolize_work *w, uint32_t location, const struct symbolize_frames *frames,
	const struct placement_time *replaced, struct error *err)
{
	struct profile_generation added = { .location = location,
		.from_ns = replaced->from_ns,
		.until_ns = replaced->to_ns == INT64_MAX ? replaced->from_ns : replaced->to_ns };
	uint32_t mapping = w->profile->locations[location].mapping;

	if (!make_lines(w, mapping, frames->frames, frames->count, err) ||
		!profile_add_location_of_lines(w->profile, mapping, w->lines, frames->count, &added.former, err) ||
		!ARRAY_APPEND(
			&w->generations, &w->generation_capacity, &w->generation_count, ARRAY_MAX_IDS, err, added))
		return false;
	return true;
}

/*
 * Returns whether frames are of the same code: runtimes tell of it again, as when it moves or when somebody begins to
 * listen.
 */
static bool are_same_frames(const struct symbolize_frames *left, const struct symbolize_frames *right)
{
	bool same = left->count == right->count;

	for (size_t i = 0; same && i < left->count; i++)
		same = left->frames[i].line == right->frames[i].line &&
		       strcmp(left->frames[i].name, right->frames[i].name) == 0 &&
		       strcmp(left->frames[i].file, right->frames[i].file) == 0;
	return same;
}

/*
 * The number of locations of a mapping that have a time from which on code stood there, and how many of them ran before
 * that.
 */
struct batch_times {
	size_t timed, early;
};

static bool count_time(struct symbolize_work *w, uint32_t location, const struct placement_time *time,
	struct batch_times *times, struct error *err)
{
	if (time->from_ns == INT64_MIN)
		return true;
	if (!w->first_events)
		w->first_events = first_events_of_locations(w->profile);
	if (!w->first_events)
		return error_set_memory(err);
	times->timed++;
	times->early += w->first_events[location] < time->from_ns;
	return true;
}

/* Finds the frames of the code that stood at a location last, and adds those of the code before. */
static bool symbolize_find_frames(struct symbolize_work *w, const struct symbolize_batch *batch, size_t index,
	struct symbolize_frames *last, struct batch_times *times, struct error *err)
{
	const struct naming_task *task = &w->tasks[batch->task];
	uint32_t location = batch->locations[index];
	size_t first, count = named_frames_entries_of(&task->table, batch->addresses[index], &first);

	for (size_t i = first; i < first + count; i++) {
		struct symbolize_frames frames;
		struct placement_time time;

		if (!named_frames_entry(&task->table, i, &w->arena, &frames, &time, err))
			return false;
		/* The children that are ours do not write such entries. */
		if (frames.count == 0)
			continue;
		if ((i == first && !count_time(w, location, &time, times, err)) ||
			(last->count > 0 && !are_same_frames(last, &frames) &&
				!add_generation(w, location, last, &time, err)))
			return false;
		*last = frames;
	}
	return true;
}

/*
 * Code cannot run before it is there. Where much of it did by its times, these are not to be believed: the run time
 * kept the lines of its perf map back, as V8 does until it has 2 MB of them, or has another clock, as in a namespace of
 * its own. A few are of code that was there before without a name.
 */
static void check_times(struct symbolize_work *w, const struct batch_times *times, size_t first_generation)
{
	enum { MOST_EARLY_OF = 4 };

	if (times->early * MOST_EARLY_OF <= times->timed)
		return;
	for (size_t i = first_generation; i < w->generation_count; i++)
		w->generations[i].from_ns = w->generations[i].until_ns = INT64_MIN;
}

static bool set_batch(struct symbolize_work *w, const struct symbolize_batch *batch, struct error *err)
{
	const struct naming_task *task = batch->task == PROFILE_NONE ? NULL : &w->tasks[batch->task];
	size_t first_generation = w->generation_count;
	struct batch_times times = { 0 };

	for (size_t i = 0; i < batch->count; i++) {
		uint32_t location = batch->locations[i];
		struct symbolize_frames found = { 0 };
		bool ok;

		if (task && task->bytes && !symbolize_find_frames(w, batch, i, &found, &times, err))
			return false;
		if (found.count > 0)
			ok = set_frames(w, location, found.frames, found.count, err);
		else
			ok = batch->map ? set_by_kernel(w, batch, location, err) : set_by_address(w, location, err);
		if (!ok)
			return false;
	}
	check_times(w, &times, first_generation);
	return true;
}

/* Names are never wrong without a word: where it is not known when code took the place of other code, that is said. */
static void note_doubtful(const struct symbolize_work *w, double part, struct buffer *notices)
{
	static const double least = 0.01;

	if (part < least || !notices)
		return;
	buffer_printf(notices,
		"%.0f %% of the time is in code made at run time where different functions stood one after another, and nothing says "
		"when: it may be of another one than it says; a jitdump tells (node --perf-prof, DOTNET_PerfMapEnabled=2, wasmtime "
		"--profile=jitdump)%s\n",
		100 * part, w->symbols->clock_ns == 0 ? ", where perf recorded with '-k mono'" : "");
}

static bool place_generations(struct symbolize_work *w, struct buffer *notices, struct error *err)
{
	double doubtful;

	if (!profile_place_generations(w->profile, w->symbols, w->generations, w->generation_count, &doubtful, err))
		return false;
	note_doubtful(w, doubtful, notices);
	return true;
}

static bool symbolize_set_all(struct symbolize_work *w, struct buffer *notices, struct error *err)
{
	for (size_t i = 0; i < w->batch_count; i++)
		if (!set_batch(w, &w->batches[i], err))
			return false;
	return place_generations(w, notices, err);
}

/* A lock has the name of its object, and the object's module. */
static bool name_locks(struct symbolize_work *w, struct error *err)
{
	struct profile *profile = w->profile;

	for (size_t i = 0; i < profile->lock_count; i++) {
		const struct symbolize_batch *batch = batch_of_lock(w, i);
		const struct naming_task *task = !batch || batch->task == PROFILE_NONE ? NULL : &w->tasks[batch->task];
		const struct profile_lock_address *at = task ? &w->symbols->lock_addresses[i] : NULL;
		struct symbolize_frames found = { 0 };

		if (!task || !task->bytes)
			continue;
		if (!named_frames_find(&task->data_table, at->address, &w->arena, &found, err))
			return false;
		if (found.count == 0)
			continue;
		if (!profile_intern(profile, found.frames[0].name, &profile->locks[i].name, err))
			return false;
		profile->locks[i].module = profile->mappings[at->mapping].module;
	}
	return true;
}

static bool symbolize_add_sources(struct symbolize_work *w, struct error *err)
{
	CLEANUP(cleanup_free)
	const struct named_frames **tables = calloc(w->task_count + 1, sizeof(struct named_frames *));
	size_t count = 0;

	if (!tables)
		return error_set_memory(err);
	for (size_t i = 0; i < w->task_count; i++)
		if (w->tasks[i].bytes)
			tables[count++] = &w->tasks[i].table;
	return dwarf_sources_add(w->profile, tables, count, w->options, err);
}

/* The place where an interpreter was compiled is unrelated to the program that it runs. */
static void symbolize_find_directory(struct symbolize_work *w)
{
	const struct profile *profile = w->profile;
	const struct naming_task *task = w->batches[0].task == PROFILE_NONE ? NULL : &w->tasks[w->batches[0].task];

	if (task && task->bytes && task->image && task->count > 0 &&
		!profile_is_runtime(profile_string(profile, profile->mappings[0].module)))
		w->origins.compilation_directory = named_frames_source_directory(&task->table);
}

static void symbolize_work_deinit(struct symbolize_work *w)
{
	for (size_t i = 0; w->batches && i < w->batch_count; i++) {
		free(w->batches[i].addresses);
		free(w->batches[i].locations);
		free(w->batches[i].data);
		symbol_map_destroy(w->batches[i].map);
	}
	for (size_t i = 0; i < w->task_count; i++)
		naming_task_deinit(&w->tasks[i]);
	file_opened_deinit(&w->kallsyms);
	arena_deinit(&w->arena);
	free(w->tasks);
	free(w->batches);
	free(w->lines);
	free(w->generations);
	free(w->first_events);
}

bool symbolize_profile(struct profile *profile, const struct profile_symbols *symbols,
	const struct symbolize_options *options, struct buffer *notices, struct error *err)
{
	struct symbolize_work w = {
		.profile = profile, .symbols = symbols, .options = options, .origins = { .options = options }
	};
	bool ok = sort_into_batches(&w, err);

	arena_init(&w.arena, 0);
	for (size_t i = 0; ok && symbols->images && i < profile->mapping_count; i++)
		w.batches[i].image = symbols->images[i];
	if (ok && !options->no_names) {
		ok = sort_locks_into_batches(&w, err) && make_tasks(&w, err);
		if (ok)
			naming_run(w.tasks, w.task_count, options, notices);
		note_restricted(&w, notices);
	}
	if (ok) {
		w.origins = origin_context_of(options, profile);
		symbolize_find_directory(&w);
		ok = symbolize_set_all(&w, notices, err) &&
		     (options->no_names || (name_locks(&w, err) && symbolize_add_sources(&w, err)));
	}
	symbolize_work_deinit(&w);
	return ok && (options->names_only || symbolize_origins(profile, options, err));
}

bool symbolize_origins(struct profile *profile, const struct symbolize_options *options, struct error *err)
{
	const struct origin_context context = origin_context_of(options, profile);

	(void)err;
	for (size_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];

		for (uint32_t k = 0; k < location->line_count; k++) {
			struct profile_function *function =
				&profile->functions[profile->lines[location->first_line + k].function];
			const struct origin_evidence evidence = origin_evidence_of(profile, location, k);
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
	struct buffer module = BUFFER_INIT(PATH_MAX);

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
