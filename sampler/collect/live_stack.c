/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/live_stack.h"

#include "sampler/recording.h"
#include "sampler/unwind/fallback/link.h"

#include <sys/uio.h>
#include <unistd.h>

/* Pages are at least 4 kB. */
enum { MOST_PAGES = RECORDING_MAX_STACK_BYTES / 4096, SAVED_BYTES = 128 };

static bool may_be_read(const struct unwind_job *job)
{
	return job->result.stop == PROFILE_STOP_DUMP_END && job->result.caller_stack_pointer != 0;
}

static bool ends_untouched(const struct record_sample *sample)
{
	return sample->stack_bytes < sample->stack_room;
}

/* Reading a page that was never touched makes the kernel map it as zeros, which takes no memory. */
void live_stack_touch(
	const struct process_space *space, const struct record_sample *sample, const struct unwind_job *job)
{
	uint8_t ignored[MOST_PAGES];
	struct iovec here = { ignored, 0 }, there[MOST_PAGES];
	uint64_t page = job->dump.address + job->dump.size, page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

	if (!may_be_read(job) || !ends_untouched(sample))
		return;
	for (; page < job->result.caller_stack_pointer && here.iov_len < MOST_PAGES; page += page_bytes)
		there[here.iov_len++] = (struct iovec){ (void *)(uintptr_t)page, 1 };
	(void)space->table->host.functions->read_memory(
		space->table->host.context, space->process->pid, &here, there, here.iov_len);
}

/*
 * Returns whether the live stack still continues the copied one: another stack by then shows as a call to another
 * function.
 */
static bool live_stack_is_continued(const struct unwind_job *job, size_t cut)
{
	const struct unwind_frame *frames = job->result.frames;

	return job->result.count > cut &&
	       link_is_possible(&job->space, frames[cut].pc, unwind_frame_address(&frames[cut - 1]));
}

void live_stack_deinit(struct live_stack *stack)
{
	undumped_free(stack->bytes, LIVE_STACK_BYTES);
	*stack = (struct live_stack){ 0 };
}

bool live_stack_walk(struct live_stack *stack, const struct process_space *space, const struct record_sample *sample,
	struct unwinder *unwinder, struct unwind_job *job)
{
	struct unwind_result *result = &job->result;
	size_t cut = result->count;
	uint64_t caller = result->caller_stack_pointer, start = caller - SAVED_BYTES;
	struct iovec here, there = { (void *)(uintptr_t)start, LIVE_STACK_BYTES };
	ssize_t size;

	if (!may_be_read(job) || (!ends_untouched(sample) && caller - result->frames[result->count - 1].stack_pointer <=
								     RECORDING_MAX_STACK_BYTES))
		return false;
	if (!stack->bytes)
		stack->bytes = undumped_alloc(LIVE_STACK_BYTES);
	if (!stack->bytes)
		return false;
	here = (struct iovec){ stack->bytes, LIVE_STACK_BYTES };
	size = space->table->host.functions->read_memory(
		space->table->host.context, space->process->pid, &here, &there, 1);
	if (size <= 0)
		return false;
	job->dump.far = (struct unwind_piece){ stack->bytes, (uint64_t)size, start };
	unwind_stacks(unwinder, job, 1);
	if (result->stop != PROFILE_STOP_ROOT)
		return false;
	if (live_stack_is_continued(job, cut))
		return true;
	result->count = cut;
	result->stop = PROFILE_STOP_DUMP_END;
	return false;
}
