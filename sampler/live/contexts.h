/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/live/instrument.h"

/*
 * Finds the contexts that processes of a recording publish (sampler/process/otel_context.h), and makes labels of the
 * profile of them. A process publishes its context some time after its start. So it is read when the process is met,
 * and whenever the process has been known for twice as long as at the reading before: of a process that lives on, a
 * context is found by the time that it is as old again.
 *
 * A recording of the whole system is of no service: there is no such instrument then.
 */
extern const struct instrument_functions contexts_functions;
