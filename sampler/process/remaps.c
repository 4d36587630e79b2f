/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/remaps.h"

#include "sampler/process/image.h"

#include <string.h>
#include <time.h>

static const uint64_t remaps_ms_ns = 1000000;
enum {
	LEAST_PAUSE_MS = 10, /* between two turns of the recorder: shorter ones would wake it for little */
	FIRST_PAUSE_MS = 20, /* before a process's maps are read again, and the most, once it is known for longer */
	LONGEST_PAUSE_MS = 2000,
	SHARE_OF_TIME = 500,  /* reading and comparing take one part in so many of the time: 0.2 % of a CPU */
	MOST_BYTES = 1 << 24, /* of text in one turn */
	MOST_LOOKED_AT = 4096 /* processes in one turn */
};

void remaps_deinit(struct remaps *remaps)
{
	for (size_t i = 0; i < remaps->count; i++)
		buffer_deinit(&remaps->texts[i].text);
	remaps->count = 0;
}

static uint64_t remaps_now(const struct remaps *remaps)
{
	return (uint64_t)(clock_read_ns(CLOCK_MONOTONIC) - remaps->clock_offset_ns);
}

/* ---- Reading ---- */

/* An eighth of the time for which the process is known, so that no move is seen later than that. */
static uint64_t remaps_pause_ns(struct process *process, uint64_t now_ns)
{
	uint64_t pause_ns;

	if (process->met_ns == 0)
		process->met_ns = now_ns;
	pause_ns = (now_ns - process->met_ns) / 8;
	if (pause_ns < FIRST_PAUSE_MS * remaps_ms_ns)
		return FIRST_PAUSE_MS * remaps_ms_ns;
	return pause_ns < LONGEST_PAUSE_MS * remaps_ms_ns ? pause_ns : LONGEST_PAUSE_MS * remaps_ms_ns;
}

/* Returns the size of the text. */
static size_t remaps_read_process(struct remaps *remaps, struct process *process)
{
	struct owner *owner = owners_at(&remaps->table->owners, process->owner);
	struct remaps_text *read = &remaps->texts[remaps->count];
	bool is_denied;

	*read = (struct remaps_text){ .pid = process->pid, .from_ns = remaps_now(remaps) };
	process->look_ns = read->from_ns + remaps_pause_ns(process, read->from_ns);
	process->is_sampled = false;
	if (!owner_pay_reading(&remaps->table->owners, owner, &process->work))
		return 0;
	buffer_init(&read->text, MOST_BYTES);
	/* Text that is not whole shows only a part of what is there, which is right. */
	(void)process_reader_maps(remaps->reader, process->pid, &read->text, &is_denied);
	owner_pay_text(owner, read->text.size, &process->work);
	read->to_ns = remaps_now(remaps);
	while (read->text.size > 0 && read->text.data[read->text.size - 1] != '\n')
		read->text.size--;
	if (read->text.size == 0) {
		buffer_deinit(&read->text);
		return 0;
	}
	read->text.data[read->text.size - 1] = '\0';
	remaps->count++;
	return read->text.size;
}

/*
 * Notes when a process's turn comes. One whose turn has passed had no samples then, and is not waited for.
 */
static void remaps_expect(struct remaps *remaps, const struct process *process, uint64_t now_ns)
{
	uint64_t due_ns = process->look_ns > 0 ? process->look_ns : process->begun_ns + FIRST_PAUSE_MS * remaps_ms_ns;

	if (process->is_alive && due_ns > now_ns && due_ns < remaps->due_ns)
		remaps->due_ns = due_ns;
}

int remaps_timeout(const struct remaps *remaps, int timeout_ms)
{
	uint64_t now_ns = remaps_now(remaps);
	uint64_t due_ns = remaps->due_ns > remaps->not_before_ns ? remaps->due_ns : remaps->not_before_ns;
	uint64_t left_ms = due_ns > now_ns ? (due_ns - now_ns) / remaps_ms_ns + 1 : LEAST_PAUSE_MS;

	if (remaps->count > 0)
		left_ms = LEAST_PAUSE_MS;
	if (left_ms < LEAST_PAUSE_MS)
		left_ms = LEAST_PAUSE_MS;
	return (uint64_t)timeout_ms < left_ms ? timeout_ms : (int)left_ms;
}

void remaps_read(struct remaps *remaps, bool is_end)
{
	struct process_table *table = remaps->table;
	uint64_t start_ns = remaps_now(remaps), bytes = 0;

	if (!is_end && (remaps->count > 0 || start_ns < remaps->not_before_ns))
		return;
	remaps->due_ns = UINT64_MAX;
	for (size_t i = 0;
		i < table->count && i < MOST_LOOKED_AT && bytes < MOST_BYTES && remaps->count < REMAPS_MOST_TEXTS;
		i++) {
		size_t at = remaps->next++ % table->count;
		struct process *process = &table->processes[at];

		remaps_expect(remaps, process, start_ns);
		if (!process->is_alive || !process->is_sampled || (!is_end && start_ns < process->look_ns))
			continue;
		bytes += remaps_read_process(remaps, process);
		remaps_expect(remaps, process, start_ns);
	}
	remaps->not_before_ns = start_ns + SHARE_OF_TIME * (remaps_now(remaps) - start_ns);
}

/* ---- Comparing ---- */

struct remaps_comparison {
	struct process_table *table;
	struct process *process;
	struct remaps_doubt doubt;
	/* [range] Of the doubt's: where it lies in the process, and its place. */
	uint64_t starts[REMAPS_MOST_RANGES];
	uint32_t places[REMAPS_MOST_RANGES];
};

static bool is_believed(const struct remaps_comparison *comparison, const struct process_place *found,
	const struct process_mapping *mapping, const struct elf_mapping *mapped)
{
	const struct process_table *table = comparison->table;

	return image_may_be(table, found, &table->places[mapping->place], mapped) ||
	       (mapping->covered_place != PROFILE_NONE &&
		       image_may_be(table, found, &table->places[mapping->covered_place], mapped));
}

static void remaps_note_range(struct remaps_comparison *comparison, uint64_t start, uint64_t end, uint32_t place)
{
	const struct process_place *at = &comparison->table->places[place];
	struct remaps_doubt *doubt = &comparison->doubt;

	if (doubt->count == REMAPS_MOST_RANGES) {
		doubt->is_all = true;
		return;
	}
	comparison->starts[doubt->count] = start;
	comparison->places[doubt->count] = place;
	doubt->ranges[doubt->count++] = (struct remaps_range){ at->mapping, start + at->bias, end + at->bias };
}

/* Memory that was moved over a file's code may be a copy of it, as huge pages are: its names are the same. */
static void remaps_drop_copies(struct remaps_comparison *comparison, size_t first)
{
	struct process_space space = { .table = comparison->table, .process = comparison->process };
	struct remaps_doubt *doubt = &comparison->doubt;
	size_t kept = first;

	for (size_t i = first; i < doubt->count; i++) {
		struct unwind_code code;

		if (process_space_find(&space, comparison->starts[i], &code) && code.image == comparison->places[i])
			continue;
		doubt->ranges[kept++] = doubt->ranges[i];
	}
	doubt->count = kept;
}

/* Notes what was believed falsely of a range; true if it is believed as a whole, and rightly. */
static bool remaps_hold_against(
	struct remaps_comparison *comparison, const struct process_place *found, const struct elf_mapping *mapped)
{
	const struct process_mappings *mappings = &comparison->process->mappings;
	size_t below = ARRAY_COUNT_UP_TO(mappings->items, mappings->count, start, mapped->start);
	uint64_t known = mapped->start;
	bool is_right = true;

	for (size_t i = below > 0 ? below - 1 : 0; i < mappings->count && mappings->items[i].start < mapped->end; i++) {
		const struct process_mapping *mapping = &mappings->items[i];
		uint64_t start = mapping->start > mapped->start ? mapping->start : mapped->start;
		uint64_t end = mapping->end < mapped->end ? mapping->end : mapped->end;

		if (start >= end)
			continue;
		is_right = is_right && start == known;
		known = end;
		if (is_believed(comparison, found, mapping, mapped))
			continue;
		is_right = false;
		remaps_note_range(comparison, start, end, mapping->place);
	}
	return is_right && known == mapped->end;
}

static bool remaps_take_entry(void *context, const struct elf_maps_entry *entry, struct error *err)
{
	struct remaps_comparison *comparison = context;
	const struct elf_mapping *mapped = &entry->mapping;
	const struct process_mapping *at = mappings_find(&comparison->process->mappings, mapped->start);
	struct process_place found;
	size_t before = comparison->doubt.count;

	/* The page of vsyscall is the kernel's. */
	if (!entry->executable || mapped->start > INT64_MAX)
		return true;
	/* To tell memory from a binary such a file would be opened at each look; that it is memory is known. */
	if (at && at->end >= mapped->end && (image_is_nameless(mapped) || elf_mapped_is_deleted(mapped->path)) &&
		!comparison->table->images[comparison->table->places[at->place].image].elf)
		return true;
	if (!image_of_mapping(comparison->table, comparison->process, mapped, &found, err))
		return false;
	if (found.image == PROFILE_NONE || remaps_hold_against(comparison, &found, mapped))
		return true;
	if (!process_table_map(comparison->table, comparison->process, mapped, err))
		return false;
	remaps_drop_copies(comparison, before);
	return true;
}

static bool compare_text(struct remaps *remaps, struct remaps_text *read, struct error *err)
{
	struct process_table *table = remaps->table;
	uint32_t id = hash_map_get(&table->by_pid, &read->pid);
	struct remaps_comparison comparison = { .table = table };
	struct buffer *notices = table->notices;
	bool ok;

	if (id == HASH_MAP_NONE || !table->processes[id].is_alive || table->processes[id].changed_ns >= read->from_ns)
		return true;
	comparison.process = &table->processes[id];
	comparison.doubt.pid = read->pid;
	comparison.doubt.since_ns = comparison.process->looked_ns;
	/* Without a notice: what cannot be opened is as it was. */
	table->notices = NULL;
	ok = elf_maps_parse(read->text.data, read->pid, remaps_take_entry, &comparison, err);
	table->notices = notices;
	/* Mending is no change that records told of. */
	comparison.process->changed_ns = 0;
	comparison.process->looked_ns = read->from_ns;
	if (ok && comparison.doubt.count > 0)
		remaps->doubt(remaps->context, &comparison.doubt);
	return ok;
}

bool remaps_compare(struct remaps *remaps, uint64_t known_until_ns, struct error *err)
{
	uint64_t start_ns;
	bool ok = true;

	/* They were read one after the other. */
	if (remaps->count == 0 || remaps->texts[remaps->count - 1].to_ns > known_until_ns)
		return true;
	start_ns = remaps_now(remaps);
	for (size_t i = 0; ok && i < remaps->count; i++)
		ok = compare_text(remaps, &remaps->texts[i], err);
	remaps_deinit(remaps);
	remaps->not_before_ns += SHARE_OF_TIME * (remaps_now(remaps) - start_ns);
	return ok;
}
