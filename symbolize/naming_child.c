/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/naming_child.h"

#include "binary/binary.h"
#include "symbolize/addresses.h"
#include "symbolize/cache.h"
#include "symbolize/data_names.h"
#include "symbolize/jit.h"
#include "symbolize/kallsyms.h"
#include "symbolize/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MORE_DESCRIPTORS = 512 };

/* The state that the threads of the child share. */
struct naming_child_shared {
	const struct naming_child *child;
	struct broker_client broker;
	pthread_mutex_t output_lock, cache_lock;
};

/* The client for which a thread asks the parent for files of the cache. */
struct cache_client {
	struct naming_child_shared *shared;
	uint32_t task;
};

/* The frames of one task, as they are made. */
struct made {
	uint64_t *addresses;          /* rising, without repetition unless there are times */
	struct placement_time *times; /* [address] NULL: none */
	struct symbolize_frames *frames;
	size_t count;
	struct arena arena; /* of frames from maps */
};

size_t naming_most_bytes(const struct naming_task *task)
{
	/* An address in code made at run time has an entry for each code that stood there. */
	bool is_made = task->map || task->inherited;
	size_t least = is_made ? (size_t)4 << 20 : (size_t)256 << 10, each = (is_made ? (size_t)32 : (size_t)8) << 10;
	static const size_t most = (size_t)64 << 20;

	return task->count + task->data_count < (most - least) / each ? least + (task->count + task->data_count) * each
								      : most;
}

static void made_deinit(struct made *made)
{
	arena_deinit(&made->arena);
	free(made->addresses);
	free(made->times);
	free(made->frames);
}

/* ---- Sending ---- */

/* A parent that no longer reads has given the child up. */
static void naming_child_send_message(
	struct naming_child_shared *shared, struct naming_answer *answer, const struct buffer *table)
{
	bool ok;

	answer->bytes = table ? table->size : 0;
	pthread_mutex_lock(&shared->output_lock);
	ok = file_write_all(shared->child->output, answer, sizeof(*answer)) &&
	     (!table || file_write_all(shared->child->output, table->data, table->size));
	pthread_mutex_unlock(&shared->output_lock);
	if (!ok)
		_exit(1);
}

static int naming_child_open_cached(void *context, uint64_t name)
{
	const struct cache_client *client = context;
	const struct naming_cache_request request = { .name = name, .task = client->task };
	struct naming_child_shared *shared = client->shared;
	char answer;
	int fd = -1;

	pthread_mutex_lock(&shared->cache_lock);
	if (message_send(shared->child->cache, &request, sizeof(request), -1) &&
		message_receive(shared->child->cache, &answer, sizeof(answer), 0, &fd) <= 0)
		fd = -1;
	pthread_mutex_unlock(&shared->cache_lock);
	return fd;
}

/* ---- One task ---- */

/* Sorts the addresses, with the frames that the image's files gave. `result` NULL: there is no image. */
static bool take_result(
	struct made *made, const struct naming_task *task, const struct symbolize_result *result, struct error *err)
{
	CLEANUP(cleanup_free) struct address_at *asked = addresses_indexed(task->addresses, task->count);

	made->addresses = calloc(task->count + 1, sizeof(*made->addresses));
	made->frames = calloc(task->count + 1, sizeof(*made->frames));
	if (!asked || !made->addresses || !made->frames)
		return error_set_memory(err);
	for (size_t i = 0; i < task->count; i++) {
		if (i > 0 && asked[i].address == asked[i - 1].address)
			continue;
		made->addresses[made->count] = asked[i].address;
		if (result)
			made->frames[made->count] = symbolize_result_frames(result, asked[i].index);
		made->count++;
	}
	return true;
}

static bool keep_frame(struct made *made, size_t index, struct symbolize_frame *frame, struct error *err)
{
	struct symbolize_frame *kept = ARENA_NEW(&made->arena, struct symbolize_frame);

	frame->name = arena_copy_string(&made->arena, frame->name, strlen(frame->name));
	frame->file = arena_copy_string(&made->arena, frame->file, strlen(frame->file));
	if (!kept || !frame->name || !frame->file)
		return error_set_memory(err);
	*kept = *frame;
	made->frames[index] = (struct symbolize_frames){ kept, 1 };
	return true;
}

/* Names what has no name yet by a map, which it takes over. */
static bool naming_child_take_map(struct made *made, struct symbol_map *map, bool is_kernel, struct error *err)
{
	char name[SYMBOL_MAP_NAME_BYTES];
	bool ok = true;

	for (size_t i = 0; ok && i < made->count; i++) {
		struct symbolize_frame frame;

		if (made->frames[i].count == 0 && symbol_map_frame(map, made->addresses[i], is_kernel, &frame, name))
			ok = keep_frame(made, i, &frame, err);
	}
	symbol_map_destroy(map);
	return ok;
}

/* Makes room for `count` entries, which begin as nothing. */
static bool make_entries(struct made *made, size_t count, struct error *err)
{
	made->addresses = calloc(count + 1, sizeof(*made->addresses));
	made->times = calloc(count + 1, sizeof(*made->times));
	made->frames = calloc(count + 1, sizeof(*made->frames));
	return (made->addresses && made->times && made->frames) || error_set_memory(err);
}

/* Adds what a map has at the address, one entry for each code that stood there; one without frames if it has none. */
static bool add_generations(struct made *made, const struct symbol_map *map, uint64_t address, struct error *err)
{
	size_t count;
	const struct symbol_map_symbol *symbols = symbol_map_starting_at(map, address, &count);
	char name[SYMBOL_MAP_NAME_BYTES];

	for (size_t i = 0; i < count; i++, made->count++) {
		struct symbolize_frame frame;

		symbol_map_symbol_frame(&symbols[i], false, &frame, name);
		made->addresses[made->count] = address;
		made->times[made->count] = symbols[i].time;
		if (!keep_frame(made, made->count, &frame, err))
			return false;
	}
	if (count == 0)
		made->addresses[made->count++] = address;
	return true;
}

/* Names what has no name yet by the map of code made at run time. */
static bool take_generations(struct made *made, const struct symbol_map *map, struct error *err)
{
	struct made before = *made;
	size_t room = before.count, count;
	bool ok;

	for (size_t i = 0; i < before.count; i++) {
		symbol_map_starting_at(map, before.addresses[i], &count);
		room += count;
	}
	made->count = 0;
	ok = make_entries(made, room, err);
	for (size_t i = 0; ok && i < before.count; i++) {
		if (before.frames[i].count == 0) {
			ok = add_generations(made, map, before.addresses[i], err);
			continue;
		}
		made->addresses[made->count] = before.addresses[i];
		made->times[made->count] = before.times ? before.times[i] : placement_any_time;
		made->frames[made->count++] = before.frames[i];
	}
	free(before.addresses);
	free(before.times);
	free(before.frames);
	return ok;
}

static bool take_jit_map(struct made *made, const struct naming_task *task, const struct file_opened *file,
	const struct jit_clock *clock, struct error *err)
{
	struct symbol_map *map;
	bool ok;

	if (!file)
		return true;
	if (!jit_read(file, clock, task->addresses, task->count, &map, err))
		return false;
	ok = take_generations(made, map, err);
	symbol_map_destroy(map);
	return ok;
}

static bool naming_child_take_maps(
	struct made *made, const struct naming_task *task, struct naming_answer *answer, struct error *err)
{
	/* What the other process has made since the fork, it has made in its own memory. */
	const struct jit_clock unknown = { 0 };
	bool is_restricted = false;
	struct symbol_map *map;

	if (!take_jit_map(made, task, task->map, &task->clock, err) ||
		!take_jit_map(made, task, task->inherited, &unknown, err))
		return false;
	if (!task->kallsyms)
		return true;
	if (!kallsyms_read(task->kallsyms, task->addresses, task->count, &map, &is_restricted, err))
		return false;
	answer->is_kallsyms_restricted = is_restricted;
	return naming_child_take_map(made, map, true, err);
}

/* Tells why a debug file, or debug information, was not used. */
static void note_refused(const struct naming_task *task, const struct symbolize_result *result,
	const struct symbolize_options *options, struct naming_answer *answer)
{
	enum elf_debug_source source;
	struct elf_image *debug;
	struct error why;

	debug = elf_image_debug(task->image, &options->debug, &source, &why);
	if (source == ELF_DEBUG_REFUSED || elf_image_lacks_alt(debug, &options->debug, &why))
		snprintf(answer->message, sizeof(answer->message), "%s", why.message);
	else if (symbolize_result_refused(result))
		snprintf(answer->message, sizeof(answer->message),
			"%.200s: its debug information refers to the same bytes over and over, as no compiler's does: "
			"not used; its symbols name its code",
			elf_image_path(task->image));
}

/* Appends the table of data. */
static bool add_data(const struct naming_task *task, const struct symbolize_options *options, struct buffer *table,
	struct error *err)
{
	const struct naming_task data = { .addresses = task->data, .count = task->data_count };
	struct made made = { 0 };
	bool ok;

	while (table->size % sizeof(uint64_t) != 0 && !table->failed)
		buffer_append_byte(table, 0);
	arena_init(&made.arena, 0);
	ok = take_result(&made, &data, NULL, err) &&
	     (made.count == 0 || data_names_find(task->image, options, made.addresses, made.count, &made.arena,
					 made.frames, err)) &&
	     named_frames_write(&(struct named_frames_entries){ .addresses = made.addresses,
					.frames = made.frames,
					.count = made.count,
					.source_directory = "" },
		     table, err);
	made_deinit(&made);
	return ok;
}

static bool naming_child_make_table(const struct naming_task *task, const struct symbolize_options *options,
	struct naming_answer *answer, struct buffer *table, struct error *err)
{
	struct symbolize_result *result = NULL;
	struct named_frames_entries entries;
	struct made made = { 0 };
	bool ok;

	if (task->image && task->count > 0 &&
		!symbolize_addresses(task->image, task->addresses, task->count, options, &result, err))
		return false;
	arena_init(&made.arena, 0);
	ok = take_result(&made, task, result, err) && naming_child_take_maps(&made, task, answer, err);
	if (ok && result) {
		const struct frame_cache_key *new_key = symbolize_result_new_key(result);

		note_refused(task, result, options, answer);
		answer->is_new = new_key != NULL;
		if (new_key) {
			answer->debug = new_key->files[1];
			answer->alt = new_key->files[2];
		}
	}
	entries = (struct named_frames_entries){ .addresses = made.addresses,
		.times = made.times,
		.frames = made.frames,
		.count = made.count,
		.source_directory = result ? symbolize_result_directory(result) : "" };
	if (result)
		symbolize_result_sources(result, &entries);
	ok = ok && named_frames_write(&entries, table, err);
	answer->code_bytes = table->size;
	symbolize_result_destroy(result);
	made_deinit(&made);
	return ok && add_data(task, options, table, err);
}

static void work_on_task(void *context, size_t index)
{
	struct naming_child_shared *shared = context;
	const struct naming_task *task = &shared->child->tasks[shared->child->chosen[index]];
	struct broker_opener through = { &shared->broker, (uint32_t)index };
	const struct elf_opener opener = broker_opener_of(&through);
	struct cache_client cache = { shared, (uint32_t)index };
	const struct frame_cache_opener cache_opener = { naming_child_open_cached, &cache };
	struct symbolize_options options = *shared->child->options;
	struct naming_answer answer = { .kind = NAMING_BEGINS, .task = (uint32_t)index };
	struct error err = { 0 };
	struct buffer table;

	options.debug.opener = &opener;
	options.cache_opener = &cache_opener;
	options.debuginfod = NULL;
	naming_child_send_message(shared, &answer, NULL);
	buffer_init(&table, naming_most_bytes(task));
	answer.kind = NAMING_DONE;
	if (!naming_child_make_table(task, &options, &answer, &table, &err)) {
		answer.kind = NAMING_FAILED;
		answer.code = err.code;
		snprintf(answer.message, sizeof(answer.message), "%s", err.message);
	}
	/* The image is this process' copy. What was read of it is memory for the next, which counts from the answer on.
	 */
	elf_image_unref(task->image);
	naming_child_send_message(shared, &answer, answer.kind == NAMING_DONE ? &table : NULL);
	buffer_deinit(&table);
}

/* ---- The process ---- */

static size_t add_descriptors(const struct naming_task *task, int *out)
{
	const struct file_opened *files[] = { task->map, task->inherited, task->kallsyms };
	size_t count = 0;

	if (task->image)
		out[count++] = elf_image_descriptor(task->image);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i])
			out[count++] = files[i]->fd;
	return count;
}

/* Returns what the confinement lacks. It writes to its output, and talks over its sockets. */
static unsigned int confine(const struct naming_child *child)
{
	enum { MOST_OF_A_TASK = 4, OF_ITSELF = 4 };
	int *kept = calloc(child->chosen_count * MOST_OF_A_TASK + OF_ITSELF, sizeof(*kept));
	const struct filter_rule talks[] = {
		FILTER_IF(write, 0, UINT32_MAX, (uint32_t)child->output),
		FILTER_IF(sendmsg, 0, UINT32_MAX, (uint32_t)child->broker),
		FILTER_IF(recvmsg, 0, UINT32_MAX, (uint32_t)child->broker),
		FILTER_IF(sendmsg, 0, UINT32_MAX, (uint32_t)child->cache),
		FILTER_IF(recvmsg, 0, UINT32_MAX, (uint32_t)child->cache),
	};
	const struct child_limit limits[] = { { RLIMIT_DATA, child->memory_bytes, true }, { RLIMIT_FSIZE, 0, false } };
	struct confinement confinement = {
		.descriptors = kept,
		.descriptor_count = OF_ITSELF,
		.more_descriptors = MORE_DESCRIPTORS,
		.user = CONFINED_NOBODY,
		.id = child->user,
		.leaves_file_systems = true,
		.more_calls = { FILTER_SET(talks) },
		.limits = limits,
		.limit_count = sizeof(limits) / sizeof(limits[0]),
		.alive = child->alive,
	};
	unsigned int left;

	if (!kept)
		_exit(1);
	memcpy(kept, (const int[OF_ITSELF]){ child->output, child->broker, child->cache, child->alive },
		OF_ITSELF * sizeof(*kept));
	for (size_t i = 0; i < child->chosen_count; i++)
		confinement.descriptor_count +=
			add_descriptors(&child->tasks[child->chosen[i]], kept + confinement.descriptor_count);
	left = child->left | confined_enter(&confinement);
	free(kept);
	return confined_lacks(left);
}

/* A decoder of instructions is a library that is loaded when the first one is made, and stays. */
static void load_decoders(const struct naming_child *child)
{
	const struct machine *loaded = NULL;

	for (size_t i = 0; i < child->chosen_count; i++) {
		const struct elf_image *image = child->tasks[child->chosen[i]].image;
		const struct machine *machine = image ? machine_of(elf_image_machine(image)) : NULL;

		if (!machine || machine == loaded)
			continue;
		machine_decoder_destroy(machine_decoder_create(machine));
		loaded = machine;
	}
}

/* Stacks count as memory of the process, whether they are used or not. */
static void set_stack_size(void)
{
	pthread_attr_t attributes;

	if (pthread_attr_init(&attributes) != 0)
		return;
	if (pthread_attr_setstacksize(&attributes, NAMING_STACK_BYTES) == 0)
		(void)pthread_setattr_default_np(&attributes);
	pthread_attr_destroy(&attributes);
}

_Noreturn void naming_child_run(const struct naming_child *child)
{
	struct naming_child_shared shared = { .child = child, .broker = { .socket = child->broker } };
	struct naming_answer answer = { .kind = NAMING_CONFINED };

	pthread_mutex_init(&shared.broker.lock, NULL);
	pthread_mutex_init(&shared.cache_lock, NULL);
	pthread_mutex_init(&shared.output_lock, NULL);
	set_stack_size();
	if (child->options->fingerprints != SYMBOLIZE_FINGERPRINT_NONE)
		load_decoders(child);
	answer.lacks = confine(child);
	naming_child_send_message(&shared, &answer, NULL);
	if (answer.lacks && child->options->require_confinement)
		_exit(1);
	work_pool_run(child->options->threads, child->chosen_count, work_on_task, &shared);
	_exit(0);
}
