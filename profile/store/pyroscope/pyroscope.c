/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/pyroscope/pyroscope.h"

const struct store_functions store_pyroscope = {
	.prepare = pyroscope_prepare,
	.send = pyroscope_send,
	.fetch = pyroscope_fetch,
};
