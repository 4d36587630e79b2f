/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/requests.h"

#include "sampler/live/listening.h"
#include "sampler/live/members.h"
#include "sampler/live/tally.h"
#include "sampler/live/work.h"

#include <string.h>

/*
 * An exchange that is measured costs its process 0.4 us, one that passes 0.25 us, most of it for the two tracepoints
 * themselves (scripts/bench requests; decision 73). Above this rate only a part of them is measured, which keeps
 * the difference below 1 % of a CPU.
 */
enum { MOST_MEASURED_PER_S = 20000, MOST_ONE_IN = 1 << 12 };
enum { READ_MS = 200, MS = 1000000 };
static const uint64_t second_ns = 1000000000;

struct requests {
	struct instrument instrument;
	enum profile_work_source source;
	struct ebpf_requests *programs; /* owned; NULL: nothing is counted */
	struct members members;         /* of these programs */
	struct tally tally;
	bool is_busy;     /* the last reading found something */
	uint64_t read_ns; /* by the records' clock, as rated_ns */
	/* One exchange in so many is measured; it follows the rate over a second. */
	uint32_t one_in, most_one_in;
	uint64_t rated_ns, rated_count;
	bool is_answering; /* at the end: something outside of the target was answered */
	/*
	 * The reason why exchanges are not counted although they should be; a notice says so where the target listens.
	 */
	struct error none;
	bool listens;
};

/* ---- Opening ---- */

bool requests_probe(struct error *err)
{
	const struct ebpf_requests_options options = { 0 };
	struct ebpf_requests *programs;

	if (!ebpf_requests_create(&options, &programs, err))
		return false;
	ebpf_requests_destroy(programs);
	return true;
}

/* `work`: the event to count, which is taken; NULL: exchanges. */
static bool live_requests_create_programs(struct requests *requests, struct work *work, struct error *err)
{
	const struct instrument_session *session = requests->instrument.session;
	const struct sampler_target *target = &session->options->target;
	struct ebpf_requests_options loading = {
		.only_tid = target->kind == SAMPLER_TARGET_TID ? target->pids[0] : 0,
	};
	struct error why;

	if (!members_init(&requests->members, target, session->child, &why)) {
		/* Where the set of processes may not be loaded, the programs know what would help. */
		if (requests_probe(err))
			*err = why;
	} else {
		loading.processes = requests->members.set;
		if (work) {
			loading.events = work->events;
			loading.event_count = work->count;
			loading.are_tracepoints = work->are_tracepoints;
			work->count = 0;
		}
		if (ebpf_requests_create(&loading, &requests->programs, err))
			return true;
	}
	members_deinit(&requests->members);
	return false;
}

static bool create_for_event(struct requests *requests, const char *event, struct error *err)
{
	struct work work;
	bool ok;

	if (!work_open(&work, event, err))
		return false;
	ok = live_requests_create_programs(requests, &work, err);
	work_close(&work);
	return ok || error_prefix(err, "--work '%.200s'", event);
}

/* ---- While it runs ---- */

static uint32_t fitting_one_in(uint64_t per_second)
{
	uint32_t one_in = 1;

	while (one_in < MOST_ONE_IN && per_second / one_in > MOST_MEASURED_PER_S)
		one_in *= 2;
	return one_in;
}

/* One exchange in so many is measured for the next second, by the rate of the one before. */
static void fit_one_in(struct requests *requests, uint64_t clock_ns)
{
	uint64_t elapsed_ns = clock_ns - requests->rated_ns, count = 0;

	for (uint32_t kind = 0; kind < EBPF_EXCHANGE_KIND_COUNT; kind++)
		count += tally_total(&requests->tally, kind);
	requests->one_in = fitting_one_in(
		(uint64_t)((double)(count - requests->rated_count) * (double)second_ns / (double)elapsed_ns));
	if (requests->one_in > requests->most_one_in)
		requests->most_one_in = requests->one_in;
	ebpf_requests_set_one_in(requests->programs, requests->one_in);
	requests->rated_count = count;
}

static bool live_requests_read_exchanges(struct requests *requests, int64_t time_ns, struct error *err)
{
	const struct ebpf_exchanges *exchanges;
	size_t count;

	if (!ebpf_requests_read(requests->programs, &exchanges, &count, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		uint32_t payer;
		struct tally_totals totals = {
			.account = SHARES_NOBODY,
			.pid = exchanges[i].process,
			.kind = exchanges[i].kind,
			.count = exchanges[i].count,
			.connections = exchanges[i].connections,
			.received_bytes = exchanges[i].received_bytes,
			.sent_bytes = exchanges[i].sent_bytes,
		};

		memcpy(totals.name, exchanges[i].name, sizeof(totals.name) - 1);
		if (!tally_find(&requests->tally, totals.pid, totals.kind) &&
			ebpf_requests_payer(requests->programs, totals.pid, &payer))
			totals.account = payer;
		if (!tally_take(&requests->tally, &totals, time_ns, err))
			return false;
	}
	return true;
}

static bool live_requests_read_counts(struct requests *requests, uint64_t clock_ns, struct error *err)
{
	int64_t time_ns = run_clock_elapsed_ns(requests->instrument.session->clock, clock_ns);
	uint64_t before = requests->tally.change_count;

	if (requests->programs && !live_requests_read_exchanges(requests, time_ns, err))
		return false;
	tally_end_reading(&requests->tally, time_ns);
	requests->read_ns = clock_ns;
	requests->is_busy = requests->tally.change_count != before;
	return true;
}

/*
 * Lists the processes that were read and have ended. Owned by the caller; those of several kinds are listed as often.
 */
static bool list_ended(const struct requests *requests, int32_t **ended, size_t *count, struct error *err)
{
	const struct tally *tally = &requests->tally;
	size_t capacity = 0;

	for (size_t i = 0; i < tally->count; i++) {
		const struct tally_process *process = &tally->processes[i];

		if (process->is_retired || process->totals.pid == 0 || proc_is_alive(process->totals.pid))
			continue;
		if (!ARRAY_RESERVE(ended, &capacity, *count + 1, SIZE_MAX, err))
			return false;
		(*ended)[(*count)++] = process->totals.pid;
	}
	return true;
}

/* Keeps here what processes that have ended had in the kernel, where their accounts are to have room for others. */
static bool retire_ended(struct requests *requests, uint64_t clock_ns, struct error *err)
{
	CLEANUP(cleanup_free) int32_t *ended = NULL;
	size_t count = 0, kept = 0;
	bool was_busy = requests->is_busy;
	uint32_t payer;

	/* They are read again, as they may have gone on until they ended. */
	if (!list_ended(requests, &ended, &count, err) ||
		(count > 0 && !live_requests_read_counts(requests, clock_ns, err)))
		return false;
	requests->is_busy |= was_busy;
	for (size_t i = 0; i < count; i++)
		if (ebpf_requests_payer(requests->programs, ended[i], &payer) &&
			tally_retire(&requests->tally, ended[i], payer))
			ended[kept++] = ended[i];
	return ebpf_requests_retire(requests->programs, ended, kept, err);
}

static bool requests_enable(struct instrument *instrument, bool enabled, uint64_t clock_ns, struct error *err)
{
	struct requests *requests = (struct requests *)instrument;

	requests->read_ns = requests->rated_ns = clock_ns;
	if (requests->programs)
		ebpf_requests_enable(requests->programs, enabled ? clock_ns : 0);
	return enabled || live_requests_read_counts(requests, clock_ns, err);
}

static bool is_any_listening(const struct instrument_session *session)
{
	enum { MOST_ASKED = 256 };
	const struct sampler_target *target = &session->options->target;
	const struct process_table *processes = collector_processes(session->collector);

	for (size_t i = 0; i < target->pid_count && i < MOST_ASKED; i++)
		if (listening_has_socket(target->pids[i]))
			return true;
	for (size_t i = 0; i < processes->count && i < MOST_ASKED; i++)
		if (processes->processes[i].is_alive && listening_has_socket(processes->processes[i].pid))
			return true;
	return false;
}

static bool requests_poll(struct instrument *instrument, uint64_t clock_ns, struct error *err)
{
	struct requests *requests = (struct requests *)instrument;
	const struct instrument_session *session = instrument->session;
	uint64_t elapsed_ns = clock_ns - requests->read_ns;

	/* The first time is early, so that a service that ends soon is known to be one. */
	if (requests->none.code != ERROR_NONE && !requests->listens && elapsed_ns >= second_ns) {
		requests->read_ns = clock_ns;
		requests->listens = is_any_listening(session);
	}
	if (!requests->programs || elapsed_ns < (uint64_t)READ_MS * MS)
		return true;
	if (!live_requests_read_counts(requests, clock_ns, err))
		return false;
	if (clock_ns - requests->rated_ns < second_ns)
		return true;
	if (ebpf_requests_are_crowded(requests->programs) && !retire_ended(requests, clock_ns, err))
		return false;
	if (requests->source == PROFILE_WORK_SOCKETS)
		fit_one_in(requests, clock_ns);
	requests->rated_ns = clock_ns;
	return members_update(&requests->members, &session->options->target, err);
}

static int requests_due_ms(const struct instrument *instrument, uint64_t clock_ns)
{
	(void)clock_ns;
	return ((const struct requests *)instrument)->is_busy ? READ_MS : INSTRUMENT_NEVER_DUE;
}

/* ---- The end ---- */

/*
 * Exchanges within the target are its requests only where nobody outside of it has asked for anything, as where a
 * command starts a server and its clients. Otherwise a proxy's requests would count again at each server behind it.
 */
static bool find_kind(const struct requests *requests, uint32_t counted, enum profile_exchange_kind *kind)
{
	*kind = PROFILE_EXCHANGE_ANSWERED;
	if (counted == EBPF_EXCHANGE_CALLED_OUT)
		*kind = PROFILE_EXCHANGE_CALLED_OUT;
	return counted != EBPF_EXCHANGE_WITHIN || !requests->is_answering;
}

static bool add_exchanges(struct requests *requests, struct profile *profile, uint32_t run, struct error *err)
{
	for (size_t i = 0; i < requests->tally.count; i++) {
		const struct tally_process *process = &requests->tally.processes[i];
		enum profile_exchange_kind kind;
		uint32_t id;

		if (process->read_count > 0 && find_kind(requests, process->totals.kind, &kind) &&
			!tally_add_to_profile(process, kind, profile, run, &id, err))
			return false;
	}
	return true;
}

static bool add_latencies(struct requests *requests, struct profile *profile, uint32_t run, struct error *err)
{
	const struct ebpf_exchange_latency *latencies;
	size_t count;

	if (!ebpf_requests_read_latencies(requests->programs, &latencies, &count, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct profile_exchanges exchanges = { .run = run, .pid = latencies[i].process };
		const struct tally_process *process =
			tally_find(&requests->tally, latencies[i].process, latencies[i].kind);
		struct profile_latency latency = { .bucket = latencies[i].bucket, .count = latencies[i].count };

		if (!process || process->read_count == 0 || !find_kind(requests, latencies[i].kind, &exchanges.kind))
			continue;
		if (!profile_add_exchanges(profile, &exchanges, &latency.exchanges, err) ||
			!profile_add_latency(profile, &latency, err))
			return false;
	}
	return true;
}

static bool add_stated(const struct sampler_options *options, struct profile *profile, uint32_t run, struct error *err)
{
	const struct profile_exchanges exchanges = { .run = run, .kind = PROFILE_EXCHANGE_ANSWERED };
	struct profile_exchange_reading reading = { .time_ns = profile->runs[run].duration_ns,
		.count = options->stated_requests };

	return profile_add_exchanges(profile, &exchanges, &reading.exchanges, err) &&
	       profile_add_exchange_reading(profile, &reading, err);
}

static void live_requests_describe(struct requests *requests)
{
	const struct instrument_session *session = requests->instrument.session;

	if (requests->none.code != ERROR_NONE && (requests->listens || is_any_listening(session)))
		buffer_printf(session->notices, "requests are not counted: %s; --requests N states their number\n",
			requests->none.message);
	if (requests->most_one_in > 1)
		buffer_printf(session->notices,
			"requests came so fast that one in %u was counted and stands for all: their number is an estimate\n",
			(unsigned int)requests->most_one_in);
	if (tally_find(&requests->tally, 0, EBPF_EXCHANGE_ANSWERED) && requests->programs)
		buffer_append_string(session->notices,
			"an account has had thousands of processes that answered requests: those of some are told together, without a name\n");
}

static bool add_counted(struct requests *requests, struct profile *profile, uint32_t run, struct error *err)
{
	const struct sampler_options *options = requests->instrument.session->options;

	if (requests->source == PROFILE_WORK_STATED)
		return add_stated(options, profile, run, err);
	if (requests->source == PROFILE_WORK_EVENT &&
		!profile_intern(profile, options->work_event, &profile->requests.event, err))
		return false;
	return add_exchanges(requests, profile, run, err) &&
	       (!requests->programs || add_latencies(requests, profile, run, err));
}

/* Fails for want of memory alone. */
static bool requests_finish(struct instrument *instrument, struct error *err)
{
	struct requests *requests = (struct requests *)instrument;
	const struct instrument_session *session = instrument->session;
	struct profile *profile = collector_profile(session->collector);
	struct error why;

	profile->requests.source = requests->source;
	profile->requests.one_in = requests->most_one_in;
	requests->is_answering = tally_total(&requests->tally, EBPF_EXCHANGE_ANSWERED) > 0;
	live_requests_describe(requests);
	if (add_counted(requests, profile, collector_run(session->collector), &why))
		return true;
	if (why.code == ERROR_MEMORY) {
		*err = why;
		return false;
	}
	buffer_printf(session->notices, "not all that was counted of requests could be read: %s\n", why.message);
	return true;
}

static void requests_close(struct instrument *instrument)
{
	struct requests *requests = (struct requests *)instrument;

	ebpf_requests_destroy(requests->programs);
	members_deinit(&requests->members);
	tally_deinit(&requests->tally);
}

static bool requests_open(struct instrument *instrument, struct error *err)
{
	struct requests *requests = (struct requests *)instrument;
	const struct sampler_options *options = instrument->session->options;

	requests->one_in = requests->most_one_in = 1;
	tally_init(&requests->tally);
	if (options->no_requests)
		return true;
	if (options->stated_requests > 0) {
		requests->source = PROFILE_WORK_STATED;
		return true;
	}
	if (options->work_event) {
		requests->source = PROFILE_WORK_EVENT;
		return create_for_event(requests, options->work_event, err);
	}
	if (live_requests_create_programs(requests, NULL, &requests->none))
		requests->source = PROFILE_WORK_SOCKETS;
	return true;
}

const struct instrument_functions requests_functions = {
	.state_bytes = sizeof(struct requests),
	.open = requests_open,
	.enable = requests_enable,
	.due_ms = requests_due_ms,
	.poll = requests_poll,
	.finish = requests_finish,
	.close = requests_close,
};
