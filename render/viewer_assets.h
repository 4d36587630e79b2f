/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>

/* The bundled viewer, made from render/viewer/ at build time. The page's Content-Security-Policy allows the hashes. */
extern const unsigned char viewer_script[], viewer_style[];
extern const size_t viewer_script_size, viewer_style_size;
extern const char viewer_script_hash[], viewer_style_hash[];
