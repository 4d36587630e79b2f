/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/interrupt.h"

#include "binary/binary.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

static volatile sig_atomic_t caught_signal;
static volatile sig_atomic_t caught_from_process;
static _Atomic int64_t caught_ns;
static volatile sig_atomic_t is_naming, naming_stopped;

/*
 * `timeout` sends its signal twice, to us and to our process group: two signals within this time count as one request.
 */
static const int64_t same_wish_ns = 300000000;

static void take_signal(int number, siginfo_t *info, void *context)
{
	int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	(void)context;
	if (!caught_signal) {
		caught_ns = now_ns;
		caught_signal = number;
		/* Signals that the terminal sends have SI_KERNEL, and reach the whole foreground process group. */
		caught_from_process = info->si_code <= 0;
		naming_stopped = is_naming;
	} else if (now_ns - caught_ns > same_wish_ns && is_naming && !naming_stopped) {
		caught_ns = now_ns;
		naming_stopped = 1;
	} else if (now_ns - caught_ns > same_wish_ns) {
		/* The signal stays blocked until the handler returns. */
		signal(number, SIG_DFL);
		raise(number);
	}
}

static void do_nothing(int number)
{
	(void)number;
}

/*
 * Installs an empty handler, so that the failing call reports the error. An ignored signal would be inherited by the
 * command.
 */
static void survive(int number)
{
	struct sigaction action = { .sa_handler = do_nothing, .sa_flags = SA_RESTART }, before;

	sigemptyset(&action.sa_mask);
	if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

static const int watched[] = { SIGINT, SIGTERM, SIGHUP };
enum { WATCHED = sizeof(watched) / sizeof(watched[0]) };

void interrupt_leave_to_parent(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	for (size_t i = 0; i < WATCHED; i++)
		sigaddset(&signals, watched[i]);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

void interrupt_watch(void)
{
	struct sigaction action = { .sa_sigaction = take_signal, .sa_flags = SA_SIGINFO };

	survive(SIGPIPE);
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < WATCHED; i++)
		sigaddset(&action.sa_mask, watched[i]);
	for (size_t i = 0; i < WATCHED; i++) {
		struct sigaction before;

		if (sigaction(watched[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(watched[i], &action, NULL);
	}
}

int interrupt_signal(void)
{
	return caught_signal;
}

void interrupt_begin_naming(void)
{
	naming_stopped = 0;
	is_naming = 1;
}

void interrupt_end_naming(void)
{
	is_naming = 0;
}

bool interrupt_stops_naming(void)
{
	return naming_stopped != 0;
}

bool interrupt_is_for_us_alone(void)
{
	return caught_signal != 0 && caught_from_process != 0;
}

static void fill_lost_page(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code == BUS_ADRERR && elf_image_fill_lost_page(info->si_addr))
		return;
	signal(number, SIG_DFL);
	raise(number);
}

void interrupt_survive_lost_pages(void)
{
	struct sigaction action = { .sa_sigaction = fill_lost_page, .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

void interrupt_survive_full_files(void)
{
	survive(SIGXFSZ);
}
