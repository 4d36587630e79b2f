/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * MD5 (RFC 1321) of bytes. Debug information names source files by it (DWARF 5, DW_LNCT_MD5). It tells versions of a
 * file apart, and is no protection against somebody who makes two files of one MD5.
 */
enum { MD5_BYTES = 16 };

void md5(const void *bytes, size_t size, uint8_t digest[MD5_BYTES]);
