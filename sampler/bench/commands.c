/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/bench/commands.h"

#include <stdlib.h>
#include <string.h>

/* ---- One command ---- */

bool bench_command_parse(const char *text, bool by_shell, struct bench_command *command, struct error *err)
{
	bool needs_shell = by_shell || strpbrk(text, "|&;<>()$`\\\"'\n*?[]#~=%!{}") != NULL;
	size_t count = 0, max = strlen(text) / 2 + 4;
	char *rest = NULL;

	*command = (struct bench_command){ .text = text, .words = strdup(text), .argv = calloc(max, sizeof(char *)) };
	if (!command->words || !command->argv)
		return error_set_memory(err);
	if (needs_shell) {
		command->argv[count++] = (char *)"/bin/sh";
		command->argv[count++] = (char *)"-c";
		command->argv[count++] = command->words;
		return true;
	}
	for (char *word = strtok_r(command->words, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
		command->argv[count++] = word;
	return count > 0 || error_set(err, ERROR_USAGE, "the command is empty");
}

void bench_command_deinit(struct bench_command *command)
{
	free(command->words);
	free(command->argv);
}

/* ---- A command in each of its layouts ---- */

char *bench_fill_in(const char *text, uint32_t layout, struct error *err)
{
	enum { MAX_COMMAND_BYTES = 1 << 20 };
	struct buffer out = BUFFER_INIT(MAX_COMMAND_BYTES);

	for (const char *found; (found = strstr(text, BENCH_LAYOUT_PLACE)) != NULL;
		text = found + strlen(BENCH_LAYOUT_PLACE)) {
		buffer_append(&out, text, (size_t)(found - text));
		buffer_printf(&out, "%u", layout);
	}
	buffer_append_string(&out, text);
	buffer_append_byte(&out, '\0');
	if (buffer_ok(&out, err))
		return out.data;
	buffer_deinit(&out);
	return NULL;
}

bool bench_commands_parse(
	const char *text, bool by_shell, uint32_t layouts, struct bench_commands *commands, struct error *err)
{
	*commands = (struct bench_commands){ .items = calloc(layouts, sizeof(*commands->items)),
		.texts = calloc(layouts, sizeof(*commands->texts)) };
	if (!commands->items || !commands->texts)
		return error_set_memory(err);
	for (; commands->count < layouts; commands->count++) {
		uint32_t at = commands->count;

		commands->texts[at] = bench_fill_in(text, at + 1, err);
		if (!commands->texts[at])
			return false;
		if (!bench_command_parse(commands->texts[at], by_shell, &commands->items[at], err)) {
			commands->count++;
			return false;
		}
		commands->items[at].pattern = strstr(text, BENCH_LAYOUT_PLACE) ? text : NULL;
		commands->items[at].layout = at + 1;
	}
	return true;
}

void bench_commands_deinit(struct bench_commands *commands)
{
	for (uint32_t i = 0; i < commands->count; i++)
		bench_command_deinit(&commands->items[i]);
	for (uint32_t i = 0; commands->texts && i < commands->count; i++)
		free(commands->texts[i]);
	free(commands->items);
	free(commands->texts);
}
