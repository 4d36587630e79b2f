/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Go as a kind of interpreter: its frames need no other names, but a thread may have left the stack that its callers
 * are on, and a program in the kernel copies that one (sampler/ebpf/frame_reader_go.h).
 */
#include "sampler/interpret/kind.h"

#include <elf.h>
#include <stdlib.h>

static int64_t go_rounded(uint64_t bytes, uint64_t alignment)
{
	return (int64_t)(alignment ? (bytes + alignment - 1) / alignment * alignment : bytes);
}

/*
 * Finds where threads of the program have their g. It is a variable of each thread, runtime.tlsg, and stands first in
 * those of the program that have no value at first. All of them lie right below what FS shows (Drepper, "ELF Handling
 * For Thread-Local Storage", variant II). The Go linker makes the same place for it without a segment. False: the file
 * is damaged.
 */
static bool find_current(struct elf_image *elf, int64_t *current)
{
	enum { MOST_BYTES = 1 << 20 };
	size_t size;
	const uint8_t *bytes = elf_image_bytes(elf, &size);
	struct byte_reader r = byte_reader_over(bytes, size);
	Elf64_Ehdr header = { 0 };
	Elf64_Phdr segment = { 0 };

	*current = -(int64_t)sizeof(uint64_t);
	byte_reader_copy(&r, &header, sizeof(header));
	byte_reader_seek(&r, header.e_phoff);
	for (uint16_t i = 0; i < header.e_phnum && byte_reader_ok(&r); i++) {
		byte_reader_copy(&r, &segment, sizeof(segment));
		if (segment.p_type != PT_TLS || segment.p_memsz == 0)
			continue;
		if (segment.p_memsz > MOST_BYTES || segment.p_filesz > MOST_BYTES || segment.p_align > MOST_BYTES)
			return false;
		*current =
			go_rounded(segment.p_filesz, sizeof(uint64_t)) - go_rounded(segment.p_memsz, segment.p_align);
	}
	return byte_reader_ok(&r);
}

static bool go_go_read(struct elf_image *elf, struct buffer *notices, void **image, struct error *err)
{
	struct elf_section ignored;
	int64_t current, *made;

	(void)notices;
	if (elf_image_machine(elf) != EM_X86_64 || !elf_image_is_64bit(elf) ||
		!elf_image_section(elf, ".go.buildinfo", &ignored) || !find_current(elf, &current))
		return true;
	made = malloc(sizeof(*made));
	if (!made)
		return error_set_memory(err);
	*made = current;
	*image = made;
	return true;
}

struct go {
	struct ebpf_frame_reader *frame_reader; /* borrowed; NULL: not permitted */
	const struct process_table *table;      /* borrowed */
};

static bool go_create(
	struct interpreter_names *names, struct ebpf_frame_reader *frame_reader, void **state, struct error *err)
{
	struct go *made = malloc(sizeof(*made));

	if (!made)
		return error_set_memory(err);
	*made = (struct go){ frame_reader, names->table };
	*state = made;
	return true;
}

static void go_attach(void *state, const struct interpreter_process *process)
{
	const int64_t *current = process->files[0].image;
	const struct ebpf_interpreter interpreter = { .kind = EBPF_GO, .go = { *current } };
	const struct go *go = state;

	if (go->frame_reader)
		(void)ebpf_frame_reader_add(
			go->frame_reader, process->pid, process_table_account(go->table, process->pid), &interpreter);
}

static void go_fork(void *state, const struct interpreter_process *parent, const struct interpreter_process *child)
{
	(void)parent;
	go_attach(state, child);
}

static void go_forget(void *state, const struct interpreter_process *process)
{
	const struct go *go = state;

	if (go->frame_reader)
		ebpf_frame_reader_remove(go->frame_reader, process->pid);
}

static bool go_name(
	void *state, struct interpreter_process *process, const struct interpret_sample *sample, struct error *err)
{
	(void)state;
	(void)process;
	(void)sample;
	(void)err;
	return true;
}

const struct interpreter_kind go_interpreter = {
	.files = { { go_go_read, free } },
	.frames = EBPF_GO,
	.create = go_create,
	.destroy = free,
	.attach = go_attach,
	.fork = go_fork,
	.forget = go_forget,
	.name = go_name,
};
