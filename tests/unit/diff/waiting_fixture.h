/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "synthetic_fixture.h"

/* Recordings of waits made by hand: what synthetic_fixture.h makes, with the value types of waits. */

struct synthetic waiting_create(void);

/* The id of the stack `frames` (synthetic_stack()) that ends in the frame of a class. */
uint32_t waiting_stack(struct synthetic *synthetic, const char *frames, enum profile_wait_class wait_class);

/* One wait of `ms`, in a stack of waiting_stack(); time_ms >= 0: an event at that time, with its own weight. */
void waiting_add(
	struct synthetic *synthetic, uint32_t stack, enum profile_wait_class wait_class, double ms, double time_ms);

/* Who ended waits of `ms` in all, in a stack of waiting_stack(): a stack of synthetic_stack(). */
void waiting_release(struct synthetic *synthetic, uint32_t stack, uint32_t releaser, const char *lock, double ms);
