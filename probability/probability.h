/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What statistics of any kind of data rest on: distributions, robust means, moderated variances, families of tests. */

#include "probability/median.h"
#include "probability/moderate.h"
#include "probability/signed_rank.h"
#include "probability/step_up.h"
#include "probability/tails.h"
