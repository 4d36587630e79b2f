/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/python/python.h"

/* The places of what is read of the file of CPython, in image addresses; 0: it is not told. */
struct python_symbols {
	uint64_t runtime;   /* _PyRuntime */
	uint64_t version;   /* Py_Version, since 3.11 */
	uint64_t text_type; /* PyUnicode_Type */
};

/* False: the image is no CPython. That is found without a look at its symbols in nearly all images. */
bool python_symbols_read(struct elf_image *elf, struct python_symbols *symbols);
