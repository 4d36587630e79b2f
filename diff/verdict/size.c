/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/size.h"

#include "diff/statistics/load.h"
#include "diff/words.h"

#include <math.h>
#include <string.h>

void size_append_duration(double ns, struct buffer *text)
{
	static const struct {
		double size;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" } };
	size_t i = 0;

	while (i < 2 && ns < units[i].size)
		i++;
	ns /= units[i].size;
	buffer_printf(text, ns < 10 ? "%.1f %s" : "%.0f %s", ns, units[i].unit);
}

double size_basis(const struct diff_build *build)
{
	switch (build->diff->scale.mode) {
	case DIFF_SCALE_PER_RUN:
		return build->profiles[DIFF_BASE]->run_count > 0 ? (double)build->profiles[DIFF_BASE]->run_count : 1;
	case DIFF_SCALE_RATE:
		return load_seconds(build->profiles[DIFF_BASE]);
	case DIFF_SCALE_PER_REQUEST:
		return build->diff->requests[DIFF_BASE].count;
	case DIFF_SCALE_WORK:
		return build->options.work[DIFF_BASE];
	case DIFF_SCALE_AUTO:
	case DIFF_SCALE_ROBUST:
	case DIFF_SCALE_SHARE:
		return 1;
	}
	return 1;
}

void size_words(const struct diff_build *build, double delta, char out[static SIZE_WORDS])
{
	const struct diff *diff = build->diff;
	bool is_relative = diff->scale.mode == DIFF_SCALE_ROBUST || diff->scale.mode == DIFF_SCALE_SHARE;
	double basis = size_basis(build);
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(SIZE_WORDS);

	out[0] = '\0';
	if (!diff->is_duration || diff->is_exact || is_relative || !(basis > 0))
		return;
	buffer_append_string(&text, delta < 0 ? "-" : "+");
	size_append_duration(fabs(delta) / basis, &text);
	buffer_append_string(&text, words_scale(diff->scale.mode));
	if (!text.failed)
		snprintf(out, SIZE_WORDS, "%s", text.data);
}
