/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/latency.h"

#include "diff/verdict/sentences.h"
#include "diff/verdict/size.h"
#include "diff/verdict/waiting.h"
#include "diff/words.h"

#include <math.h>
#include <string.h>

enum proven_way latency_way(const struct diff *diff)
{
	return diff->waiting != DIFF_WAITING_NONE && diff->latency.is_known ? proven_way_of(diff->latency.state)
									    : PROVEN_NEITHER;
}

/* Returns the quantile that is proven to differ. */
static double latency_quantile(const struct diff *diff, enum diff_side side)
{
	const struct diff_requests *requests = &diff->requests[side];

	return diff->latency.p50 == diff->latency.state ? requests->p50_ns : requests->p99_ns;
}

bool latency_decide(struct diff_build *build, struct error *err)
{
	enum { MAX_TEXT = 4096 };
	struct diff *diff = build->diff;
	enum proven_way way = latency_way(diff);
	double base = latency_quantile(diff, DIFF_BASE), head = latency_quantile(diff, DIFF_HEAD), times = head / base;
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MAX_TEXT);

	diff->verdict = way == PROVEN_MORE ? DIFF_REGRESSED : DIFF_IMPROVED;
	buffer_printf(&text, "requests take %.*f times as long (%s ", times < 10 ? 2 : times < 100, times,
		diff->latency.p50 == diff->latency.state ? "p50" : "p99");
	size_append_duration(base, &text);
	buffer_append_string(&text, " → ");
	size_append_duration(head, &text);
	buffer_append_byte(&text, ')');
	if (diff->total.delta * (int)way > 0)
		waiting_append_most(diff, diff->total.delta, &text);
	buffer_append_string(&text, "; no single function is proven to have changed");
	return sentence_set(diff, &text, err);
}
