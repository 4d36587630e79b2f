/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/escape.h"

void escape_append(struct buffer *out, const char *text)
{
	for (uint32_t code; (code = unicode_next(&text)) != 0;) {
		code = unicode_clean(code);
		if (code == '<')
			buffer_append_string(out, "&lt;");
		else if (code == '>')
			buffer_append_string(out, "&gt;");
		else if (code == '&')
			buffer_append_string(out, "&amp;");
		else if (code == '"')
			buffer_append_string(out, "&quot;");
		else
			unicode_append(out, code);
	}
}
