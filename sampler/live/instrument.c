/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/instrument.h"

#include "sampler/live/contexts.h"
#include "sampler/live/requests.h"
#include "sampler/live/waiting.h"

#include <stdlib.h>

static const struct instrument_functions *const kinds[] = { &contexts_functions, &waiting_functions,
	&requests_functions };

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };
_Static_assert((size_t)KINDS <= INSTRUMENTS_MOST, "there is room for all of them");

static void instrument_destroy(struct instrument *instrument)
{
	if (instrument->functions->close)
		instrument->functions->close(instrument);
	free(instrument);
}

static bool instrument_create(const struct instrument_functions *functions, struct instrument_session *session,
	struct instrument **instrument, struct error *err)
{
	struct instrument *made = calloc(1, functions->state_bytes);

	if (!made)
		return error_set_memory(err);
	*made = (struct instrument){ .functions = functions, .session = session };
	if (!functions->open(made, err)) {
		instrument_destroy(made);
		return false;
	}
	*instrument = made;
	return true;
}

/* Opens an instrument, or the one in its place. `*instrument` stays as it is where the recording goes on without it. */
static bool open_kind(const struct instrument_functions *functions, struct instrument_session *session,
	struct instrument **instrument, struct error *err)
{
	struct error why, other;

	if (instrument_create(functions, session, instrument, &why))
		return true;
	if (!functions->instead) {
		*err = why;
		return false;
	}
	session->missing = why;
	if (instrument_create(functions->instead, session, instrument, &other)) {
		session->missing = (struct error){ 0 };
		return true;
	}
	error_set(&session->missing, why.code, "%s: %s", functions->absence, why.message);
	buffer_printf(session->notices, "%s; %s\n", session->missing.message, other.message);
	return true;
}

bool instruments_open(struct instruments *instruments, struct error *err)
{
	for (size_t i = 0; i < KINDS; i++) {
		struct instrument *opened = NULL;

		if (kinds[i]->is_wanted && !kinds[i]->is_wanted(instruments->session.options))
			continue;
		if (!open_kind(kinds[i], &instruments->session, &opened, err))
			return false;
		if (opened)
			instruments->open[instruments->count++] = opened;
	}
	return true;
}

void instruments_close(struct instruments *instruments)
{
	for (size_t i = 0; i < instruments->count; i++)
		instrument_destroy(instruments->open[i]);
	instruments->count = 0;
}

/* Returns whether an instrument is polled now. */
static bool is_polled(const struct instrument *instrument)
{
	return instrument->session->clock->is_on || instrument->functions->works_while_off;
}

int instruments_timeout(const struct instruments *instruments, uint64_t clock_ns, int timeout_ms)
{
	for (size_t i = 0; i < instruments->count; i++) {
		const struct instrument *instrument = instruments->open[i];
		int due_ms = is_polled(instrument) ? instrument->functions->due_ms(instrument, clock_ns)
						   : INSTRUMENT_NEVER_DUE;

		if (due_ms != INSTRUMENT_NEVER_DUE && (timeout_ms < 0 || due_ms < timeout_ms))
			timeout_ms = due_ms;
	}
	return timeout_ms;
}

bool instruments_poll(struct instruments *instruments, uint64_t clock_ns, struct error *err)
{
	struct instrument *const *open = instruments->open;

	for (size_t i = 0; i < instruments->count; i++)
		if (is_polled(open[i]) && !open[i]->functions->poll(open[i], clock_ns, err))
			return false;
	return true;
}

bool instruments_add_rings(
	struct instruments *instruments, struct order *order, struct sampler_watch *watch, struct error *err)
{
	struct instrument *const *open = instruments->open;

	for (size_t i = 0; i < instruments->count; i++)
		if (open[i]->functions->add_rings && !open[i]->functions->add_rings(open[i], order, watch, err))
			return false;
	return true;
}

bool instruments_enable(struct instruments *instruments, bool enabled, uint64_t clock_ns, struct error *err)
{
	struct instrument *const *open = instruments->open;

	for (size_t i = 0; i < instruments->count; i++)
		if (open[i]->functions->enable && !open[i]->functions->enable(open[i], enabled, clock_ns, err))
			return false;
	return true;
}

bool instruments_describe(struct instruments *instruments, struct error *err)
{
	bool ok = true;

	for (size_t i = 0; i < instruments->count; i++) {
		struct instrument *instrument = instruments->open[i];

		if (instrument->functions->describe)
			ok = instrument->functions->describe(instrument, err) && ok;
	}
	return ok;
}

bool instruments_finish(struct instruments *instruments, struct error *err)
{
	struct instrument *const *open = instruments->open;

	for (size_t i = 0; i < instruments->count; i++)
		if (open[i]->functions->finish && !open[i]->functions->finish(open[i], err))
			return false;
	return true;
}
