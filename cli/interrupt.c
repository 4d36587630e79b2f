/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t caught_signal;
static volatile sig_atomic_t caught_from_process;

static void take_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	caught_signal = number;
	/* The terminal's own signals have SI_KERNEL and reach the whole foreground group. */
	caught_from_process = info->si_code <= 0;
}

void interrupt_watch(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_sigaction = take_signal, .sa_flags = SA_SIGINFO | (int)SA_RESETHAND };

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction before;

		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

int interrupt_signal(void)
{
	return caught_signal;
}

bool interrupt_is_for_us_alone(void)
{
	return caught_signal != 0 && caught_from_process != 0;
}
