/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* The commands that `bench` runs, as the user wrote them. */

struct bench_command {
	const char *text;    /* borrowed, as the user wrote it */
	char *words;         /* owned: what argv points into */
	char **argv;         /* owned */
	const char *pattern; /* borrowed: what `text` was with {layout} in it; NULL: it had none */
	uint32_t layout;     /* that stands there now */
};

/* Words parted by blanks; by_shell, or with anything in it that a shell would see more in, it is handed to /bin/sh -c.
 */
COMMON_MUST_CHECK
bool bench_command_parse(const char *text, bool by_shell, struct bench_command *command, struct error *err);
void bench_command_deinit(struct bench_command *command);

/* In a command this stands for the number of its layout. */
#define BENCH_LAYOUT_PLACE "{layout}"

/* Returns the text for a layout, owned; NULL: out of memory, or it is too long. */
char *bench_fill_in(const char *text, uint32_t layout, struct error *err);

/* A command in each of its layouts. */
struct bench_commands {
	struct bench_command *items; /* owned: [layout] */
	char **texts;                /* owned: [layout] */
	uint32_t count;
};

/* by_shell as bench_command_parse() has it. */
COMMON_MUST_CHECK
bool bench_commands_parse(
	const char *text, bool by_shell, uint32_t layouts, struct bench_commands *commands, struct error *err);
void bench_commands_deinit(struct bench_commands *commands);
