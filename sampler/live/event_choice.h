/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/live/event.h"

/*
 * Fills the attributes of a set's two kinds of event, with the hardware event where the machine counts it. ERROR_USAGE
 * for an event that is not known, ERROR_UNSUPPORTED for one that cannot be counted here.
 */
COMMON_MUST_CHECK
bool event_choose(
	struct event_set *set, const struct sampler_options *options, struct event_extras extras, struct error *err);
