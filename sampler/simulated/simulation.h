/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/sampling.h"
#include "sampler/simulated/file.h"

/* The part of a simulation's files that stays between its two steps, and the steps themselves. */

/* Executable memory of a process: what turns its addresses into locations of the profile. */
struct simulation_mapping {
	uint64_t bias; /* image address = runtime address + bias, modulo 2^64 */
	uint32_t id;   /* of the profile; PROFILE_NONE: none */
};

/* The subject of the counts of a file that stand before a dump, and behind the dump before. */
struct simulation_dump {
	uint32_t trigger; /* enum simulate_trigger */
	char *name;       /* owned */
};

/* The file of one process, or of one of the programs that it executed. */
struct simulation_file {
	char *name;     /* owned: PID.GENERATION */
	uint64_t bytes; /* when it was read first; what is written to it later does not count */
	int32_t pid;
	uint32_t generation;
	struct simulation_mapping *mappings; /* the arrays are owned */
	struct simulation_dump *dumps;
	struct simulate_thread *threads; /* in the order of their roots */
	size_t mapping_count, mapping_capacity, dump_count, dump_capacity, thread_count, thread_capacity;
};

struct sampler_simulation {
	char *path;                    /* owned: of the directory */
	int directory;                 /* owned */
	struct simulation_file *files; /* owned, in order of pid and generation */
	size_t file_count, file_capacity;
	struct profile_run run;
};

/* The location of a runtime address in a mapping of a file; SIMULATE_NONE: in none. */
static inline struct profile_location simulation_locate(
	const struct simulation_file *file, uint32_t mapping, uint64_t address)
{
	const struct simulation_mapping *at;

	if (mapping == SIMULATE_NONE)
		return (struct profile_location){ .mapping = PROFILE_NONE, .address = address };
	at = &file->mappings[mapping];
	return (struct profile_location){ .mapping = at->id, .address = address + at->bias };
}

/* Opens a file of the simulation; -1 on failure, with `err` set. */
int simulation_open(const struct sampler_simulation *simulation, const struct simulation_file *file, struct error *err);

/* ---- The first step: addresses ---- */

/*
 * Adds all instructions and call sites of all files to `profile`, and the images of their code to `result`. Fills the
 * arrays of the files: threads and dumps are known before their counts are read.
 */
COMMON_MUST_CHECK
bool simulation_add_addresses(struct sampler_simulation *simulation, struct profile *profile, struct recording *result,
	struct buffer *notices, struct error *err);

/* ---- The second step: counts ---- */

/*
 * The unit of one sample of a context: each of its lines, or, of a program with so many contexts that its profile would
 * be larger than anyone wants to read, each of its functions.
 */
enum simulation_detail { SIMULATION_BY_LINE, SIMULATION_BY_FUNCTION };

struct simulation_names;

/*
 * Groups the locations of `named` that have the same frames: the same functions, and for SIMULATION_BY_LINE the same
 * lines in them. A frame whose line is not the same in its whole group has none. A location of the group is added to
 * `made`, with its mapping and its functions, when it is asked for first. Both profiles are borrowed.
 */
COMMON_MUST_CHECK
bool simulation_names_create(struct profile *named, struct profile *made, enum simulation_detail detail,
	struct simulation_names **names, struct error *err);
void simulation_names_destroy(struct simulation_names *names);

/* Finds the group of an address; ERROR_FORMAT if the first step has not met it. */
COMMON_MUST_CHECK
bool simulation_names_group(
	struct simulation_names *names, const struct profile_location *location, uint32_t *group, struct error *err);

/* Finds the location in `made` of a group: that of its lowest address. */
COMMON_MUST_CHECK
bool simulation_names_location(struct simulation_names *names, uint32_t group, uint32_t *location, struct error *err);

enum simulation_column {
	COLUMN_SAMPLES,
	COLUMN_CYCLES,
	COLUMN_INSTRUCTIONS,
	COLUMN_FIRST_MISSES,
	COLUMN_LAST_MISSES,
	COLUMN_BRANCH_MISSES,
	COLUMN_SYSTEM_CALLS,
	COLUMN_SYSTEM_NS,
	COLUMN_COUNT,
};

/* The losses of all files that the user should know of. */
struct simulation_losses {
	uint64_t deep_nodes; /* contexts of more frames than a stack may have */
	uint64_t cut_tables; /* processes whose table of nodes was full */
	uint64_t cut_files;  /* files that end early */
	bool is_too_large;   /* there would be more than most_samples: counting has been given up */
};

/* The work of simulation_count_file(). */
struct simulation_counting {
	struct simulation_names *names;
	struct profile *made;
	size_t most_samples;
	struct simulation_losses *losses;
};

/*
 * Counts one file into `made`, whose first run is the execution's. Value COLUMN_CYCLES is left in quarters. False
 * with ERROR_LIMIT and losses->is_too_large set: there are more samples than were asked for.
 */
COMMON_MUST_CHECK
bool simulation_count_file(const struct sampler_simulation *simulation, const struct simulation_file *file,
	const struct simulation_counting *counting, struct error *err);
