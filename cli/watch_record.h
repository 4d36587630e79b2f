/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/labels.h"
#include "sampler/sampler.h"

/*
 * A recording, in a child of the watch: which build the main process runs, `kelvin record` with labels that tell it,
 * and what the profile then tells by its labels, as watch_series_print() has it: the recorder reads some of them
 * itself.
 */
struct watch_recording {
	const struct watch_process *process;
	const char *group; /* directory of the control group; NULL: the process with all that it starts */
	double duration_s;
	const struct labels *labels; /* of the user */
	const char *name;            /* of the file */
};

int watch_recording_make(const struct watch_recording *recording);
