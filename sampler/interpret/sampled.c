/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/sampled.h"

#include <inttypes.h>
#include <unistd.h>

bool interpreter_sampled_init(struct interpreter_sampled *sampled, struct interpreter_names *names,
	struct ebpf_frame_reader *frame_reader, const struct interpreter_code_reader *reads, void *reader,
	struct error *err)
{
	sampled->frame_reader = frame_reader;
	if (!interpreter_codes_create(names, reads, reader, &sampled->codes, err))
		return false;
	sampled->stack.names = names;
	sampled->stack.codes = sampled->codes;
	return true;
}

void interpreter_sampled_deinit(struct interpreter_sampled *sampled)
{
	interpreter_codes_destroy(sampled->codes);
}

void interpreter_sampled_add(
	struct interpreter_sampled *sampled, int32_t pid, const struct ebpf_interpreter *interpreter)
{
	sampled->is_met = true;
	if (sampled->frame_reader)
		(void)ebpf_frame_reader_add(sampled->frame_reader, pid,
			process_table_account(sampled->stack.names->table, pid), interpreter);
}

void interpreter_sampled_forget(void *state, const struct interpreter_process *process)
{
	struct interpreter_sampled *sampled = state;

	if (sampled->frame_reader)
		ebpf_frame_reader_remove(sampled->frame_reader, process->pid);
	interpreter_codes_forget(sampled->codes, process->pid);
}

static uint64_t read_clock(void)
{
	return (uint64_t)clock_read_ns(CLOCK_MONOTONIC_COARSE);
}

bool interpreter_sampled_join(struct interpreter_sampled *sampled, const struct interpret_sample *sample,
	enum ebpf_interpreter_kind kind, const struct interpreter_stack_image *image, struct error *err)
{
	return !sample->interpreter_frames || sample->interpreter_frames->kind != kind ||
	       interpreter_stack_join(&sampled->stack, sample, image, read_clock(), err);
}

bool interpreter_sampled_know(const void *state, const struct ebpf_code *code)
{
	const struct interpreter_sampled *sampled = state;

	return interpreter_codes_know(sampled->codes, code->pid, code->pieces[0].address);
}

bool interpreter_sampled_learn(
	void *state, const struct interpreter_process *process, const struct ebpf_code *code, struct error *err)
{
	struct interpreter_sampled *sampled = state;

	return interpreter_codes_learn(sampled->codes, process->files[0].image, code, read_clock(), err);
}

/* Returns whether a line is worth telling: one stack in so many is. */
static bool sampled_is_worth_telling(const struct interpreter_sampled *sampled, uint64_t stacks)
{
	enum { FEW = 200 };

	return stacks > 0 && stacks * FEW > sampled->stack.joined;
}

void interpreter_sampled_describe(
	const struct interpreter_sampled *sampled, const char *language, struct buffer *notices)
{
	const struct interpreter_stack *stack = &sampled->stack;
	uint64_t gone = interpreter_codes_gone(sampled->codes);

	if (sampled->is_met && (!sampled->frame_reader || ebpf_frame_reader_refusal(sampled->frame_reader)))
		buffer_printf(notices, "%s frames are not shown: %s\n", language,
			geteuid() == 0
				? "the kernel does not load the program that reads them; 'kelvin doctor' says why"
				: "reading them needs CAP_BPF and CAP_PERFMON; run kelvin with sudo, or give it the capabilities that 'kelvin doctor' names");
	if (sampled_is_worth_telling(sampled, stack->mismatched))
		buffer_printf(notices,
			"%" PRIu64 " of %" PRIu64
			" stacks with %s frames (%.1f %%) did not fit the native frames exactly: there the order of %s and native frames is uncertain\n",
			stack->mismatched, stack->joined, language,
			100.0 * (double)stack->mismatched / (double)stack->joined, language);
	if (sampled_is_worth_telling(sampled, gone))
		buffer_printf(notices,
			"%" PRIu64
			" %s frames have no names, because their code was gone before it could be read: they are called '%s'\n",
			gone, language, interpreter_codes_gone_name(sampled->codes));
}
