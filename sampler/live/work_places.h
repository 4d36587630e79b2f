/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/binary.h"

/* The places in a binary's file of an event that it names. */

enum { WORK_MOST_PLACES = 64 };

struct work_place {
	uint64_t offset;    /* in the file */
	uint64_t semaphore; /* likewise: a 16-bit number that is raised while somebody counts; 0: there is none */
};

/*
 * Finds a function's first instruction, by its name in the table of symbols. ERROR_NOT_FOUND: there is no such
 * function.
 */
COMMON_MUST_CHECK
bool work_places_of_function(
	struct elf_image *image, const char *function, struct work_place *place, struct error *err);

/*
 * Finds the places of a probe, WORK_MOST_PLACES at most: the compiler may have copied it
 * (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation). ERROR_NOT_FOUND: there is no such probe.
 */
COMMON_MUST_CHECK
bool work_places_of_probe(struct elf_image *image, const char *provider, const char *name,
	struct work_place places[static WORK_MOST_PLACES], size_t *count, struct error *err);
