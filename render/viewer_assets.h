/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>

/* The bundled viewer, made at build time from render/viewer/; the hashes are what the page's Content-Security-Policy
 * allows. */
extern const unsigned char viewer_script[], viewer_style[];
extern const size_t viewer_script_size, viewer_style_size;
extern const char viewer_script_hash[], viewer_style_hash[];
