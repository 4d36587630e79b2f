/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/live/instrument.h"

/*
 * Counts how much work the target does while it is recorded (profile/requests.h): exchanges on sockets, which programs
 * in the kernel count (sampler/ebpf/requests.h); or an event that the user has named; or a number that he states. They
 * are read a few times a second.
 *
 * Fails only where the event that the user has named cannot be counted: without the right to count exchanges, the
 * recording goes on. Requests that cannot be read cost no samples.
 */
extern const struct instrument_functions requests_functions;

/* Tries whether exchanges can be counted here. False, with `err` set: they cannot. */
COMMON_MUST_CHECK
bool requests_probe(struct error *err);
