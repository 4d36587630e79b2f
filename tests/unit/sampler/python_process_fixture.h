/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/python/python.h"

#include <stdio.h>

/* A Python that runs programs/python_target.py: what it tells about itself is compared with what is read of it. */
struct python_process {
	pid_t child;
	int32_t pid; /* as it tells itself */
	FILE *from, *to;
	struct python_image *python;
	uint64_t bias; /* image address = runtime address + bias */
	char *line;    /* the last one that was read */
	size_t line_bytes;
};

/* The pythons to test with: installed ones, and those of KELVIN_TEST_PYTHONS, between colons. */
enum { MOST_PYTHONS = 16 };
size_t list_pythons(char **paths);

/* Starts one. False: it is older than 3.11, or not there. */
bool start_python(const char *path, struct python_process *process);
/* Waits until it has ended. What is known of its image stays until free_python(). */
void end_python(struct python_process *process);
void free_python(struct python_process *process);

/* The next line that it tells, of which `words` gets at most `most` words; the number of its words. */
size_t read_words(struct python_process *process, char **words, size_t most);

/* Sends it a command. */
void command_python(struct python_process *process, const char *command);

/* Decodes hexadecimal text in place. */
char *decode_text(char *word);
