/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/tree.h"

#include "profile/model.h"

#include <stdlib.h>
#include <string.h>

/*
 * The newest of a node's first few children, and the sibling that was added before the node; PROFILE_NONE: there is
 * none.
 */
struct links {
	uint32_t child, sibling;
};

struct builder {
	const struct profile *profile;
	const struct profile_tree_cut *cut;
	struct profile_tree *tree;
	size_t capacity, function_capacity, link_capacity;
	uint32_t *identities; /* [function id] the first function with the same key */
	struct links *links;  /* [node] */
	struct hash_map children;
};

/* Functions with equal keys are one: the first of them stands for all. */
static bool find_identities(struct builder *b, struct error *err)
{
	const struct profile *profile = b->profile;
	uint32_t key_count = string_table_count(profile->strings);
	CLEANUP(cleanup_free) uint32_t *firsts = malloc(key_count * sizeof(*firsts));

	b->identities = calloc(profile->function_count + 1, sizeof(*b->identities));
	if (!firsts || !b->identities)
		return error_set_memory(err);
	memset(firsts, 0xff, key_count * sizeof(*firsts));
	for (uint32_t i = 0; i < profile->function_count; i++) {
		uint32_t *first = &firsts[profile->functions[i].key];

		if (*first == PROFILE_NONE)
			*first = i;
		b->identities[i] = *first;
	}
	return true;
}

static bool append_node(struct builder *b, uint32_t parent, uint32_t function, struct error *err)
{
	struct profile_tree *tree = b->tree;
	size_t need = tree->node_count + 1;

	if (need > b->link_capacity &&
		(!ARRAY_RESERVE(&tree->parents, &b->capacity, need, ARRAY_MAX_IDS, err) ||
			!ARRAY_RESERVE(&tree->functions, &b->function_capacity, need, ARRAY_MAX_IDS, err) ||
			!ARRAY_RESERVE(&b->links, &b->link_capacity, need, ARRAY_MAX_IDS, err)))
		return false;
	tree->parents[tree->node_count] = parent;
	tree->functions[tree->node_count] = function;
	b->links[tree->node_count++] = (struct links){ PROFILE_NONE, PROFILE_NONE };
	return true;
}

/*
 * Finds or adds a child. Most nodes have few children, which are searched in a list; further ones are found by their
 * hash.
 */
static bool tree_add_node(struct builder *b, uint32_t parent, uint32_t function, uint32_t *node, struct error *err)
{
	enum { FEW = 8 };
	uint32_t key[2] = { parent, function }, next = (uint32_t)b->tree->node_count, child = b->links[parent].child,
		 *value;
	size_t tried = 0;
	bool added;

	for (; child != PROFILE_NONE; child = b->links[child].sibling, tried++) {
		if (b->tree->functions[child] == function) {
			*node = child;
			return true;
		}
	}
	if (tried < FEW) {
		*node = next;
		if (!append_node(b, parent, function, err))
			return false;
		b->links[next].sibling = b->links[parent].child;
		b->links[parent].child = next;
		return true;
	}
	if (!hash_map_add(&b->children, key, next, &value, &added, err))
		return false;
	*node = *value;
	return !added || append_node(b, parent, function, err);
}

/* A stack's parent has a smaller id, so its node is known when the stack is reached. */
static bool profile_tree_place_stacks(struct builder *b, struct error *err)
{
	const struct profile *profile = b->profile;
	struct profile_tree *tree = b->tree;
	if (!ARRAY_ZEROED(&tree->stack_nodes, profile->stack_count, err) ||
		!append_node(b, PROFILE_NONE, PROFILE_NONE, err))
		return false;
	for (size_t i = 1; i < profile->stack_count; i++) {
		const struct profile_location *location = &profile->locations[profile->stacks[i].location];
		uint32_t node = tree->stack_nodes[profile->stacks[i].parent];

		for (uint32_t k = location->line_count; k-- > 0;) {
			uint32_t function = b->identities[profile->lines[location->first_line + k].function];

			if (b->cut && node == 0 && b->cut->leads && b->cut->leads[function])
				continue;
			if (!tree_add_node(b, node, function, &node, err))
				return false;
			if (b->cut && b->cut->inlined)
				break;
		}
		tree->stack_nodes[i] = node;
	}
	return true;
}

bool profile_tree_create(const struct profile *profile, const struct profile_tree_cut *cut, struct profile_tree **tree,
	struct error *err)
{
	struct builder b = { .profile = profile, .cut = cut, .tree = calloc(1, sizeof(**tree)) };
	bool ok;

	if (!b.tree)
		return error_set_memory(err);
	hash_map_init(&b.children, 2 * sizeof(uint32_t));
	ok = find_identities(&b, err) && profile_tree_place_stacks(&b, err);
	hash_map_deinit(&b.children);
	free(b.links);
	free(b.identities);
	if (!ok) {
		profile_tree_destroy(b.tree);
		return false;
	}
	*tree = b.tree;
	return true;
}

void profile_tree_destroy(struct profile_tree *tree)
{
	if (!tree)
		return;
	free(tree->parents);
	free(tree->functions);
	free(tree->stack_nodes);
	free(tree);
}
