/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/closing.h"

#include "cli/cli.h"
#include "cli/verification.h"

#include <string.h>

void closing_format_count(uint64_t count, char *text)
{
	char digits[24];
	int size = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	size_t out = 0;

	for (int i = 0; i < size; i++) {
		if (i > 0 && (size - i) % 3 == 0)
			text[out++] = ',';
		text[out++] = digits[i];
	}
	text[out] = '\0';
}

void closing_format_bytes(uint64_t bytes, char *text)
{
	if (bytes < 1000)
		snprintf(text, CLOSING_NUMBER_SIZE, "%llu B", (unsigned long long)bytes);
	else if (bytes < 1000000)
		snprintf(text, CLOSING_NUMBER_SIZE, "%.1f kB", (double)bytes / 1e3);
	else
		snprintf(text, CLOSING_NUMBER_SIZE, "%.1f MB", (double)bytes / 1e6);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static const char *was(uint64_t count)
{
	return count == 1 ? "was" : "were";
}

/* The share of whole stacks; rounding must not turn it into 100 % while a stack is cut. */
static double shown_percent(const struct profile_quality *quality)
{
	double percent = profile_quality_whole_percent(quality);

	return percent < 100 && percent > 99.9 ? 99.9 : percent;
}

static bool is_whole(size_t stop)
{
	return stop == PROFILE_STOP_ROOT || stop == PROFILE_STOP_STITCHED || stop == PROFILE_STOP_KERNEL_ONLY;
}

static void print_stops(const struct profile_quality *quality)
{
	const char *separator = "cut stacks: ";
	char count[CLOSING_NUMBER_SIZE];

	for (size_t stop = 0; stop < PROFILE_STOP_COUNT; stop++) {
		if (is_whole(stop) || quality->stops[stop] == 0)
			continue;
		closing_format_count(quality->stops[stop], count);
		cli_say("%s%s %s", separator, count, profile_stop_name((enum profile_stop)stop));
		separator = ", ";
	}
	if (separator[0] == ',')
		cli_say("\n");
	if (quality->stops[PROFILE_STOP_STITCHED] > 0) {
		closing_format_count(quality->stops[PROFILE_STOP_STITCHED], count);
		cli_say("%s of the whole stacks %s stitched\n", count, was(quality->stops[PROFILE_STOP_STITCHED]));
	}
}

/* Whether stacks are chains of frame pointers, which show neither what they left out nor whether they are whole. */
static bool is_by_frame_pointers(const struct profile *profile)
{
	return strcmp(profile_string(profile, profile->facts.call_graph), "fp") == 0;
}

static void print_losses(const struct profile_quality *quality)
{
	if (quality->throttled > 0)
		cli_say("the kernel paused sampling %llu time%s because it took too long; record with a lower -F\n",
			(unsigned long long)quality->throttled, plural(quality->throttled));
	if (quality->lost_sideband > 0)
		cli_say("%llu record%s of new mappings and threads %s lost, so some function names may be missing\n",
			(unsigned long long)quality->lost_sideband, plural(quality->lost_sideband),
			was(quality->lost_sideband));
}

/* The CPU time that the samples stand for; 0 if the samples do not measure CPU time. */
static int64_t sampled_cpu_ns(const struct profile *profile)
{
	int64_t sum = 0;

	if (!profile_metric(profile, profile->default_value_type).is_cpu_time)
		return 0;
	for (size_t i = 0; i < profile->sample_count; i++)
		sum = saturating_add(sum, profile->values[i * profile->value_type_count + profile->default_value_type]);
	return sum;
}

/*
 * Warns of threads without samples. The kernel starts a thread's clock with the thread, so a thread that lives for less
 * than a period is never sampled.
 */
static void print_unseen(const struct profile *profile)
{
	static const int64_t slack_ns = 50000000;
	int64_t sampled_ns = sampled_cpu_ns(profile), used_ns = 0;

	for (size_t i = 0; i < profile->run_count; i++) {
		if (!profile->runs[i].whole_command)
			return;
		used_ns = saturating_add(used_ns, profile->runs[i].cpu_ns);
	}
	if (sampled_ns == 0 || profile->facts.user_only || profile->quality.lost > 0 ||
		used_ns - sampled_ns < slack_ns || sampled_ns >= used_ns - used_ns / 4)
		return;
	cli_say("the samples cover %.2f s of the %.2f s of CPU time that the command used: the kernel hardly samples processes that "
		"live for less than a sampling period; a higher -F samples more of them\n",
		(double)sampled_ns / 1e9, (double)used_ns / 1e9);
}

static bool has_no_name(const struct profile *profile, const struct profile_location *location)
{
	enum profile_name_source source;

	if (location->mapping == PROFILE_NONE || location->line_count == 0)
		return false;
	source = profile->functions[profile->lines[location->first_line].function].name_source;
	return source == PROFILE_NAME_NONE || source == PROFILE_NAME_FDE;
}

/* Counts the samples in functions without a name, by mapping. */
static void count_unnamed(const struct profile *profile, uint64_t *unnamed)
{
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct profile_stack *stack = &profile->stacks[profile->samples[i].stack];
		const struct profile_location *location = &profile->locations[stack->location];

		if (profile->samples[i].stack != 0 && has_no_name(profile, location))
			unnamed[location->mapping] += (uint64_t)profile->values[i * profile->value_type_count];
	}
}

/*
 * Whether a mapping is of a binary without symbols. A file that could not be read had its own message; the end of its
 * mapping is UINT64_MAX.
 */
static bool is_stripped_file(const struct profile_mapping *mapping)
{
	return mapping->kind == PROFILE_MAPPING_FILE && mapping->end != UINT64_MAX;
}

/* Names binaries that lack their symbols, as installed ones usually do. */
static void print_stripped(const struct profile *profile)
{
	enum { LEAST_STRIPPED_PERCENT = 10 };
	CLEANUP(cleanup_free) uint64_t *unnamed = calloc(profile->mapping_count + 1, sizeof(*unnamed));
	uint64_t samples = profile->quality.samples, stripped = 0;
	size_t most = 0;

	if (!unnamed)
		return;
	count_unnamed(profile, unnamed);
	for (size_t i = 0; i < profile->mapping_count; i++) {
		if (!is_stripped_file(&profile->mappings[i]))
			continue;
		stripped += unnamed[i];
		if (!is_stripped_file(&profile->mappings[most]) || unnamed[i] > unnamed[most])
			most = i;
	}
	if (stripped * 100 >= samples * LEAST_STRIPPED_PERCENT && stripped > 0)
		cli_say("%.0f %% of the samples are in functions without names, most of them in %s: 'man kelvin-record' says which "
			"debug symbols to install\n",
			(double)stripped * 100 / (double)samples,
			profile_string(profile, profile->mappings[most].path));
}

/* Interpreters and run-time compilers give the names of a program's functions only on request. */
static void print_nameless(const struct profile *profile)
{
	enum { MAX_SENTENCE_BYTES = 1024 };
	struct profile_nameless found[PROFILE_NAMELESS_MAX];
	struct error ignored;
	size_t count = 0;

	if (!profile_find_nameless(profile, found, &count, &ignored))
		return;
	for (size_t i = 0; i < count; i++) {
		struct buffer sentence;

		buffer_init(&sentence, MAX_SENTENCE_BYTES);
		profile_nameless_sentence(&found[i], &sentence);
		if (buffer_ok(&sentence, &ignored))
			cli_say("%.*s\n", (int)sentence.size, (const char *)sentence.data);
		buffer_deinit(&sentence);
	}
}

void closing_print(const struct closing *closing)
{
	const struct profile_quality *quality = &closing->profile->quality;
	char samples[CLOSING_NUMBER_SIZE], lost[CLOSING_NUMBER_SIZE], bytes[CLOSING_NUMBER_SIZE];
	double seconds = (double)closing->duration_ns / 1e9;

	closing_format_count(quality->samples, samples);
	closing_format_count(quality->lost, lost);
	closing_format_bytes(closing->file_bytes, bytes);
	cli_say("%s sample%s in %.1f s, %s lost, ", samples, plural(quality->samples), seconds, lost);
	if (is_by_frame_pointers(closing->profile)) {
		cli_say("stacks from frame pointers\n");
	} else {
		cli_say("%.1f %% whole stacks\n", shown_percent(quality));
		print_stops(quality);
	}
	verification_print(closing->profile);
	print_losses(quality);
	print_unseen(closing->profile);
	if (!closing->no_names) {
		print_nameless(closing->profile);
		print_stripped(closing->profile);
	}
	cli_say("recorder: %.1f %% of one CPU while recording, then %.2f s to %swrite the file\n",
		seconds > 0 ? (double)closing->recorder_cpu_ns / 1e7 / seconds : 0, (double)closing->naming_ns / 1e9,
		closing->no_names ? "" : "name functions and ");
	cli_say("wrote %s (%s)\n", strcmp(closing->path, "-") == 0 ? "standard output" : closing->path, bytes);
}
