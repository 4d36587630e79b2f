/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Sums up the work that each side did (profile/requests.h), and judges whether its answers took longer: fills
 * `requests` and `latency` of the diff. Needs the profiles only, so that the scale can use it.
 *
 * Model of latencies: the exchanges of a side are one sample of what its service does. The sampling error of a quantile
 * is that of the share of exchanges below it, which is binomial: of n exchanges, the quantile q lies between those of
 * q - 1.96 s and q + 1.96 s, s = sqrt(q (1 - q) / n), in 95 of 100 samples. Beside it services differ from one start to
 * the next, by placement, neighbours and the mix of requests; one recording a side does not show by how much, since the
 * histogram has no blocks of time. Latencies are therefore proven to differ only where their intervals stay apart even
 * when one of them is widened by a factor, which is greater for p99: a tail holds what is rare. They are the same where
 * both intervals together span less than another factor. Fewer answers than there must be, and all in between, are not
 * proven. Both quantiles together are more where one is more and the other not less.
 */
void requests_collect(struct diff_build *build);
