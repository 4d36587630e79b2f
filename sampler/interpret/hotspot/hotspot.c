/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HotSpot as a kind of interpreter: names the frames of compiled and of interpreted methods. */
#include "sampler/interpret/hotspot/caller.h"
#include "sampler/interpret/kind.h"
#include "sampler/unwind/walk.h"

#include <stdlib.h>
#include <string.h>

/*
 * The places in an interpreted method's frame of what it runs, in words from what is exported as last_sp's place
 * (src/hotspot/cpu/x86/frame_x86.hpp: interpreter_frame_method_offset, interpreter_frame_bcp_offset). While it calls
 * nothing, the bytecode's address is in r13 (cpu/x86/templateTable_x86.cpp: rbcp).
 */
enum { METHOD_FROM_LAST_SP = -1, BCP_FROM_LAST_SP = -6, BCP_REGISTER = 13 };

/* ---- Frames ---- */

/* The frames of a stack while they are named, leaf first. */
struct hotspot_naming {
	struct hotspot_process *process;
	const struct interpret_sample *sample;
	struct unwind_frame *frame;
	bool is_in_java; /* native code can only follow behind the frame by which it calls Java */
	bool is_torn;    /* it has followed otherwise, a caller was guessed, or some are not on the stack */
};

static void take_known(const struct hotspot_frame *known, struct unwind_frame *frame)
{
	if (known->image == PROFILE_NONE)
		return;
	frame->pc = known->pc;
	frame->image = known->image;
	frame->is_exact = true;
}

/* Makes the frame of some lines, and keeps it for the next time. */
static bool make_frame(struct hotspot_naming *naming, const struct profile_line *lines, size_t count,
	struct hotspot_frame *known, struct error *err)
{
	struct unwind_frame made = *naming->frame;

	known->image = PROFILE_NONE;
	if (count == 0)
		return true;
	if (!interpreter_names_frame(naming->process->target.names, lines, count, &made, err))
		return false;
	known->pc = made.pc;
	known->image = made.image;
	take_known(known, naming->frame);
	return true;
}

/* ---- Compiled methods, and HotSpot's own code ---- */

static void note_code(struct hotspot_naming *naming, enum hotspot_blob kind)
{
	if (kind == HOTSPOT_BLOB_METHOD)
		naming->is_in_java = true;
	if (kind == HOTSPOT_BLOB_UPCALL)
		naming->is_in_java = false;
}

/*
 * Gives the lines of scopes; none if a method of them cannot be read, since its callee would seem to be its caller's.
 */
static bool lines_of_scopes(struct hotspot_process *process, const struct hotspot_scopes *scopes,
	struct profile_line *lines, size_t *count, struct error *err)
{
	*count = 0;
	for (size_t i = 0; i < scopes->count; i++) {
		const struct hotspot_scope *scope = &scopes->items[i];
		struct hotspot_method *method;

		if (!hotspot_methods_find(&process->methods, scope->method, &method, err))
			return false;
		if (method->function == PROFILE_NONE) {
			*count = 0;
			return true;
		}
		lines[(*count)++] = (struct profile_line){ method->function,
			hotspot_method_line(method, &process->target, scope->bci) };
	}
	return true;
}

/*
 * Gives the lines of code. Those of a block that is no method, or of a method of which no scopes are known, are one
 * without a number.
 */
static bool lines_of_code(
	struct hotspot_naming *naming, uint32_t id, struct profile_line *lines, size_t *count, struct error *err)
{
	struct hotspot_process *process = naming->process;
	const struct hotspot_code *code = &process->codes.items[id];
	uint32_t function = code->function;
	struct hotspot_method *method;
	struct hotspot_scopes scopes;

	*count = 0;
	if (code->method != 0) {
		if (!hotspot_code_scopes(&process->codes, id, naming->frame->pc, &scopes, err) ||
			!lines_of_scopes(process, &scopes, lines, count, err))
			return false;
		if (*count > 0)
			return true;
		if (!hotspot_methods_find(&process->methods, code->method, &method, err))
			return false;
		function = method->function;
	}
	lines[0] = (struct profile_line){ function, 0 };
	*count = function != PROFILE_NONE;
	return true;
}

/* Gives the line that stands for frames that are not on the stack. */
static bool line_of_frozen(
	struct hotspot_process *process, struct profile_line *lines, size_t *count, struct error *err)
{
	*count = 1;
	lines[0].line = 0;
	return interpreter_names_function(process->target.names,
		&(const struct interpreter_function){ "[frames of the virtual thread in the heap]", "", 0 },
		&lines[0].function, err);
}

static bool name_code(struct hotspot_naming *naming, struct error *err)
{
	struct hotspot_process *process = naming->process;
	struct profile_line lines[HOTSPOT_MOST_SCOPES];
	const uint32_t late = process->costs.late;
	struct hotspot_frame *known;
	size_t count = 0;

	if (!hotspot_process_find_place(process, naming->frame->pc, naming->frame->is_exact, &known, err))
		return false;
	/* The caller of code that could not be read was guessed. */
	naming->is_torn |= known->owner == PROFILE_NONE;
	if (known->owner == PROFILE_NONE)
		return true;
	naming->is_torn |= known->step.leaves_out_frozen;
	note_code(naming, process->codes.items[known->owner].kind);
	if (known->is_named) {
		take_known(known, naming->frame);
		return true;
	}
	if (!(known->step.leaves_out_frozen ? line_of_frozen(process, lines, &count, err)
					    : lines_of_code(naming, known->owner, lines, &count, err)) ||
		!make_frame(naming, lines, count, known, err))
		return false;
	known->is_named = process->costs.late == late;
	return true;
}

/* ---- Interpreted methods ---- */

/*
 * Finds the frame pointer of an interpreted method's frame, which is two words below the stack pointer of its caller.
 * The first frame has it only behind the method's entry.
 */
static bool find_frame_pointer(const struct hotspot_naming *naming, uint64_t *frame_pointer)
{
	const struct unwind_job *job = naming->sample->job;
	const struct machine *machine = job->space.machine;
	size_t at = (size_t)(naming->frame - job->result.frames);

	if (!machine || machine->elf_machine != EM_X86_64 || at + 1 >= job->result.count)
		return false;
	*frame_pointer = naming->frame[1].stack_pointer - 2 * sizeof(uint64_t);
	return at > 0 || *frame_pointer == job->registers.values[machine->frame_pointer];
}

/* The bytecode at which a method is; -1: not known, as in native methods. */
static int64_t find_bci(const struct hotspot_naming *naming, const struct hotspot_method *method, uint64_t slot)
{
	const struct unwind_job *job = naming->sample->job;
	uint64_t bcp[2] = { job->registers.values[BCP_REGISTER], 0 };
	size_t first = naming->frame == job->result.frames ? 0 : 1;

	if (!walk_read(&naming->sample->job->dump, slot, &bcp[1]))
		bcp[1] = 0;
	for (size_t i = first; i < 2; i++)
		if (bcp[i] - method->code_start < method->code_bytes)
			return (int64_t)(bcp[i] - method->code_start);
	return -1;
}

static bool name_bytecode(struct hotspot_naming *naming, uint32_t owner, int64_t bci, struct error *err)
{
	struct hotspot_process *process = naming->process;
	const struct hotspot_method *method = &process->methods.items[owner];
	const struct hotspot_frame_key key = { .address = method->address, .is_bci = true, .bci = (uint64_t)(bci + 1) };
	struct hotspot_frame *known;

	if (!hotspot_process_find_frame(process, &key, &known, err))
		return false;
	if (known->owner == owner && known->version == method->watch.version) {
		take_known(known, naming->frame);
		return true;
	}
	known->owner = owner;
	known->version = method->watch.version;
	return make_frame(naming,
		&(const struct profile_line){
			method->function, bci < 0 ? 0 : hotspot_method_line(method, &process->target, bci) },
		1, known, err);
}

/*
 * The Method of an interpreted method's frame; 0: it is none, but a call within the interpreter's own code. The stack
 * pointer that it returns to is above the frame, by no more than arguments and local variables take; or a word below,
 * since a method handle's linker removes its last argument.
 */
static uint64_t find_method(const struct hotspot_naming *naming, uint64_t *last_sp)
{
	enum { MOST_VARIABLES_BYTES = (255 + 65535) * 16 };
	const struct hotspot_layout *layout = &naming->process->target.layout;
	uint64_t frame_pointer, sender, method, end;

	if (!find_frame_pointer(naming, &frame_pointer))
		return 0;
	end = frame_pointer + 2 * sizeof(uint64_t);
	*last_sp = frame_pointer + layout->last_sp_offset * sizeof(uint64_t);
	if (!walk_read(
		    &naming->sample->job->dump, frame_pointer + layout->sender_sp_offset * sizeof(uint64_t), &sender) ||
		sender - end + sizeof(uint64_t) > MOST_VARIABLES_BYTES ||
		!walk_read(&naming->sample->job->dump, *last_sp + METHOD_FROM_LAST_SP * (int64_t)sizeof(uint64_t),
			&method))
		return 0;
	return method % sizeof(uint64_t) == 0 ? method : 0;
}

/* `*is_named`: it is the frame of an interpreted method. */
static bool hotspot_name_interpreted(struct hotspot_naming *naming, bool *is_named, struct error *err)
{
	struct hotspot_process *process = naming->process;
	uint64_t last_sp = 0, address = find_method(naming, &last_sp);
	struct hotspot_method *method;

	*is_named = false;
	if (address == 0)
		return true;
	if (!hotspot_methods_find(&process->methods, address, &method, err))
		return false;
	if (method->function == PROFILE_NONE)
		return true;
	*is_named = true;
	return name_bytecode(naming, (uint32_t)(method - process->methods.items),
		find_bci(naming, method, last_sp + BCP_FROM_LAST_SP * (int64_t)sizeof(uint64_t)), err);
}

/* ---- Processes ---- */

enum { MOST_PROCESSES = 256, MOST_DEBUG_BYTES = 1 << 28 };

struct hotspot {
	struct interpreter_names *names;
	struct interpreter_process *processes[MOST_PROCESSES]; /* borrowed: those that have a state */
	size_t count;
	struct shares states; /* these, by account */
	struct shares debug_bytes;
	bool has_decoder;                /* it was created, or could not be */
	struct machine_decoder *decoder; /* owned; NULL: none */
};

static void hotspot_destroy_process(void *state, struct interpreter_process *process)
{
	struct hotspot *hotspot = state;
	const struct hotspot_process *known = process->state;
	size_t i = 0;

	while (hotspot->processes[i] != process)
		i++;
	shares_give_back(&hotspot->states, known->costs.account, 1);
	hotspot->processes[i] = hotspot->processes[--hotspot->count];
	hotspot_process_destroy(process->state);
	process->state = NULL;
}

/*
 * Forgets a process in favour of one of an account: the one that was seen least recently of the account that has most.
 * If that has no more than the other one would then have, it must not have been seen in the last seconds.
 */
static void forget_oldest(struct hotspot *hotspot, uint64_t account)
{
	const uint64_t idle_ns = 10000000000;
	uint64_t greatest = shares_greatest(&hotspot->states), oldest_ns = UINT64_MAX, newest_ns = 0;
	size_t oldest = 0;

	for (size_t i = 0; i < hotspot->count; i++) {
		const struct hotspot_process *process = hotspot->processes[i]->state;

		if (process->costs.account == greatest && process->due_ns < oldest_ns) {
			oldest_ns = process->due_ns;
			oldest = i;
		}
		if (process->due_ns > newest_ns)
			newest_ns = process->due_ns;
	}
	if (oldest_ns + idle_ns < newest_ns ||
		shares_of(&hotspot->states, account) + 1 < shares_of(&hotspot->states, greatest))
		hotspot_destroy_process(hotspot, hotspot->processes[oldest]);
}

/* Starts a process, which has no state where too many others run at the same time. */
static bool hotspot_start_process(struct hotspot *hotspot, struct interpreter_process *process, struct error *err)
{
	const struct hotspot_memory memory = { .host = &hotspot->names->table->host, .pid = process->pid };
	struct hotspot_process *made;
	uint64_t account = process_table_account(hotspot->names->table, process->pid);

	if (hotspot->count == MOST_PROCESSES)
		forget_oldest(hotspot, account);
	if (hotspot->count == MOST_PROCESSES)
		return true;
	if (!hotspot_process_create(&memory, hotspot->names, &hotspot->debug_bytes, &made, err))
		return false;
	if (!shares_add(&hotspot->states, account, 1, err)) {
		hotspot_process_destroy(made);
		return false;
	}
	process->state = made;
	hotspot->processes[hotspot->count++] = process;
	return true;
}

/* ---- The kind ---- */

static bool hotspot_name_frame(struct hotspot_naming *naming, struct error *err)
{
	const struct hotspot_process *process = naming->process;
	const struct unwind_frame *frame = naming->frame;
	uint64_t address = unwind_frame_address(frame);
	bool is_named = false;

	if (address < process->low || address >= process->high) {
		naming->is_torn |= naming->is_in_java;
		return true;
	}
	if (hotspot_process_is_entry(process, frame->pc, frame->is_exact))
		naming->is_in_java = false;
	if (hotspot_loop_has(&process->loop, address)) {
		naming->is_in_java = true;
		if (!hotspot_name_interpreted(naming, &is_named, err))
			return false;
	}
	return is_named || name_code(naming, err);
}

/* A stack of Java is whole if native code has called it, by the frame that does so. */
static void hotspot_judge(const struct hotspot_naming *naming, struct unwind_result *result)
{
	if ((naming->is_torn || naming->is_in_java) &&
		(result->stop == PROFILE_STOP_ROOT || result->stop == PROFILE_STOP_STITCHED))
		result->stop = PROFILE_STOP_OPEN;
}

/* Returns whether a frame is in code that was made while the program runs. */
static bool hotspot_is_made(const struct hotspot *hotspot, const struct unwind_frame *frame)
{
	const struct process_table *table = hotspot->names->table;
	const struct process_image *image = &table->images[table->places[frame->image].image];

	return !image->elf && !image->is_file && !image->is_vdso;
}

/*
 * Judges a walk by HotSpot's code: what HotSpot does not tell of itself, or not yet, leaves the callers of its code to
 * be guessed.
 */
static void judge_unknown(const struct hotspot *hotspot, struct unwind_result *result)
{
	struct hotspot_naming naming = { 0 };

	for (size_t i = 0; i < result->count; i++)
		naming.is_torn |= hotspot_is_made(hotspot, &result->frames[i]);
	hotspot_judge(&naming, result);
}

/* `*ready`: NULL where nothing is known of the process, or not yet. */
static bool find_ready(
	struct hotspot *hotspot, struct interpreter_process *process, struct hotspot_process **ready, struct error *err)
{
	*ready = NULL;
	if (!process->state && !hotspot_start_process(hotspot, process, err))
		return false;
	if (!process->state)
		return true;
	if (!hotspot_process_keep_up(process->state, process->files[0].image, process->files[0].bias, err))
		return false;
	if (((struct hotspot_process *)process->state)->is_ready)
		*ready = process->state;
	return true;
}

static bool hotspot_name(
	void *state, struct interpreter_process *process, const struct interpret_sample *sample, struct error *err)
{
	struct unwind_result *result = &sample->job->result;
	struct hotspot_naming naming = { .sample = sample };

	if (!find_ready(state, process, &naming.process, err))
		return false;
	if (!naming.process) {
		judge_unknown(state, result);
		return true;
	}
	for (size_t i = 0; i < result->count; i++) {
		naming.frame = &result->frames[i];
		if (!hotspot_name_frame(&naming, err))
			return false;
	}
	hotspot_judge(&naming, result);
	return true;
}

static bool hotspot_find_caller_of(void *state, struct interpreter_process *process,
	const struct unwind_made_frame *frame, struct unwind_made_caller *caller, enum unwind_answer *answer,
	struct error *err)
{
	struct hotspot *hotspot = state;
	struct hotspot_process *ready;

	if (!find_ready(hotspot, process, &ready, err))
		return false;
	if (!ready || hotspot->names->table->machine->elf_machine != EM_X86_64)
		return true;
	if (!hotspot->has_decoder)
		hotspot->decoder = machine_decoder_create(hotspot->names->table->machine);
	hotspot->has_decoder = true;
	return hotspot_find_caller(ready, hotspot->decoder, frame, caller, answer, err);
}

/* Compiled methods do if they were told to, as the interpreter and most stubs always do. */
static bool hotspot_keeps_frame_pointers(const struct interpreter_process *process, const struct elf_image *elf)
{
	const struct hotspot_process *ready = process->state;

	return !elf && ready && ready->is_ready &&
	       hotspot_flag_is_set(process->files[0].image, process->files[0].bias, &ready->target.memory,
		       &ready->target.layout, "PreserveFramePointer");
}

static bool hotspot_create(
	struct interpreter_names *names, struct ebpf_frame_reader *frame_reader, void **state, struct error *err)
{
	struct hotspot *hotspot = calloc(1, sizeof(*hotspot));

	(void)frame_reader;
	if (!hotspot)
		return error_set_memory(err);
	hotspot->names = names;
	shares_init(&hotspot->states, MOST_PROCESSES);
	shares_init(&hotspot->debug_bytes, MOST_DEBUG_BYTES);
	*state = hotspot;
	return true;
}

static void hotspot_destroy(void *state)
{
	struct hotspot *hotspot = state;

	machine_decoder_destroy(hotspot->decoder);
	shares_deinit(&hotspot->states);
	shares_deinit(&hotspot->debug_bytes);
	free(hotspot);
}

/* Only of a process that was tried for long: a program that has just begun has nothing to read yet. */
static void hotspot_describe(const void *state, struct buffer *notices)
{
	const struct hotspot *hotspot = state;
	size_t unknown = 0;

	for (size_t i = 0; i < hotspot->count; i++)
		unknown += hotspot_process_is_unknown(hotspot->processes[i]->state);
	if (unknown > 0)
		buffer_printf(notices,
			"Java frames of %zu process%s have no names, because what libjvm tells of itself could not be read\n",
			unknown, unknown == 1 ? "" : "es");
}

const struct interpreter_kind hotspot_interpreter = {
	.files = { { hotspot_image_read, hotspot_image_destroy } },
	.create = hotspot_create,
	.destroy = hotspot_destroy,
	.destroy_process = hotspot_destroy_process,
	.find_caller = hotspot_find_caller_of,
	.keeps_frame_pointers = hotspot_keeps_frame_pointers,
	.name = hotspot_name,
	.describe = hotspot_describe,
};
