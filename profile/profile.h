/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The wing's public header: profiles, and what is kept of them.
 *
 *	model.h		what was sampled, in which stacks, at what cost; pprof and folded stacks in and out
 *	foreign/	files of other tools
 *	store/		stores of profiles
 *	summary/	the sums of a profile's functions, in place of its stacks
 */
#include "profile/foreign/foreign.h"
#include "profile/model.h"
#include "profile/store/store.h"
#include "profile/summary/summary.h"
