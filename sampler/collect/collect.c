/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/collector.h"

#include "sampler/collect/frame_pointer.h"

#include <linux/perf_event.h>
#include <string.h>

/* Turns records into samples: their stacks are walked together, completed, and added to the profile. */

/* Puts registers into DWARF's order; the record has them in perf's. */
static void collect_take_registers(
	const struct machine *machine, const struct record_sample *sample, struct unwind_registers *registers)
{
	for (size_t i = 0; i < machine->perf_register_count && i < sample->user_registers.count; i++)
		registers->values[machine->perf_order[i]] = record_word(&sample->user_registers, i);
}

/* The kernel's walk along frame pointers does not report where it ended, so the rule of the outermost frame decides. */
static enum profile_stop stop_of_callchain(const struct unwind_code *outermost, bool found)
{
	struct frame_rule rule;

	if (!found)
		return PROFILE_STOP_NO_MAPPING;
	if (outermost->table && frame_table_find_rule(outermost->table, outermost->image_address, &rule)) {
		const struct machine *machine = frame_table_machine(outermost->table);

		return rule.registers[machine->return_column].kind == FRAME_UNDEFINED ? PROFILE_STOP_ROOT
										      : PROFILE_STOP_CHAIN_END;
	}
	return outermost->entry && outermost->image_address - outermost->entry < 64 ? PROFILE_STOP_ROOT
										    : PROFILE_STOP_CHAIN_END;
}

/*
 * Returns whether a function has no frame where it was sampled, as most without calls and all of programs without frame
 * pointers: the register then is that of a caller further out, and the chain goes on behind it.
 */
static bool is_frameless(const struct unwind_code *innermost)
{
	struct frame_rule rule;

	return innermost->table && frame_table_find_rule(innermost->table, innermost->image_address, &rule) &&
	       rule.cfa.kind == FRAME_REGISTER &&
	       rule.cfa_register != frame_table_machine(innermost->table)->frame_pointer;
}

static bool add_user_callchain(struct collector *collector, struct process_space *space,
	const struct record_sample *sample, enum profile_stop *stop, struct stack_path *path, struct error *err)
{
	struct callchain callchain = callchain_of(sample, PERF_CONTEXT_USER);
	struct unwind_code code = { 0 };
	uint64_t cookie;

	if (callchain.count > 0)
		*stop = PROFILE_STOP_ROOT;
	else
		*stop = record_is_deferred(&sample->callchain, &cookie) ? PROFILE_STOP_CHAIN_END
									: PROFILE_STOP_KERNEL_ONLY;
	for (size_t i = callchain.count; i-- > 0;) {
		uint64_t address = callchain_address(&callchain, i) - (i > 0);
		bool found = process_space_find(space, address, &code);
		struct process_location location;

		if (i + 1 == callchain.count)
			*stop = stop_of_callchain(&code, found);
		if (i == 0 && found && (*stop == PROFILE_STOP_CHAIN_END || *stop == PROFILE_STOP_ROOT) &&
			is_frameless(&code))
			*stop = PROFILE_STOP_FRAMELESS;
		if (!found)
			continue;
		location = process_table_locate(&collector->processes, code.image, address);
		if (!stack_builder_add(collector->builder, &location, path, err))
			return false;
	}
	return true;
}

static bool is_cut(enum profile_stop stop)
{
	return stop == PROFILE_STOP_DUMP_END || stop == PROFILE_STOP_STACK_SWITCH || stop == PROFILE_STOP_NO_RULE;
}

/*
 * Returns whether the sample was taken in execve() after the old stack was unmapped: the stack pointer then points
 * nowhere.
 */
static bool has_lost_its_stack(const struct record_sample *sample)
{
	return sample->is_kernel && sample->stack_bytes == 0;
}

/* Extends a walk that ended at the end of the stack copy, by the other sources of frames. */
static void make_whole(
	struct collector *collector, struct process_space *space, const struct record *record, struct unwind_job *job)
{
	struct unwind_result *result = &job->result;
	struct callchain callchain;

	if (has_lost_its_stack(&record->sample)) {
		result->stop = PROFILE_STOP_KERNEL_ONLY;
		return;
	}
	if (is_cut(result->stop)) {
		collector->has_cuts = true;
		live_stack_touch(space, &record->sample, job);
		callchain = callchain_of(&record->sample, PERF_CONTEXT_USER);
		if (!stitch_from_memory(collector->stitches, record->tid, result) &&
			!stitch_from_chain(space, &callchain, result) &&
			!live_stack_walk(&collector->live_stack, space, &record->sample, collector->unwinder, job))
			return;
		result->stop = PROFILE_STOP_STITCHED;
	}
	/* While no stack of the program was cut, no stack needs to be remembered for stitching. */
	if (collector->has_cuts && (result->stop == PROFILE_STOP_ROOT || result->stop == PROFILE_STOP_STITCHED))
		stitch_remember(collector->stitches, record->tid, result, record->sample.stack_room);
}

static enum profile_stop stop_without_registers(struct collector *collector, const struct record_sample *sample)
{
	collector->met_32bit |= sample->registers_abi == PERF_SAMPLE_REGS_ABI_32;
	return sample->registers_abi == PERF_SAMPLE_REGS_ABI_NONE && sample->callchain.count
		       ? PROFILE_STOP_KERNEL_ONLY
		       : PROFILE_STOP_NO_REGISTERS;
}

static void take_other_stack(const struct ebpf_frames *frames, struct unwind_piece *other)
{
	if (frames->count > 1)
		*other = (struct unwind_piece){ (const uint8_t *)&frames->words[1],
			(frames->count - 1) * sizeof(*frames->words), frames->words[0] };
}

/* Pairs of words: the instruction that runs elsewhere, then return addresses. */
static void take_returns(const struct ebpf_frames *returns, struct unwind_probes *probes)
{
	if (returns->count >= 2)
		*probes = (struct unwind_probes){ (const struct unwind_return *)&returns->words[2],
			returns->count / 2 - 1, returns->words[0], returns->words[1] };
}

/* Prepares the walk. False if the sample has no stack to walk; the reason is then set. */
static bool prepare_job(struct collector *collector, const struct collector_held *held, struct process_space *space,
	struct unwind_job *job, enum profile_stop *stop)
{
	const struct record_sample *sample = &held->record.sample;
	const struct process *process = &collector->processes.processes[held->process];
	const struct machine *machine = collector->processes.machine;

	*space = (struct process_space){ .table = &collector->processes, .process = process };
	if (!collector->has_stack || !machine)
		return false;
	if (sample->user_registers.count == 0 || sample->registers_abi != PERF_SAMPLE_REGS_ABI_64) {
		*stop = stop_without_registers(collector, sample);
		return false;
	}
	job->space = (struct unwind_space){ process_space_find, process_space_read, space, process->generation,
		process_space_is_code, machine, interpreters_maker(collector->interpreters, process->pid) };
	collect_take_registers(machine, sample, &job->registers);
	job->dump = (struct unwind_stack_dump){ sample->stack, sample->stack_bytes,
		job->registers.values[machine->stack_pointer] };
	if (sample->interpreter_frames && sample->interpreter_frames->kind == EBPF_GO)
		take_other_stack(sample->interpreter_frames, &job->dump.other);
	take_returns(&held->returns, &job->dump.probes);
	return true;
}

static bool look_up_who(
	struct collector *collector, const struct record *record, struct collector_who *who, struct error *err)
{
	struct process_table *table = &collector->processes;
	struct profile_thread thread = { collector->run, record->pid, record->tid, 0, 0 };
	struct process *process;
	uint32_t id;

	if (!process_table_get(table, record->pid, &process, err))
		return false;
	if (!profile_intern(collector->profile, process->name, &thread.process_name, err) ||
		!process_table_thread_name(table, record->pid, record->tid, &thread.name, err) ||
		!profile_add_thread(collector->profile, &thread, &id, err))
		return false;
	*who = (struct collector_who){ record->pid, record->tid, table->version, (uint32_t)(process - table->processes),
		id };
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

/* Returns the time at which it was taken, since the recording began. */
static int64_t collect_time_of(const struct collector *collector, const struct record *record)
{
	return record->time_ns > collector->start_ns ? (int64_t)(record->time_ns - collector->start_ns) : 0;
}

static bool collect_count_sample(struct collector *collector, size_t held, uint32_t sample, struct error *err)
{
	const struct record *record = &collector->held[held].record;
	struct profile *profile = collector->profile;
	int64_t values[PROFILE_MAX_VALUE_TYPES] = { 1 };
	bool is_cpu = profile->period > 0;

	values[1] = is_cpu && !collector->is_time ? collector->nominal_ns : (int64_t)record->sample.period;
	if (collector->wall != PROFILE_NONE)
		values[collector->wall] = values[1];
	if (collector->counters)
		counters_fill(collector->counters, (uint32_t)held, record->sample.is_kernel, values);
	return profile_count_sample(profile, sample, values, collect_time_of(collector, record), err);
}

/* Returns how many bytes of the stack a walk has used; UINT64_MAX if the walk was cut, since it may need more. */
static uint64_t used_bytes(const struct unwind_job *job)
{
	enum { SIGNAL_FRAME_BYTES = 512 }; /* no step reads further above the frame's stack pointer */
	const struct unwind_result *result = &job->result;
	uint64_t used;

	if ((result->stop != PROFILE_STOP_ROOT && result->stop != PROFILE_STOP_OPEN) || result->count == 0)
		return UINT64_MAX;
	used = result->frames[result->count - 1].stack_pointer - job->dump.address;
	return used < RECORDING_MAX_STACK_BYTES ? used + SIGNAL_FRAME_BYTES : UINT64_MAX;
}

static bool complete_copy(struct collector *collector, size_t held, struct process_space *space, struct unwind_job *job,
	struct error *err)
{
	const struct collector_rest *rest = &collector->rest;
	struct record *record = &collector->held[held].record;
	enum profile_stop ignored;

	if (!rest->read)
		return true;
	if (record->sample.is_short && used_bytes(job) > job->dump.size) {
		if (!rest->read(rest->context, held, record, err))
			return false;
		if (prepare_job(collector, &collector->held[held], space, job, &ignored))
			unwind_stacks(collector->unwinder, job, 1);
	}
	rest->note_used(rest->context, used_bytes(job));
	return true;
}

/* A held sample while it is added to the profile. */
struct walked {
	struct process_space space;
	struct unwind_job *job; /* NULL: the sample has no stack to walk */
	enum profile_stop stop; /* the reason, if there is no job */
	struct stack_path path;
	bool is_wait;
	struct ebpf_wait wait;
};

/* Prepares a sample. True if it uses the job. */
static bool collect_prepare(struct collector *collector, size_t held, struct unwind_job *job, struct walked *walked)
{
	*walked = (struct walked){ .path = stack_builder_root(collector->builder) };
	walked->is_wait = collector->waits && wait_counter_read(&collector->held[held].record.sample, &walked->wait);
	*job = (struct unwind_job){ 0 };
	if (!prepare_job(collector, &collector->held[held], &walked->space, job, &walked->stop))
		return false;
	walked->job = job;
	return true;
}

/* Gives a sample the mappings and the names that its process has now. */
static bool heal_process(struct collector *collector, struct collector_held *held, struct error *err)
{
	struct process_table *table = &collector->processes;
	const struct collector_who *who;

	if (!process_table_heal(table, &table->processes[held->process], held->record.tid, err) ||
		!find_who(collector, &held->record, &who, err))
		return false;
	held->thread = who->thread;
	return true;
}

/*
 * Where records of mappings were lost, or code was moved without one, a walk may end at code that the process has
 * mapped all the same. Walks that were made together with the first such one find its maps read again.
 */
static bool heal_walk(struct collector *collector, size_t held, struct walked *walked, struct error *err)
{
	struct process_table *table = &collector->processes;
	struct collector_held *at = &collector->held[held];
	struct unwind_job *job = walked->job;
	enum profile_stop ignored;

	if (job->result.stop != PROFILE_STOP_NO_MAPPING)
		return true;
	if (process_table_miss(table, &table->processes[at->process], at->record.time_ns) &&
		!heal_process(collector, at, err))
		return false;
	if (job->space.generation != walked->space.process->generation &&
		prepare_job(collector, at, &walked->space, job, &ignored))
		unwind_stacks(collector->unwinder, job, 1);
	return true;
}

/* Does the same for the kernel's walk. */
static bool heal_callchain(
	struct collector *collector, struct collector_held *held, struct process_space *space, struct error *err)
{
	struct callchain callchain = callchain_of(&held->record.sample, PERF_CONTEXT_USER);
	struct process_table *table = &collector->processes;
	struct unwind_code code;

	/* Where nothing was lost, the function that runs may have been moved. */
	if (table->losses == space->process->losses && callchain.count > 1)
		callchain.count = 1;
	for (size_t i = 0; i < callchain.count; i++)
		if (!process_space_find(space, callchain_address(&callchain, i) - (i > 0), &code))
			return !process_table_miss(table, &table->processes[held->process], held->record.time_ns) ||
			       heal_process(collector, held, err);
	return true;
}

static bool name_frames(
	struct collector *collector, const struct record *record, struct walked *walked, struct error *err)
{
	const struct machine *machine = walked->job->space.machine;
	const struct interpret_sample sample = { record->pid, record->time_ns, record->sample.interpreter_frames,
		walked->job, walked->is_wait && machine && wait_is_for_events(machine, &walked->wait) };

	return interpreters_name(collector->interpreters, &sample, err);
}

/* Completes a walk: a stack that was cut is extended as far as possible. */
static bool finish_walk(struct collector *collector, size_t held, struct walked *walked, struct error *err)
{
	struct profile_quality *quality = &collector->profile->quality;
	const struct record *record = &collector->held[held].record;
	const struct record_sample *sample = &record->sample;
	const struct unwind_result *result = &walked->job->result;

	if (!heal_walk(collector, held, walked, err) ||
		!complete_copy(collector, held, &walked->space, walked->job, err))
		return false;
	if (sample->lacks_frame_pointer && frame_pointer_find(&walked->space, walked->job))
		unwind_stacks(collector->unwinder, walked->job, 1);
	make_whole(collector, &walked->space, record, walked->job);
	/*
	 * A stack copy may also end early, at a page of the stack that was never touched; a larger copy would not help
	 * then.
	 */
	if (result->stop == PROFILE_STOP_DUMP_END && sample->stack_bytes == sample->stack_room) {
		collector->cuts.by_room++;
		stack_depths_count(&collector->depths, record->tid, walked->job->dump.address, sample->stack_room);
	} else if (result->stop == PROFILE_STOP_ROOT) {
		stack_depths_note_whole(&collector->depths, record->tid, result, sample->stack_room);
	}
	collector->cuts.by_rules += is_cut(result->stop) && result->stop != PROFILE_STOP_DUMP_END;
	quality->frame_pointer_frames += result->frame_pointer_frames;
	quality->frames += result->count;
	if (collector->verifier)
		verifier_offer(collector->verifier, &collector->processes, walked->space.process, walked->job);
	if (collector->interpreters && !name_frames(collector, record, walked, err))
		return false;
	stack_builder_expect(collector->builder, held, result);
	return true;
}

/*
 * Returns whether a thread was ready to run and lost its CPU: the kernel's part of its stack is how that was done: in
 * an interrupt, or as a system call returned (exit_to_user_mode_loop), where kernels that preempt lazily do it. The
 * wait is the program's own code's.
 */
static bool is_preempted(const struct walked *walked)
{
	return walked->is_wait && walked->wait.kind != EBPF_WAIT_RELEASE && walked->wait.state == 0 &&
	       walked->path.stack != 0;
}

static bool add_kernel(
	struct collector *collector, const struct record_sample *sample, struct walked *walked, struct error *err)
{
	struct callchain callchain = callchain_of(sample, PERF_CONTEXT_KERNEL);
	uint32_t mapping;

	if (is_preempted(walked))
		return true;
	if (walked->is_wait && walked->wait.hook != 0)
		callchain_leave_hook(&callchain, walked->wait.hook);
	return callchain.count == 0 ||
	       (process_table_kernel(&collector->processes, &mapping, err) &&
		       stack_builder_add_kernel(collector->builder, mapping, collector->processes.kernel_bias,
			       &callchain, &walked->path, err));
}

static bool build_stack(struct collector *collector, size_t held, struct walked *walked, struct error *err)
{
	const struct record_sample *sample = &collector->held[held].record.sample;
	struct profile_quality *quality = &collector->profile->quality;
	struct stack_path *path = &walked->path;
	const struct process_location nowhere = { PROFILE_NONE, sample->ip };

	if (walked->job && (!stack_builder_add_expected(collector->builder, held, &walked->job->result, path, err) ||
				   !open_ends_count(&collector->open_ends, &walked->space, &walked->job->result, err)))
		return false;
	if (!collector->has_stack &&
		(!heal_callchain(collector, &collector->held[held], &walked->space, err) ||
			!add_user_callchain(collector, &walked->space, sample, &walked->stop, path, err)))
		return false;
	if (!add_kernel(collector, sample, walked, err))
		return false;
	/* A sample without any frame still counts: its stack is its instruction address alone. */
	if (path->stack == 0 && !walked->is_wait && !stack_builder_add(collector->builder, &nowhere, path, err))
		return false;
	if (walked->is_wait && walked->wait.kind == EBPF_WAIT_RELEASE)
		return true;
	quality->samples++;
	quality->stops[walked->job ? walked->job->result.stop : walked->stop]++;
	return true;
}

static bool collect_add_wait(
	struct collector *collector, const struct collector_held *held, const struct walked *walked, struct error *err)
{
	const struct wait_counter_sample sample = { .wait = walked->wait,
		.stack = walked->path.stack,
		.thread = held->thread,
		.pid = held->record.pid,
		.space = &walked->space,
		.end_ns = collect_time_of(collector, &held->record) };

	return wait_counter_add(collector->waits, &sample, err);
}

/*
 * Adds walked samples. Lookups of one sample wait for memory; the data for the other samples is prefetched meanwhile.
 */
static bool add_to_profile(struct collector *collector, struct walked *walked, size_t count, struct error *err)
{
	struct profile *profile = collector->profile;
	uint32_t samples[UNWIND_TOGETHER];

	for (size_t i = 0; i < count; i++) {
		if (!build_stack(collector, i, &walked[i], err))
			return false;
		if (!walked[i].is_wait)
			profile_expect_sample(profile, walked[i].path.stack, collector->held[i].thread);
	}
	for (size_t i = 0; i < count; i++)
		if (!walked[i].is_wait && !profile_find_sample(profile, walked[i].path.stack, collector->held[i].thread,
						  &samples[i], err))
			return false;
	for (size_t i = 0; i < count; i++)
		if (!(walked[i].is_wait ? collect_add_wait(collector, &collector->held[i], &walked[i], err)
					: collect_count_sample(collector, i, samples[i], err)))
			return false;
	return true;
}

bool collector_flush(struct collector *collector, struct error *err)
{
	struct walked walked[UNWIND_TOGETHER];
	struct unwind_job jobs[UNWIND_TOGETHER];
	size_t count = collector->held_count, job_count = 0;

	collector->held_count = 0;
	for (size_t i = 0; i < count; i++)
		job_count += collect_prepare(collector, i, &jobs[job_count], &walked[i]);
	unwind_stacks(collector->unwinder, jobs, job_count);
	for (size_t i = 0; i < count; i++)
		if (walked[i].job && !finish_walk(collector, i, &walked[i], err))
			return false;
	return add_to_profile(collector, walked, count, err);
}

/* Finds the frames that the program in the kernel has read with a sample, if they have not come with the record. */
static void find_interpreter_frames(struct collector *collector, struct collector_held *held)
{
	struct record *record = &held->record;

	if (collector->frame_reader && !record->sample.interpreter_frames &&
		ebpf_frame_reader_find(
			collector->frame_reader, record->cpu, (uint32_t)record->tid, record->time_ns, &held->frames))
		record->sample.interpreter_frames = &held->frames;
}

/* Return addresses of a process with probes, which the program in the kernel reads as well. */
static void find_returns(struct collector *collector, struct collector_held *held)
{
	const struct record *record = &held->record;

	if (!collector->frame_reader || !collector->processes.processes[held->process].probes)
		return;
	if (!collector->expects_returns)
		ebpf_frame_reader_expect_returns(collector->frame_reader);
	collector->expects_returns = true;
	(void)ebpf_frame_reader_find_returns(
		collector->frame_reader, record->cpu, (uint32_t)record->tid, record->time_ns, &held->returns);
}

/* A thread that runs a named task of asyncio has the task's name meanwhile. */
static bool name_task(struct collector *collector, struct collector_held *held, struct error *err)
{
	const struct record *record = &held->record;
	struct profile_thread thread = collector->profile->threads[held->thread];

	return !collector->interpreters || !record->sample.interpreter_frames ||
	       !record->sample.interpreter_frames->task ||
	       (interpreters_task(
			collector->interpreters, record->pid, record->sample.interpreter_frames, &thread.name, err) &&
		       profile_add_thread(collector->profile, &thread, &held->thread, err));
}

/*
 * Copies of code objects are learned with the first sample that needs their names; those that take the place of another
 * one, when the samples before have their names.
 */
static bool learn_codes(struct collector *collector, uint64_t time_ns, struct error *err)
{
	struct ebpf_code code;

	while (collector->frame_reader && ebpf_frame_reader_next_code(collector->frame_reader, time_ns, &code))
		if ((interpreters_know(collector->interpreters, &code) && !collector_flush(collector, err)) ||
			!interpreters_learn(collector->interpreters, &code, err))
			return false;
	return true;
}

static bool hold_sample(struct collector *collector, const struct record *record, struct error *err)
{
	const struct collector_who *who;
	struct collector_held *held;

	if (!learn_codes(collector, record->time_ns, err) || !find_who(collector, record, &who, err) ||
		(collector->counters &&
			!counters_take(collector->counters, record, (uint32_t)collector->held_count, err)))
		return false;
	collector->held[collector->held_count] =
		(struct collector_held){ .record = *record, .process = who->process, .thread = who->thread };
	held = &collector->held[collector->held_count++];
	collector->processes.processes[who->process].is_sampled = true;
	find_interpreter_frames(collector, held);
	find_returns(collector, held);
	if (!name_task(collector, held, err))
		return false;
	return collector->held_count < UNWIND_TOGETHER || collector_flush(collector, err);
}

bool collector_add_switch(struct collector *collector, uint64_t time_ns, int32_t tid, bool is_on, struct error *err)
{
	return !collector->switches ||
	       switch_log_add(collector->switches, (int64_t)(time_ns - collector->start_ns), tid, is_on, err);
}

void collector_miss_switches(struct collector *collector, uint64_t count)
{
	if (collector->switches)
		switch_log_miss(collector->switches, count);
}

bool collector_take(struct collector *collector, const struct record *record, bool from_sideband, struct error *err)
{
	struct profile_quality *quality = &collector->profile->quality;

	if (collector->switches && switch_log_has(record) &&
		!switch_log_take(collector->switches, record, collect_time_of(collector, record), err))
		return false;
	switch (record->kind) {
	case RECORD_SAMPLE:
		return hold_sample(collector, record, err);
	case RECORD_LOST:
		*(from_sideband ? &quality->lost_sideband : &quality->lost) += record->lost;
		collector->processes.losses += from_sideband;
		return true;
	case RECORD_THROTTLE:
		quality->throttled++;
		return true;
	case RECORD_MMAP:
	case RECORD_COMM:
	case RECORD_FORK:
	case RECORD_EXIT:
	case RECORD_CALLCHAIN:
	case RECORD_OTHER:
		break;
	}
	/* Samples taken before this record belong to the mappings before it, so they are added first. */
	return collector_flush(collector, err) && process_table_update(&collector->processes, record, err);
}

bool collector_leave_out(struct collector *collector, const struct record *record, struct error *err)
{
	return record->kind != RECORD_SAMPLE || counters_take(collector->counters, record, COUNTERS_LEFT_OUT, err);
}

size_t collector_held_count(const struct collector *collector)
{
	return collector->held_count;
}
