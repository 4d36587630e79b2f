/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/rules.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RULES = 1 << 20 };

/* What is compared: the whole rule, and where its expressions lie. */
struct content {
	struct rules_rule rule;
	const struct cfi_table *table;
};

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

static bool is_expression(const struct cfi_register_rule *rule)
{
	return rule->place == CFI_EXPRESSION || rule->place == CFI_VAL_EXPRESSION;
}

/* Every byte is set, for it is hashed and compared as bytes. */
static void fill(struct content *content, const struct cfi_rule *rule, const struct cfi_table *table)
{
	bool has_expression = is_expression(&rule->cfa) || is_expression(&rule->registers[CFI_RIP]);

	memset(content, 0, sizeof(*content));
	content->rule.cfa = rule->cfa;
	content->rule.return_address = rule->registers[CFI_RIP];
	content->rule.cfa_register = rule->cfa_register;
	content->rule.is_signal_frame = rule->is_signal_frame;
	content->rule.is_simple = rule->cfa.place == CFI_REGISTER && rule->registers[CFI_RIP].place == CFI_AT_CFA;
	for (uint32_t i = 0; i < CFI_RIP; i++) {
		struct rules_place *place = &content->rule.places[content->rule.place_count];

		/* The caller's stack pointer is the CFA unless it is said to be elsewhere. */
		if (rule->registers[i].place == CFI_SAME)
			continue;
		place->rule = rule->registers[i];
		place->number = i;
		content->rule.place_count++;
		content->rule.is_simple &= place->rule.place == CFI_AT_CFA;
		has_expression |= is_expression(&rule->registers[i]);
	}
	if (has_expression)
		content->table = table;
}

bool rules_intern(struct rules *rules, const struct cfi_rule *rule, const struct cfi_table *table, uint32_t *id, struct error *err)
{
	struct content content;
	uint64_t key[2];
	uint32_t *value;
	bool added;

	fill(&content, rule, table);
	/* Two independent halves: that different rules agree in both does not happen. */
	key[0] = hash_bytes(&content, sizeof(content));
	content.rule.places[CFI_REGISTERS - 1].number = 1;
	key[1] = hash_bytes(&content, sizeof(content));
	content.rule.places[CFI_REGISTERS - 1].number = 0;
	if (!ARRAY_RESERVE(&rules->rules, &rules->capacity, rules->count + 1, MAX_RULES, err) ||
		!hash_map_add(&rules->by_content, key, (uint32_t)rules->count, &value, &added, err))
		return false;
	if (added)
		rules->rules[rules->count++] = content.rule;
	*id = *value;
	return true;
}
