/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The first 32 bits of SHA-1 (FIPS 180-4), by which redis names scripts. It is no protection. */
uint32_t sha1_start(const void *bytes, size_t size);
