/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/thread.h"

#include <signal.h>
#include <time.h>

bool thread_start(pthread_t *thread, void *(*run)(void *), void *context, struct error *err)
{
	sigset_t all, before;
	int failure;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failure = pthread_create(thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failure == 0 || error_set_errno(err, failure, "cannot start a thread");
}
