/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Marks the places of proven changes (DIFF_NODE_PLACE): the verdict on a function is about all its nodes together, and
 * a node alone may have too little of the change for a verdict of its own. Needs the states.
 */
void places_mark(struct diff_build *build);
