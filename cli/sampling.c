/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/sampling.h"

#include "sampler/sampler.h"

enum { MAX_FREQUENCY_HZ = 100000, MAX_OFF_CPU_MS = 10000, NS_PER_MS = 1000000 };

static bool sampling_take_frequency(void *frequency_hz, const char *text, struct error *err)
{
	uint64_t hz;

	if (!options_parse_count("-F", text, MAX_FREQUENCY_HZ, &hz, err))
		return false;
	*(uint32_t *)frequency_hz = (uint32_t)hz;
	return hz > 0 || error_set(err, ERROR_USAGE, "-F 0: the least is one sample per second");
}

static bool sampling_take_off_cpu(void *ns, const char *text, struct error *err)
{
	uint64_t ms = SAMPLER_DEFAULT_OFF_CPU_MS;

	if (text && !options_parse_count("--off-cpu", text, MAX_OFF_CPU_MS, &ms, err))
		return false;
	*(uint64_t *)ns = ms * NS_PER_MS;
	return ms > 0 || error_set(err, ERROR_USAGE, "--off-cpu=0: the least is 1 ms");
}

/* Short waits close many gaps: they are sampled more often than for their own sake. */
void sampling_add_elapsed(struct sampler_options *sampler)
{
	sampler->elapsed = true;
	if (sampler->off_cpu_ns == 0)
		sampler->off_cpu_ns = NS_PER_MS;
}

static bool sampling_take_elapsed(void *options, const char *text, struct error *err)
{
	(void)text;
	(void)err;
	sampling_add_elapsed(options);
	return true;
}

const struct options_row sampling_rows[] = {
	{ 'F', "freq", "HZ", "samples per second on each CPU (default: 997, of suites 397)", sampling_take_frequency,
		offsetof(struct sampler_options, frequency_hz) },
	{ 'e', "event", "EVENT",
		"the event to count, by perf's name (default: cycles, or cpu-clock without hardware counters)",
		OPTIONS_TEXT(struct sampler_options, event),
		.words = "cycles cpu-clock task-clock page-faults context-switches" },
	{ 0, "off-cpu", "[=MS]",
		"samples where threads wait, too: one sample for MS milliseconds of waiting (default: 10)",
		sampling_take_off_cpu, offsetof(struct sampler_options, off_cpu_ns) },
	{ 0, "elapsed", NULL,
		"also where elapsed time went (metric elapsed): who ran, what was waited for; implies --off-cpu=1",
		sampling_take_elapsed, 0 },
	{ 0 },
};

const struct options_row sampling_native_rows[] = {
	{ 0, "native", NULL,
		"native code only: an interpreter's own functions in place of those of Python, JavaScript, Java",
		OPTIONS_FLAG(struct sampler_options, native_only) },
	{ 0 },
};
