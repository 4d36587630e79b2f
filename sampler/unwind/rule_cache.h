/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/unwind/negative.h"
#include "sampler/unwind/rules.h"
#include "sampler/unwind/scan.h"
#include "sampler/unwind/unwind.h"

/*
 * The rules of frames by (generation, address) of their code. Callers return to few places: a cache of this size
 * answers 99 of 100 lookups.
 */

enum { RULE_CACHE_BITS = 14, RULE_ROW_BITS = 12, CACHED_BYTES = 32 };

enum cached_kind {
	CACHED_NOWHERE, /* in no executable mapping */
	CACHED_PUSHES,  /* the rule of nearly every function (struct rules_pushes) */
	CACHED_RULE,
	CACHED_SIGNAL_RETURN, /* no rule; the code that a signal handler returns to */
	CACHED_ROOT,          /* no rule; the start of the image's execution, or of a thread's */
	CACHED_LAST_RETURN,   /* no rule; the code that main() or a thread's first function may return to, in musl */
	CACHED_SYSCALL,       /* no rule; directly after a system call */
	CACHED_GO,            /* no rule; in a Go program */
	CACHED_MADE,          /* no rule; whoever has made the code is asked first */
	CACHED_NO_RULE,
	CACHED_PROBE,  /* the kernel has put it in place of a return address */
	CACHED_PLACED, /* what no call has left as its return address, and nothing leads on from (rule_cache.c) */
};

/* Two fit into a cache line: most frames read nothing else of ours. */
struct cached {
	uint64_t generation, address; /* the address as cached_address() */
	uint32_t image;
	uint16_t kind : 4;                /* enum cached_kind */
	uint16_t may_return : 1;          /* a caller may stand there until its callee returns */
	uint16_t is_called : 1;           /* a call stands before it, as far as the code is readable */
	uint16_t is_made : 1;             /* code of no image: it was made while the program ran */
	uint16_t is_guessed : 1;          /* of CACHED_MADE: the instructions were read */
	uint16_t keeps_frame_pointer : 1; /* without a rule: functions keep frame pointers there */
	uint16_t cfa_register : 7; /* of CACHED_PUSHES, as in struct rules_pushes; else of what the instructions do */
	uint8_t saved[MACHINE_SAVED]; /* likewise */
	union {
		int32_t cfa_offset; /* of CACHED_PUSHES; without a rule as the instructions give it, 0: they do not */
		uint32_t rule;      /* of CACHED_RULE: its id */
	};
};

_Static_assert(sizeof(struct cached) == CACHED_BYTES, "an entry does not straddle cache lines");

/* Neighbouring instructions of a function with one rule: a rule found at one of them holds for the others. */
struct rule_row {
	uint64_t owner;       /* owner of the addresses (rule_cache.c) */
	uint64_t start, size; /* image addresses; size 0: none */
	struct rules_pushes pushes;
};

struct rule_cache {
	struct cached *entries; /* owned */
	struct rule_row *rows;  /* owned */
	struct rules rules;
	struct scanner scanner;
	struct negative_cache negative;
};

COMMON_MUST_CHECK
bool rule_cache_init(struct rule_cache *cache, struct error *err);
void rule_cache_deinit(struct rule_cache *cache);

/* An address of code; for a caller, the address before its return address. */
struct code_place {
	const struct unwind_space *space;
	uint64_t address;
	bool is_exact; /* an instruction's own address */
};

/* The two entries that may hold the rule of an address; they share a cache line. */
static inline struct cached *rule_cache_entry(const struct rule_cache *cache, uint64_t generation, uint64_t address)
{
	uint64_t mixed = address * 0x9e3779b97f4a7c15u ^ generation * 0xc2b2ae3d27d4eb4fu;

	return &cache->entries[mixed >> (64 - RULE_CACHE_BITS) & ~(uint64_t)1];
}

/* Looks the rule up in the space and stores it. Tables are borrowed for the life of the cache. */
void rule_cache_fill(struct rule_cache *cache, const struct code_place *place, struct cached *entry);

/* Reads the rule of CACHED_MADE from the instructions, unless that is done. */
void rule_cache_guess(struct rule_cache *cache, const struct code_place *place, struct cached *entry);

/* An instruction, and the byte before an address that no call has left, may be the same; their rules are not. */
static inline uint64_t cached_address(const struct code_place *place)
{
	return place->address | (uint64_t)place->is_exact << 63;
}

static inline bool is_about(const struct cached *entry, const struct code_place *place)
{
	return entry->address == cached_address(place) && entry->generation == place->space->generation;
}

/* Valid until the next lookup. The first of the two entries is the one that was used last. */
static inline struct cached *rule_cache_find(struct rule_cache *cache, const struct code_place *place)
{
	struct cached *entry = rule_cache_entry(cache, place->space->generation, place->address), first;

	if (is_about(entry, place))
		return entry;
	first = *entry;
	if (is_about(entry + 1, place))
		*entry = entry[1];
	else
		rule_cache_fill(cache, place, entry);
	entry[1] = first;
	return entry;
}
