/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <pthread.h>

/* Starts a thread that gets no signals: they are for the one that drives the recording. */
COMMON_MUST_CHECK
bool thread_start(pthread_t *thread, void *(*run)(void *), void *context, struct error *err);
