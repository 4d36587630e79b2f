/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/proto.h"

#include "pprof.pb-c.h"

/* The number of a field of a whole profile. */
#define PPROF_PROFILE(member) proto_number_of(&pprof__profile__descriptor, offsetof(Pprof__Profile, member))

/* The index of a field of the extension, which is named by its member, in arrays of all fields. */
#define PPROF_COLUMN(member) (offsetof(Pprof__Extension, member) / sizeof(size_t))
enum { PPROF_COLUMNS = sizeof(Pprof__Extension) / sizeof(size_t) };
