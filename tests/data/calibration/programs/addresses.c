/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Objects in a hash table and in a sorted list by where they lie: what this executes depends on the addresses. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS = 20000, SLOTS = 1 << 15, ROUNDS = 12 };

struct object {
	struct object *next;
	unsigned int value;
	char text[40];
};

static struct object *table[SLOTS];

__attribute__((noinline)) static size_t slot_of(const struct object *object)
{
	return ((uintptr_t)object >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 49;
}

__attribute__((noinline)) static void enter(struct object *object)
{
	object->next = table[slot_of(object)];
	table[slot_of(object)] = object;
}

__attribute__((noinline)) static int contains(const struct object *object)
{
	const struct object *at = table[slot_of(object)];

	while (at && at != object)
		at = at->next;
	return at != NULL;
}

static int by_place(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t) * (struct object *const *)a, y = (uintptr_t) * (struct object *const *)b;

	return x * UINT64_C(0x9e3779b97f4a7c15) < y * UINT64_C(0x9e3779b97f4a7c15) ? -1 : x != y;
}

int main(int argc, char **argv)
{
	struct object **objects = malloc(OBJECTS * sizeof(*objects));
	unsigned long sum = 0;

	/* Where the heap begins, and which sizes follow each other, is another matter in each run. */
	srand(argc > 1 ? (unsigned int)atoi(argv[1]) : 1);
	for (int i = 0; i < OBJECTS; i++) {
		objects[i] = malloc(sizeof(**objects) + (size_t)(rand() % 4) * 16);
		objects[i]->value = (unsigned int)i;
		snprintf(objects[i]->text, sizeof(objects[i]->text), "object %d", i);
		enter(objects[i]);
	}
	for (int round = 0; round < ROUNDS; round++) {
		qsort(objects, OBJECTS, sizeof(*objects), by_place);
		for (int i = 0; i < OBJECTS; i++)
			sum += (unsigned long)contains(objects[i]) * objects[i]->value + strlen(objects[i]->text);
	}
	printf("%lu\n", sum);
	return 0;
}
