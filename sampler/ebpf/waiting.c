/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/ebpf/waiting.h"

#include "sampler/ebpf/frame_reader_sharing.h"
#include "sampler/ebpf/loading.h"
#include "sampler/ebpf/shares.h"
#include "sampler/ebpf/waiting_shared.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "waiting.skel.h"

enum { WINDOWS_PER_S = 10 };

/* Switches of which there is room: for each CPU, and for all of them. */
enum { MOST_SWITCHES = 1 << 16, MOST_SWITCHES_TOGETHER = 1 << 22, LEAST_SWITCHES = 1 << 12 };

/* The programs of which there are two: with and without frames of interpreters. */
struct hooks {
	struct bpf_program *fentry, *kprobe, *rseq, *signal, *release;
};

struct ebpf_waiting {
	struct waiting_bpf *object;
	struct hooks hooks;
	enum ebpf_waiting_hook hook;
	struct bpf_link *links[5];
	size_t link_count;
	struct waiting_switch *switches; /* owned mappings: [cpu x room], [cpu]; NULL: switches are not written */
	struct waiting_ring *rings;
	size_t cpu_count, switch_room;
	size_t reading; /* CPU whose ring is read next */
};

/* The result of the program that visits threads. */
struct visited {
	struct ebpf_wait wait;
	uint64_t waits;
	uint64_t registers[WAITING_REGISTERS];
};

/* ---- Loading ---- */

static struct hooks hooks_of(const struct waiting_bpf *object, bool with_frames)
{
	if (with_frames)
		return (struct hooks){ object->progs.goes_on_fentry_with_frames,
			object->progs.goes_on_kprobe_with_frames, object->progs.goes_on_rseq_with_frames,
			object->progs.gets_signal_with_frames, object->progs.release_thread_with_frames };
	return (struct hooks){ object->progs.goes_on_fentry, object->progs.goes_on_kprobe, object->progs.goes_on_rseq,
		object->progs.gets_signal, object->progs.release_thread };
}

/* Sets whether they are loaded at all, and with which hook. */
static void select_hooks(const struct hooks *hooks, bool are_loaded, bool is_traced)
{
	bpf_program__set_autoload(hooks->fentry, are_loaded && is_traced);
	bpf_program__set_autoload(hooks->kprobe, are_loaded && !is_traced);
	bpf_program__set_autoload(hooks->rseq, are_loaded && !is_traced);
	bpf_program__set_autoload(hooks->signal, are_loaded);
	bpf_program__set_autoload(hooks->release, are_loaded);
}

/* The maps of frames are those of the reader, or none. Returns 0 or -errno. */
static int set_frame_reader(struct waiting_bpf *object, const struct ebpf_frame_reader *frame_reader)
{
	const struct frame_reader_sharing sharing = { object->maps.interpreters, object->maps.places,
		object->maps.areas, object->maps.codes, &object->rodata->constants };
	int result;

	if (frame_reader)
		return frame_reader_share(frame_reader, &sharing);
	result = bpf_map__set_autocreate(sharing.interpreters, false);
	if (result == 0)
		result = bpf_map__set_autocreate(sharing.places, false);
	if (result == 0)
		result = bpf_map__set_autocreate(sharing.areas, false);
	return result == 0 ? bpf_map__set_autocreate(sharing.codes, false) : result;
}

static bool attach(struct ebpf_waiting *waiting, struct bpf_link *link)
{
	if (!link)
		return false;
	waiting->links[waiting->link_count++] = link;
	return true;
}

/* The compiler may have made a variant of the function, whose name tells how. */
static bool attach_kprobe(struct ebpf_waiting *waiting)
{
	static const char *const names[] = { "finish_task_switch", "finish_task_switch.isra.0",
		"finish_task_switch.constprop.0" };

	if (access("/sys/bus/event_source/devices/kprobe/type", F_OK) != 0)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (attach(waiting, bpf_program__attach_kprobe(waiting->hooks.kprobe, false, names[i])))
			return true;
	return false;
}

static bool attach_hook(struct ebpf_waiting *waiting, bool is_traced)
{
	if (is_traced) {
		waiting->hook = EBPF_WAITING_FENTRY;
		return attach(waiting, bpf_program__attach(waiting->hooks.fentry));
	}
	waiting->hook = EBPF_WAITING_KPROBE;
	if (attach_kprobe(waiting))
		return true;
	waiting->hook = EBPF_WAITING_RSEQ_UPDATE;
	return attach(waiting, bpf_program__attach(waiting->hooks.rseq));
}

static void set_constants(struct waiting_bpf *object, const struct ebpf_waiting_options *options)
{
	object->rodata->has_set = options->processes != NULL;
	object->rodata->only_tid = (uint32_t)options->only_tid;
	object->rodata->register_bytes = options->registers.bytes;
	object->rodata->call_offset = options->registers.call;
	object->rodata->argument_offsets[0] = options->registers.arguments[0];
	object->rodata->argument_offsets[1] = options->registers.arguments[1];
	for (size_t i = 0; i < options->call_count && i < WAITING_MOST_CALLS; i++)
		object->rodata->descriptors_of_call[i] = options->descriptors_of_call[i];
	object->rodata->most_in_window =
		options->samples_per_second > WINDOWS_PER_S ? options->samples_per_second / WINDOWS_PER_S : 1;
	if (options->most_threads > 0 && options->most_threads < WAITING_MOST_THREADS)
		object->data->thread_shares.most = options->most_threads;
	object->data->interval = options->interval_ns > 0 ? options->interval_ns : 1;
}

/* Returns 0 or -errno. */
static int set_switches(struct waiting_bpf *object, const struct ebpf_waiting_options *options)
{
	uint32_t room = MOST_SWITCHES;
	int result;

	if (!options->has_switches)
		return 0;
	while (room > LEAST_SWITCHES && room * options->cpu_count > MOST_SWITCHES_TOGETHER)
		room /= 2;
	object->rodata->switch_room = room;
	result = bpf_map__set_max_entries(object->maps.switches, room * (uint32_t)options->cpu_count);
	return result == 0 ? bpf_map__set_max_entries(object->maps.switch_rings, (uint32_t)options->cpu_count) : result;
}

static void *map_array(struct bpf_map *map)
{
	void *mapped = mmap(NULL, (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map), PROT_READ | PROT_WRITE,
		MAP_SHARED, bpf_map__fd(map), 0);

	return mapped == MAP_FAILED ? NULL : mapped;
}

static void unmap_array(void *mapped, size_t count, size_t size)
{
	if (mapped)
		munmap(mapped, count * size);
}

static bool map_switches(struct ebpf_waiting *waiting, const struct ebpf_waiting_options *options, struct error *err)
{
	if (!options->has_switches)
		return true;
	waiting->cpu_count = options->cpu_count;
	waiting->switch_room = waiting->object->rodata->switch_room;
	waiting->switches = map_array(waiting->object->maps.switches);
	waiting->rings = map_array(waiting->object->maps.switch_rings);
	return (waiting->switches && waiting->rings) || loading_fail(err, NULL, -errno, "map the switches of threads");
}

static bool ebpf_waiting_has_frames(const struct ebpf_waiting_options *options)
{
	return options->frame_reader && frame_reader_can_be_shared(options->frame_reader);
}

/* Opens the programs, of which those are switched off that are not to be loaded. NULL, with errno set. */
static struct waiting_bpf *ebpf_waiting_open_programs(
	const struct ebpf_waiting_options *options, bool is_traced, struct loading *loading)
{
	bool with_frames = ebpf_waiting_has_frames(options);
	struct waiting_bpf *object;
	struct hooks hooks;
	int result;

	loading_init(loading);
	object = waiting_bpf__open_opts(&loading->options);
	if (!object)
		return NULL;
	set_constants(object, options);
	hooks = hooks_of(object, !with_frames);
	select_hooks(&hooks, false, is_traced);
	hooks = hooks_of(object, with_frames);
	select_hooks(&hooks, true, is_traced);
	/* The program is loaded since Linux 5.14. */
	bpf_program__set_autoload(
		object->progs.charge_sleeper, libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_SYSCALL, NULL) == 1);
	result = set_switches(object, options);
	if (result == 0)
		result = set_frame_reader(object, with_frames ? options->frame_reader : NULL);
	if (result == 0 && options->processes)
		result = bpf_map__reuse_fd(object->maps.processes, ebpf_process_set_map(options->processes));
	if (result == 0)
		return object;
	waiting_bpf__destroy(object);
	errno = -result;
	return NULL;
}

/* `result`: -errno of the step that failed. */
static bool ebpf_waiting_load(
	struct ebpf_waiting *waiting, const struct ebpf_waiting_options *options, bool is_traced, struct error *err)
{
	struct loading loading;
	int result;

	waiting->object = ebpf_waiting_open_programs(options, is_traced, &loading);
	result = waiting->object ? loading_load(waiting->object->skeleton) : -errno;
	if (waiting->object)
		waiting->hooks = hooks_of(waiting->object, ebpf_waiting_has_frames(options));
	loading_finish(&loading);
	if (result != 0)
		return loading_fail(err, &loading, result, "load the programs that sample waits");
	if (attach_hook(waiting, is_traced) && attach(waiting, bpf_program__attach(waiting->hooks.signal)) &&
		attach(waiting, bpf_program__attach(waiting->object->progs.switch_threads)) &&
		attach(waiting, bpf_program__attach(waiting->hooks.release)) &&
		attach(waiting, bpf_program__attach(waiting->object->progs.visit_thread)))
		return true;
	return loading_fail(err, NULL, -errno, "attach the programs that sample waits");
}

static void unload(struct ebpf_waiting *waiting)
{
	for (size_t i = 0; i < waiting->link_count; i++)
		bpf_link__destroy(waiting->links[i]);
	waiting->link_count = 0;
	unmap_array(waiting->switches, waiting->cpu_count * waiting->switch_room, sizeof(*waiting->switches));
	unmap_array(waiting->rings, waiting->cpu_count, sizeof(*waiting->rings));
	waiting->switches = NULL;
	waiting->rings = NULL;
	waiting_bpf__destroy(waiting->object);
	waiting->object = NULL;
}

bool ebpf_waiting_set_output(struct ebpf_waiting *waiting, uint32_t cpu, int event)
{
	return bpf_map__update_elem(waiting->object->maps.rings, &cpu, sizeof(cpu), &event, sizeof(event), BPF_ANY) ==
	       0;
}

static bool set_outputs(struct ebpf_waiting *waiting, const struct ebpf_waiting_options *options, struct error *err)
{
	for (size_t i = 0; i < options->cpu_count; i++) {
		if (options->output[i] >= 0 && !ebpf_waiting_set_output(waiting, (uint32_t)i, options->output[i]))
			return loading_fail(err, NULL, -errno, "give the programs that sample waits their buffers");
	}
	return true;
}

bool ebpf_waiting_create(const struct ebpf_waiting_options *options, struct ebpf_waiting **waiting, struct error *err)
{
	struct ebpf_waiting *made;

	if (!proc_is_initial_namespace(true))
		return error_set(err, ERROR_UNSUPPORTED,
			"kelvin runs in a pid namespace of its own: run it outside (a container with '--pid=host')");
	made = calloc(1, sizeof(*made));
	if (!made)
		return error_set_memory(err);
	if (options->is_untraced || !ebpf_waiting_load(made, options, true, err)) {
		unload(made);
		if (!ebpf_waiting_load(made, options, false, err)) {
			ebpf_waiting_destroy(made);
			return loading_explain("5.8", err);
		}
	}
	if (!set_outputs(made, options, err) || !map_switches(made, options, err)) {
		ebpf_waiting_destroy(made);
		return false;
	}
	*waiting = made;
	return true;
}

void ebpf_waiting_destroy(struct ebpf_waiting *waiting)
{
	if (!waiting)
		return;
	unload(waiting);
	free(waiting);
}

enum ebpf_waiting_hook ebpf_waiting_hook(const struct ebpf_waiting *waiting)
{
	return waiting->hook;
}

/* ---- While it runs ---- */

void ebpf_waiting_enable(struct ebpf_waiting *waiting, uint64_t since_ns)
{
	__atomic_store_n(&waiting->object->bss->enabled_at, since_ns, __ATOMIC_RELAXED);
}

void ebpf_waiting_set_interval(struct ebpf_waiting *waiting, uint64_t interval_ns)
{
	__atomic_store_n(&waiting->object->data->interval, interval_ns > 0 ? interval_ns : 1, __ATOMIC_RELAXED);
}

struct ebpf_waiting_counts ebpf_waiting_counts(const struct ebpf_waiting *waiting)
{
	struct ebpf_waiting_counts sum = { 0 };
	int cpu_count = libbpf_num_possible_cpus();
	CLEANUP(cleanup_free)
	struct waiting_counters *counters = cpu_count > 0 ? calloc((size_t)cpu_count, sizeof(*counters)) : NULL;
	const uint32_t zero = 0;

	if (!counters || bpf_map__lookup_elem(waiting->object->maps.counters, &zero, sizeof(zero), counters,
				 (size_t)cpu_count * sizeof(*counters), 0) != 0)
		return sum;
	for (int i = 0; i < cpu_count; i++) {
		sum.samples += counters[i].samples;
		sum.deferred += counters[i].deferred;
		sum.lost += counters[i].lost;
		sum.lost_ns += counters[i].lost_ns;
		sum.switches += counters[i].switches;
		sum.switches_lost += counters[i].switches_lost;
		/* One CPU may meet a thread, and another one its end. */
		sum.threads += counters[i].threads_met - counters[i].threads_ended;
		sum.threads_unknown += counters[i].threads_unknown;
	}
	return sum;
}

/* ---- Switches ---- */

size_t ebpf_waiting_take_switches(struct ebpf_waiting *waiting, struct ebpf_switch *switches, size_t most)
{
	size_t taken = 0;

	for (size_t i = 0; waiting->rings && i < waiting->cpu_count; i++) {
		struct waiting_ring *ring = &waiting->rings[waiting->reading];
		const struct waiting_switch *items = &waiting->switches[waiting->reading * waiting->switch_room];
		uint64_t written = __atomic_load_n(&ring->written, __ATOMIC_ACQUIRE), at = ring->taken;

		for (; at != written && taken < most; at++) {
			const struct waiting_switch *item = &items[at & (waiting->switch_room - 1)];

			switches[taken++] = (struct ebpf_switch){ item->time_ns, (int32_t)item->tid, item->is_on };
		}
		__atomic_store_n(&ring->taken, at, __ATOMIC_RELEASE);
		if (at != written)
			return taken;
		waiting->reading = (waiting->reading + 1) % waiting->cpu_count;
	}
	return taken;
}

/* ---- Threads that are asleep ---- */

enum { VISITED_TOGETHER = 64 };

struct ebpf_visit {
	int iterator; /* owned */
	struct visited visited[VISITED_TOGETHER];
	size_t filled; /* bytes that were read */
	size_t taken;  /* threads of these that were shown */
	size_t register_count;
	struct ebpf_sleeper sleeper;
};

bool ebpf_visit_begin(struct ebpf_waiting *waiting, struct ebpf_visit **visit, struct error *err)
{
	struct ebpf_visit *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->iterator = bpf_iter_create(bpf_link__fd(waiting->links[waiting->link_count - 1]));
	if (made->iterator < 0) {
		int failure = made->iterator;

		free(made);
		return loading_fail(err, NULL, failure, "visit the threads that are asleep");
	}
	made->register_count = waiting->object->rodata->register_bytes / sizeof(uint64_t);
	waiting->object->bss->shows = true;
	*visit = made;
	return true;
}

void ebpf_visit_end(struct ebpf_visit *visit)
{
	if (!visit)
		return;
	close(visit->iterator);
	free(visit);
}

/* Reads until there is a whole thread, or no other. The kernel asks to be called again after many that are not shown.
 */
static bool read_visited(struct ebpf_visit *visit, struct error *err)
{
	ssize_t got = 1;

	visit->filled -= visit->taken * sizeof(visit->visited[0]);
	memmove(visit->visited, &visit->visited[visit->taken], visit->filled);
	visit->taken = 0;
	while (visit->filled < sizeof(visit->visited[0]) && got != 0) {
		got = read(visit->iterator, (char *)visit->visited + visit->filled,
			sizeof(visit->visited) - visit->filled);
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			return loading_fail(err, NULL, -errno, "visit the threads that are asleep");
		visit->filled += got > 0 ? (size_t)got : 0;
	}
	return true;
}

bool ebpf_visit_next(struct ebpf_visit *visit, struct ebpf_sleeper **sleeper, struct error *err)
{
	const struct visited *next;

	*sleeper = NULL;
	if (visit->taken == visit->filled / sizeof(*next) && !read_visited(visit, err))
		return false;
	if (visit->taken == visit->filled / sizeof(*next))
		return true;
	next = &visit->visited[visit->taken++];
	visit->sleeper = (struct ebpf_sleeper){
		.wait = next->wait, .waits = next->waits, .register_count = (uint32_t)visit->register_count
	};
	memcpy(visit->sleeper.registers, next->registers, sizeof(next->registers));
	*sleeper = &visit->sleeper;
	return true;
}

bool ebpf_waiting_meet(struct ebpf_waiting *waiting, struct error *err)
{
	struct ebpf_sleeper *ignored;
	struct ebpf_visit *visit;
	bool ok;

	if (!ebpf_visit_begin(waiting, &visit, err))
		return false;
	waiting->object->bss->shows = false;
	ok = ebpf_visit_next(visit, &ignored, err);
	ebpf_visit_end(visit);
	return ok;
}

/* One thread alone is visited since Linux 6.1, and all of them before. */
enum ebpf_wait_peer ebpf_waiting_find_peer(
	struct ebpf_waiting *waiting, uint32_t tid, const struct ebpf_polled *polled, size_t count)
{
	struct waiting_bpf__bss *shared = waiting->object->bss;
	union bpf_iter_link_info only = { .task.tid = tid };
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &only, .link_info_len = sizeof(only));
	struct bpf_link *link;
	char ignored[8];
	int iterator;

	if (count == 0 || count > EBPF_MOST_POLLED)
		return EBPF_PEER_UNKNOWN;
	shared->polled.tid = tid;
	shared->polled.count = (uint32_t)count;
	shared->polled.peer = EBPF_PEER_UNKNOWN;
	memcpy(shared->polled.items, polled, count * sizeof(*polled));
	link = bpf_program__attach_iter(waiting->object->progs.look_at_polled, &options);
	iterator = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	if (iterator >= 0) {
		while (read(iterator, ignored, sizeof(ignored)) < 0 && (errno == EINTR || errno == EAGAIN))
			;
		close(iterator);
	}
	bpf_link__destroy(link);
	return (enum ebpf_wait_peer)shared->polled.peer;
}

bool ebpf_waiting_charge(struct ebpf_waiting *waiting, struct ebpf_sleeper *sleeper)
{
	struct waiting_bpf__bss *shared = waiting->object->bss;
	struct bpf_test_run_opts options = { .sz = sizeof(options) };

	shared->charged.wait = sleeper->wait;
	shared->charged.waits = sleeper->waits;
	if (bpf_prog_test_run_opts(bpf_program__fd(waiting->object->progs.charge_sleeper), &options) != 0 ||
		options.retval == 0)
		return false;
	sleeper->wait = shared->charged.wait;
	return true;
}
