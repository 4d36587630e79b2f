/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What `kelvin bench` runs, and when. Nothing is run or sampled here: `cli/` does.
 *
 *	commands.h	the commands, one for each layout
 *	plan.h		the order of their runs
 *	layouts.h	the layouts of their code, and what a run is told of its own
 *	runs.h		those that were made, when they are enough, and whether CPU time is what their users wait for
 *	save.h		the profiles of both sides as files
 */
#include "sampler/bench/commands.h"
#include "sampler/bench/layouts.h"
#include "sampler/bench/plan.h"
#include "sampler/bench/runs.h"
#include "sampler/bench/save.h"
