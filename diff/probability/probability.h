/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The statistics that any kind of data rest on: distributions, robust means, families of tests. */

#include "diff/probability/median.h"
#include "diff/probability/step_up.h"
#include "diff/probability/tails.h"
