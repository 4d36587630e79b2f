/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/machine.h"

#include "diff/verdict/size.h"
#include "diff/words.h"

#include <math.h>
#include <string.h>

static const struct diff_estimate *queue_of(const struct diff *diff)
{
	return &diff->waits[PROFILE_WAIT_RUN_QUEUE].total;
}

/*
 * A program that seems to do more work itself may make its own threads wait: its work then changed in the same
 * direction, by more than the waits or by an interval without 0.
 */
static bool may_be_its_own(const struct diff_estimate *total, const struct diff_estimate *queue)
{
	if (!(total->delta * queue->delta > 0))
		return false;
	return total->ci_low > 0 || total->ci_high < 0 || fabs(total->delta) > fabs(queue->delta);
}

bool machine_is_reason(const struct diff_build *build, const struct proven *proven)
{
	const struct diff *diff = build->diff;
	const struct diff_estimate *queue = queue_of(diff);

	if (diff->waiting == DIFF_WAITING_NONE || diff->is_idle)
		return false;
	if (proven_way_of(diff->total.state) || proven->more.greatest || proven->less.greatest)
		return false;
	return proven_way_of(queue->state) && !may_be_its_own(&diff->total, queue);
}

bool machine_say(struct diff_build *build, double tolerated, struct error *err)
{
	enum { MAX_TEXT = 1024 };
	struct diff *diff = build->diff;
	const struct diff_estimate *total = &diff->total, *queue = queue_of(diff);
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MAX_TEXT);
	char words[WORDS_CHANGE];

	buffer_append_string(&text, "the program waits ");
	size_append_duration(fabs(queue->delta) / size_basis(build), &text);
	buffer_printf(&text, " %s for a CPU%s; ", queue->delta > 0 ? "more" : "less", words_scale(diff->scale.mode));
	if (total->ci_high <= tolerated && total->ci_low >= -tolerated) {
		buffer_append_string(&text, "its own work is unchanged");
	} else {
		words_change(diff, total, words);
		buffer_printf(&text, "no change of its own work is proven: head %s %s", words_verb(diff), words);
	}
	if (!buffer_ok(&text, err))
		return false;
	build_text(diff, &diff->verdict_text, "%s", text.data);
	return true;
}
