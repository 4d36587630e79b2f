/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/record_summary.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *record_summary_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static const char *was(uint64_t count)
{
	return count == 1 ? "was" : "were";
}

static bool record_summary_is_whole(size_t stop)
{
	return stop == PROFILE_STOP_ROOT || stop == PROFILE_STOP_STITCHED || stop == PROFILE_STOP_KERNEL_ONLY;
}

/* Returns the function at a location; "" where it has no name. */
static const char *record_summary_function_at(const struct profile *profile, uint32_t id)
{
	const struct profile_location *location = &profile->locations[id];

	return location->line_count == 0
		       ? ""
		       : profile_string(profile,
				 profile->functions[profile->lines[location->first_line + location->line_count - 1]
							    .function]
					 .name);
}

/* Appends "open stacks: 11, which nothing cut, but whose ...: 9 end at runtime.asmcgocall". */
static void record_summary_append_open(struct buffer *text, const struct profile *profile)
{
	const struct profile_quality *quality = &profile->quality;
	uint64_t open = quality->stops[PROFILE_STOP_OPEN];
	char count[DIGITS_SIZE];

	if (open == 0)
		return;
	digits_in_groups(open, count);
	buffer_printf(text,
		"open stacks: %s, which nothing cut, but whose last frame is not known to be the first one of a thread",
		count);
	if (quality->open_end_count > 0 && record_summary_function_at(profile, quality->open_end)[0]) {
		digits_in_groups(quality->open_end_count < open ? quality->open_end_count : open, count);
		buffer_printf(text, ": %s end at %s", count, record_summary_function_at(profile, quality->open_end));
	}
	if (quality->placed_count > 0) {
		digits_in_groups(quality->placed_count < open ? quality->placed_count : open, count);
		buffer_printf(text,
			"; %s return to code of %s that has not called them: a coroutine begins so, or a tool that traces functions (uftrace) "
			"has put itself there",
			count, profile_string(profile, profile->mappings[quality->placed_in].path));
	}
	buffer_append_byte(text, '\n');
}

static void append_stops(struct buffer *text, const struct profile *profile)
{
	const struct profile_quality *quality = &profile->quality;
	const char *separator = "cut stacks: ";
	char count[DIGITS_SIZE];

	record_summary_append_open(text, profile);
	for (size_t stop = 0; stop < PROFILE_STOP_COUNT; stop++) {
		if (record_summary_is_whole(stop) || stop == PROFILE_STOP_OPEN || quality->stops[stop] == 0)
			continue;
		digits_in_groups(quality->stops[stop], count);
		buffer_printf(text, "%s%s %s", separator, count, profile_stop_name((enum profile_stop)stop));
		separator = ", ";
	}
	if (separator[0] == ',')
		buffer_append_byte(text, '\n');
	if (quality->stops[PROFILE_STOP_RETURN_PROBE] > 0)
		buffer_printf(text,
			"return probe: another tool's return probe (bpftrace, perf probe) stands on the last function, and the kernel alone knows "
			"its caller, which it %s\n",
			geteuid() == 0
				? "tells once the recorder has met the probe, on Linux 5.8 or later, where BPF programs can be loaded (kelvin doctor), and without --native"
				: "tells a recording of root since Linux 5.8");
	if (quality->stops[PROFILE_STOP_STACK_SWITCH] > 0)
		buffer_append_string(text,
			"stack switch: the stack goes on in memory that a sample has no copy of (a signal handler's own stack, coroutines, "
			"-fsplit-stack); -g fp follows it there in programs that keep frame pointers, without the function that a signal "
			"interrupted\n");
	if (quality->stops[PROFILE_STOP_NO_MAPPING] > 0)
		buffer_append_string(text,
			"no mapping: neither the kernel nor the maps of the process, which may have ended before they were read, tell of the code "
			"that was called or returned to there; nothing shows more of these stacks\n");
	if (quality->stops[PROFILE_STOP_STITCHED] > 0) {
		digits_in_groups(quality->stops[PROFILE_STOP_STITCHED], count);
		buffer_printf(text, "%s of the whole stacks %s stitched\n", count,
			was(quality->stops[PROFILE_STOP_STITCHED]));
	}
}

/*
 * Returns whether stacks are chains of frame pointers, which show neither what they left out nor whether they are
 * whole.
 */
static bool is_by_frame_pointers(const struct profile *profile)
{
	return strcmp(profile_string(profile, profile->facts.call_graph), "fp") == 0;
}

static void append_frameless(struct buffer *text, const struct profile_quality *quality)
{
	double percent = profile_quality_frameless_percent(quality);

	buffer_append_string(text, "stacks from frame pointers");
	if (percent >= 1)
		buffer_printf(text,
			", %.0f %% of which leave out callers: the function that ran had no frame of its own; a recording without -g fp has "
			"them",
			percent);
	buffer_append_byte(text, '\n');
}

static void append_losses(struct buffer *text, const struct profile_quality *quality)
{
	if (quality->throttled > 0)
		buffer_printf(text,
			"the kernel paused sampling %llu time%s because it took too long; record with a lower -F\n",
			(unsigned long long)quality->throttled, record_summary_plural(quality->throttled));
	if (quality->lost_sideband > 0)
		buffer_printf(text,
			"%llu record%s of new mappings and threads %s lost, so some function names may be missing\n",
			(unsigned long long)quality->lost_sideband, record_summary_plural(quality->lost_sideband),
			was(quality->lost_sideband));
}

static int64_t unsampled_ns(const struct profile *profile)
{
	return (int64_t)profile->facts.unsampled_ms * 1000000;
}

/* Appends "'passwd' and 2 other programs". */
static void append_refused_names(struct buffer *text, const struct record_refusals *refusals)
{
	if (refusals->name[0] == '\0')
		buffer_append_string(text, "programs of the target");
	else
		buffer_printf(text, "'%s'", refusals->name);
	if (refusals->programs > 1)
		buffer_printf(text, " and %zu other program%s", refusals->programs - 1,
			record_summary_plural(refusals->programs - 1));
}

/* Returns whether there was something to tell. Processes that are brief have no samples either. */
static bool append_refused(struct buffer *text, const struct record_summary *summary)
{
	const struct record_refusals *refusals = &summary->refusals;
	int64_t missing_ns = unsampled_ns(summary->profile);
	int64_t all_ns = saturating_add(missing_ns, profile_sampled_cpu_ns(summary->profile));

	if (missing_ns == 0)
		return false;
	buffer_printf(text, "%.2f s of CPU time (%.0f %%) are not in the samples: the kernel %s",
		(double)missing_ns / 1e9, (double)missing_ns * 100 / (double)all_ns,
		refusals->are_resumed ? "stopped sampling at the start of " : "lets only root sample ");
	append_refused_names(text, refusals);
	buffer_append_string(text, " (set-user-ID, unreadable or with capabilities of the file)");
	if (refusals->cpu_ns < missing_ns / 2)
		buffer_append_string(text, ", and hardly samples processes that live for less than a sampling period");
	buffer_append_string(text,
		refusals->are_resumed
			? "; it went on a moment later, and never stops with -a\n"
			: "; 'sudo kelvin record -a' while it runs, or 'sudo kelvin record -- sudo -u USER COMMAND', samples it\n");
	return true;
}

/*
 * Warns of threads without samples. The kernel starts a thread's clock with the thread, so a thread that lives for less
 * than a period is never sampled.
 */
static void append_unseen(struct buffer *text, const struct profile *profile)
{
	static const int64_t slack_ns = 50000000;
	int64_t sampled_ns = profile_sampled_cpu_ns(profile), used_ns = profile_commands_cpu_ns(profile);

	if (sampled_ns == 0 || profile->facts.user_only || profile->quality.lost > 0 ||
		used_ns - sampled_ns < slack_ns || sampled_ns >= used_ns - used_ns / 4)
		return;
	buffer_printf(text,
		"the samples cover %.2f s of the %.2f s of CPU time that the command used: the kernel hardly samples processes that "
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

/* Returns whether a stack ends in the interpreter of a function, which has the time and a name. */
static bool is_interpreters_work(const struct profile *profile, uint32_t stack)
{
	enum profile_language interpreted = PROFILE_LANGUAGE_NATIVE;

	for (uint32_t at = stack; at != 0; at = profile->stacks[at].parent) {
		const struct profile_location *location = &profile->locations[profile->stacks[at].location];
		const struct profile_function *function;
		const char *name, *module;

		if (location->line_count == 0)
			return false;
		function = &profile->functions[profile->lines[location->first_line].function];
		name = profile_string(profile, function->name);
		module = profile_string(profile, function->module);
		if (at == stack)
			interpreted = profile_language_interpreted_by(name, module);
		else if (profile_language_of(name, module) == interpreted)
			return true;
		if (interpreted == PROFILE_LANGUAGE_NATIVE ||
			profile_language_interpreted_by(name, module) != interpreted)
			return false;
	}
	return false;
}

/* Counts the samples in functions without a name, by mapping. */
static void count_unnamed(const struct profile *profile, uint64_t *unnamed)
{
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct profile_stack *stack = &profile->stacks[profile->samples[i].stack];
		const struct profile_location *location = &profile->locations[stack->location];

		if (profile->samples[i].stack != 0 && has_no_name(profile, location) &&
			!is_interpreters_work(profile, profile->samples[i].stack))
			unnamed[location->mapping] += (uint64_t)profile->values[i * profile->value_type_count];
	}
}

/*
 * Returns whether a mapping is of a binary without symbols. A file that could not be read had its own message; the end
 * of its mapping is UINT64_MAX.
 */
static bool is_stripped_file(const struct profile_mapping *mapping)
{
	return mapping->kind == PROFILE_MAPPING_FILE && mapping->end != UINT64_MAX;
}

static bool passes_through(const struct profile *profile, uint32_t stack, const bool *is_wanted)
{
	for (uint32_t at = stack; at != 0; at = profile->stacks[at].parent) {
		const struct profile_location *location = &profile->locations[profile->stacks[at].location];

		for (uint32_t i = 0; i < location->line_count; i++)
			if (is_wanted[profile->lines[location->first_line + i].function])
				return true;
	}
	return false;
}

/* Functions whose names lie in a file that is not there (dwz), which is told when their binary is opened. */
static void append_without_file(struct buffer *text, const struct profile *profile)
{
	CLEANUP(cleanup_free) bool *is_unnamed = memory_zeroed(profile->function_count + 1, sizeof(*is_unnamed));
	uint64_t through = 0;

	for (size_t i = 0; is_unnamed && i < profile->function_count; i++)
		is_unnamed[i] = strcmp(profile_string(profile, profile->functions[i].name), "[unnamed]") == 0;
	for (size_t i = 0; is_unnamed && i < profile->sample_count; i++)
		if (passes_through(profile, profile->samples[i].stack, is_unnamed))
			through += (uint64_t)profile->values[i * profile->value_type_count];
	if (through > 0)
		buffer_printf(text, "%.0f %% of the samples pass through inlined functions that are '[unnamed]'\n",
			(double)through * 100 / (double)profile->quality.samples);
}

/* Names binaries that lack their symbols, as installed ones usually do. */
static void append_stripped(struct buffer *text, const struct record_summary *summary)
{
	enum { LEAST_STRIPPED_PERCENT = 10 };
	const struct profile *profile = summary->profile;
	CLEANUP(cleanup_free) uint64_t *unnamed = memory_zeroed(profile->mapping_count + 1, sizeof(*unnamed));
	uint64_t samples = profile->quality.samples, stripped = 0;
	char package[200], remedy[400] = "'man kelvin-record' says which debug symbols to install";
	const char *path;
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
	if (stripped * 100 < samples * LEAST_STRIPPED_PERCENT || stripped == 0)
		return;
	path = profile_string(profile, profile->mappings[most].path);
	/* Files of a container are those of its own system. */
	if (profile->facts.container == 0 && summary->package_of && summary->package_of(path, package, sizeof(package)))
		snprintf(remedy, sizeof(remedy),
			"'apt install %s' (from the archive of debug symbols) or 'kelvin symbolize --debuginfod' names them",
			package);
	buffer_printf(text, "%.0f %% of the samples are in functions without names, most of them in %s: %s\n",
		(double)stripped * 100 / (double)samples, path, remedy);
}

/* Interpreters and run-time compilers give the names of a program's functions only on request. */
static void record_summary_append_nameless(struct buffer *text, const struct profile *profile)
{
	struct profile_nameless found[PROFILE_LANGUAGE_COUNT];
	struct error ignored;
	size_t count = 0;

	if (!profile_find_nameless(profile, found, &count, &ignored))
		return;
	for (size_t i = 0; i < count; i++) {
		profile_nameless_sentence(&found[i], text);
		buffer_append_byte(text, '\n');
	}
}

/* ---- Requests ---- */

static void append_duration(struct buffer *text, const char *words, double ns)
{
	if (ns < 1e5)
		buffer_printf(text, "%s %.*f µs", words, ns < 1e4, ns / 1e3);
	else if (ns < 1e7)
		buffer_printf(text, "%s %.2g ms", words, ns / 1e6);
	else if (ns < 1e9)
		buffer_printf(text, "%s %.0f ms", words, ns / 1e6);
	else
		buffer_printf(text, "%s %.1f s", words, ns / 1e9);
}

static void append_latency(struct buffer *text, const struct profile *profile)
{
	uint64_t counts[PROFILE_LATENCY_BUCKETS];
	double half_ns;

	profile_latency_counts(profile, PROFILE_EXCHANGE_ANSWERED, counts);
	half_ns = profile_latency_quantile(counts, 0.5);
	if (isnan(half_ns))
		return;
	append_duration(text, ", half of them within", half_ns);
	append_duration(text, ", 99 % within", profile_latency_quantile(counts, 0.99));
}

static void append_answered(struct buffer *text, const struct record_summary *summary, uint64_t answered)
{
	const struct profile_requests *requests = &summary->profile->requests;
	char count[DIGITS_SIZE], rate[DIGITS_SIZE];
	double per_s = summary->duration_ns > 0 ? (double)answered * 1e9 / (double)summary->duration_ns : 0;

	digits_in_groups(answered, count);
	digits_in_groups((uint64_t)(per_s + 0.5), rate);
	if (requests->source == PROFILE_WORK_EVENT)
		buffer_printf(text, "%s time%s %s", count, record_summary_plural(answered),
			profile_string(summary->profile, requests->event));
	else
		buffer_printf(text, "%s request%s %s", count, record_summary_plural(answered),
			requests->source == PROFILE_WORK_STATED ? "as stated" : "answered");
	if (per_s >= 1)
		buffer_printf(text, " (%s a second)", rate);
}

/*
 * Appends "40,001 requests answered (4,000 a second), half of them within 0.21 ms, 99 % within 1.9 ms; 120 calls out".
 */
static void append_requests(struct buffer *text, const struct record_summary *summary)
{
	uint64_t answered = profile_requests_total(summary->profile, PROFILE_EXCHANGE_ANSWERED);
	uint64_t called = profile_requests_total(summary->profile, PROFILE_EXCHANGE_CALLED_OUT);
	char count[DIGITS_SIZE];

	if (answered == 0 && called == 0) {
		if (summary->profile->requests.source == PROFILE_WORK_EVENT)
			buffer_printf(text, "%s did not happen\n",
				profile_string(summary->profile, summary->profile->requests.event));
		return;
	}
	if (answered > 0) {
		append_answered(text, summary, answered);
		append_latency(text, summary->profile);
	}
	digits_in_groups(called, count);
	if (called > 0)
		buffer_printf(text, "%s%s call%s out", answered > 0 ? "; " : "", count, record_summary_plural(called));
	buffer_append_byte(text, '\n');
}

/* ---- Waits ---- */

struct waited {
	int64_t ns[PROFILE_WAIT_COUNT], off_cpu_ns;
	size_t threads; /* that waited for anything but work */
};

static void add_up_waits(const struct profile *profile, bool *has_waited, struct waited *waited)
{
	struct profile_wait_values at = profile_wait_values(profile);

	*waited = (struct waited){ 0 };
	for (size_t i = 0; i < profile->sample_count; i++) {
		const int64_t *values = profile->values + i * profile->value_type_count;
		enum profile_wait_class wait_class = profile_wait_class_of_stack(profile, profile->samples[i].stack);

		if (wait_class == PROFILE_WAIT_NONE)
			continue;
		waited->ns[wait_class] =
			saturating_add(waited->ns[wait_class], saturating_add(values[at.off_cpu], values[at.idle]));
		waited->off_cpu_ns = saturating_add(waited->off_cpu_ns, values[at.off_cpu]);
		if (values[at.off_cpu] == 0 || has_waited[profile->samples[i].thread])
			continue;
		has_waited[profile->samples[i].thread] = true;
		waited->threads++;
	}
}

/* "waiting: 12.3 s in 8 threads: lock 80 %, io 12 %, timer 8 %; idle 40.0 s" */
static void append_waits(struct buffer *text, const struct profile *profile)
{
	CLEANUP(cleanup_free) bool *has_waited = memory_zeroed(profile->thread_count + 1, sizeof(*has_waited));
	enum profile_wait_class order[PROFILE_WAIT_COUNT];
	struct waited waited;
	size_t count;

	if (!has_waited || !profile_has_waits(profile))
		return;
	add_up_waits(profile, has_waited, &waited);
	if (waited.off_cpu_ns == 0 && waited.ns[PROFILE_WAIT_IDLE] == 0) {
		buffer_printf(text, "waiting: no thread was seen to wait\n");
		return;
	}
	buffer_printf(text, "waiting: %.1f s in %zu thread%s", (double)waited.off_cpu_ns / 1e9, waited.threads,
		record_summary_plural(waited.threads));
	count = profile_waits_by_time(waited.ns, order);
	for (size_t i = 0; i < count; i++)
		buffer_printf(text, "%s%s %.0f %%", i ? ", " : ": ", profile_wait_info(order[i])->name,
			(double)waited.ns[order[i]] * 100 / (double)waited.off_cpu_ns);
	if (waited.ns[PROFILE_WAIT_IDLE] > 0)
		buffer_printf(text, "; idle %.1f s", (double)waited.ns[PROFILE_WAIT_IDLE] / 1e9);
	buffer_append_byte(text, '\n');
	if (profile_waits_unseen(profile))
		buffer_printf(text, "%s\n", profile_waits_unseen(profile));
}

/* Where a program is slow although it hardly uses a CPU, samples of the CPU do not show why. */
static void append_proposal(struct buffer *text, const struct record_summary *summary)
{
	enum { BUSY_PERCENT = 30 };
	static const int64_t least_ns = 500000000;
	int64_t used_ns = saturating_add(profile_sampled_cpu_ns(summary->profile), unsampled_ns(summary->profile));
	double percent = (double)used_ns * 100 / (double)summary->duration_ns;

	if (!summary->may_wait || profile_has_waits(summary->profile) || summary->duration_ns < least_ns ||
		!profile_metric(summary->profile, summary->profile->default_value_type).is_cpu_time ||
		percent >= BUSY_PERCENT)
		return;
	buffer_printf(text,
		"it used %.0f %% of one CPU: where it waited for the rest of the time, a recording with --off-cpu shows\n",
		percent);
}

/* ---- Benchmarks ---- */

/* Returns the number of names that runs have; several runs may have the same. */
static size_t count_benchmarks(const struct profile *profile, uint64_t *rounds)
{
	CLEANUP(cleanup_free) bool *met = memory_zeroed(string_table_count(profile->strings) + 1, sizeof(*met));
	size_t count = 0;

	for (size_t i = 0; met && i < profile->run_count; i++) {
		const struct profile_run *run = &profile->runs[i];

		*rounds += run->measured.rounds;
		count += run->name != 0 && !met[run->name];
		met[run->name] = true;
	}
	return count;
}

static void record_summary_append_benchmarks(struct buffer *text, const struct record_summary *summary)
{
	const struct profile *profile = summary->profile;
	const char *harness = profile_string(profile, profile->facts.harness);
	char rounds_text[DIGITS_SIZE], count_text[DIGITS_SIZE];
	uint64_t rounds = 0;
	size_t count = count_benchmarks(profile, &rounds);

	if (count == 0)
		return;
	digits_in_groups(count, count_text);
	digits_in_groups(rounds, rounds_text);
	buffer_printf(text, "%s benchmark%s%s%s: %s round%s", count_text, record_summary_plural(count),
		harness[0] ? " of " : "", harness, rounds_text, record_summary_plural(rounds));
	if (summary->answer_us > 0)
		buffer_printf(text, "; answers took %.0f µs (median)", summary->answer_us);
	buffer_append_byte(text, '\n');
}

/* ---- All of it ---- */

void render_append_written(struct buffer *text, const char *path, uint64_t bytes)
{
	const char *name = strcmp(path, "-") == 0 ? "standard output" : path;

	if (bytes < 1000)
		buffer_printf(text, "wrote %s (%llu B)", name, (unsigned long long)bytes);
	else if (bytes < 1000000)
		buffer_printf(text, "wrote %s (%.1f kB)", name, (double)bytes / 1e3);
	else
		buffer_printf(text, "wrote %s (%.1f MB)", name, (double)bytes / 1e6);
}

void render_record_summary(const struct record_summary *summary, struct buffer *text)
{
	const struct profile_quality *quality = &summary->profile->quality;
	char samples[DIGITS_SIZE], lost[DIGITS_SIZE];
	double seconds = (double)summary->duration_ns / 1e9;

	digits_in_groups(quality->samples, samples);
	digits_in_groups(quality->lost, lost);
	buffer_printf(text, "%s sample%s in %.1f s, %s lost, ", samples, record_summary_plural(quality->samples),
		seconds, lost);
	if (is_by_frame_pointers(summary->profile)) {
		append_frameless(text, quality);
	} else {
		buffer_printf(text, "%.1f %% whole stacks\n", profile_quality_whole_percent(quality));
		append_stops(text, summary->profile);
	}
	profile_verification_append(summary->profile, text);
	append_losses(text, quality);
	append_requests(text, summary);
	append_waits(text, summary->profile);
	append_proposal(text, summary);
	if (!append_refused(text, summary))
		append_unseen(text, summary->profile);
	if (!summary->no_names) {
		record_summary_append_nameless(text, summary->profile);
		append_without_file(text, summary->profile);
		append_stripped(text, summary);
	}
	if (summary->sources)
		buffer_append(text, summary->sources->data, summary->sources->size);
	buffer_printf(text, "recorder: %.1f %% of one CPU while recording, then %.2f s to %swrite the file\n",
		seconds > 0 ? (double)summary->recorder_cpu_ns / 1e7 / seconds : 0, (double)summary->naming_ns / 1e9,
		summary->no_names ? "" : "name functions and ");
	render_append_written(text, summary->path, summary->file_bytes);
	buffer_append_byte(text, '\n');
	record_summary_append_benchmarks(text, summary);
}
