/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/output.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_windows(const struct harness_result *result)
{
	int64_t before_ns = 0;

	for (size_t i = 0; i < result->window_count; i++) {
		const struct harness_window *window = &result->windows[i];

		if (!window->uri || window->start_ns < before_ns || window->end_ns <= window->start_ns ||
			(window->measured.rounds > 0 && !(window->measured.mean_ns > 0)))
			abort();
		before_ns = window->end_ns;
		free(window->uri);
	}
	free(result->windows);
	free(result->integration);
}

/*
 * What a benchmark program prints. A line is handed over when it ends, and so far as it has come where a byte of 1 is;
 * a byte of 2 is a line's end at which no time passes.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct harness_result result = { 0 };
	struct harness_output *output;
	struct buffer notices;
	struct error err;
	size_t start = 0;
	int64_t time_ns = 0;

	if (!harness_output_create(&output, &err))
		abort();
	buffer_init(&notices, 10000);
	for (size_t i = 0; i < size; i++) {
		if (data[i] != '\n' && data[i] != 1 && data[i] != 2)
			continue;
		time_ns += data[i] == 2 ? 0 : 1000;
		harness_output_line(output, 0, (const char *)data + start, i - start, time_ns, data[i] != 1);
		if (data[i] != 1)
			start = i + 1;
	}
	if (harness_output_finish(output, time_ns, &result, &notices, &err))
		check_windows(&result);
	harness_output_destroy(output);
	buffer_deinit(&notices);
	return 0;
}
