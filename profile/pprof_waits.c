/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads and writes the locks and releases of pprof files, in the columns that only Kelvin's files have. */
#include "profile/index.h"
#include "profile/pprof_reader.h"
#include "profile/pprof_writer.h"

/* ---- Reading ---- */

static bool read_locks(struct pprof_reader *r, struct error *err)
{
	struct byte_reader *columns = r->extension.columns;
	uint32_t id;

	while (columns[PPROF_COLUMN(lock_name)].pos < columns[PPROF_COLUMN(lock_name)].end) {
		int64_t name = (int64_t)protobuf_varint(&columns[PPROF_COLUMN(lock_name)]),
			module = (int64_t)protobuf_varint(&columns[PPROF_COLUMN(lock_module)]);
		struct profile_lock lock = { .pid = (int32_t)protobuf_zigzag(
						     protobuf_varint(&columns[PPROF_COLUMN(lock_pid)])) };

		if (!pprof_string_id(r, name, &lock.name, "the name of a lock", err) ||
			!pprof_string_id(r, module, &lock.module, "the module of a lock", err) ||
			!profile_add_lock(r->profile, &lock, &id, err))
			return false;
	}
	return true;
}

static bool read_release(struct pprof_reader *r, struct error *err)
{
	struct byte_reader *columns = r->extension.columns;
	uint64_t stack = protobuf_varint(&columns[PPROF_COLUMN(release_stack)]),
		 lock = protobuf_varint(&columns[PPROF_COLUMN(release_lock)]),
		 releaser = protobuf_varint(&columns[PPROF_COLUMN(release_releaser)]),
		 weight = protobuf_varint(&columns[PPROF_COLUMN(release_weight)]);
	struct profile_release release = { .lock = lock == 0 ? PROFILE_NONE : (uint32_t)(lock - 1) };

	if (stack >= r->stack_count || releaser >= r->stack_count || lock > r->profile->lock_count ||
		weight > INT64_MAX)
		return error_set(err, ERROR_FORMAT, "release %zu is malformed", r->profile->release_count);
	release.stack = r->stacks[stack];
	release.releaser = r->stacks[releaser];
	release.weight_ns = (int64_t)weight;
	return profile_add_release(r->profile, &release, err);
}

bool pprof_read_waits(struct pprof_reader *r, struct error *err)
{
	const struct byte_reader *stacks = &r->extension.columns[PPROF_COLUMN(release_stack)];

	if (!pprof_columns_agree(r, PPROF_COLUMN(lock_name), PPROF_COLUMN(lock_pid), "locks", err) ||
		!pprof_columns_agree(r, PPROF_COLUMN(release_stack), PPROF_COLUMN(release_weight), "releases", err) ||
		!read_locks(r, err))
		return false;
	while (stacks->pos < stacks->end)
		if (!read_release(r, err))
			return false;
	profile_sum_releases(r->profile);
	return true;
}

/* ---- Writing ---- */

/*
 * Writes the stacks of releases with all their callers. They keep the order of ids, in which callers come first. The
 * stack 0 is in every table.
 */
static void write_release_stacks(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;
	uint32_t *positions = pprof_take(w, profile->stack_count, sizeof(*positions)), count = 0;

	for (size_t i = 0; w->ok && i < profile->release_count; i++)
		positions[profile->releases[i].stack] = positions[profile->releases[i].releaser] = 1;
	for (size_t i = profile->stack_count; w->ok && i-- > 1;)
		if (positions[i])
			positions[profile->stacks[i].parent] = 1;
	for (size_t i = 1; w->ok && i < profile->stack_count; i++) {
		if (!positions[i])
			continue;
		positions[i] = ++count;
		pprof_append(w, PPROF_COLUMN(stack_parent),
			profile->stacks[i].parent ? positions[profile->stacks[i].parent] : 0);
		pprof_append(w, PPROF_COLUMN(stack_location), profile->stacks[i].location);
	}
	w->stack_positions = positions;
}

static uint32_t position_of_stack(const struct pprof_writer *w, uint32_t stack)
{
	return w->stack_positions && stack ? w->stack_positions[stack] : stack;
}

static void pprof_waits_write_locks(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;

	for (size_t i = w->from->locks; i < profile->lock_count; i++) {
		pprof_append(w, PPROF_COLUMN(lock_name), profile->locks[i].name);
		pprof_append(w, PPROF_COLUMN(lock_module), profile->locks[i].module);
		pprof_append_zigzag(w, PPROF_COLUMN(lock_pid), profile->locks[i].pid);
	}
}

void pprof_write_waits(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;

	pprof_waits_write_locks(w);
	if (profile->release_count > w->from->releases && !w->recording)
		write_release_stacks(w);
	for (size_t i = w->from->releases; w->ok && i < profile->release_count; i++) {
		const struct profile_release *release = &profile->releases[i];

		pprof_append(w, PPROF_COLUMN(release_stack), position_of_stack(w, release->stack));
		pprof_append(w, PPROF_COLUMN(release_lock), release->lock == PROFILE_NONE ? 0 : release->lock + 1);
		pprof_append(w, PPROF_COLUMN(release_releaser), position_of_stack(w, release->releaser));
		pprof_append(w, PPROF_COLUMN(release_weight), (uint64_t)release->weight_ns);
	}
}
