/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/process.h"

#include "sampler/process/image.h"
#include "sampler/process/jit_growth.h"
#include "sampler/process/jit_map.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { MAX_PROCESSES = 1 << 22, MAX_PLACES = 1 << 28 };

/* Fewer places are not worth a search for unused ones. */
enum { FEW_PLACES = 1 << 16 };

void process_table_init(
	struct process_table *table, struct profile *profile, struct process_host host, struct buffer *notices)
{
	*table = (struct process_table){
		.profile = profile,
		.host = host,
		.notices = notices,
		.next_generation = 1,
		.version = 1,
		.kernel_image = PROFILE_NONE,
		.place_limit = FEW_PLACES,
		.unused_place = PROFILE_NONE,
	};
	hash_map_init(&table->by_pid, sizeof(int32_t));
	hash_map_init(&table->by_tid, sizeof(int32_t));
	image_keys_init(&table->by_file);
	owners_init(&table->owners);
	shares_init(&table->watched_maps, JIT_GROWTH_MOST_FILES);
}

void process_table_deinit(struct process_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		mappings_deinit(&table->processes[i].mappings);
	for (size_t i = 0; i < table->image_count; i++) {
		elf_image_unref(table->images[i].elf);
		frame_table_destroy(table->images[i].table);
		jit_place_deinit(&table->images[i].jit_map);
		jit_place_deinit(&table->images[i].inherited_map);
		jit_growth_destroy(table->images[i].growth);
	}
	free(table->code);
	free(table->processes);
	free(table->threads);
	free(table->images);
	free(table->places);
	hash_map_deinit(&table->by_pid);
	hash_map_deinit(&table->by_tid);
	hash_map_deinit(&table->by_file);
	owners_deinit(&table->owners);
	shares_deinit(&table->watched_maps);
	*table = (struct process_table){ 0 };
}

static const struct process_image *image_at(const struct process_table *table, uint32_t place)
{
	return &table->images[table->places[place].image];
}

/*
 * Records which file's code the memory replaces: it may hold a copy of it, as PHP and node move their code into huge
 * pages.
 */
static void note_covered(
	const struct process_table *table, const struct process *process, struct process_mapping *mapping)
{
	const struct process_mapping *before = mappings_find(&process->mappings, mapping->start);

	if (image_at(table, mapping->place)->elf || !before || before->end < mapping->end)
		return;
	mapping->covered_place = image_at(table, before->place)->elf ? before->place : before->covered_place;
}

static void mark_mapped_places(struct process_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct process_mappings *mappings = &table->processes[i].mappings;

		for (size_t at = 0; at < mappings->count; at++) {
			const struct process_mapping *mapping = &mappings->items[at];

			table->places[mapping->place].is_mapped = true;
			if (mapping->covered_place != PROFILE_NONE)
				table->places[mapping->covered_place].is_mapped = true;
		}
	}
}

/*
 * Finds the places that can be used again: those which no process has mapped any more, and no walk has met. The search
 * is made when the table has as many places again as were in use after the search before.
 */
static void find_unused_places(struct process_table *table)
{
	size_t used = 0;

	for (size_t i = 0; i < table->place_count; i++)
		table->places[i].is_mapped = false;
	mark_mapped_places(table);
	table->unused_place = PROFILE_NONE;
	for (size_t i = table->place_count; i-- > 0;) {
		struct process_place *place = &table->places[i];
		struct process_image *image = &table->images[place->image];

		if (place->is_mapped || place->is_walked) {
			used++;
			continue;
		}
		if (image->latest_place == i)
			image->latest_place = PROFILE_NONE;
		place->bias = table->unused_place;
		table->unused_place = (uint32_t)i;
	}
	table->place_limit = used > FEW_PLACES / 2 ? 2 * used : FEW_PLACES;
}

static bool process_take_place(struct process_table *table, uint32_t *id, struct error *err)
{
	if (table->unused_place == PROFILE_NONE && table->place_count >= table->place_limit)
		find_unused_places(table);
	*id = table->unused_place;
	if (*id != PROFILE_NONE) {
		table->unused_place = (uint32_t)table->places[*id].bias;
		return true;
	}
	if (!ARRAY_RESERVE(&table->places, &table->place_capacity, table->place_count + 1, MAX_PLACES, err))
		return false;
	*id = (uint32_t)table->place_count++;
	return true;
}

/* Adds a place. Memory without a file always has one place in its process, and the pieces of a file mostly have one. */
static bool process_add_place(
	struct process_table *table, const struct process_place *place, uint32_t *id, struct error *err)
{
	struct process_image *image = &table->images[place->image];

	if (image->latest_place == PROFILE_NONE || table->places[image->latest_place].bias != place->bias) {
		if (!process_take_place(table, id, err))
			return false;
		table->places[*id] = (struct process_place){
			.bias = place->bias, .image = place->image, .mapping = image->mapping_id
		};
		image->latest_place = *id;
	}
	*id = image->latest_place;
	return true;
}

bool process_table_add_names(struct process_table *table, uint32_t *place, struct error *err)
{
	struct process_place made = { 0 };

	if (!image_add_names(table, &made.image, err) || !process_add_place(table, &made, place, err))
		return false;
	/* No process has it mapped, but walks meet it. */
	table->places[*place].is_walked = true;
	return true;
}

static struct owner *owner_of(struct process_table *table, const struct process *process)
{
	return owners_at(&table->owners, process->owner);
}

static struct owner *owner_of_pid(const struct process_table *table, int32_t pid)
{
	uint32_t id = hash_map_get(&table->by_pid, &pid);
	uint32_t owner = id == HASH_MAP_NONE ? OWNER_NOBODY : table->processes[id].owner;

	return owner < table->owners.count ? &table->owners.owners[owner] : NULL;
}

uint64_t process_table_account(const struct process_table *table, int32_t pid)
{
	const struct owner *owner = owner_of_pid(table, pid);

	return owner ? owner->account : SHARES_NOBODY;
}

bool process_table_pay_reads(struct process_table *table, int32_t pid, uint64_t clock_ns, uint32_t count)
{
	return owner_pay_reads(owner_of_pid(table, pid), clock_ns, count);
}

static void process_note_change(struct process_table *table, struct process *process)
{
	process->generation = table->next_generation++;
	process->changed_ns = table->owners.now_ns;
}

/* Removes mappings of a process, or all of them where it has ended or executes another program. */
static void forget_mappings(struct process_table *table, struct process *process, uint64_t start, uint64_t end)
{
	size_t before = process->mappings.count;

	mappings_remove(&process->mappings, start, end);
	if (start <= process->probes && process->probes < end)
		process->probes = process->probes_end = 0;
	owner_count_mappings(owner_of(table, process), before, process->mappings.count);
	process_note_change(table, process);
}

static void report_forgotten(const struct process_table *table, const struct process *process)
{
	if (table->listener.forgets)
		table->listener.forgets(table->listener.context, process);
}

/* Keeps a mapping, if its user can pay for it; what it replaces is gone all the same. */
static bool keep_mapping(
	struct process_table *table, struct process *process, const struct process_mapping *mapping, struct error *err)
{
	struct owner *owner = owner_of(table, process);
	size_t before = process->mappings.count;
	uint64_t work =
		OWNER_WORK_MAPPING + mappings_moved_bytes(&process->mappings, mapping->start) / OWNER_MOVED_PER_UNIT;

	if (!owner_pay_mapping(&table->owners, owner, work, &process->work)) {
		forget_mappings(table, process, mapping->start, mapping->end);
		return true;
	}
	if (!mappings_add(&process->mappings, mapping, err) && err->code != ERROR_LIMIT)
		return false;
	owner_count_mappings(owner, before, process->mappings.count);
	process_note_change(table, process);
	return true;
}

bool process_table_map(
	struct process_table *table, struct process *process, const struct elf_mapping *mapped, struct error *err)
{
	struct process_mapping mapping = { .start = mapped->start, .end = mapped->end, .covered_place = PROFILE_NONE };
	struct process_place place;

	if (!image_of_mapping(table, process, mapped, &place, err))
		return false;
	if (place.image == PROFILE_NONE) {
		forget_mappings(table, process, mapped->start, mapped->end);
		return true;
	}
	if (!process_add_place(table, &place, &mapping.place, err))
		return false;
	/* Set up by the kernel with the first probe that the process meets. */
	if (strcmp(mapped->path, "[uprobes]") == 0) {
		process->probes = mapped->start;
		process->probes_end = mapped->end;
	}
	note_covered(table, process, &mapping);
	if (!mappings_have(&process->mappings, &mapping) && !keep_mapping(table, process, &mapping, err))
		return false;
	if (table->listener.maps)
		table->listener.maps(table->listener.context, process, mapping.place);
	return true;
}

/* Finds a process, or adds it; only an addition moves the others. */
static bool process_add_process(struct process_table *table, int32_t pid, struct process **process, struct error *err)
{
	uint32_t id = hash_map_get(&table->by_pid, &pid), *value;
	bool added;

	*process = id == HASH_MAP_NONE ? NULL : &table->processes[id];
	if (*process)
		return true;
	if (!ARRAY_RESERVE(&table->processes, &table->capacity, table->count + 1, MAX_PROCESSES, err) ||
		!hash_map_add(&table->by_pid, &pid, (uint32_t)table->count, &value, &added, err))
		return false;
	*process = &table->processes[table->count++];
	**process = (struct process){
		.pid = pid,
		.is_alive = true,
		.owner = OWNER_NOBODY,
		.generation = table->next_generation++,
		.mappings = { .kept = &table->owners.kept },
	};
	return true;
}

static void process_find_owner(struct process_table *table, struct process *process)
{
	uint64_t account;

	if (table->host.functions->account_of(process->pid, &account))
		process->owner = owners_find(&table->owners, account);
	table->host.functions->identify(process->pid, &process->identity);
}

bool process_table_get(struct process_table *table, int32_t pid, struct process **process, struct error *err)
{
	if (!process_add_process(table, pid, process, err))
		return false;
	if ((*process)->maps_are_read)
		return true;
	(*process)->maps_are_read = true;
	(*process)->losses = table->losses;
	process_find_owner(table, *process);
	return table->host.functions->read_process(table, *process, err);
}

/* Names are kept as text: interning each would keep all that a program ever gives itself. */
static void name_copy(char name[PROC_COMM_BYTES], const char *text)
{
	size_t size = strnlen(text, PROC_COMM_BYTES - 1);

	memcpy(name, text, size);
	name[size] = '\0';
}

static bool process_add_thread(struct process_table *table, int32_t tid, bool *added, char **name, struct error *err)
{
	uint32_t *value;

	if (!ARRAY_RESERVE(&table->threads, &table->thread_capacity, table->thread_count + 1, MAX_PROCESSES, err) ||
		!hash_map_add(&table->by_tid, &tid, (uint32_t)table->thread_count, &value, added, err))
		return false;
	if (*added)
		table->threads[table->thread_count++] = (struct process_thread){ .tid = tid };
	*name = table->threads[*value].name;
	return true;
}

/* Finds the name of a thread as text, borrowed until the next thread is added. */
static bool find_thread_name(
	struct process_table *table, int32_t pid, int32_t tid, const char **name, struct error *err)
{
	char *known;
	bool added;

	if (!process_add_thread(table, tid, &added, &known, err))
		return false;
	if (added)
		table->host.functions->read_comm(pid, tid, known);
	*name = known;
	return true;
}

bool process_table_thread_name(struct process_table *table, int32_t pid, int32_t tid, uint32_t *name, struct error *err)
{
	const char *text;

	return find_thread_name(table, pid, tid, &text, err) && profile_intern(table->profile, text, name, err);
}

static bool set_thread_name(struct process_table *table, int32_t tid, const char *name, struct error *err)
{
	char *known;
	bool added;

	if (!process_add_thread(table, tid, &added, &known, err))
		return false;
	name_copy(known, name);
	return true;
}

/* A process that was met under this pid before may have been another user's. */
static void find_owner_again(struct process_table *table, struct process *process)
{
	owner_count_mappings(owner_of(table, process), process->mappings.count, 0);
	process_find_owner(table, process);
	owner_count_mappings(owner_of(table, process), 0, process->mappings.count);
}

bool process_table_heal(struct process_table *table, struct process *process, int32_t tid, struct error *err)
{
	const struct process_host_functions *functions = table->host.functions;
	char name[PROC_COMM_BYTES];

	if (process->losses == table->losses && !process->is_doubted)
		return true;
	process->losses = table->losses;
	process->is_doubted = false;
	functions->read_comm(process->pid, tid, name);
	/* The process has ended: its identity stays as it is known. */
	if (name[0] == '\0')
		return true;
	find_owner_again(table, process);
	if (!owner_pay_reading(&table->owners, owner_of(table, process), &process->work))
		return true;
	table->version++;
	if (!set_thread_name(table, tid, name, err) || !functions->read_process(table, process, err))
		return false;
	owner_pay_text(owner_of(table, process), process->maps_bytes, &process->work);
	return true;
}

bool process_table_miss(struct process_table *table, struct process *process, uint64_t clock_ns)
{
	static const uint64_t first_ns = 50000000, longest_ns = 2000000000;

	if (process->losses != table->losses || process->is_doubted)
		return true;
	if (clock_ns - process->missed_ns < process->miss_pause_ns)
		return false;
	process->missed_ns = clock_ns;
	process->miss_pause_ns = process->miss_pause_ns == 0 ? first_ns : 2 * process->miss_pause_ns;
	if (process->miss_pause_ns > longest_ns)
		process->miss_pause_ns = longest_ns;
	process->is_doubted = true;
	return true;
}

/* A program begins in a process: the code that was made in it until now is another program's. */
static void begin_program(struct process_table *table, struct process *process, uint64_t time_ns)
{
	image_end_program(table, process, time_ns);
	process->life = ++table->lives;
	process->met_ns = process->look_ns = 0;
	process->missed_ns = process->miss_pause_ns = 0;
	process->is_sampled = process->is_doubted = false;
	/* What ran before is in no doubt. */
	process->begun_ns = process->looked_ns = time_ns;
}

/* Handles a new program: the old one's mappings are gone, and the new one's arrive in records of their own. */
static bool take_comm(struct process_table *table, const struct record *record, struct error *err)
{
	struct process *process;

	if (!process_table_get(table, record->pid, &process, err) ||
		!set_thread_name(table, record->tid, record->comm.name, err))
		return false;
	if (record->pid == record->tid)
		name_copy(process->name, record->comm.name);
	if (record->comm.is_exec) {
		forget_mappings(table, process, 0, UINT64_MAX);
		report_forgotten(table, process);
		table->programs++;
		begin_program(table, process, record->time_ns);
		process->is_fresh = true;
		process->fresh_losses = table->losses;
		process->refused_ns = 0;
		/* What was read after a loss is forgotten too, and the new program's mappings may be among what was
		 * lost. */
		process->losses = 0;
		/* A program may be started for another user, as by login, or have its own, as passwd. */
		process_find_owner(table, process);
	}
	return true;
}

/* Copies the mappings and the name of the parent to the child. */
static bool copy_parent(struct process_table *table, const struct record *record, struct error *err)
{
	struct process *child, *parent;
	uint64_t work;

	/* The parent is found again, since adding the child may move it. */
	if (!process_table_get(table, record->fork.parent_pid, &parent, err) ||
		!process_add_process(table, record->pid, &child, err) ||
		!process_table_get(table, record->fork.parent_pid, &parent, err))
		return false;
	forget_mappings(table, child, 0, UINT64_MAX);
	report_forgotten(table, child);
	begin_program(table, child, record->time_ns);
	child->owner = parent->owner;
	child->identity = parent->identity;
	child->work = 0;
	/* A pid may be reused: all fields of an earlier process with it are replaced. */
	child->is_alive = child->maps_are_read = true;
	child->has_threads = child->is_fresh = false;
	child->refused_ns = 0;
	memcpy(child->name, parent->name, sizeof(child->name));
	child->losses = parent->losses;
	child->generation = table->next_generation++;
	work = OWNER_WORK_PROCESS + parent->mappings.count * sizeof(*parent->mappings.items) / OWNER_MOVED_PER_UNIT;
	/* The parent pays, who may have many children. What is copied takes memory once it is changed. */
	if (child->owner != OWNER_NOBODY &&
		!owner_pay_mapping(&table->owners, owner_of(table, child), work, &parent->work))
		return true;
	if (!mappings_copy(&child->mappings, &parent->mappings, err))
		return false;
	owner_count_mappings(owner_of(table, child), 0, child->mappings.count);
	if (table->listener.forks)
		table->listener.forks(table->listener.context, parent, child);
	return true;
}

/* A new thread has its creator's name. */
static bool take_fork(struct process_table *table, const struct record *record, struct error *err)
{
	char name[PROC_COMM_BYTES];
	const char *found;
	uint32_t id;

	*(record->pid == record->fork.parent_pid ? &table->births : &table->forks) += 1;
	if (!find_thread_name(table, record->fork.parent_pid, record->fork.parent_tid, &found, err))
		return false;
	memcpy(name, found, sizeof(name));
	if (!set_thread_name(table, record->tid, name, err))
		return false;
	if (record->pid != record->fork.parent_pid)
		return copy_parent(table, record, err);
	id = hash_map_get(&table->by_pid, &record->pid);
	if (id != HASH_MAP_NONE)
		table->processes[id].has_threads = true;
	return true;
}

static bool take_mmap(struct process_table *table, const struct record *record, struct error *err)
{
	const struct record_mmap *in = &record->mmap;
	struct process *process;
	struct elf_mapping mapping = {
		.pid = record->pid,
		.start = in->address,
		.end = in->address + in->size,
		.file_offset = in->file_offset,
		.device_major = in->major,
		.device_minor = in->minor,
		.inode = in->inode,
		.path = in->path,
	};

	if (!in->executable || mapping.end <= mapping.start)
		return true;
	if (!process_table_get(table, record->pid, &process, err))
		return false;
	process->is_fresh = false;
	return process_table_map(table, process, &mapping, err);
}

/*
 * A program that is set-user-ID, has capabilities of its file or may not be read is not to be watched by who may not
 * trace it: the kernel takes the events of threads away where it begins, whoever has opened them, and reports that as
 * the thread's end (fs/exec.c, begin_new_exec). No code of the program is mapped by then.
 */
static void note_refusal(struct process_table *table, struct process *process, uint64_t time_ns)
{
	process->is_fresh = false;
	process->is_alive = table->host.functions->is_alive(process->pid);
	process->refused_ns = time_ns;
	table->refusals++;
}

static bool take_exit(struct process_table *table, const struct record *record)
{
	uint32_t id = hash_map_get(&table->by_pid, &record->pid);
	struct process *process = id == HASH_MAP_NONE ? NULL : &table->processes[id];

	if (record->pid != record->tid || !process)
		return true;
	if (process->is_fresh && process->fresh_losses == table->losses) {
		note_refusal(table, process, record->time_ns);
		return true;
	}
	process->is_alive = process->has_threads && table->host.functions->is_alive(record->pid);
	/* Where other threads may run on, as far as a recording tells, their samples are still to come. */
	if (!process->has_threads) {
		forget_mappings(table, process, 0, UINT64_MAX);
		mappings_deinit(&process->mappings);
	}
	return true;
}

static bool update(struct process_table *table, const struct record *record, struct error *err)
{
	switch (record->kind) {
	case RECORD_MMAP:
		return take_mmap(table, record, err);
	case RECORD_COMM:
		return take_comm(table, record, err);
	case RECORD_FORK:
		return take_fork(table, record, err);
	case RECORD_EXIT:
		return take_exit(table, record);
	case RECORD_SAMPLE:
	case RECORD_LOST:
	case RECORD_THROTTLE:
	case RECORD_CALLCHAIN:
	case RECORD_OTHER:
		break;
	}
	return true;
}

static void count_record(struct process_table *table, int32_t pid)
{
	uint32_t id = hash_map_get(&table->by_pid, &pid);
	struct owner *owner = id == HASH_MAP_NONE ? NULL : owner_of(table, &table->processes[id]);

	if (owner)
		owner->records++;
}

bool process_table_update(struct process_table *table, const struct record *record, struct error *err)
{
	table->version++;
	table->owners.now_ns = record->time_ns;
	if (table->host.functions->is_outside(record))
		return true;
	if (!update(table, record, err))
		return false;
	count_record(table, record->pid);
	return true;
}
