/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/* Profiles made by hand for pages with known content. A failure ends the program with its message: there is nothing to
 * test then.
 */
struct maker {
	struct profile *profile; /* owned */
	uint32_t run, thread;    /* those that samples belong to */
	const char *build_id;    /* of the binaries; borrowed */
	const char *process;     /* the name of the process that threads belong to; borrowed */
	int32_t pid;
};

enum { MAKER_SAMPLE_NS = 1000000 };

/* Ends the program unless `ok`. */
void maker_check(bool ok, const struct error *err);

/* Without a run yet. `command` is what the page says was recorded. */
struct maker maker_create(const char *command, const char *build_id);

/* The same without a value type but the number of samples, and without the facts of a recording by a clock. */
struct maker maker_create_empty(const char *command, const char *build_id);

/* Starts another run with a thread of this name; samples that follow are its. */
void maker_run(struct maker *maker, const char *thread, int64_t duration_ms);

/* Another thread of the run at hand. */
void maker_thread(struct maker *maker, const char *name, int32_t tid);

struct maker_frame {
	const char *name, *module;
	enum profile_origin origin;
	uint64_t fingerprint; /* 0: not known */
};

/* The location of such a frame. */
uint32_t maker_location(struct maker *maker, const struct maker_frame *frame);

/* The stack below `parent` with one frame more, by its location or by itself. */
uint32_t maker_stack_at(struct maker *maker, uint32_t parent, uint32_t location);
uint32_t maker_stack(struct maker *maker, uint32_t parent, const struct maker_frame *frame);

/*
 * A stack in words, root first: "main;parse;qsort!libc.so@s". `!module` (else "app"), `@s` system, `@l` library, `@?`
 * unknown (else user), `#n` the code's fingerprint, `#~` code that is another in every build (else the same in all).
 */
uint32_t maker_stack_of(struct maker *maker, const char *frames);

/* `ms` samples of a millisecond each: without time when `at_ms` is negative, else one after the other from then on. */
void maker_add(struct maker *maker, uint32_t stack, int64_t ms, int64_t at_ms);

/* Hands the profile over. */
struct profile *maker_finish(struct maker *maker);
