/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/shell.h"

#include <string.h>

void shell_append_word(struct buffer *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:@%,=";

	if (word[strspn(word, plain)] == '\0') {
		buffer_append_string(out, word);
		return;
	}
	buffer_append_byte(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			buffer_append_string(out, "'\\''");
		else
			buffer_append_byte(out, (uint8_t)*word);
	buffer_append_byte(out, '\'');
}
