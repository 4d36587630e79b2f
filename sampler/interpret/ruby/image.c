/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what the file of an interpreter tells: its version, and where threads have their contexts. */
#include "sampler/interpret/ruby/ruby.h"

#include "sampler/interpret/symbols.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_VERSION_BYTES = 16, MOST_VARIABLES = 8, MOST_BYTES = 1 << 20 };

/*
 * The layout of each version, by its headers (vm_core.h, iseq.h, include/ruby/internal/core/rstring.h) on an LP64
 * machine.
 */
static const struct ruby_version {
	const char *version; /* with what follows the number */
	uint32_t context_thread, thread_context, frame_bytes, text;
	uint32_t lines, line_count, line_table, line_bytes;
	bool has_tagged_first_line;
} versions[] = {
	{ "3.0.", 56, 40, 56, 16, 120, 136, 144, 8, true },
	{ "3.1.", 48, 40, 64, 16, 120, 136, 144, 12, true },
	{ "3.2.", 48, 48, 64, 24, 112, 128, 136, 12, false },
	{ "3.3.", 48, 48, 56, 24, 112, 128, 136, 12, false },
	{ "3.4.", 48, 48, 56, 24, 112, 128, 136, 12, false },
};

/* NULL, with `why`: its offsets are not known. */
static const struct ruby_version *ruby_image_find_version(
	const struct elf_image *elf, const struct interpreter_symbol *symbol, struct error *why)
{
	char text[MOST_VERSION_BYTES] = { 0 };
	size_t size;
	const uint8_t *bytes = symbol->value ? elf_image_bytes_at(elf, symbol->value, &size) : NULL;

	if (!bytes || size < symbol->size || symbol->size >= sizeof(text)) {
		(void)error_set(why, ERROR_UNSUPPORTED, "it does not tell which version of Ruby it is");
		return NULL;
	}
	memcpy(text, bytes, symbol->size);
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		if (strncmp(text, versions[i].version, strlen(versions[i].version)) == 0)
			return &versions[i];
	for (size_t i = 0; text[i]; i++)
		if ((text[i] < '0' || text[i] > '9') && text[i] != '.')
			text[i] = '?';
	(void)error_set(why, ERROR_UNSUPPORTED, "Ruby %s is not known, 3.0 to 3.4 are", text);
	return NULL;
}

/* ---- Thread-local storage ---- */

/* Finds the program header of thread-local storage; false: there is none. */
static bool find_variables(const struct elf_image *elf, Elf64_Phdr *variables)
{
	size_t size;
	const uint8_t *bytes = elf_image_bytes(elf, &size);
	struct byte_reader r = byte_reader_over(bytes, size);
	Elf64_Ehdr header;

	byte_reader_copy(&r, &header, sizeof(header));
	if (!byte_reader_ok(&r) || header.e_phoff > size || header.e_phentsize != sizeof(*variables))
		return false;
	r = byte_reader_over(bytes + header.e_phoff, size - (size_t)header.e_phoff);
	for (size_t i = 0; i < header.e_phnum && byte_reader_left(&r) >= sizeof(*variables); i++) {
		byte_reader_copy(&r, variables, sizeof(*variables));
		if (variables->p_type == PT_TLS)
			return variables->p_memsz <= MOST_BYTES && variables->p_align <= MOST_BYTES;
	}
	return false;
}

/* Finds where the loader writes the number of the module; 0: nowhere. */
static uint64_t ruby_image_find_module(struct elf_image *elf)
{
	struct elf_section section;
	struct byte_reader r;

	if (!elf_image_section(elf, ".rela.dyn", &section))
		return 0;
	r = byte_reader_over(section.bytes, section.size);
	while (byte_reader_left(&r) >= sizeof(Elf64_Rela)) {
		Elf64_Rela relocation;

		byte_reader_copy(&r, &relocation, sizeof(relocation));
		if (ELF64_R_TYPE(relocation.r_info) == R_X86_64_DTPMOD64)
			return relocation.r_offset;
	}
	return 0;
}

/* The whole block is searched where no symbol tells which variable it is. */
static bool read_variables(struct elf_image *elf, const struct interpreter_symbol *symbol, struct ebpf_ruby *read)
{
	Elf64_Phdr block;
	uint64_t align, size, first = 0;

	if (elf_image_machine(elf) != EM_X86_64 || !find_variables(elf, &block))
		return false;
	align = block.p_align > 1 ? block.p_align : 1;
	size = (block.p_memsz + align - 1) / align * align;
	read->variables =
		(uint32_t)(size / sizeof(uint64_t) < MOST_VARIABLES ? size / sizeof(uint64_t) : MOST_VARIABLES);
	if (symbol->type == STT_TLS && symbol->value < size) {
		first = symbol->value;
		read->variables = 1;
	}
	read->module = ruby_image_find_module(elf);
	read->first_variable = (uint32_t)(read->module ? first : size - first);
	return read->module || elf_image_is_executable(elf);
}

/* ---- Images ---- */

static bool ruby_image_make_image(struct elf_image *elf, const struct ruby_version *version,
	const struct ebpf_ruby *read, struct ruby_image **ruby, struct error *err)
{
	struct ruby_image *made = calloc(1, sizeof(*made));
	struct ruby_loop *loop = calloc(1, sizeof(*loop));

	if (!made || !loop) {
		free(made);
		free(loop);
		return error_set_memory(err);
	}
	*made = (struct ruby_image){ .elf = elf,
		.read = *read,
		.lines = version->lines,
		.line_count = version->line_count,
		.line_table = version->line_table,
		.line_bytes = version->line_bytes,
		.has_tagged_first_line = version->has_tagged_first_line,
		.loop = loop };
	made->read.context_thread = version->context_thread;
	made->read.thread_context = version->thread_context;
	made->read.frame_bytes = version->frame_bytes;
	made->read.text = version->text;
	*ruby = made;
	return true;
}

bool ruby_image_read(struct elf_image *elf, struct ruby_image **ruby, struct error *why, struct error *err)
{
	enum { API, VERSION, CONTEXT, SYMBOLS };
	struct interpreter_symbol symbols[SYMBOLS] = { { .name = "ruby_api_version" }, { .name = "ruby_version" },
		{ .name = "ruby_current_ec" } };
	struct interpreter_loop_symbols ignored;
	const struct ruby_version *version;
	struct ebpf_ruby read = { 0 };

	*ruby = NULL;
	if (!interpreter_symbols_find(elf, symbols, SYMBOLS, "rb_vm_exec", &ignored) || symbols[API].type != STT_OBJECT)
		return true;
	version = ruby_image_find_version(elf, &symbols[VERSION], why);
	if (!version)
		return true;
	if (!read_variables(elf, &symbols[CONTEXT], &read)) {
		(void)error_set(why, ERROR_UNSUPPORTED, "it does not tell where threads have their contexts");
		return true;
	}
	return ruby_image_make_image(elf, version, &read, ruby, err);
}

void ruby_image_destroy(struct ruby_image *ruby)
{
	if (!ruby)
		return;
	interpreter_loop_deinit(&ruby->loop->loop);
	free(ruby->loop);
	free(ruby);
}
