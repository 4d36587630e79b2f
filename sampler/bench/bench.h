/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What `kelvin bench` runs, and when. Nothing is run or sampled here: `cli/` does.
 *
 *	commands.h	the commands, one for each layout
 *	plan.h		the order of their runs
 *	layouts.h	the layouts of their code, and what a run is told of its own
 *	records.h	the profiles of the runs
 *	clock.h		whether CPU time is what a run's users wait for
 *	save.h		the profiles of both sides as files
 */
#include "sampler/bench/clock.h"
#include "sampler/bench/commands.h"
#include "sampler/bench/layouts.h"
#include "sampler/bench/plan.h"
#include "sampler/bench/records.h"
#include "sampler/bench/save.h"
