/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/ebpf/requests.h"

#include "sampler/ebpf/loading.h"
#include "sampler/ebpf/requests_shared.h"
#include "sampler/ebpf/shares.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "requests.skel.h"

enum { READ_TOGETHER = 512, MOST_READ = (REQUESTS_MOST_PROCESSES + 1) * REQUESTS_KINDS, MOST_RETIRED = 1 << 20 };

_Static_assert((int)EBPF_EXCHANGE_ANSWERED == (int)REQUESTS_ANSWERED, "the kinds are the same");
_Static_assert((int)EBPF_EXCHANGE_CALLED_OUT == (int)REQUESTS_CALLED_OUT, "the kinds are the same");
_Static_assert((int)EBPF_EXCHANGE_WITHIN == (int)REQUESTS_WITHIN, "the kinds are the same");

struct ebpf_requests {
	struct requests_bpf *object;
	struct bpf_link *links[EBPF_REQUESTS_MOST_EVENTS]; /* to events in place of exchanges */
	size_t link_count;
	size_t cpu_count;
	struct ebpf_exchanges *exchanges;        /* owned, as the next ones */
	struct ebpf_exchange_latency *latencies; /* NULL: not read */
	size_t exchange_count, latency_count;
	struct ebpf_exchange_latency *retired; /* latencies of processes that are in no table any more */
	size_t retired_count, retired_capacity;
	struct shares retired_shares;                             /* of these, by the place of an account */
	uint64_t retired_rest[REQUESTS_KINDS * REQUESTS_BUCKETS]; /* those for which an account has no room left */
};

/* ---- Loading ---- */

static struct requests_bpf *ebpf_requests_open_programs(
	const struct ebpf_requests_options *options, struct loading *loading)
{
	struct requests_bpf *object;
	int result = loading_begin_relocated(loading);

	object = result == 0 ? requests_bpf__open_opts(&loading->options) : NULL;
	if (!object) {
		errno = result < 0 ? -result : errno;
		return NULL;
	}
	object->rodata->has_set = options->processes != NULL;
	object->rodata->only_tid = (uint32_t)options->only_tid;
	bpf_program__set_autoload(object->progs.receive, options->event_count == 0);
	bpf_program__set_autoload(object->progs.send, options->event_count == 0);
	bpf_program__set_autoload(object->progs.count_probe, options->event_count > 0 && !options->are_tracepoints);
	bpf_program__set_autoload(object->progs.count_tracepoint, options->event_count > 0 && options->are_tracepoints);
	if (options->most_processes > 0 && options->most_processes < REQUESTS_MOST_PROCESSES)
		object->data->process_shares.most = options->most_processes;
	loading->hides_tracepoints = options->is_before_6_3;
	if (result == 0 && options->processes)
		result = bpf_map__reuse_fd(object->maps.processes, ebpf_process_set_map(options->processes));
	if (!options->processes)
		(void)bpf_map__set_max_entries(object->maps.ends, 1);
	if (result == 0)
		result = loading_relocate(loading, object->obj);
	if (result == 0)
		return object;
	requests_bpf__destroy(object);
	errno = -result;
	return NULL;
}

/* The entries that take what has no room of its own. */
static bool add_rest(struct ebpf_requests *requests, struct error *err)
{
	CLEANUP(cleanup_free)
	struct requests_counts *none = calloc(requests->cpu_count, sizeof(*none));

	if (!none)
		return error_set_memory(err);
	for (uint32_t kind = 0; kind < REQUESTS_KINDS; kind++) {
		const struct requests_key key = { .process = 0, .kind = kind };
		int result = bpf_map__update_elem(requests->object->maps.counts, &key, sizeof(key), none,
			requests->cpu_count * sizeof(*none), BPF_ANY);

		if (result != 0)
			return loading_fail(err, NULL, result, "prepare the table of requests");
	}
	return true;
}

/* The two programs of exchanges. Returns 0 or -errno. */
static int attach_exchanges(struct ebpf_requests *requests)
{
	const struct bpf_program *programs[] = { requests->object->progs.receive, requests->object->progs.send };

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct bpf_link *link = bpf_program__attach_trace(programs[i]);

		if (!link)
			return -errno;
		requests->links[requests->link_count++] = link;
	}
	return 0;
}

/* A link owns its event. Returns 0 or -errno. */
static int attach_events(struct ebpf_requests *requests, const struct ebpf_requests_options *options)
{
	const struct bpf_program *program = options->are_tracepoints ? requests->object->progs.count_tracepoint
								     : requests->object->progs.count_probe;

	for (size_t i = 0; i < options->event_count; i++) {
		struct bpf_link *link = bpf_program__attach_perf_event(program, options->events[i]);

		if (!link)
			return -errno;
		requests->links[requests->link_count++] = link;
	}
	return 0;
}

static bool ebpf_requests_load(
	struct ebpf_requests *requests, const struct ebpf_requests_options *options, struct error *err)
{
	struct loading loading;
	int result;

	requests->object = ebpf_requests_open_programs(options, &loading);
	result = requests->object ? loading_load(requests->object->skeleton) : -errno;
	loading_finish(&loading);
	if (result != 0)
		return loading_fail(err, &loading, result, "load the programs that count requests");
	if (!add_rest(requests, err))
		return false;
	result = options->event_count > 0 ? attach_events(requests, options) : attach_exchanges(requests);
	return result == 0 || loading_fail(err, NULL, result, "attach the programs that count requests");
}

/* A kernel without the tracepoints has no type for them. */
static bool ebpf_requests_explain(struct error *err)
{
	(void)loading_explain("6.3", err);
	if (err->system_errno == ESRCH || err->system_errno == ENOENT)
		return error_set(err, ERROR_UNSUPPORTED, "that needs Linux 6.3 or later");
	return false;
}

static bool create(const struct ebpf_requests_options *options, struct ebpf_requests *made, struct error *err)
{
	int cpu_count = libbpf_num_possible_cpus();

	assert(options->event_count <= EBPF_REQUESTS_MOST_EVENTS);
	if (!proc_is_initial_namespace(true))
		return error_set(err, ERROR_UNSUPPORTED,
			"kelvin runs in a pid namespace of its own: run it outside (a container with '--pid=host')");
	made->cpu_count = cpu_count > 0 ? (size_t)cpu_count : 1;
	made->exchanges = calloc(MOST_READ, sizeof(*made->exchanges));
	if (!made->exchanges)
		return error_set_memory(err);
	return ebpf_requests_load(made, options, err) || ebpf_requests_explain(err);
}

bool ebpf_requests_create(
	const struct ebpf_requests_options *options, struct ebpf_requests **requests, struct error *err)
{
	struct ebpf_requests *made = calloc(1, sizeof(*made));
	size_t owned = 0;

	if (made)
		shares_init(&made->retired_shares, options->most_retired > 0 ? options->most_retired : MOST_RETIRED);
	else
		error_set_memory(err);
	if (made && create(options, made, err)) {
		*requests = made;
		return true;
	}
	if (made)
		owned = made->link_count;
	ebpf_requests_destroy(made);
	for (size_t i = owned; i < options->event_count; i++)
		close(options->events[i]);
	return false;
}

void ebpf_requests_destroy(struct ebpf_requests *requests)
{
	if (!requests)
		return;
	for (size_t i = 0; i < requests->link_count; i++)
		bpf_link__destroy(requests->links[i]);
	requests_bpf__destroy(requests->object);
	free(requests->exchanges);
	free(requests->latencies);
	free(requests->retired);
	shares_deinit(&requests->retired_shares);
	free(requests);
}

/* ---- While it runs ---- */

void ebpf_requests_enable(struct ebpf_requests *requests, uint64_t since_ns)
{
	__atomic_store_n(&requests->object->bss->enabled_at, since_ns, __ATOMIC_RELAXED);
}

void ebpf_requests_set_one_in(struct ebpf_requests *requests, uint32_t one_in)
{
	__atomic_store_n(&requests->object->bss->skipped, one_in > 0 ? one_in - 1 : 0, __ATOMIC_RELAXED);
}

/* ---- Reading ---- */

/* The part of a map that is read at once. The kernel tells where to go on by a number of its own. */
struct requests_batch {
	const struct bpf_map *map;
	void *keys, *values; /* owned */
	size_t value_bytes;  /* of all CPUs */
	uint32_t place, count;
	bool has_begun, has_ended;
};

static void batch_deinit(struct requests_batch *batch)
{
	free(batch->keys);
	free(batch->values);
}

static bool batch_init(struct requests_batch *batch, const struct bpf_map *map, size_t cpu_count, struct error *err)
{
	*batch = (struct requests_batch){ .map = map };
	batch->value_bytes = cpu_count * (((size_t)bpf_map__value_size(map) + 7) / 8 * 8);
	batch->keys = calloc(READ_TOGETHER, bpf_map__key_size(map));
	batch->values = calloc(READ_TOGETHER, batch->value_bytes);
	if (batch->keys && batch->values)
		return true;
	batch_deinit(batch);
	return error_set_memory(err);
}

/* Reads the next entries; none: there are no more. */
static bool batch_next(struct requests_batch *batch, struct error *err)
{
	int result;

	batch->count = batch->has_ended ? 0 : READ_TOGETHER;
	if (batch->has_ended)
		return true;
	result = bpf_map_lookup_batch(bpf_map__fd(batch->map), batch->has_begun ? &batch->place : NULL, &batch->place,
		batch->keys, batch->values, &batch->count, NULL);
	if (result != 0 && result != -ENOENT)
		return loading_fail(err, NULL, result, "read the table of requests");
	batch->has_begun = true;
	batch->has_ended = result == -ENOENT;
	return true;
}

/* A counter on one CPU may have fallen below 0 for what another CPU has counted. */
static void add_counts(struct ebpf_exchanges *sum, const struct requests_counts *counts, size_t cpu_count)
{
	for (size_t cpu = 0; cpu < cpu_count; cpu++) {
		sum->count += counts[cpu].count;
		sum->connections += counts[cpu].connections;
		sum->received_bytes += counts[cpu].received_bytes;
		sum->sent_bytes += counts[cpu].sent_bytes;
		if (!sum->name[0])
			memcpy(sum->name, counts[cpu].name, sizeof(sum->name) - 1);
	}
}

static void take_counts(struct ebpf_requests *requests, const struct requests_batch *batch)
{
	const struct requests_key *keys = batch->keys;

	for (uint32_t i = 0; i < batch->count && requests->exchange_count < MOST_READ; i++) {
		const void *counts = (const char *)batch->values + i * batch->value_bytes;
		struct ebpf_exchanges *next = &requests->exchanges[requests->exchange_count];

		*next = (struct ebpf_exchanges){ .process = (int32_t)keys[i].process,
			.kind = (enum ebpf_exchange_kind)keys[i].kind };
		add_counts(next, counts, requests->cpu_count);
		requests->exchange_count += next->count > 0 || next->connections > 0;
	}
}

bool ebpf_requests_read(
	struct ebpf_requests *requests, const struct ebpf_exchanges **exchanges, size_t *count, struct error *err)
{
	struct requests_batch batch;
	bool ok;

	if (!batch_init(&batch, requests->object->maps.counts, requests->cpu_count, err))
		return false;
	requests->exchange_count = 0;
	while ((ok = batch_next(&batch, err)) && batch.count > 0)
		take_counts(requests, &batch);
	batch_deinit(&batch);
	*exchanges = requests->exchanges;
	*count = requests->exchange_count;
	return ok;
}

static uint64_t add_cpus(const uint64_t *values, size_t cpu_count)
{
	uint64_t sum = 0;

	for (size_t cpu = 0; cpu < cpu_count; cpu++)
		sum += values[cpu];
	return sum;
}

static void add_latency(struct ebpf_requests *requests, struct ebpf_exchange_latency latency)
{
	if (latency.count > 0)
		requests->latencies[requests->latency_count++] = latency;
}

static struct ebpf_exchange_latency latency_of(
	const struct ebpf_requests *requests, const struct requests_batch *batch, uint32_t i)
{
	const struct requests_latency_key *key = (const struct requests_latency_key *)batch->keys + i;
	const uint64_t *values = (const uint64_t *)batch->values + i * requests->cpu_count;

	return (struct ebpf_exchange_latency){ .process = (int32_t)key->process,
		.kind = (enum ebpf_exchange_kind)key->kind,
		.bucket = key->bucket,
		.count = add_cpus(values, requests->cpu_count) };
}

static bool read_latencies_of_processes(struct ebpf_requests *requests, struct error *err)
{
	struct requests_batch batch;
	bool ok;

	if (!batch_init(&batch, requests->object->maps.latencies, requests->cpu_count, err))
		return false;
	while ((ok = batch_next(&batch, err)) && batch.count > 0)
		for (uint32_t i = 0; i < batch.count && requests->latency_count < REQUESTS_MOST_LATENCIES; i++)
			add_latency(requests, latency_of(requests, &batch, i));
	batch_deinit(&batch);
	return ok;
}

static bool read_latencies_of_others(struct ebpf_requests *requests, struct error *err)
{
	CLEANUP(cleanup_free) uint64_t *values = calloc(requests->cpu_count, sizeof(*values));

	if (!values)
		return error_set_memory(err);
	for (uint32_t i = 0; i < REQUESTS_KINDS * REQUESTS_BUCKETS; i++) {
		int result = bpf_map__lookup_elem(requests->object->maps.other_latencies, &i, sizeof(i), values,
			requests->cpu_count * sizeof(*values), 0);

		if (result != 0)
			return loading_fail(err, NULL, result, "read the table of requests");
		add_latency(requests,
			(struct ebpf_exchange_latency){ .kind = (enum ebpf_exchange_kind)(i / REQUESTS_BUCKETS),
				.bucket = (uint16_t)(i % REQUESTS_BUCKETS),
				.count = add_cpus(values, requests->cpu_count) + requests->retired_rest[i] });
	}
	return true;
}

bool ebpf_requests_read_latencies(struct ebpf_requests *requests, const struct ebpf_exchange_latency **latencies,
	size_t *count, struct error *err)
{
	const size_t most = REQUESTS_MOST_LATENCIES + REQUESTS_KINDS * REQUESTS_BUCKETS + requests->retired_count;

	free(requests->latencies);
	requests->latency_count = 0;
	requests->latencies = calloc(most, sizeof(*requests->latencies));
	if (!requests->latencies)
		return error_set_memory(err);
	if (!read_latencies_of_processes(requests, err) || !read_latencies_of_others(requests, err))
		return false;
	for (size_t i = 0; i < requests->retired_count; i++)
		add_latency(requests, requests->retired[i]);
	*latencies = requests->latencies;
	*count = requests->latency_count;
	return true;
}

/* ---- Processes that have ended ---- */

bool ebpf_requests_are_crowded(const struct ebpf_requests *requests)
{
	const struct requests_bpf__data *data = requests->object->data;

	return data->process_shares.all > data->process_shares.most / 4 ||
	       data->latency_shares.all > data->latency_shares.most / 4;
}

bool ebpf_requests_payer(const struct ebpf_requests *requests, int32_t process, uint32_t *payer)
{
	const struct bpf_map *payers = requests->object->maps.payers;

	return bpf_map__lookup_elem(payers, &process, sizeof(process), payer, sizeof(*payer), 0) == 0;
}

/* Moves a latency to those that are kept here; to those that are kept together, if the account has too many. */
static bool retire_latency(
	struct ebpf_requests *requests, struct ebpf_exchange_latency latency, uint32_t payer, struct error *err)
{
	const struct requests_latency_key key = {
		.process = (uint32_t)latency.process, .kind = (uint16_t)latency.kind, .bucket = latency.bucket
	};
	struct requests_bpf__data *data = requests->object->data;
	bool is_kept = shares_take(&requests->retired_shares, payer, 1);

	if (is_kept && !ARRAY_RESERVE(&requests->retired, &requests->retired_capacity, requests->retired_count + 1,
			       MOST_RETIRED, err))
		return false;
	if (bpf_map__delete_elem(requests->object->maps.latencies, &key, sizeof(key), 0) != 0) {
		if (is_kept)
			shares_give_back(&requests->retired_shares, payer, 1);
		return true;
	}
	if (is_kept)
		requests->retired[requests->retired_count++] = latency;
	else
		requests->retired_rest[latency.kind * REQUESTS_BUCKETS + latency.bucket] += latency.count;
	__atomic_fetch_sub(&data->latency_shares.all, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&data->latency_shares.held[payer], 1, __ATOMIC_RELAXED);
	return true;
}

/* The place of a process's account, if it is to be retired; UINT32_MAX: it is not. */
static uint32_t payer_among(const struct hash_map *payers, int32_t process)
{
	uint32_t payer = hash_map_get(payers, &process);

	return payer == HASH_MAP_NONE ? UINT32_MAX : payer;
}

static bool retire_latencies(struct ebpf_requests *requests, const struct hash_map *payers, struct error *err)
{
	struct requests_batch batch;
	bool ok = true, is_kept = true;

	if (!batch_init(&batch, requests->object->maps.latencies, requests->cpu_count, err))
		return false;
	while (is_kept && (ok = batch_next(&batch, err)) && batch.count > 0)
		for (uint32_t i = 0; is_kept && i < batch.count; i++) {
			struct ebpf_exchange_latency latency = latency_of(requests, &batch, i);
			uint32_t payer = payer_among(payers, latency.process);

			if (payer != UINT32_MAX)
				is_kept = retire_latency(requests, latency, payer, err);
		}
	batch_deinit(&batch);
	return ok && is_kept;
}

static void retire_process(struct ebpf_requests *requests, int32_t process, uint32_t payer)
{
	struct requests_bpf__data *data = requests->object->data;

	for (uint32_t kind = 0; kind < REQUESTS_KINDS; kind++) {
		const struct requests_key key = { .process = (uint32_t)process, .kind = kind };

		(void)bpf_map__delete_elem(requests->object->maps.counts, &key, sizeof(key), 0);
	}
	if (bpf_map__delete_elem(requests->object->maps.payers, &process, sizeof(process), 0) != 0)
		return;
	__atomic_fetch_sub(&data->process_shares.all, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&data->process_shares.held[payer], 1, __ATOMIC_RELAXED);
}

bool ebpf_requests_retire(struct ebpf_requests *requests, const int32_t *processes, size_t count, struct error *err)
{
	struct hash_map payers;
	uint32_t payer, *value;
	bool added, ok = true;

	/* The tables are large: they are not read for nothing. */
	if (count == 0)
		return true;
	hash_map_init(&payers, sizeof(int32_t));
	for (size_t i = 0; ok && i < count; i++)
		if (ebpf_requests_payer(requests, processes[i], &payer))
			ok = hash_map_add(&payers, &processes[i], payer, &value, &added, err);
	ok = ok && retire_latencies(requests, &payers, err);
	for (size_t i = 0; ok && i < count; i++)
		if ((payer = payer_among(&payers, processes[i])) != UINT32_MAX)
			retire_process(requests, processes[i], payer);
	hash_map_deinit(&payers);
	return ok;
}
