/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * The runs of a side as instances of a program: hosts, pods, containers. Fills diff->instances.
 *
 * Model: an instance does the same work at the same cost as the others of its side, so that the logarithms of what they
 * take (per request where all count them, else per second of the recording) scatter around a median. One whose robust z
 * score by the median absolute deviation is beyond that of an outlier, and which takes a quarter more or less than the
 * median, is named with the function in which most of the difference lies. It stays part of every figure: what is wrong
 * with one instance may be what the change did.
 *
 * CPU models: where runs of a side are of different models, what a model costs is the mean of its runs over the mean of
 * the same side's runs on models that both sides have. The effect of the mix is the difference of the sides' shares
 * times these costs: so much more would head take if the program had not changed. Runs are not compared within models.
 */

/* Needs the places of samples and the scale. */
void instances_collect(struct diff_build *build);

/* Functions have other ids: [function] the new one. */
void instances_reorder(struct diff *diff, const uint32_t *new_ids);
