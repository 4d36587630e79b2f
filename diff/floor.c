/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/floor.h"

#include <string.h>

/*
 * Relative standard deviation of a function's share between processes of one binary, beyond what blocks of time within a process
 * show: placement of heap, stack and code, hash seeds, threads' schedules, what the garbage collector and the compiler at run time
 * decided. `others` covers nine of ten functions of the programs in tests/unit/diff/data/floor.csv with room for heavier tails.
 * They were raised until pairs of those programs' processes flagged something in at most 5 of 100 cases.
 * `changed` is set lower, so that a change of code can be found at all, and is only where evidence_single() starts from: what
 * functions of unchanged code differ by in the pair at hand decides.
 */
static const struct process_floor native_floor = { .changed = 0.055, .others = 0.20 };
static const struct process_floor python_floor = { .changed = 0.055, .others = 0.20 };
static const struct process_floor node_floor = { .changed = 0.055, .others = 0.30 };
static const struct process_floor go_floor = { .changed = 0.055, .others = 0.40 };

static bool is_python(const char *module)
{
	return strncmp(module, "python", 6) == 0 || strncmp(module, "libpython", 9) == 0;
}

/* Most of node's time may lie in jitted code, which has a module of its own: a part of it names the program. */
static bool is_node(const char *module)
{
	return strcmp(module, "node") == 0 || strncmp(module, "libnode", 7) == 0;
}

struct process_floor floor_of(const struct diff_build *build)
{
	const struct diff *diff = build->diff;
	double go = 0, python = 0, node = 0, half = (diff->total.base + diff->total.head) / 2;

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];

		if (f->name_source == PROFILE_NAME_GO)
			go += f->self.base + f->self.head;
		if (is_python(diff_string(diff, f->module)))
			python += f->self.base + f->self.head;
		if (is_node(diff_string(diff, f->module)))
			node += f->self.base + f->self.head;
	}
	return python > half ? python_floor : node > half / 4 ? node_floor : go > half ? go_floor : native_floor;
}
