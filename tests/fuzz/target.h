/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A fuzz target with a mutator of its own, between libFuzzer (its names) or mutants.c, which calls them alike. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/* Changes bytes without knowing what they are. The engine's, or that of blind.c. Returns the new size. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* What LLVMFuzzerTestOneInput() does: whether the input was read, instead of being refused at its first checks. */
bool fuzz_take(const uint8_t *data, size_t size);
