/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>

/*
 * The bundled viewer, made from render/viewer/ at build time: one for the page of a report, one for that of a suite of
 * benchmarks, and one for that of a history. The page's Content-Security-Policy allows the hashes.
 */
struct viewer_asset {
	const unsigned char *bytes;
	size_t size;
	const char *hash;
};

struct viewer_assets {
	struct viewer_asset script, style;
};

extern const struct viewer_assets viewer_report, viewer_suite, viewer_history;
