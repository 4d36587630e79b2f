/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "written_fixture.h"
#include "tests/unit/support/profile.h"

#include <string.h>

char *written(struct buffer *out, bool ok, const struct error *err)
{
	char *text = out->data;

	must(ok, err);
	assert_non_null(text);
	assert_int_equal(strlen(text), out->size);
	return text;
}
