/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Sums up the work that each side did (profile/requests.h), and judges whether its answers took longer: fills
 * `requests` and `latency` of the diff. Needs the profiles only, so that the scale can use it.
 *
 * A handshake of TLS is two exchanges before the request of its connection. Where all sides have connections of so few
 * exchanges that most are handshakes, a connection counts as one request.
 *
 * Model of latencies: the exchanges of a side are one sample of what its service does. The sampling error of a quantile
 * is that of the share of exchanges below it, which is binomial: of n exchanges, the quantile q lies between those of
 * q - 1.96 s and q + 1.96 s in 95 of 100 samples, s = sqrt(q (1 - q) / n). Beside it services differ from one start to
 * the next, by placement, neighbours and the mix of requests (evidence_latency_p()). They are the same where both
 * intervals together span less than a factor. Fewer answers than there must be, and all in between, are not proven.
 * Both quantiles together are more where one is more and the other not less.
 */
void requests_collect(struct diff_build *build);
