/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ruby as a kind of interpreter: its frames come with samples, and are joined with walked stacks. */
#include "sampler/interpret/ruby/ruby.h"

#include "sampler/interpret/kind.h"
#include "sampler/interpret/sampled.h"

#include <stdlib.h>

struct ruby {
	struct interpreter_sampled sampled;
};

static bool ruby_read_interpreter(struct elf_image *elf, struct buffer *notices, void **image, struct error *err)
{
	struct ruby_image *ruby;
	struct error why = { 0 };

	if (!ruby_image_read(elf, &ruby, &why, err))
		return false;
	if (why.code != ERROR_NONE)
		buffer_printf(notices, "%s: its Ruby frames are not shown: %s\n", elf_image_path(elf), why.message);
	*image = ruby;
	return true;
}

static void ruby_destroy_interpreter(void *image)
{
	ruby_image_destroy(image);
}

static const struct ruby_image *ruby_image_of(const struct interpreter_process *process)
{
	return process->files[0].image;
}

static void ruby_attach(void *state, const struct interpreter_process *process)
{
	struct ebpf_interpreter interpreter = { .kind = EBPF_RUBY, .ruby = ruby_image_of(process)->read };
	struct ruby *ruby = state;

	if (interpreter.ruby.module)
		interpreter.ruby.module -= process->files[0].bias;
	interpreter_sampled_add(&ruby->sampled, process->pid, &interpreter);
}

static void ruby_fork(void *state, const struct interpreter_process *parent, const struct interpreter_process *child)
{
	const struct ruby *ruby = state;

	interpreter_codes_fork(ruby->sampled.codes, parent->pid, child->pid);
	ruby_attach(state, child);
}

static void ruby_destroy(void *state)
{
	struct ruby *ruby = state;

	if (!ruby)
		return;
	interpreter_sampled_deinit(&ruby->sampled);
	free(ruby);
}

static bool ruby_create(
	struct interpreter_names *names, struct ebpf_frame_reader *frame_reader, void **state, struct error *err)
{
	struct ruby *made = calloc(1, sizeof(*made));
	struct ruby_code_reader *reader;

	if (!made)
		return error_set_memory(err);
	if (!ruby_code_reader_create(&names->table->host, &reader, err) ||
		!interpreter_sampled_init(&made->sampled, names, frame_reader, &ruby_code_reads, reader, err)) {
		ruby_destroy(made);
		return false;
	}
	*state = made;
	return true;
}

static bool ruby_name(
	void *state, struct interpreter_process *process, const struct interpret_sample *sample, struct error *err)
{
	const struct ruby_image *image = ruby_image_of(process);
	const struct interpreter_stack_image of = {
		.elf = image->elf,
		.loop = &image->loop->loop,
		.image = image,
		.has_early_frames = true,
		.has_made_loops = true,
	};
	const struct ebpf_frames *frames = sample->interpreter_frames;
	struct ruby *ruby = state;

	if (!frames || frames->kind != EBPF_RUBY || frames->count == 0)
		return true;
	return ruby_find_loop(image, process->files[0].bias, &ruby->sampled.stack.names->table->host, process->pid,
		       ebpf_frame_code(frames->words[0]), err) &&
	       interpreter_sampled_join(&ruby->sampled, sample, EBPF_RUBY, &of, err);
}

static void ruby_describe(const void *state, struct buffer *notices)
{
	const struct ruby *ruby = state;

	interpreter_sampled_describe(&ruby->sampled, "Ruby", notices);
}

const struct interpreter_kind ruby_interpreter = {
	.files = { { ruby_read_interpreter, ruby_destroy_interpreter } },
	.frames = EBPF_RUBY,
	.library = "libruby",
	.create = ruby_create,
	.destroy = ruby_destroy,
	.attach = ruby_attach,
	.fork = ruby_fork,
	.forget = interpreter_sampled_forget,
	.name = ruby_name,
	.know = interpreter_sampled_know,
	.learn = interpreter_sampled_learn,
	.describe = ruby_describe,
};
