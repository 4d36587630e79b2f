/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The origin of a function: whose code it is. */
enum profile_origin { PROFILE_ORIGIN_UNKNOWN, PROFILE_ORIGIN_USER, PROFILE_ORIGIN_LIBRARY, PROFILE_ORIGIN_SYSTEM };
enum { PROFILE_ORIGIN_COUNT = 4 };

/* Returns lower-case words for files, options, JSON and the page: "user". Static. */
const char *profile_origin_name(enum profile_origin origin);
