/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/courier.h"

const struct store_functions *store_functions_of(enum store_kind kind)
{
	static const struct store_functions nothing;

	switch (kind) {
	case STORE_PYROSCOPE:
		return &store_pyroscope;
	case STORE_CLICKHOUSE:
		return &store_clickhouse;
	case STORE_COROOT:
		return &store_coroot;
	}
	return &nothing;
}
