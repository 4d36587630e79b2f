/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/load.h"
#include "cli/worker.h"

/*
 * Recordings of addresses (perf.data, FILE.part) that a worker reads: their stacks are unwound and named with binaries
 * of this machine, which its parent opens, and names are made by children of the parent (symbolize/naming.h). All that
 * the worker asks is foreign. It gets ELF files, maps of made code, the kernel's symbols and files beside the data that
 * the user has named (recording_open()), each for reading, and names of addresses in what it got.
 */
struct recordings {
	struct recording_opener opener;          /* for the worker's reading */
	struct symbolize_namer namer;            /* for the worker's naming */
	const struct worker *worker;             /* borrowed: who asks; NULL: there are no recordings */
	const struct symbolize_options *naming;  /* borrowed: how the parent names */
	const struct load_inputs *const *inputs; /* borrowed: the sides; NULL behind the last one */
	struct file_opened *files;               /* owned, each of them: those that were handed out */
	size_t file_count, file_capacity;
};

/* All arguments are borrowed, and `recordings` must not move: its opener is for struct load_options. */
void recordings_init(struct recordings *recordings, const struct load_inputs *const *inputs);

void recordings_deinit(struct recordings *recordings);

/* Has a worker read recordings, and name them by these options, if there are any among the inputs. */
void recordings_serve(struct recordings *recordings, struct worker *worker, struct symbolize_options *naming);

/* Returns whether a worker's question is about recordings. */
bool recordings_are_asked(const void *bytes, size_t size);

/* Answers it as struct worker has it: the descriptor is the caller's; -1, with `err` set: there is none. */
int recordings_answer(struct recordings *recordings, const void *bytes, size_t size, struct error *err);
