/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code that is known, of all processes. */
#include "sampler/interpret/codes.h"

#include <stdlib.h>
#include <string.h>

/*
 * Entries are found by process and address. The map cannot forget, so that an entry is believed only if it says itself
 * whose it is, and the map is made anew when most of what it knows is of entries that are not in use any more.
 */
enum {
	MOST_BYTES = 96 << 20, /* of entries and their lines */
	MOST_CODES_OF_PROCESS = 1 << 16,
	MOST_PROCESSES = 1 << 22, /* no kernel has more pids */
	MOST_GENERATIONS = 8,     /* of forks, in which a process finds what others had read */
	MOST_READS = 1 << 14,     /* of one process, at once; then so many in a second: */
	READS_PER_S = 1 << 12,
	SPARE_KEYS = 1 << 10,
	MOST_VISITED = 256, /* entries, to find those that are looked at again with one of them */
};

static const uint64_t second_ns = 1000000000;

struct code_key {
	uint64_t address, process;
};

struct code_entry {
	struct code_key key;
	struct interpreter_marks marks;
	uint64_t read_ns;               /* when its marks were looked at */
	struct interpreter_line *lines; /* owned */
	uint32_t line_count;
	uint32_t function; /* of the profile */
	uint32_t next;     /* of its process, or unused ones; PROFILE_NONE: none */
	bool is_used;
	bool is_gone; /* it could not be read; this is found out again after a while */
};

struct code_process {
	/* The process which had its memory, as long as that lives the same life; PROFILE_NONE: none. */
	uint32_t parent, parent_life;
	uint32_t life;         /* how often it was forgotten */
	uint32_t first, count; /* entries */
	uint32_t visited;      /* entry that is the next to look at again; PROFILE_NONE: the first */
	uint32_t reads;        /* that it may still cost */
	uint64_t reads_ns;     /* when these were counted */
	struct interpreter_giver giver;
	uint64_t account; /* that holds its entries */
	size_t bytes;     /* of these */
};

struct interpreter_codes {
	struct interpreter_names *names;             /* borrowed */
	const struct interpreter_code_reader *reads; /* borrowed */
	void *reader;                                /* owned */
	struct hash_map by_address;                  /* struct code_key -> entry */
	struct hash_map by_pid;                      /* pid -> process */
	struct code_process *processes;
	size_t process_count, process_capacity;
	struct code_entry *entries;
	size_t entry_count, entry_capacity;
	uint32_t unused; /* entry; PROFILE_NONE: none */
	size_t used_count;
	struct shares bytes;    /* of entries and their lines, by account */
	uint32_t gone_function; /* PROFILE_NONE: not made yet */
	uint64_t gone;
	uint64_t epoch, epoch_ns; /* since when it is this one */
};

/* The question that a frame is looked up with. */
struct code_search {
	struct interpreter_codes *codes;
	const void *image;
	uint64_t clock_ns;
	uint32_t process;
};

bool interpreter_codes_create(struct interpreter_names *names, const struct interpreter_code_reader *reads,
	void *reader, struct interpreter_codes **codes, struct error *err)
{
	struct interpreter_codes *made = calloc(1, sizeof(*made));

	if (!made) {
		reads->destroy(reader);
		return error_set_memory(err);
	}
	made->names = names;
	made->reads = reads;
	made->reader = reader;
	made->unused = PROFILE_NONE;
	made->gone_function = PROFILE_NONE;
	hash_map_init(&made->by_address, sizeof(struct code_key));
	hash_map_init(&made->by_pid, sizeof(int32_t));
	shares_init(&made->bytes, MOST_BYTES);
	*codes = made;
	return true;
}

void interpreter_codes_destroy(struct interpreter_codes *codes)
{
	if (!codes)
		return;
	for (size_t i = 0; i < codes->entry_count; i++)
		free(codes->entries[i].lines);
	codes->reads->destroy(codes->reader);
	hash_map_deinit(&codes->by_address);
	hash_map_deinit(&codes->by_pid);
	shares_deinit(&codes->bytes);
	free(codes->processes);
	free(codes->entries);
	free(codes);
}

/* ---- Processes ---- */

static bool codes_find_process(struct interpreter_codes *codes, int32_t pid, uint32_t *process, struct error *err)
{
	uint32_t *value;
	bool added;

	if (!ARRAY_RESERVE(
		    &codes->processes, &codes->process_capacity, codes->process_count + 1, MOST_PROCESSES, err) ||
		!hash_map_add(&codes->by_pid, &pid, (uint32_t)codes->process_count, &value, &added, err))
		return false;
	*process = *value;
	if (added)
		codes->processes[codes->process_count++] = (struct code_process){ .giver = { .pid = pid },
			.parent = PROFILE_NONE,
			.first = PROFILE_NONE,
			.visited = PROFILE_NONE,
			.reads = MOST_READS };
	return true;
}

static void give_back_bytes(struct interpreter_codes *codes, uint32_t process, size_t bytes)
{
	shares_give_back(&codes->bytes, codes->processes[process].account, bytes);
	codes->processes[process].bytes -= bytes;
}

static bool count_bytes(struct interpreter_codes *codes, uint32_t process, size_t bytes, struct error *err)
{
	if (!shares_add(&codes->bytes, codes->processes[process].account, bytes, err))
		return false;
	codes->processes[process].bytes += bytes;
	return true;
}

static void clear_entry(struct interpreter_codes *codes, struct code_entry *entry)
{
	codes->epoch++;
	give_back_bytes(codes, (uint32_t)entry->key.process, entry->line_count * sizeof(*entry->lines));
	free(entry->lines);
	entry->lines = NULL;
	entry->line_count = 0;
	entry->is_gone = true;
}

static void clear_process(struct interpreter_codes *codes, struct code_process *process)
{
	while (process->first != PROFILE_NONE) {
		uint32_t id = process->first;
		struct code_entry *entry = &codes->entries[id];

		clear_entry(codes, entry);
		give_back_bytes(codes, (uint32_t)entry->key.process, sizeof(*entry));
		entry->is_used = false;
		process->first = entry->next;
		entry->next = codes->unused;
		codes->unused = id;
		codes->used_count--;
	}
	process->count = 0;
	process->visited = PROFILE_NONE;
}

void interpreter_codes_forget(struct interpreter_codes *codes, int32_t pid)
{
	uint32_t id = hash_map_get(&codes->by_pid, &pid);

	if (id == HASH_MAP_NONE)
		return;
	clear_process(codes, &codes->processes[id]);
	codes->processes[id].parent = PROFILE_NONE;
	codes->processes[id].life++;
	codes->processes[id].giver.bytes = 0;
}

void interpreter_codes_fork(struct interpreter_codes *codes, int32_t parent, int32_t child)
{
	struct error ignored;
	uint32_t from, to;

	interpreter_codes_forget(codes, child);
	if (parent == child || !codes_find_process(codes, parent, &from, &ignored) ||
		!codes_find_process(codes, child, &to, &ignored))
		return;
	codes->processes[to].parent = from;
	codes->processes[to].parent_life = codes->processes[from].life;
}

/* Returns whether a process may cost another read: one that makes endless code may not, nor may many of one account. */
static bool codes_pay_read(const struct code_search *search)
{
	struct code_process *process = &search->codes->processes[search->process];
	uint64_t clock_ns = search->clock_ns, ns_per_read = second_ns / READS_PER_S;
	uint64_t earned = clock_ns > process->reads_ns ? (clock_ns - process->reads_ns) / ns_per_read : 0;

	process->reads_ns += earned * ns_per_read;
	process->reads = earned < MOST_READS - process->reads ? process->reads + (uint32_t)earned : MOST_READS;
	if (process->reads == 0 ||
		!process_table_pay_reads(search->codes->names->table, process->giver.pid, clock_ns, 1))
		return false;
	process->reads--;
	return true;
}

static bool holds_entries(const struct code_process *process, uint64_t account)
{
	return process->count > 0 && process->account == account;
}

/*
 * Makes room for another entry. The account that has most gives back an eighth, so that the search is worth it: its
 * processes that have as much as its average, or more, lose all of their own.
 */
static void codes_make_room(struct interpreter_codes *codes)
{
	while (!shares_fit(&codes->bytes, sizeof(struct code_entry))) {
		uint64_t account = shares_greatest(&codes->bytes), held = shares_of(&codes->bytes, account), count = 0;

		for (size_t i = 0; i < codes->process_count; i++)
			count += holds_entries(&codes->processes[i], account);
		for (size_t i = 0; i < codes->process_count && shares_of(&codes->bytes, account) > held - held / 8; i++)
			if (holds_entries(&codes->processes[i], account) && codes->processes[i].bytes >= held / count)
				clear_process(codes, &codes->processes[i]);
	}
}

/* ---- Entries ---- */

static uint32_t codes_find_entry(const struct interpreter_codes *codes, uint32_t process, uint64_t address)
{
	struct code_key key = { address, process };
	uint32_t id = hash_map_get(&codes->by_address, &key);

	if (id == HASH_MAP_NONE || !codes->entries[id].is_used ||
		memcmp(&codes->entries[id].key, &key, sizeof(key)) != 0)
		return PROFILE_NONE;
	return id;
}

static bool map_entry(struct interpreter_codes *codes, uint32_t id, struct error *err)
{
	uint32_t *value;
	bool added;

	if (!hash_map_add(&codes->by_address, &codes->entries[id].key, id, &value, &added, err))
		return false;
	*value = id;
	return true;
}

static bool map_anew(struct interpreter_codes *codes, struct error *err)
{
	hash_map_deinit(&codes->by_address);
	hash_map_init(&codes->by_address, sizeof(struct code_key));
	for (size_t i = 0; i < codes->entry_count; i++)
		if (codes->entries[i].is_used && !map_entry(codes, (uint32_t)i, err))
			return false;
	return true;
}

static bool take_unused(struct interpreter_codes *codes, uint32_t *id, struct error *err)
{
	if (codes->unused != PROFILE_NONE) {
		*id = codes->unused;
		codes->unused = codes->entries[*id].next;
		return true;
	}
	if (!ARRAY_RESERVE(&codes->entries, &codes->entry_capacity, codes->entry_count + 1,
		    MOST_BYTES / sizeof(*codes->entries), err))
		return false;
	*id = (uint32_t)codes->entry_count++;
	return true;
}

static bool codes_add_entry(struct code_search *search, uint64_t address, uint32_t *id, struct error *err)
{
	struct interpreter_codes *codes = search->codes;
	struct code_process *process = &codes->processes[search->process];

	codes_make_room(codes);
	/* A process without entries may have become another account's since it had some. */
	if (process->count == 0)
		process->account = process_table_account(codes->names->table, process->giver.pid);
	if (codes->by_address.count > 2 * codes->used_count + SPARE_KEYS && !map_anew(codes, err))
		return false;
	if (!count_bytes(codes, search->process, sizeof(struct code_entry), err))
		return false;
	if (!take_unused(codes, id, err)) {
		give_back_bytes(codes, search->process, sizeof(struct code_entry));
		return false;
	}
	codes->entries[*id] = (struct code_entry){
		.key = { address, search->process }, .next = process->first, .is_used = true, .is_gone = true
	};
	process->first = *id;
	process->count++;
	codes->used_count++;
	return map_entry(codes, *id, err);
}

/* Finds what the processes that this one was forked from have at the address; NULL: none has read it. */
static const struct code_entry *codes_find_inherited(const struct code_search *search, uint64_t address)
{
	const struct interpreter_codes *codes = search->codes;
	const struct code_process *process = &codes->processes[search->process];

	for (size_t i = 0; i < MOST_GENERATIONS && process->parent != PROFILE_NONE; i++) {
		const struct code_process *parent = &codes->processes[process->parent];
		uint32_t id;

		if (parent->life != process->parent_life)
			return NULL;
		id = codes_find_entry(codes, process->parent, address);
		if (id != PROFILE_NONE && !codes->entries[id].is_gone)
			return &codes->entries[id];
		process = parent;
	}
	return NULL;
}

static bool set_lines(struct interpreter_codes *codes, struct code_entry *entry, const struct interpreter_line *lines,
	size_t count, struct error *err)
{
	if (!count_bytes(codes, (uint32_t)entry->key.process, count * sizeof(*lines), err))
		return false;
	entry->line_count = (uint32_t)count;
	if (count > 0) {
		entry->lines = malloc(count * sizeof(*lines));
		if (!entry->lines) {
			clear_entry(codes, entry);
			return error_set_memory(err);
		}
		memcpy(entry->lines, lines, count * sizeof(*lines));
	}
	entry->is_gone = false;
	return true;
}

static bool inherit(
	struct interpreter_codes *codes, struct code_entry *entry, const struct code_entry *from, struct error *err)
{
	entry->marks = from->marks;
	entry->function = from->function;
	return set_lines(codes, entry, from->lines, from->line_count, err);
}

/* Reads all of code whose marks are read. */
static bool codes_read_code(const struct code_search *search, struct code_entry *entry, struct error *err)
{
	struct interpreter_codes *codes = search->codes;
	struct interpreter_function function;
	struct interpreter_code code;
	bool is_gone;

	if (!codes->reads->read(codes->reader, search->image, codes->processes[search->process].giver.pid,
		    entry->key.address, &entry->marks, &code, &is_gone, err))
		return false;
	if (is_gone)
		return true;
	function = (struct interpreter_function){ code.name, code.file, code.first_line };
	return interpreter_names_give(
		       codes->names, &codes->processes[search->process].giver, &function, &entry->function, err) &&
	       (entry->function == PROFILE_NONE || set_lines(codes, entry, code.lines, code.line_count, err));
}

/* Fills an entry that knows nothing. */
static bool codes_read_entry(const struct code_search *search, struct code_entry *entry, struct error *err)
{
	struct interpreter_codes *codes = search->codes;
	const struct code_entry *inherited = codes_find_inherited(search, entry->key.address);
	bool is_read = codes->reads->read_marks(codes->reader, search->image,
			       codes->processes[search->process].giver.pid, &entry->key.address, 1, &entry->marks) == 1;

	entry->read_ns = search->clock_ns;
	if (inherited && (!is_read || memcmp(&inherited->marks, &entry->marks, sizeof(entry->marks)) == 0))
		return inherit(codes, entry, inherited, err);
	return !is_read || codes_read_code(search, entry, err);
}

/* ---- Whether code is still the same ---- */

static bool is_due(const struct code_entry *entry, uint64_t clock_ns)
{
	return clock_ns > entry->read_ns && clock_ns - entry->read_ns >= second_ns;
}

/* An entry, and others of its process that are due as well: the search for them goes on where the last one has ended.
 */
static size_t gather_due(const struct code_search *search, uint32_t id, uint32_t *ids, uint64_t *addresses)
{
	const struct interpreter_codes *codes = search->codes;
	struct code_process *process = &codes->processes[search->process];
	size_t count = 1;

	ids[0] = id;
	addresses[0] = codes->entries[id].key.address;
	for (size_t i = 0; i < process->count && i < MOST_VISITED && count < INTERPRETER_MOST_MARKS; i++) {
		uint32_t at = process->visited == PROFILE_NONE ? process->first : process->visited;
		const struct code_entry *entry = &codes->entries[at];

		process->visited = entry->next;
		if (at != id && !entry->is_gone && is_due(entry, search->clock_ns)) {
			ids[count] = at;
			addresses[count++] = entry->key.address;
		}
	}
	return count;
}

/*
 * Takes what is at the address of code that was another one. Where that is none, it stays what it was: memory was freed
 * since the frame, which would have brought a copy of other code (interpreter_codes_learn()).
 */
static bool read_other(const struct code_search *search, struct code_entry *entry,
	const struct interpreter_marks *marks, struct error *err)
{
	struct code_entry other = {
		.key = entry->key, .marks = *marks, .next = entry->next, .is_used = true, .is_gone = true
	};

	entry->read_ns = other.read_ns = search->clock_ns;
	if (!codes_read_code(search, &other, err))
		return false;
	if (other.is_gone)
		return true;
	clear_entry(search->codes, entry);
	*entry = other;
	return true;
}

/* Others than the entry itself that changed are read when they are asked for; what cannot be looked at is believed. */
static bool look_again(const struct code_search *search, uint32_t id, struct error *err)
{
	struct interpreter_codes *codes = search->codes;
	uint64_t addresses[INTERPRETER_MOST_MARKS];
	struct interpreter_marks marks[INTERPRETER_MOST_MARKS];
	uint32_t ids[INTERPRETER_MOST_MARKS];
	size_t count = gather_due(search, id, ids, addresses);
	size_t read = codes->reads->read_marks(
		codes->reader, search->image, codes->processes[search->process].giver.pid, addresses, count, marks);

	for (size_t i = 0; i < count && i <= read; i++)
		if (i == read || memcmp(&marks[i], &codes->entries[ids[i]].marks, sizeof(marks[i])) == 0)
			codes->entries[ids[i]].read_ns = search->clock_ns;
	return codes->entries[id].read_ns == search->clock_ns ||
	       read_other(search, &codes->entries[id], &marks[0], err);
}

/* ---- Frames ---- */

/* Finds the entry of an address, which is read if it is time to. PROFILE_NONE: there is no room for it. */
static bool codes_find_code(struct code_search *search, uint64_t address, uint32_t *id, struct error *err)
{
	struct interpreter_codes *codes = search->codes;
	struct code_process *process = &codes->processes[search->process];

	*id = codes_find_entry(codes, search->process, address);
	if (*id == PROFILE_NONE) {
		if (process->count >= MOST_CODES_OF_PROCESS || !codes_pay_read(search))
			return true;
		return codes_add_entry(search, address, id, err) && codes_read_entry(search, &codes->entries[*id], err);
	}
	if (!is_due(&codes->entries[*id], search->clock_ns) || !codes_pay_read(search))
		return true;
	if (codes->entries[*id].is_gone)
		return codes_read_entry(search, &codes->entries[*id], err);
	return look_again(search, *id, err);
}

static bool take_gone(struct interpreter_codes *codes, struct profile_line *line, struct error *err)
{
	const struct interpreter_function gone = { codes->reads->gone, "", 0 };

	if (codes->gone_function == PROFILE_NONE &&
		!interpreter_names_function(codes->names, &gone, &codes->gone_function, err))
		return false;
	codes->gone++;
	*line = (struct profile_line){ codes->gone_function, 0 };
	return true;
}

static uint32_t codes_find_line(const struct code_entry *entry, uint32_t position)
{
	size_t low = BISECT(entry->line_count, i, entry->lines[i].position <= position);

	if (entry->line_count == 0)
		return position < EBPF_FRAME_NO_POSITION ? position : 0;
	return low > 0 ? entry->lines[low - 1].line : 0;
}

bool interpreter_codes_find(struct interpreter_codes *codes, const void *image, int32_t pid, uint64_t word,
	uint64_t clock_ns, struct profile_line *line, struct error *err)
{
	struct code_search search = { .codes = codes, .image = image, .clock_ns = clock_ns };
	const struct code_entry *entry;
	uint32_t id;

	if (!codes_find_process(codes, pid, &search.process, err) ||
		!codes_find_code(&search, ebpf_frame_code(word), &id, err))
		return false;
	entry = id == PROFILE_NONE ? NULL : &codes->entries[id];
	if (!entry || entry->is_gone)
		return take_gone(codes, line, err);
	*line = (struct profile_line){ entry->function, codes_find_line(entry, ebpf_frame_position(word)) };
	return true;
}

bool interpreter_codes_know(const struct interpreter_codes *codes, int32_t pid, uint64_t address)
{
	uint32_t process = hash_map_get(&codes->by_pid, &pid);
	uint32_t id = process == HASH_MAP_NONE ? PROFILE_NONE : codes_find_entry(codes, process, address);

	return id != PROFILE_NONE && !codes->entries[id].is_gone;
}

/*
 * The marks of the copy are those of its moment; an entry that has others is of an object that was there before. What
 * the copy lacks, because its page was not there at that moment, is read from the process when a frame has the code.
 */
static bool learn_code(struct code_search *search, uint64_t address, struct error *err)
{
	struct interpreter_codes *codes = search->codes;
	struct code_process *process = &codes->processes[search->process];
	uint32_t id = codes_find_entry(codes, search->process, address);
	struct interpreter_marks marks;

	if (codes->reads->read_marks(codes->reader, search->image, process->giver.pid, &address, 1, &marks) != 1)
		return true;
	if (id == PROFILE_NONE && process->count >= MOST_CODES_OF_PROCESS)
		return true;
	if (id == PROFILE_NONE && !codes_add_entry(search, address, &id, err))
		return false;
	if (!codes->entries[id].is_gone && memcmp(&marks, &codes->entries[id].marks, sizeof(marks)) == 0)
		return true;
	clear_entry(codes, &codes->entries[id]);
	codes->entries[id].marks = marks;
	codes->entries[id].read_ns = search->clock_ns;
	if (!codes_read_code(search, &codes->entries[id], err))
		return false;
	if (codes->entries[id].is_gone)
		codes->entries[id].read_ns = 0;
	return true;
}

bool interpreter_codes_learn(struct interpreter_codes *codes, const void *image, const struct ebpf_code *code,
	uint64_t clock_ns, struct error *err)
{
	struct code_search search = { .codes = codes, .image = image, .clock_ns = clock_ns };
	bool is_learned;

	if (!codes_find_process(codes, code->pid, &search.process, err))
		return false;
	codes->reads->use(codes->reader, code);
	is_learned = learn_code(&search, code->pieces[0].address, err);
	codes->reads->use(codes->reader, NULL);
	return is_learned;
}

bool interpreter_codes_is_gone(const struct interpreter_codes *codes, const struct profile_line *line)
{
	return line->function == codes->gone_function;
}

uint64_t interpreter_codes_epoch(struct interpreter_codes *codes, uint64_t clock_ns)
{
	enum { EPOCHS_PER_S = 8 };

	if (clock_ns - codes->epoch_ns >= second_ns / EPOCHS_PER_S) {
		codes->epoch++;
		codes->epoch_ns = clock_ns;
	}
	return codes->epoch;
}

uint64_t interpreter_codes_gone(const struct interpreter_codes *codes)
{
	return codes->gone;
}

const char *interpreter_codes_gone_name(const struct interpreter_codes *codes)
{
	return codes->reads->gone;
}
