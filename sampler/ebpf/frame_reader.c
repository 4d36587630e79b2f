/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/ebpf/frame_reader.h"

#include "sampler/ebpf/frame_reader_shared.h"
#include "sampler/ebpf/frame_reader_sharing.h"
#include "sampler/ebpf/loading.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frame_reader.skel.h"

enum {
	ALIGNMENT = 64,            /* of areas */
	MOST_AREA_BYTES = 1 << 21, /* before Linux 5.10 an entry of an array has 4 MiB at most */
	UPID_BYTES = 16,           /* of the kernel's struct upid, which begins with the id */
	/*
	 * The most time between the reading of frames and a sample that has its time only then. It was 2 to 8
	 * microseconds, and up to 77 on a machine with a hypervisor and six busy threads a CPU; one sample in 50,000
	 * was 375 apart on a busier host. Other samples of the thread are farther away.
	 */
	JOIN_NS = 200000,
};

struct ebpf_frame_reader {
	struct ebpf_frame_reader_options options;
	struct frame_reader_bpf *object; /* NULL until it is needed */
	uint64_t loaded_ns;              /* by the records' clock; 0: not yet */
	struct error refused;            /* why there will be none; ERROR_NONE: it was not refused */
	char *areas;                     /* mapped; NULL until there is a process with an interpreter */
	size_t mapped_bytes, area_bytes;
	uint64_t ring_mask;
	bool by_helper;          /* loops are those of bpf_loop() */
	uint64_t *cursors;       /* [cpu] position of the first block that may still be asked for */
	uint64_t *code_cursors;  /* [cpu] of the first one that may have code which was not handed out yet */
	uint32_t code_cpu;       /* where the next code is looked for */
	struct shares processes; /* with an interpreter, by account */
};

/* ---- Loading ---- */

static struct bpf_program *program_of(const struct frame_reader_bpf *object, bool by_helper)
{
	return by_helper ? object->progs.sample_by_helper : object->progs.sample_by_turns;
}

/* Sizes of maps. Before Linux 6.1 programs of samples may not have maps whose entries are allocated one by one. */
static int set_maps(struct ebpf_frame_reader *reader, bool is_allocated)
{
	struct frame_reader_bpf *object = reader->object;
	int result = bpf_map__set_value_size(object->maps.areas, (uint32_t)reader->area_bytes);

	if (result == 0)
		result = bpf_map__set_max_entries(object->maps.areas, reader->options.cpu_count);
	if (result == 0 && is_allocated)
		result = bpf_map__set_max_entries(object->maps.interpreters, FRAMES_MOST_ALLOCATED);
	if (result == 0 && is_allocated)
		result = bpf_map__set_map_flags(object->maps.interpreters, 0);
	return result;
}

static bool frame_reader_load(struct ebpf_frame_reader *reader, bool is_allocated, struct error *err)
{
	struct loading loading;
	int result = loading_begin_relocated(&loading);

	if (result == 0)
		reader->object = frame_reader_bpf__open_opts(&loading.options);
	if (reader->object) {
		reader->object->rodata->constants =
			(struct frames_constants){ reader->options.layout, UPID_BYTES, reader->ring_mask };
		bpf_program__set_autoload(program_of(reader->object, !reader->by_helper), false);
		result = set_maps(reader, is_allocated);
		if (result == 0)
			result = loading_relocate(&loading, reader->object->obj);
		if (result == 0)
			result = loading_load(reader->object->skeleton);
		if (result == 0 && reader->options.processes)
			result = ebpf_process_set_run_next(reader->options.processes,
				bpf_program__fd(program_of(reader->object, reader->by_helper)));
	} else if (result == 0) {
		result = -errno;
	}
	loading_finish(&loading);
	if (result == 0)
		return true;
	frame_reader_bpf__destroy(reader->object);
	reader->object = NULL;
	return loading_fail(err, &loading, result, "load the program that reads the frames of CPython");
}

bool ebpf_frame_reader_load(struct ebpf_frame_reader *reader)
{
	if (!reader->object && reader->refused.code == ERROR_NONE) {
		reader->by_helper = libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_loop, NULL) == 1;
		if (!frame_reader_load(reader, false, &reader->refused) && reader->refused.code != ERROR_PERMISSION &&
			frame_reader_load(reader, true, &reader->refused))
			reader->refused.code = ERROR_NONE;
		reader->loaded_ns = (uint64_t)(clock_read_ns(CLOCK_MONOTONIC) - proc_clock_offset_ns());
	}
	return reader->object != NULL;
}

uint64_t ebpf_frame_reader_loaded_ns(const struct ebpf_frame_reader *reader)
{
	return reader->object ? reader->loaded_ns : 0;
}

const struct error *ebpf_frame_reader_refusal(const struct ebpf_frame_reader *reader)
{
	return reader->refused.code != ERROR_NONE ? &reader->refused : NULL;
}

/*
 * Loads the program, and maps the areas. A mapping of them counts as the recorder's memory as a whole, 2 MB a CPU,
 * whatever is used of it.
 */
static bool map_areas(struct ebpf_frame_reader *reader)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *mapped;

	if (reader->areas || !ebpf_frame_reader_load(reader))
		return reader->areas != NULL;
	reader->mapped_bytes = reader->area_bytes * reader->options.cpu_count;
	reader->mapped_bytes = (reader->mapped_bytes + page_bytes - 1) / page_bytes * page_bytes;
	mapped = mmap(NULL, reader->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		bpf_map__fd(reader->object->maps.areas), 0);
	if (mapped == MAP_FAILED)
		return error_set_errno(&reader->refused, errno, "cannot map the memory that frames are written to");
	reader->areas = mapped;
	return true;
}

/* The length of a ring is a power of two of words. */
static void set_sizes(struct ebpf_frame_reader *reader, const struct ebpf_frame_reader_options *options)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = page_bytes;

	while (bytes < options->bytes_per_cpu && bytes < MOST_AREA_BYTES)
		bytes *= 2;
	reader->ring_mask = bytes / sizeof(uint64_t) - 1;
	bytes += sizeof(struct frames_area) + (FRAMES_BLOCK_ROOM + FRAMES_SLACK_WORDS) * sizeof(uint64_t);
	reader->area_bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

bool ebpf_frame_reader_create(
	const struct ebpf_frame_reader_options *options, struct ebpf_frame_reader **reader, struct error *err)
{
	struct ebpf_frame_reader *made;

	if (!proc_is_initial_namespace(true))
		return error_set(err, ERROR_UNSUPPORTED, "kelvin runs in a pid namespace of its own");
	made = calloc(1, sizeof(*made));
	if (!made)
		return error_set_memory(err);
	set_sizes(made, options);
	shares_init(&made->processes, FRAMES_MOST_PROCESSES);
	made->options = *options;
	made->cursors = calloc(options->cpu_count, sizeof(*made->cursors));
	made->code_cursors = calloc(options->cpu_count, sizeof(*made->code_cursors));
	if (!made->cursors || !made->code_cursors) {
		ebpf_frame_reader_destroy(made);
		return error_set_memory(err);
	}
	*reader = made;
	return true;
}

void ebpf_frame_reader_destroy(struct ebpf_frame_reader *reader)
{
	if (!reader)
		return;
	if (reader->areas)
		munmap(reader->areas, reader->mapped_bytes);
	frame_reader_bpf__destroy(reader->object);
	free(reader->cursors);
	free(reader->code_cursors);
	shares_deinit(&reader->processes);
	free(reader);
}

bool frame_reader_can_be_shared(struct ebpf_frame_reader *reader)
{
	return ebpf_frame_reader_load(reader) && reader->by_helper;
}

int frame_reader_share(const struct ebpf_frame_reader *reader, const struct frame_reader_sharing *with)
{
	const struct frame_reader_bpf *object = reader->object;
	int result = bpf_map__reuse_fd(with->interpreters, bpf_map__fd(object->maps.interpreters));

	*with->constants = object->rodata->constants;
	if (result == 0)
		result = bpf_map__reuse_fd(with->places, bpf_map__fd(object->maps.places));
	if (result == 0)
		result = bpf_map__reuse_fd(with->areas, bpf_map__fd(object->maps.areas));
	if (result == 0)
		result = bpf_map__reuse_fd(with->codes, bpf_map__fd(object->maps.codes));
	return result;
}

/* ---- Processes ---- */

static bool is_in_frame(uint32_t offset, size_t bytes)
{
	return offset <= PYTHON_FRAME_BYTES - bytes;
}

/* Returns whether the program finds the members of frames in what it reads of them. */
static bool frame_reader_is_readable(const struct ebpf_interpreter *interpreter)
{
	const struct ebpf_python *python = &interpreter->python;

	if (interpreter->kind != EBPF_PYTHON)
		return true;
	return is_in_frame(python->code, sizeof(uint64_t)) && is_in_frame(python->previous, sizeof(uint64_t)) &&
	       is_in_frame(python->instruction, sizeof(uint64_t)) && is_in_frame(python->mark, 1) &&
	       is_in_frame(python->copy_index, sizeof(uint32_t)) && python->copy_index % sizeof(uint32_t) == 0 &&
	       is_in_frame(python->stack_pointer, sizeof(uint64_t)) &&
	       (python->code | python->previous | python->instruction | python->stack_pointer) % sizeof(uint64_t) == 0;
}

bool ebpf_frame_reader_add(
	struct ebpf_frame_reader *reader, int32_t pid, uint64_t account, const struct ebpf_interpreter *interpreter)
{
	struct ebpf_interpreter own = *interpreter;

	if (!frame_reader_is_readable(interpreter) || !map_areas(reader))
		return false;
	ebpf_frame_reader_remove(reader, pid);
	own.pid = (uint32_t)pid;
	own.account = account;
	if (!shares_take(&reader->processes, account, 1))
		return false;
	if (bpf_map__update_elem(
		    reader->object->maps.interpreters, &pid, sizeof(pid), &own, sizeof(own), BPF_NOEXIST) != 0) {
		shares_give_back(&reader->processes, account, 1);
		return false;
	}
	reader->object->bss->process_count++;
	return true;
}

void ebpf_frame_reader_remove(struct ebpf_frame_reader *reader, int32_t pid)
{
	const struct bpf_map *map;
	struct ebpf_interpreter own;

	if (!reader->object)
		return;
	map = reader->object->maps.interpreters;
	if (bpf_map__lookup_elem(map, &pid, sizeof(pid), &own, sizeof(own), 0) != 0 ||
		bpf_map__delete_elem(map, &pid, sizeof(pid), 0) != 0)
		return;
	shares_give_back(&reader->processes, own.account, 1);
	reader->object->bss->process_count--;
}

void ebpf_frame_reader_expect_returns(struct ebpf_frame_reader *reader)
{
	if (map_areas(reader))
		reader->object->bss->has_returns = true;
}

/* ---- Frames ---- */

static struct frames_area *area_of(const struct ebpf_frame_reader *reader, uint32_t cpu)
{
	return (void *)(reader->areas + cpu * reader->area_bytes);
}

static const struct frames_block *block_at(const struct ebpf_frame_reader *reader, uint32_t cpu, uint64_t position)
{
	return (const void *)&area_of(reader, cpu)->words[position & reader->ring_mask];
}

static size_t frame_reader_count_of(const struct frames_block *block)
{
	size_t count = block->thread & (FRAMES_IS_CUT - 1);

	return count < EBPF_MOST_FRAMES ? count : EBPF_MOST_FRAMES;
}

/* The position behind a block: the next multiple of the ring's length where the block reaches its end. */
static uint64_t position_behind(
	const struct ebpf_frame_reader *reader, const struct frames_block *block, uint64_t position)
{
	uint64_t rest = reader->ring_mask + 1 - (position & reader->ring_mask);
	uint64_t words = FRAMES_BLOCK_HEADER + frame_reader_count_of(block);

	return position + (words < rest ? words : rest);
}

/* The time between a sample and the reading of frames; 0: they were read for it. */
static uint64_t distance_to(const struct frames_block *block, uint64_t time_ns)
{
	if (time_ns < block->begin_ns)
		return block->begin_ns - time_ns;
	return time_ns > block->end_ns ? time_ns - block->end_ns : 0;
}

static void frame_reader_pass_over(struct ebpf_frame_reader *reader, uint32_t cpu, uint64_t head, uint64_t time_ns)
{
	uint64_t *cursor = &reader->cursors[cpu];

	while (*cursor < head) {
		const struct frames_block *block = block_at(reader, cpu, *cursor);

		if (block->end_ns >= time_ns || time_ns - block->end_ns <= JOIN_NS)
			break;
		*cursor = position_behind(reader, block, *cursor);
	}
}

static struct ebpf_frames frames_of(const struct frames_block *block)
{
	struct ebpf_frames frames = { .words = (const void *)block->words,
		.count = frame_reader_count_of(block),
		.kind = FRAMES_KIND_OF(block->thread),
		.is_cut = (block->thread & FRAMES_IS_CUT) != 0 };

	if ((block->thread & FRAMES_HAS_TASK) && frames.count >= FRAMES_TASK_WORDS) {
		frames.count -= FRAMES_TASK_WORDS;
		frames.task = (const uint8_t *)&frames.words[frames.count];
	}
	return frames;
}

static bool frame_reader_is_of_kind(const struct frames_block *block, bool of_returns)
{
	return !(block->thread & FRAMES_IS_CODE) && (FRAMES_KIND_OF(block->thread) == EBPF_RETURNS) == of_returns;
}

static bool frame_reader_find_block(struct ebpf_frame_reader *reader, uint32_t cpu, uint32_t tid, uint64_t time_ns,
	bool of_returns, struct ebpf_frames *frames)
{
	const struct frames_block *nearest = NULL;
	uint64_t head;

	if (cpu >= reader->options.cpu_count || !reader->areas)
		return false;
	head = __atomic_load_n(&area_of(reader, cpu)->head, __ATOMIC_ACQUIRE);
	frame_reader_pass_over(reader, cpu, head, time_ns);
	for (uint64_t at = reader->cursors[cpu]; at < head;) {
		const struct frames_block *block = block_at(reader, cpu, at);

		if (!(block->thread & FRAMES_IS_CODE) && block->begin_ns > time_ns &&
			block->begin_ns - time_ns > JOIN_NS)
			break;
		if (block->thread >> 32 == tid && frame_reader_is_of_kind(block, of_returns) &&
			(!nearest || distance_to(block, time_ns) < distance_to(nearest, time_ns)))
			nearest = block;
		at = position_behind(reader, block, at);
	}
	if (!nearest)
		return false;
	*frames = frames_of(nearest);
	return true;
}

bool ebpf_frame_reader_find(
	struct ebpf_frame_reader *reader, uint32_t cpu, uint32_t tid, uint64_t time_ns, struct ebpf_frames *frames)
{
	return frame_reader_find_block(reader, cpu, tid, time_ns, false, frames);
}

bool ebpf_frame_reader_find_returns(
	struct ebpf_frame_reader *reader, uint32_t cpu, uint32_t tid, uint64_t time_ns, struct ebpf_frames *returns)
{
	return frame_reader_find_block(reader, cpu, tid, time_ns, true, returns);
}

/* ---- Code objects ---- */

static struct ebpf_code frame_reader_code_of(const struct frames_block *block)
{
	const struct frames_code *from = (const void *)block->words;
	struct ebpf_code code = { .pid = (int32_t)from->pid, .kind = FRAMES_KIND_OF(block->thread) };
	size_t last = EBPF_CODE_PIECES - 1;

	for (size_t i = 0; i < last; i++)
		code.pieces[i] =
			(struct ebpf_piece){ from->addresses[i], (const uint8_t *)from->bytes[i], FRAMES_PIECE_BYTES };
	code.pieces[last] =
		(struct ebpf_piece){ from->addresses[last], (const uint8_t *)from->table, FRAMES_TABLE_BYTES };
	return code;
}

/* Finds the next one of a CPU. */
static bool frame_reader_find_code(
	struct ebpf_frame_reader *reader, uint32_t cpu, uint64_t time_ns, struct ebpf_code *code)
{
	uint64_t head = __atomic_load_n(&area_of(reader, cpu)->head, __ATOMIC_ACQUIRE),
		 *at = &reader->code_cursors[cpu];

	while (*at < head) {
		const struct frames_block *block = block_at(reader, cpu, *at);

		if (block->end_ns > time_ns && block->end_ns - time_ns > JOIN_NS)
			break;
		*at = position_behind(reader, block, *at);
		if (!(block->thread & FRAMES_IS_CODE))
			continue;
		*code = frame_reader_code_of(block);
		return true;
	}
	return false;
}

bool ebpf_frame_reader_next_code(struct ebpf_frame_reader *reader, uint64_t time_ns, struct ebpf_code *code)
{
	for (; reader->areas && reader->code_cpu < reader->options.cpu_count; reader->code_cpu++)
		if (frame_reader_find_code(reader, reader->code_cpu, time_ns, code))
			return true;
	reader->code_cpu = 0;
	return false;
}

void ebpf_frame_reader_release(struct ebpf_frame_reader *reader)
{
	for (uint32_t cpu = 0; reader->areas && cpu < reader->options.cpu_count; cpu++) {
		uint64_t cursor = reader->cursors[cpu], code_cursor = reader->code_cursors[cpu];

		__atomic_store_n(
			&area_of(reader, cpu)->tail, cursor < code_cursor ? cursor : code_cursor, __ATOMIC_RELEASE);
	}
}

struct ebpf_frame_reader_counts ebpf_frame_reader_counts(const struct ebpf_frame_reader *reader)
{
	struct ebpf_frame_reader_counts sum = { 0 };

	for (uint32_t cpu = 0; reader->areas && cpu < reader->options.cpu_count; cpu++) {
		const struct frames_area *area = area_of(reader, cpu);

		sum.stacks += area->stacks;
		sum.lost += area->lost;
		sum.unknown += area->unknown;
		sum.unread += area->unread;
	}
	return sum;
}
