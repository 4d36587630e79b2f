/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/rules.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RULES = 1 << 20 };

void rules_init(struct rules *rules)
{
	*rules = (struct rules){ 0 };
	hash_map_init(&rules->by_content, 2 * sizeof(uint64_t));
}

void rules_deinit(struct rules *rules)
{
	free(rules->rules);
	hash_map_deinit(&rules->by_content);
	*rules = (struct rules){ 0 };
}

static bool is_expression(const struct frame_register_rule *rule)
{
	return rule->kind == FRAME_EXPRESSION || rule->kind == FRAME_VAL_EXPRESSION;
}

bool rules_as_pushes(const struct machine *machine, const struct frame_rule *rule, struct rules_pushes *pushes)
{
	enum { WORD_BYTES = 8 };
	const struct frame_register_rule *return_address = &rule->registers[machine->return_column];
	struct rules_pushes made = { .cfa_offset = rule->cfa.offset, .cfa_register = rule->cfa_register };

	if (rule->is_signal_frame || rule->cfa.kind != FRAME_REGISTER || return_address->kind != FRAME_AT_CFA ||
		return_address->offset != -WORD_BYTES)
		return false;
	for (uint32_t i = 0; i < machine->register_count; i++) {
		const struct frame_register_rule *saved = &rule->registers[i];
		int32_t words = -(saved->offset / WORD_BYTES);
		uint8_t at = machine->saved_index[i];

		if (saved->kind == FRAME_SAME || i == machine->return_column)
			continue;
		if (at == MACHINE_NOT_SAVED || saved->kind != FRAME_AT_CFA || saved->offset % WORD_BYTES != 0 ||
			words < 1 || words > UINT8_MAX)
			return false;
		made.saved[at] = (uint8_t)words;
	}
	*pushes = made;
	return true;
}

/* Every byte is set, for it is hashed and compared as bytes. */
static void unwind_rules_fill(struct rules_rule *made, const struct frame_rule *rule, const struct frame_table *table)
{
	const struct machine *machine = frame_table_machine(table);
	const struct frame_register_rule *return_address = &rule->registers[machine->return_column];
	bool has_expression = is_expression(&rule->cfa) || is_expression(return_address);

	memset(made, 0, sizeof(*made));
	made->cfa = rule->cfa;
	made->return_address = *return_address;
	made->cfa_register = rule->cfa_register;
	made->is_signal_frame = rule->is_signal_frame;
	for (uint32_t i = 0; i < machine->register_count; i++) {
		struct rules_place *place = &made->places[made->place_count];

		/* The caller's stack pointer is the CFA unless it is said to be elsewhere. */
		if (rule->registers[i].kind == FRAME_SAME || i == machine->return_column)
			continue;
		place->rule = rule->registers[i];
		place->number = i;
		made->place_count++;
		has_expression |= is_expression(&rule->registers[i]);
	}
	if (has_expression)
		made->table = table;
}

bool rules_intern(struct rules *rules, const struct frame_rule *rule, const struct frame_table *table, uint32_t *id,
	struct error *err)
{
	struct rules_rule content;
	uint64_t key[2];
	uint32_t *value;
	bool added;

	unwind_rules_fill(&content, rule, table);
	/* Two independent halves of a hash: different rules are assumed never to agree in both. */
	key[0] = hash_bytes(&content, sizeof(content));
	key[1] = hash_bytes_seeded(&content, sizeof(content), key[0]);
	if (!ARRAY_RESERVE(&rules->rules, &rules->capacity, rules->count + 1, MAX_RULES, err) ||
		!hash_map_add(&rules->by_content, key, (uint32_t)rules->count, &value, &added, err))
		return false;
	if (added)
		rules->rules[rules->count++] = content;
	*id = *value;
	return true;
}
