/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PHP as a kind of interpreter: its frames come with samples, and are joined with walked stacks. */
#include "sampler/interpret/php/php.h"

#include "sampler/interpret/kind.h"
#include "sampler/interpret/sampled.h"

#include <stdlib.h>

struct php {
	struct interpreter_sampled sampled;
	uint64_t words[EBPF_MOST_FRAMES];
};

static bool php_read_interpreter(struct elf_image *elf, struct buffer *notices, void **image, struct error *err)
{
	struct php_image *php;
	struct error why = { 0 };

	if (!php_image_read(elf, &php, &why, err))
		return false;
	if (why.code != ERROR_NONE)
		buffer_printf(notices, "%s: its PHP frames are not shown: %s\n", elf_image_path(elf), why.message);
	*image = php;
	return true;
}

static void php_destroy_interpreter(void *image)
{
	php_image_destroy(image);
}

static const struct php_image *php_image_of(const struct interpreter_process *process)
{
	return process->files[0].image;
}

/* Returns how the frames of a process are read. */
static struct ebpf_php php_layout_of(const struct interpreter_process *process)
{
	struct ebpf_php php = php_image_of(process)->read;

	php.frame -= process->files[0].bias;
	return php;
}

static void php_attach(void *state, const struct interpreter_process *process)
{
	const struct ebpf_interpreter interpreter = { .kind = EBPF_PHP, .php = php_layout_of(process) };
	struct php *php = state;

	interpreter_sampled_add(&php->sampled, process->pid, &interpreter);
}

static void php_fork(void *state, const struct interpreter_process *parent, const struct interpreter_process *child)
{
	const struct php *php = state;

	interpreter_codes_fork(php->sampled.codes, parent->pid, child->pid);
	php_attach(state, child);
}

static void php_destroy(void *state)
{
	struct php *php = state;

	if (!php)
		return;
	interpreter_sampled_deinit(&php->sampled);
	free(php);
}

static bool php_create(
	struct interpreter_names *names, struct ebpf_frame_reader *frame_reader, void **state, struct error *err)
{
	struct php *made = calloc(1, sizeof(*made));
	struct php_code_reader *reader;

	if (!made)
		return error_set_memory(err);
	if (!php_code_reader_create(&names->table->host, &reader, err) ||
		!interpreter_sampled_init(&made->sampled, names, frame_reader, &php_code_reads, reader, err)) {
		php_destroy(made);
		return false;
	}
	*state = made;
	return true;
}

static bool php_name(
	void *state, struct interpreter_process *process, const struct interpret_sample *sample, struct error *err)
{
	const struct php_image *image = php_image_of(process);
	const struct interpreter_stack_image of = {
		.elf = image->elf,
		.loop = &image->loop,
		.image = image,
		.has_early_frames = true,
		.has_made_loops = true,
	};
	struct php *php = state;

	return interpreter_sampled_join(&php->sampled, sample, EBPF_PHP, &of, err);
}

/* Reads the frames of a sleeping thread. In a build without threads PHP is in the first thread of its process alone. */
static bool php_read_sleeping(
	void *state, const struct interpreter_process *process, int32_t tid, struct ebpf_frames *frames)
{
	const struct ebpf_php layout = php_layout_of(process);
	struct php *php = state;

	return tid == process->pid && php_read_frames(&php->sampled.stack.names->table->host, &layout, process->pid,
					      php->words, EBPF_MOST_FRAMES, frames);
}

static void php_describe(const void *state, struct buffer *notices)
{
	const struct php *php = state;

	interpreter_sampled_describe(&php->sampled, "PHP", notices);
}

const struct interpreter_kind php_interpreter = {
	.files = { { php_read_interpreter, php_destroy_interpreter } },
	.frames = EBPF_PHP,
	.library = "libphp",
	.create = php_create,
	.destroy = php_destroy,
	.attach = php_attach,
	.fork = php_fork,
	.forget = interpreter_sampled_forget,
	.name = php_name,
	.read_frames = php_read_sleeping,
	.know = interpreter_sampled_know,
	.learn = interpreter_sampled_learn,
	.describe = php_describe,
};
