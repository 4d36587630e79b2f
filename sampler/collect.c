/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect.h"

#include <asm/perf_regs.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

static const int64_t second_ns = 1000000000;

static bool describe_values(struct collector *collector, const struct collector_options *options, struct error *err)
{
	struct profile *profile = collector->profile;

	if (!options->counts_time && !profile_add_value_type(profile, options->event, "count", err))
		return false;
	if (options->counts_time && !profile_add_value_type(profile, "cpu", "nanoseconds", err))
		return false;
	profile->default_value_type = profile->value_type_count - 1;
	profile->period_type = profile->value_types[profile->default_value_type];
	profile->period = options->counts_time ? collector->nominal_ns : 0;
	return true;
}

bool collector_init(struct collector *collector, const struct collector_options *options, struct error *err)
{
	struct profile_run run = { .exit_status = -1 };
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	run.start_unix_ns = now.tv_sec * second_ns + now.tv_nsec;
	*collector = (struct collector){
		.start_ns = options->start_ns,
		.has_stack = options->has_stack,
		.is_time = options->is_time,
		.nominal_ns = second_ns / options->frequency_hz,
		.hash_seed = hash_seed(),
	};
	if (!profile_create(&collector->profile, err))
		return false;
	process_table_init(&collector->processes, collector->profile, options->notices);
	collector->processes.files = options->files;
	collector->recent = calloc(COLLECTOR_RECENT, sizeof(*collector->recent));
	collector->steps = calloc((size_t)1 << COLLECTOR_STEP_BITS, sizeof(*collector->steps));
	if (!collector->recent || !collector->steps) {
		collector_deinit(collector);
		return error_set_memory(err);
	}
	if (!stitch_memory_create(&collector->stitches, err) || !describe_values(collector, options, err) ||
		!profile_add_run(collector->profile, &run, &collector->run, err) || !unwinder_create(&collector->unwinder, err)) {
		collector_deinit(collector);
		return false;
	}
	return true;
}

void collector_deinit(struct collector *collector)
{
	process_table_deinit(&collector->processes);
	unwinder_destroy(collector->unwinder);
	stitch_memory_destroy(collector->stitches);
	profile_destroy(collector->profile);
	free(collector->recent);
	free(collector->steps);
	*collector = (struct collector){ 0 };
}

static struct collector_step *find_step(struct collector *collector, uint64_t by, uint32_t parent)
{
	uint64_t mixed = (by ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15u;

	return &collector->steps[mixed >> (64 - COLLECTOR_STEP_BITS)];
}

static bool is_step(const struct collector_step *step, uint64_t by, uint32_t parent)
{
	return step->by == by && step->parent == parent && step->stack != 0;
}

static bool push_location(struct collector *collector, uint32_t location, uint32_t *stack, struct error *err)
{
	struct collector_step *step = find_step(collector, location, *stack);

	if (!is_step(step, location, *stack)) {
		uint32_t pushed;

		if (!profile_add_stack(collector->profile, *stack, location, &pushed, err))
			return false;
		*step = (struct collector_step){ location, *stack, pushed };
	}
	*stack = step->stack;
	return true;
}

static bool push_frame(struct collector *collector, uint32_t mapping, uint64_t address, uint32_t *stack, struct error *err)
{
	uint32_t location;

	return profile_add_location(collector->profile, mapping, address, &location, err) &&
	       profile_add_stack(collector->profile, *stack, location, stack, err);
}

/* `address` as the kernel image has it. */
static bool push_kernel_frame(struct collector *collector, uint32_t mapping, uint64_t address, uint32_t *stack, struct error *err)
{
	uint64_t frame = address | (uint64_t)1 << 63;
	struct collector_step *step = find_step(collector, frame, *stack);

	if (!is_step(step, frame, *stack)) {
		uint32_t pushed = *stack;

		if (!push_frame(collector, mapping, address, &pushed, err))
			return false;
		*step = (struct collector_step){ frame, *stack, pushed };
	}
	*stack = step->stack;
	return true;
}

static uint64_t chain_address(const struct stitch_chain *chain, size_t index)
{
	return record_word(chain->words, chain->first + index);
}

/* A part of the kernel's call chain: addresses between two context marks. The kernel writes each mark once; a file may not. */
static struct stitch_chain find_chain(const struct record_sample *sample, uint64_t context)
{
	const struct record_words *words = &sample->callchain;
	struct stitch_chain found = { words, 0, 0 };
	size_t at = 0, count = words->count;

	while (at < count && record_word(words, at) != context)
		at++;
	found.first = at + 1;
	for (at = found.first; at < count && record_word(words, at) < PERF_CONTEXT_MAX; at++)
		found.count++;
	return found;
}

/* perf's register numbers in rising order (asm/perf_regs.h: AX BX CX DX SI DI BP SP IP, R8 to R15) to DWARF's. */
static struct unwind_registers registers_of(const struct record_sample *sample)
{
	static const uint8_t dwarf[RECORD_REGISTERS] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct unwind_registers registers = { 0 };

	for (size_t i = 0; i < RECORD_REGISTERS && i < sample->user_registers.count; i++)
		registers.values[dwarf[i]] = record_word(&sample->user_registers, i);
	return registers;
}

/* All but the leaf of a chain, which are return addresses: the call lies before them. Many samples have the same. */
static bool push_kernel_callers(
	struct collector *collector, uint32_t mapping, const struct stitch_chain *chain, uint32_t *stack, struct error *err)
{
	const uint8_t *callers = chain->words->bytes + (chain->first + 1) * sizeof(uint64_t);
	uint64_t hash = hash_bytes_seeded(callers, (chain->count - 1) * sizeof(uint64_t), collector->hash_seed);
	struct collector_step *step = find_step(collector, hash, *stack);
	uint64_t bias = collector->processes.kernel_bias;
	uint32_t pushed = *stack;

	if (!is_step(step, hash, *stack)) {
		for (size_t i = chain->count; i-- > 1;)
			if (!push_kernel_frame(collector, mapping, chain_address(chain, i) - 1 + bias, &pushed, err))
				return false;
		*step = (struct collector_step){ hash, *stack, pushed };
	}
	*stack = step->stack;
	return true;
}

static bool push_kernel(struct collector *collector, const struct record_sample *sample, uint32_t *stack, struct error *err)
{
	struct stitch_chain chain = find_chain(sample, PERF_CONTEXT_KERNEL);
	uint32_t mapping;

	if (chain.count == 0)
		return true;
	if (!process_table_kernel(&collector->processes, &mapping, err) ||
		(chain.count > 1 && !push_kernel_callers(collector, mapping, &chain, stack, err)))
		return false;
	return push_kernel_frame(collector, mapping, chain_address(&chain, 0) + collector->processes.kernel_bias, stack, err);
}

static struct collector_recent *recent_of(struct collector *collector, int32_t tid)
{
	return &collector->recent[(uint32_t)tid % COLLECTOR_RECENT];
}

/* Stacks of one thread mostly share their outer frames with the one before: those are not looked up again. */
static bool push_unwound(
	struct collector *collector, const struct unwind_result *result, int32_t tid, uint32_t *stack, struct error *err)
{
	struct collector_recent *recent = recent_of(collector, tid);
	size_t same = 0;

	while (same < result->count && same < recent->count &&
		recent->frames[same].location == result->frames[result->count - 1 - same].location)
		same++;
	if (same > 0)
		*stack = recent->frames[same - 1].stack;
	recent->count = same;
	for (size_t i = same; i < result->count; i++) {
		uint32_t location = result->frames[result->count - 1 - i].location;

		if (!push_location(collector, location, stack, err))
			return false;
		recent->frames[i].location = location;
		recent->frames[i].stack = *stack;
		recent->count = i + 1;
	}
	return true;
}

/* The kernel's own walk along frame pointers says nothing about where it ended: the first frame's rule does. */
static enum profile_stop stop_of_chain(const struct unwind_code *outermost, bool found)
{
	struct cfi_rule rule;

	if (!found)
		return PROFILE_STOP_NO_MAPPING;
	if (outermost->table && cfi_table_find(outermost->table, outermost->image_address, &rule))
		return rule.registers[CFI_RIP].place == CFI_UNDEFINED ? PROFILE_STOP_ROOT : PROFILE_STOP_NO_RULE;
	return outermost->entry && outermost->image_address - outermost->entry < 64 ? PROFILE_STOP_ROOT : PROFILE_STOP_NO_RULE;
}

static bool push_user_chain(struct collector *collector, struct process_space *space, const struct record_sample *sample,
	enum profile_stop *stop, uint32_t *stack, struct error *err)
{
	struct stitch_chain chain = find_chain(sample, PERF_CONTEXT_USER);
	struct unwind_code code = { 0 };

	*stop = chain.count ? PROFILE_STOP_ROOT : PROFILE_STOP_KERNEL_ONLY;
	for (size_t i = chain.count; i-- > 0;) {
		bool found = process_space_find(space, chain_address(&chain, i) - (i > 0), &code);

		if (i + 1 == chain.count)
			*stop = stop_of_chain(&code, found);
		if (found && !push_location(collector, code.location, stack, err))
			return false;
	}
	return true;
}

static bool is_cut(enum profile_stop stop)
{
	return stop == PROFILE_STOP_DUMP_END || stop == PROFILE_STOP_STACK_SWITCH || stop == PROFILE_STOP_NO_RULE;
}

/*
 * A frame larger than any dump (half a megabyte of arrays, as rustc has one) hides all that called it. Its function is still
 * running when the sample is looked at, a moment later, unless it returned in between; so its callers are read from the process
 * itself, and the walk goes on there. Only for such frames: what is read later of the ones above the dump's end is often another
 * stack by then.
 */
static bool stitch_from_process(struct collector *collector, const struct process_space *space, struct unwind_job *job)
{
	enum { SAVED_BYTES = 128 };
	const struct unwind_result *result = &job->result;
	uint64_t caller = result->caller_stack_pointer, start = caller - SAVED_BYTES;
	struct iovec here = { collector->far_stack, sizeof(collector->far_stack) },
		     there = { (void *)(uintptr_t)start, sizeof(collector->far_stack) };
	ssize_t size;

	if (space->table->files || result->stop != PROFILE_STOP_DUMP_END || caller == 0 ||
		caller - result->frames[result->count - 1].stack_pointer <= SAMPLER_MAX_STACK_BYTES)
		return false;
	size = process_vm_readv(space->process->pid, &here, 1, &there, 1, 0);
	if (size <= 0)
		return false;
	job->dump.far = (struct unwind_piece){ collector->far_stack, (uint64_t)size, start };
	unwind_stacks(collector->unwinder, job, 1);
	return result->stop == PROFILE_STOP_ROOT;
}

/* What the dump did not hold, from where it can be known. */
static void make_whole(
	struct collector *collector, struct process_space *space, const struct record *record, struct unwind_job *job)
{
	struct unwind_result *result = &job->result;
	struct stitch_chain chain;

	if (is_cut(result->stop)) {
		chain = find_chain(&record->sample, PERF_CONTEXT_USER);
		if (!stitch_from_memory(collector->stitches, record->tid, result) && !stitch_from_chain(space, &chain, result) &&
			!stitch_from_process(collector, space, job))
			return;
		result->stop = PROFILE_STOP_STITCHED;
	}
	if (result->stop == PROFILE_STOP_ROOT || result->stop == PROFILE_STOP_STITCHED)
		stitch_remember(collector->stitches, record->tid, result, record->sample.stack_room);
}

static enum profile_stop stop_without_registers(struct collector *collector, const struct record_sample *sample)
{
	collector->met_32bit |= sample->registers_abi == PERF_SAMPLE_REGS_ABI_32;
	return sample->registers_abi == PERF_SAMPLE_REGS_ABI_NONE && sample->callchain.count ? PROFILE_STOP_KERNEL_ONLY
											     : PROFILE_STOP_NO_REGISTERS;
}

/* False when the sample has no stack to walk, with the reason. */
static bool prepare_job(struct collector *collector, const struct collector_held *held, struct process_space *space,
	struct unwind_job *job, enum profile_stop *stop)
{
	const struct record_sample *sample = &held->record.sample;
	const struct process *process = &collector->processes.processes[held->process];

	*space = (struct process_space){ .table = &collector->processes, .process = process };
	if (!collector->has_stack)
		return false;
	if (sample->user_registers.count == 0 || sample->registers_abi != PERF_SAMPLE_REGS_ABI_64) {
		*stop = stop_without_registers(collector, sample);
		return false;
	}
	job->space = (struct unwind_space){ process_space_find, space, process->generation };
	job->registers = registers_of(sample);
	job->dump = (struct unwind_stack_dump){ sample->stack, sample->stack_bytes, job->registers.values[CFI_RSP] };
	return true;
}

static bool push_user(struct collector *collector, struct process_space *space, const struct record *record, struct unwind_job *job,
	uint32_t *stack, struct error *err)
{
	struct profile_quality *quality = &collector->profile->quality;
	const struct record_sample *sample = &record->sample;
	const struct unwind_result *result = &job->result;

	make_whole(collector, space, record, job);
	if (space->failed)
		return error_set_memory(err);
	/* A dump may also end early, at a page of the stack that was never touched: a larger one would not help then. */
	collector->full_dumps_cut += result->stop == PROFILE_STOP_DUMP_END && sample->stack_bytes == sample->stack_room;
	quality->frame_pointer_frames += result->frame_pointer_frames;
	quality->frames += result->count;
	return push_unwound(collector, result, record->tid, stack, err);
}

static bool look_up_who(struct collector *collector, const struct record *record, struct collector_who *who, struct error *err)
{
	struct process_table *table = &collector->processes;
	struct profile_thread thread = { collector->run, record->pid, record->tid, 0, 0 };
	struct process *process;
	uint32_t id;

	if (!process_table_get(table, record->pid, &process, err))
		return false;
	thread.process_name = process->name;
	if (!process_table_thread_name(table, record->pid, record->tid, &thread.name, err) ||
		!profile_add_thread(collector->profile, &thread, &id, err))
		return false;
	*who = (struct collector_who){ record->pid, record->tid, table->version, (uint32_t)(process - table->processes), id };
	return true;
}

static bool find_who(
	struct collector *collector, const struct record *record, const struct collector_who **found, struct error *err)
{
	struct collector_who *who = &collector->who[(uint32_t)record->tid % COLLECTOR_WHO];

	*found = who;
	if (who->tid == record->tid && who->pid == record->pid && who->version == collector->processes.version)
		return true;
	return look_up_who(collector, record, who, err);
}

static bool add_to_profile(
	struct collector *collector, const struct record *record, uint32_t thread, uint32_t stack, struct error *err)
{
	struct profile *profile = collector->profile;
	int64_t values[PROFILE_MAX_VALUE_TYPES] = { 1 };
	bool is_cpu = profile->period > 0;
	int64_t time_ns = record->time_ns > collector->start_ns ? (int64_t)(record->time_ns - collector->start_ns) : 0;

	values[1] = is_cpu && !collector->is_time ? collector->nominal_ns : (int64_t)record->sample.period;
	return profile_add_sample(profile, stack, thread, values, time_ns, err);
}

/* A walked sample becomes one of the profile; `job` is NULL when it had no stack to walk. */
static bool take_sample(struct collector *collector, const struct collector_held *held, struct process_space *space,
	struct unwind_job *job, enum profile_stop stop, struct error *err)
{
	const struct record *record = &held->record;
	uint32_t stack = 0;

	if (job && !push_user(collector, space, record, job, &stack, err))
		return false;
	if (!collector->has_stack && !push_user_chain(collector, space, &record->sample, &stop, &stack, err))
		return false;
	if (!push_kernel(collector, &record->sample, &stack, err))
		return false;
	/* A stack without any frame still stands for time: by its address alone. */
	if (stack == 0 && !push_frame(collector, PROFILE_NONE, record->sample.ip, &stack, err))
		return false;
	collector->profile->quality.samples++;
	collector->profile->quality.stops[job ? job->result.stop : stop]++;
	return add_to_profile(collector, record, held->thread, stack, err);
}

bool collector_flush(struct collector *collector, struct error *err)
{
	struct process_space spaces[UNWIND_TOGETHER];
	struct unwind_job jobs[UNWIND_TOGETHER];
	struct unwind_job *job_of[UNWIND_TOGETHER] = { 0 };
	enum profile_stop stops[UNWIND_TOGETHER] = { 0 };
	size_t count = collector->held_count, job_count = 0;

	collector->held_count = 0;
	for (size_t i = 0; i < count; i++) {
		struct unwind_job *job = &jobs[job_count];

		if (!prepare_job(collector, &collector->held[i], &spaces[i], job, &stops[i]))
			continue;
		job_of[i] = job;
		job_count++;
	}
	unwind_stacks(collector->unwinder, jobs, job_count);
	/* A walk that is done again takes the first one's place for its frames: in this order that one is done with. */
	for (size_t i = 0; i < count; i++)
		if (!take_sample(collector, &collector->held[i], &spaces[i], job_of[i], stops[i], err))
			return false;
	return true;
}

static bool hold_sample(struct collector *collector, const struct record *record, struct error *err)
{
	const struct collector_who *who;

	if (!find_who(collector, record, &who, err))
		return false;
	__builtin_prefetch(recent_of(collector, record->tid));
	collector->held[collector->held_count++] = (struct collector_held){ *record, who->process, who->thread };
	return collector->held_count < UNWIND_TOGETHER || collector_flush(collector, err);
}

bool collector_take(struct collector *collector, const struct record *record, bool from_sideband, struct error *err)
{
	struct profile_quality *quality = &collector->profile->quality;

	switch (record->kind) {
	case RECORD_SAMPLE:
		return hold_sample(collector, record, err);
	case RECORD_LOST:
		*(from_sideband ? &quality->lost_sideband : &quality->lost) += record->lost;
		return true;
	case RECORD_THROTTLE:
		quality->throttled++;
		return true;
	case RECORD_MMAP:
	case RECORD_COMM:
	case RECORD_FORK:
	case RECORD_EXIT:
	case RECORD_OTHER:
		break;
	}
	/* What was sampled before belongs to what was mapped before. */
	return collector_flush(collector, err) && process_table_update(&collector->processes, record, err);
}
