/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <string.h>

static const struct {
	const char *scheme;
	enum store_kind kind;
} schemes[] = {
	{ "pyroscope+http", STORE_PYROSCOPE },
	{ "clickhouse+http", STORE_CLICKHOUSE },
	{ "clickhouse+coroot+http", STORE_COROOT },
};

bool store_is_address(const char *text)
{
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		size_t size = strlen(schemes[i].scheme);

		if (strncmp(text, schemes[i].scheme, size) == 0 &&
			(strncmp(text + size, "://", 3) == 0 || strncmp(text + size, "s://", 4) == 0))
			return true;
	}
	return false;
}
