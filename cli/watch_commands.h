/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/labels.h"
#include "sampler/sampler.h"

/* The work of the children of a watch, in its directory; each function returns its exit code. */

/*
 * Does the work of the watch by the program's commands. A recording has labels that tell which build the main process
 * runs. Prints a line: of a report what it says (render_deploy_line()), of a profile what it tells by its labels
 * (watch_series_append()): the recorder reads some of them itself.
 */
struct watch_task {
	const struct watch *watch;
	const struct labels *labels; /* of the user */
};
int watch_command_work(void *task);

/* Prints what the profiles of these names tell, NULL ends them; of one that cannot be read nothing is known. */
int watch_command_series(void *names);

/* Sends the file of a struct watch_push. */
int watch_command_push(void *push);
