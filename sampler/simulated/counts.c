/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/simulated/simulation.h"

#include <stdlib.h>
#include <string.h>

/* A deeper context is counted at its own instructions, below its outermost frames: those between are left out. */
enum { MAX_DEPTH = 1024 };
static const size_t max_segments = (size_t)1 << 30;

/* Instructions of a block that follow each other, have the same frames, and are executed equally often. */
struct count_segment {
	uint32_t location; /* of the profile */
	uint32_t quarters; /* estimated quarter cycles of one execution, without misses */
	uint16_t first, count;
};

struct count_block {
	size_t first_segment, first_exit;
	uint32_t segment_count, exit_count;
};

struct count_node {
	uint32_t stack; /* of its call site; 0: it has none */
	uint32_t root;  /* in the roots */
	uint16_t depth;
};

struct count_root {
	uint32_t thread; /* in the profile, of the run at hand; PROFILE_NONE: not needed yet */
	int32_t tid;
	uint32_t name; /* string */
};

struct count_reader {
	const struct simulation_file *file;
	size_t most_samples;
	struct simulation_names *names;
	struct profile *made;
	struct simulation_losses *losses;
	uint32_t run;                   /* of the dump at hand */
	size_t dump;                    /* which it is of the file's */
	bool is_zeroed;                 /* its counts are not meant */
	uint32_t process_name;          /* string */
	struct count_segment *segments; /* the arrays are owned */
	struct count_block *blocks;
	uint16_t *exits; /* how many instructions of a block were executed when it was left there */
	struct count_node *nodes;
	struct count_root *roots;
	size_t segment_count, segment_capacity, block_count, block_capacity, exit_count, exit_capacity, node_count,
		node_capacity, root_count, root_capacity;
};

static void count_reader_deinit(struct count_reader *reader)
{
	free(reader->segments);
	free(reader->blocks);
	free(reader->exits);
	free(reader->nodes);
	free(reader->roots);
}

/* ---- Blocks ---- */

static bool find_location(
	struct count_reader *reader, uint32_t mapping, uint64_t address, uint32_t *location, struct error *err)
{
	struct profile_location place = simulation_locate(reader->file, mapping, address);
	uint32_t group;

	return simulation_names_group(reader->names, &place, &group, err) &&
	       simulation_names_location(reader->names, group, location, err);
}

static bool take_exits(struct count_reader *reader, const struct simulated_block *block, struct error *err)
{
	if (!ARRAY_RESERVE(&reader->exits, &reader->exit_capacity, reader->exit_count + block->exit_count + 1,
		    max_segments, err))
		return false;
	memcpy(reader->exits + reader->exit_count, block->left_after, block->exit_count * sizeof(*reader->exits));
	reader->exit_count += block->exit_count;
	return true;
}

/* Returns whether the block may be left before the instruction. Moves `*exit` to the first exit behind it. */
static bool is_left_before(
	const struct count_reader *reader, const struct count_block *block, size_t *exit, size_t instruction)
{
	bool is_left = false;

	while (block->first_exit + *exit < reader->exit_count &&
		reader->exits[block->first_exit + *exit] <= instruction) {
		is_left = true;
		++*exit;
	}
	return is_left;
}

static bool counts_add_instruction(struct count_reader *reader, struct count_block *block,
	const struct count_segment *added, bool is_left_here, struct error *err)
{
	struct count_segment *last = block->segment_count ? &reader->segments[reader->segment_count - 1] : NULL;

	if (last && !is_left_here && last->location == added->location) {
		last->count++;
		last->quarters += added->quarters;
		return true;
	}
	if (!ARRAY_RESERVE(&reader->segments, &reader->segment_capacity, reader->segment_count + 1, max_segments, err))
		return false;
	reader->segments[reader->segment_count++] = *added;
	block->segment_count++;
	return true;
}

static bool count_block(void *context, const struct simulated_block *from, struct error *err)
{
	struct count_reader *reader = context;
	struct count_block block = {
		.first_segment = reader->segment_count, .first_exit = reader->exit_count, .exit_count = from->exit_count
	};
	uint64_t address = from->address;
	size_t exit = 0;

	if (!take_exits(reader, from, err) ||
		!ARRAY_RESERVE(&reader->blocks, &reader->block_capacity, reader->block_count + 1, max_segments, err))
		return false;
	for (uint16_t i = 0; i < from->instruction_count; i++) {
		struct count_segment segment = { .quarters = from->costs[i], .first = i, .count = 1 };

		if (!find_location(reader, from->mapping, address, &segment.location, err) ||
			!counts_add_instruction(
				reader, &block, &segment, is_left_before(reader, &block, &exit, i), err))
			return false;
		address += from->lengths[i];
	}
	reader->blocks[reader->block_count++] = block;
	return true;
}

/* ---- Contexts ---- */

static int compare_root(const void *key, const void *element)
{
	const uint32_t *node = key;
	const struct simulate_thread *thread = element;

	return ORDER(*node, thread->root);
}

static bool add_root(struct count_reader *reader, struct count_node *node, struct error *err)
{
	const uint32_t id = (uint32_t)reader->node_count;
	struct count_root root = {
		.thread = PROFILE_NONE,
		.tid = reader->file->pid,
		.name = reader->process_name,
	};
	const struct simulate_thread *thread = NULL;

	if (reader->file->thread_count > 0)
		thread = bsearch(&id, reader->file->threads, reader->file->thread_count, sizeof(*thread), compare_root);
	if (thread) {
		root.tid = thread->tid;
		if (!profile_intern(reader->made, thread->name, &root.name, err))
			return false;
	}
	if (!ARRAY_RESERVE(&reader->roots, &reader->root_capacity, reader->root_count + 1, ARRAY_MAX_IDS, err))
		return false;
	node->root = (uint32_t)reader->root_count;
	reader->roots[reader->root_count++] = root;
	return true;
}

static bool count_node(void *context, const struct simulated_node *from, struct error *err)
{
	struct count_reader *reader = context;
	struct count_node node = { 0 };
	uint32_t location;

	if (!ARRAY_RESERVE(&reader->nodes, &reader->node_capacity, reader->node_count + 1, ARRAY_MAX_IDS, err))
		return false;
	if (from->parent == SIMULATE_NONE) {
		if (!add_root(reader, &node, err))
			return false;
	} else {
		node = reader->nodes[from->parent];
		reader->losses->deep_nodes += node.depth == MAX_DEPTH;
		if (node.depth < MAX_DEPTH) {
			node.depth++;
			if (!find_location(reader, from->mapping, from->call_site, &location, err) ||
				!profile_add_stack(reader->made, node.stack, location, &node.stack, err))
				return false;
		}
	}
	reader->nodes[reader->node_count++] = node;
	return true;
}

/*
 * Finds the run of all dumps of one name, in all processes. The first run is the whole execution's, which has no name.
 */
static bool find_run(struct profile *made, const char *name, uint32_t *run, struct error *err)
{
	struct profile_run phase = { .start_unix_ns = made->runs[0].start_unix_ns, .exit_status = -1 };

	if (!profile_intern(made, name, &phase.name, err))
		return false;
	for (*run = 0; *run < made->run_count; ++*run)
		if (made->runs[*run].name == phase.name)
			return true;
	return profile_add_run(made, &phase, run, err);
}

/*
 * Benchmark harnesses of CodSpeed say what they are by a dump with this before their name. What was counted until then
 * is no phase.
 */
static const char harness_mark[] = "Metadata: ";

/*
 * Begins a dump, which says what counts are of from here on. Those that no dump follows are of the whole execution: its
 * end was not written.
 */
static bool begin_dump(struct count_reader *reader, struct error *err)
{
	const struct simulation_file *file = reader->file;
	const struct simulation_dump *dump = reader->dump < file->dump_count ? &file->dumps[reader->dump] : NULL;
	struct profile *made = reader->made;

	reader->is_zeroed = dump && dump->trigger == SIMULATE_TRIGGER_ZERO;
	for (size_t i = 0; i < reader->root_count; i++)
		reader->roots[i].thread = PROFILE_NONE;
	if (!dump || dump->trigger != SIMULATE_TRIGGER_REQUEST)
		return find_run(made, "", &reader->run, err);
	if (strncmp(dump->name, harness_mark, sizeof(harness_mark) - 1) != 0)
		return find_run(made, dump->name, &reader->run, err);
	return profile_intern(made, dump->name + sizeof(harness_mark) - 1, &made->facts.harness, err) &&
	       find_run(made, "", &reader->run, err);
}

static bool count_process(void *context, const struct simulate_process *process, struct error *err)
{
	struct count_reader *reader = context;

	return profile_intern(reader->made, process->name, &reader->process_name, err) && begin_dump(reader, err);
}

static bool count_dump(void *context, const struct simulate_dump *dump, const char *name, struct error *err)
{
	struct count_reader *reader = context;

	(void)dump, (void)name;
	reader->dump++;
	return begin_dump(reader, err);
}

/* ---- Counts ---- */

static bool counts_find_thread(
	struct count_reader *reader, const struct count_node *node, uint32_t *thread, struct error *err)
{
	struct count_root *root = &reader->roots[node->root];
	const struct profile_thread made = {
		.run = reader->run,
		.pid = reader->file->pid,
		.tid = root->tid,
		.process_name = reader->process_name,
		.name = root->name,
	};

	if (root->thread == PROFILE_NONE && !profile_add_thread(reader->made, &made, &root->thread, err))
		return false;
	*thread = root->thread;
	return true;
}

static int64_t counted_times(int64_t times, int64_t by)
{
	int64_t product;

	return __builtin_mul_overflow(times, by, &product) ? INT64_MAX : product;
}

/* Finds the values of a location in a context, to add to. */
static bool counts_find_values(struct count_reader *reader, const struct count_node *node, uint32_t location,
	int64_t **values, struct error *err)
{
	uint32_t stack, thread, sample;

	if (!counts_find_thread(reader, node, &thread, err) ||
		!profile_add_stack(reader->made, node->stack, location, &stack, err) ||
		!profile_find_sample(reader->made, stack, thread, &sample, err))
		return false;
	*values = &reader->made->values[(size_t)sample * COLUMN_COUNT];
	reader->losses->is_too_large = reader->made->sample_count > reader->most_samples;
	return !reader->losses->is_too_large ||
	       error_set(err, ERROR_LIMIT,
		       "there are more than %zu functions in contexts, which no profile holds: simulate a smaller input, or count only a part of the program (CALLGRIND_START_INSTRUMENTATION)",
		       reader->most_samples);
}

static bool count_segment(struct count_reader *reader, const struct count_node *node,
	const struct count_segment *segment, int64_t times, struct error *err)
{
	int64_t *values;

	if (!counts_find_values(reader, node, segment->location, &values, err))
		return false;
	values[COLUMN_INSTRUCTIONS] = saturating_add(values[COLUMN_INSTRUCTIONS], counted_times(times, segment->count));
	values[COLUMN_CYCLES] = saturating_add(values[COLUMN_CYCLES], counted_times(times, segment->quarters));
	return true;
}

/* Every entry of a block executes its instructions up to the exit that is taken. */
static bool count_instructions(struct count_reader *reader, const struct simulated_count *count, struct error *err)
{
	const struct count_block *block = &reader->blocks[count->block];
	const uint16_t *exits = &reader->exits[block->first_exit];
	int64_t times = 0;
	size_t exit = 0;

	for (size_t i = 0; i <= block->exit_count; i++)
		times += (int64_t)count->times[i];
	for (size_t i = 0; i < block->segment_count; i++) {
		const struct count_segment *segment = &reader->segments[block->first_segment + i];

		for (; exit < block->exit_count && exits[exit] <= segment->first; exit++)
			times -= (int64_t)count->times[exit];
		if (times > 0 && !count_segment(reader, &reader->nodes[count->node], segment, times, err))
			return false;
	}
	return true;
}

static bool count_costs(struct count_reader *reader, const struct simulated_count *count, struct error *err)
{
	static const enum simulation_column columns[SIMULATE_VALUES] = {
		[SIMULATE_FIRST_MISSES] = COLUMN_FIRST_MISSES,
		[SIMULATE_LAST_MISSES] = COLUMN_LAST_MISSES,
		[SIMULATE_BRANCH_MISSES] = COLUMN_BRANCH_MISSES,
		[SIMULATE_SYSTEM_CALLS] = COLUMN_SYSTEM_CALLS,
		[SIMULATE_SYSTEM_NS] = COLUMN_SYSTEM_NS,
	};
	const struct count_segment *segment = &reader->segments[reader->blocks[count->block].first_segment];

	/* Both are in the order of the instructions, and every instruction lies in a segment. */
	for (size_t i = 0; i < count->cost_count; i++) {
		const struct simulated_cost *cost = &count->costs[i];
		int64_t *values;

		while (cost->instruction >= segment->first + segment->count)
			segment++;
		if (!counts_find_values(reader, &reader->nodes[count->node], segment->location, &values, err))
			return false;
		for (size_t j = 0; j < SIMULATE_VALUES; j++)
			values[columns[j]] = saturating_add(values[columns[j]], (int64_t)cost->values[j]);
	}
	return true;
}

static bool counts_take(void *context, const struct simulated_count *count, struct error *err)
{
	struct count_reader *reader = context;

	return reader->is_zeroed || (count_instructions(reader, count, err) && count_costs(reader, count, err));
}

bool simulation_count_file(const struct sampler_simulation *simulation, const struct simulation_file *file,
	const struct simulation_counting *counting, struct error *err)
{
	CLEANUP(count_reader_deinit)
	struct count_reader reader = { .file = file,
		.names = counting->names,
		.made = counting->made,
		.losses = counting->losses,
		.most_samples = counting->most_samples };
	const struct simulated_visitor visitor = {
		.process = count_process,
		.block = count_block,
		.node = count_node,
		.count = counts_take,
		.dump = count_dump,
		.context = &reader,
	};
	CLEANUP(cleanup_close) int fd = simulation_open(simulation, file, err);
	struct simulated_end end;

	if (fd < 0)
		return false;
	if (!simulated_file_read(fd, file->bytes, &visitor, &end, err))
		return error_prefix(err, "simulation of process %d", file->pid);
	counting->losses->cut_files += end.is_cut;
	counting->losses->cut_tables += end.end.was_cut != 0;
	return true;
}
