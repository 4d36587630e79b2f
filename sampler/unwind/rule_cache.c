/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/rule_cache.h"

#include "sampler/unwind/epilogue.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 64, ENTRY_CODE_BYTES = 64 };

bool rule_cache_init(struct rule_cache *cache, struct error *err)
{
	size_t bytes = sizeof(*cache->entries) << RULE_CACHE_BITS;

	*cache = (struct rule_cache){ .entries = aligned_alloc(LINE_BYTES, bytes),
		.rows = calloc((size_t)1 << RULE_ROW_BITS, sizeof(*cache->rows)) };
	if (!cache->entries || !cache->rows) {
		rule_cache_deinit(cache);
		return error_set_memory(err);
	}
	memset(cache->entries, 0, bytes);
	rules_init(&cache->rules);
	return true;
}

void rule_cache_deinit(struct rule_cache *cache)
{
	if (cache->entries && cache->rows)
		rules_deinit(&cache->rules);
	free(cache->entries);
	free(cache->rows);
	*cache = (struct rule_cache){ 0 };
}

static bool has_code(const struct unwind_code *code, size_t offset, const uint8_t *expected, size_t size)
{
	return code->bytes && checked_range(offset, size, code->byte_count) && memcmp(code->bytes + offset, expected, size) == 0;
}

/* `mov $15, %rax; syscall`: rt_sigreturn, where the C library has no rules for it. A pc at its start is one behind the address. */
static bool is_signal_return(const struct unwind_code *code)
{
	static const uint8_t long_form[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t short_form[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };

	return has_code(code, UNWIND_BYTES_BEFORE + 1, long_form, sizeof(long_form)) ||
	       has_code(code, UNWIND_BYTES_BEFORE + 1, short_form, sizeof(short_form));
}

/*
 * musl has no rules for what calls main() and a thread's first function: exit(main()) and pthread_exit(start()), behind which
 * nothing returns. `mov %eax, %edi`, `mov %rax, %rdi` or `movslq %eax, %rdi`, then a call.
 */
static bool is_last_call(const struct unwind_code *code)
{
	static const uint8_t of_main[] = { 0x89, 0xc7, 0xe8 }, of_thread[] = { 0x48, 0x89, 0xc7, 0xe8 },
			     of_c11_thread[] = { 0x48, 0x63, 0xf8, 0xe8 };

	return has_code(code, UNWIND_BYTES_BEFORE + 1, of_main, sizeof(of_main)) ||
	       has_code(code, UNWIND_BYTES_BEFORE + 1, of_thread, sizeof(of_thread)) ||
	       has_code(code, UNWIND_BYTES_BEFORE + 1, of_c11_thread, sizeof(of_c11_thread));
}

/* glibc's __start_context, to whose first instruction makecontext() has a function return: `mov %rbx, %rsp; mov (%rsp), %rdi`. */
static bool is_context_start(const struct unwind_code *code)
{
	static const uint8_t start[] = { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24 };

	return has_code(code, UNWIND_BYTES_BEFORE + 1, start, sizeof(start));
}

static enum cached_kind kind_without_rule(const struct unwind_code *code, bool is_exact)
{
	static const uint8_t syscall[UNWIND_BYTES_BEFORE] = { 0x0f, 0x05 };

	if (is_signal_return(code))
		return CACHED_SIGNAL_RETURN;
	if (code->entry && code->image_address - code->entry < ENTRY_CODE_BYTES)
		return CACHED_ROOT;
	if (!is_exact && (is_last_call(code) || is_context_start(code)))
		return CACHED_ROOT;
	return has_code(code, 0, syscall, sizeof(syscall)) ? CACHED_SYSCALL : CACHED_NO_RULE;
}

static void keep_pushes(struct cached *entry, const struct rules_pushes *pushes)
{
	entry->kind = CACHED_PUSHES;
	entry->cfa_register = pushes->cfa_register;
	entry->cfa_offset = pushes->cfa_offset;
	memcpy(entry->saved, pushes->saved, sizeof(pushes->saved));
}

static struct rule_row *row_of(const struct rule_cache *cache, const struct unwind_code *code)
{
	enum { BLOCK_BYTES = 64 };
	uint64_t mixed = hash_mix((uintptr_t)code->table ^ code->image_address / BLOCK_BYTES, 0x9e3779b97f4a7c15u);

	return &cache->rows[mixed >> (64 - RULE_ROW_BITS)];
}

static void keep_rule(struct rule_cache *cache, const struct unwind_code *code, const struct cfi_rule *rule, struct cached *entry)
{
	struct rules_pushes pushes;
	struct error ignored;
	uint32_t id;

	if (rules_as_pushes(rule, &pushes)) {
		*row_of(cache, code) = (struct rule_row){ code->table, rule->start, rule->size, pushes };
		keep_pushes(entry, &pushes);
	} else if (rules_intern(&cache->rules, rule, code->table, &id, &ignored)) {
		entry->kind = CACHED_RULE;
		entry->rule = id;
	}
}

/* False where nothing describes the code. */
static bool keep_described(struct rule_cache *cache, const struct unwind_code *code, struct cached *entry)
{
	const struct rule_row *row = row_of(cache, code);
	struct cfi_rule rule;

	if (!code->table)
		return false;
	if (row->table == code->table && code->image_address - row->start < row->size) {
		keep_pushes(entry, &row->pushes);
		return true;
	}
	if (!cfi_table_find(code->table, code->image_address, &rule))
		return false;
	entry->kind = CACHED_NO_RULE;
	keep_rule(cache, code, &rule, entry);
	return true;
}
/* A caller was looked up by the byte before the one it returns to. */
static void keep_epilogue(const struct unwind_code *code, bool is_exact, struct cached *entry)
{
	size_t skipped = UNWIND_BYTES_BEFORE + (is_exact ? 0 : 1);
	struct rules_pushes pushes;

	if (code->bytes && code->byte_count > skipped && epilogue_rule(code->bytes + skipped, code->byte_count - skipped, &pushes))
		keep_pushes(entry, &pushes);
}

void rule_cache_fill(struct rule_cache *cache, const struct code_place *place, struct cached *entry)
{
	const struct unwind_space *space = place->space;
	struct unwind_code code = { 0 };

	*entry = (struct cached){ .generation = space->generation, .address = place->address, .kind = CACHED_NOWHERE };
	if (!space->find(space->context, place->address, &code))
		return;
	entry->location = code.location;
	if (keep_described(cache, &code, entry))
		return;
	entry->kind = kind_without_rule(&code, place->is_exact);
	if (entry->kind == CACHED_NO_RULE)
		keep_epilogue(&code, place->is_exact, entry);
}
