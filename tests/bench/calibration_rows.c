/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench_calibration_rows METRIC RECORDING.pb.gz: the rows of one recording, for tests/bench/calibration_lab, with the
 * product's own rules for interrupts, interpreters and names. Values are in samples: time by the mean time of a sample.
 * Lines of fields between tabs; a key has none:
 *
 *   R name value            a figure of the whole recording
 *   F id class self total late_self late_total key template shown module
 *                           a function; late: of the second half of the recording's time
 *   E caller callee total
 *                           the time that one function spends in another, by ids, direct calls only
 *   B rounds iterations samples mean_ns name
 *                           a benchmark of a suite; then there are no other lines than these and R
 */
#include "diff/build.h"
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>

static const size_t max_file_bytes = (size_t)1 << 28;

static void must(bool ok, const struct error *err)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", err->message);
	exit(1);
}

static struct profile *read_profile(const char *path)
{
	struct profile *profile;
	struct buffer bytes;
	struct error err;

	buffer_init(&bytes, max_file_bytes);
	must(file_read(path, &bytes, &err) && foreign_read(bytes.data, bytes.size, path, &profile, &err), &err);
	buffer_deinit(&bytes);
	return profile;
}

/* Returns the part of a recording's samples that lies in the second half of its time; NULL: there is none. */
static struct profile *late_half(const struct profile *profile)
{
	struct profile_run phase = { .name = 1 };
	struct profile_stretch stretch = { profile->runs[0].duration_ns / 2, INT64_MAX, 0 };
	struct profile_cut cut = { .phases = &phase, .phase_count = 1, .stretches = &stretch, .stretch_count = 1 };
	const double factors[] = { 0, 1 };
	CLEANUP(profile_cleanup) struct profile *phases = NULL;
	struct profile *late = NULL;
	struct error err;

	if (!profile->has_timeline || profile->run_count != 1)
		return NULL;
	must(profile_cut_phases(profile, &cut, &phases, &err), &err);
	if (!profile_choose_phases(phases, factors, &late, &err) && err.code != ERROR_EMPTY)
		must(false, &err);
	return late;
}

static void print_text(const char *text, const char *end)
{
	for (; *text; text++)
		putchar((unsigned char)*text < ' ' ? ' ' : *text);
	fputs(end, stdout);
}

static const char *class_of(const struct diff *diff, const struct diff_function *f)
{
	if (diff_wait_class(diff, f) != PROFILE_WAIT_NONE)
		return "wait";
	if (f->compiles)
		return "compiler";
	if (f->interrupt)
		return "interrupt";
	if (build_is_compiled_at_run_time(f) ||
		(f->name_source == PROFILE_NAME_NONE && profile_is_made_at_run_time(diff_string(diff, f->module))))
		return "compiled";
	return "other";
}

/* A pair of functions in sums of edges, sorted by both. */
struct edge {
	uint32_t caller, callee;
	double total;
};

static int compare_edges(const void *a, const void *b)
{
	const struct edge *left = a, *right = b;

	if (left->caller != right->caller)
		return left->caller < right->caller ? -1 : 1;
	return left->callee < right->callee ? -1 : left->callee > right->callee;
}

/* Whether a node's function is on the stack above it, so that the function's total has its time already. */
static bool is_recursion(const struct diff *diff, uint32_t node)
{
	uint32_t function = diff->nodes[node].function;

	for (uint32_t above = diff->nodes[node].parent; above != 0; above = diff->nodes[above].parent)
		if (diff->nodes[above].function == function)
			return true;
	return false;
}

static void print_edges(const struct diff *diff, double sample)
{
	CLEANUP(cleanup_free) struct edge *edges = memory_zeroed(diff->node_count + 1, sizeof(*edges));
	size_t count = 0;

	for (uint32_t node = 1; node < diff->node_count; node++) {
		uint32_t parent = diff->nodes[node].parent;

		if (parent == 0 || (diff->nodes[node].flags & DIFF_NODE_INTERRUPT) || is_recursion(diff, node))
			continue;
		edges[count++] = (struct edge){ diff->nodes[parent].function, diff->nodes[node].function,
			diff->node_total[DIFF_HEAD][node] };
	}
	qsort(edges, count, sizeof(*edges), compare_edges);
	for (size_t i = 0, next; i < count; i = next) {
		double total = 0;

		for (next = i; next < count && compare_edges(&edges[next], &edges[i]) == 0; next++)
			total += edges[next].total;
		if (total > 0)
			printf("E\t%u\t%u\t%.6g\n", edges[i].caller, edges[i].callee, total / sample);
	}
}

static const struct diff_function *find(const struct diff *diff, const struct diff_function *f, const char *key)
{
	for (size_t i = 0; diff && i < diff->function_count; i++)
		if (diff->functions[i].interrupt == f->interrupt && diff->functions[i].compiles == f->compiles &&
			strcmp(diff_string(diff, diff->functions[i].key), key) == 0)
			return &diff->functions[i];
	return NULL;
}

static void print_function(const struct diff *diff, const struct diff *late, uint32_t id, double sample)
{
	const struct diff_function *f = &diff->functions[id];
	const char *key = diff_string(diff, f->key);
	const struct diff_function *part = find(late, f, key);
	struct buffer template;
	bool is_renumbered;

	if (!(f->raw_total[DIFF_HEAD] > 0))
		return;
	buffer_init(&template, max_file_bytes);
	is_renumbered = profile_key_template(key, &template);
	buffer_append_byte(&template, '\0');
	printf("F\t%u\t%s\t%.12g\t%.12g\t%.12g\t%.12g\t", id, class_of(diff, f), f->raw_self[DIFF_HEAD] / sample,
		f->raw_total[DIFF_HEAD] / sample, part ? part->raw_self[DIFF_HEAD] / sample : 0,
		part ? part->raw_total[DIFF_HEAD] / sample : 0);
	print_text(key, "\t");
	print_text(is_renumbered ? (const char *)template.data : key, "\t");
	print_text(diff_string(diff, f->shown), "\t");
	print_text(diff_string(diff, f->module), "\n");
	buffer_deinit(&template);
}

static void print_figure(const char *name, double value)
{
	printf("R\t%s\t%.12g\n", name, value);
}

static void print_recording(const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;

	printf("R\tevent\t%s\n", profile_string(profile, facts->event));
	printf("R\twork\t%s\n", profile_work_source_name(profile->requests.source));
	print_figure("seconds", (double)profile->runs[0].duration_ns / 1e9);
	print_figure("run_cpu_seconds", (double)profile->runs[0].cpu_ns / 1e9);
	print_figure("run_wall_seconds", (double)profile->runs[0].wall_ns / 1e9);
	print_figure("samples", (double)profile->quality.samples);
	print_figure("lost", (double)profile->quality.lost);
	print_figure("busy_percent", facts->machine_busy_percent);
	print_figure("steal_percent", facts->machine_steal_percent);
	print_figure("pressure_percent", facts->cpu_pressure_percent);
}

static void print_benchmarks(const struct profile *profile)
{
	CLEANUP(cleanup_free) uint64_t *samples = memory_zeroed(profile->run_count, sizeof(*samples));

	for (size_t i = 0; i < profile->sample_count; i++)
		samples[profile->threads[profile->samples[i].thread].run] +=
			(uint64_t)profile->values[i * profile->value_type_count];
	for (size_t i = 0; i < profile->run_count; i++) {
		const struct profile_run *run = &profile->runs[i];

		if (run->name == 0)
			continue;
		printf("B\t%llu\t%llu\t%llu\t%.6g\t", (unsigned long long)run->measured.rounds,
			(unsigned long long)run->measured.iterations, (unsigned long long)samples[i],
			run->measured.mean_ns);
		print_text(profile_string(profile, run->name), "\n");
	}
}

static void print_rows(const struct profile *profile, const struct diff_options *options)
{
	CLEANUP(diff_function_units_cleanup) struct diff_function_units *all = NULL, *late = NULL;
	CLEANUP(profile_cleanup) struct profile *half = late_half(profile);
	struct error err;
	double sample;

	must(diff_function_units_create(profile, options, &all, &err), &err);
	if (half && !diff_function_units_create(half, options, &late, &err))
		late = NULL;
	/* Counts that nobody sampled are whole numbers. */
	sample = all->diff->is_exact ? 1 : all->sample_weight;
	if (!(sample > 0)) {
		fprintf(stderr, "the weight of a sample is not known\n");
		exit(1);
	}
	print_figure("period_ns", sample);
	print_figure("requests", all->diff->requests[DIFF_HEAD].count);
	print_figure("total", all->diff->raw_total[DIFF_HEAD] / sample);
	print_figure("late_total", late ? late->diff->raw_total[DIFF_HEAD] / sample : 0);
	print_figure("interrupts", all->diff->interrupts.raw[DIFF_HEAD] / sample);
	print_figure("compilation", all->diff->compilation.raw[DIFF_HEAD] / sample);
	for (uint32_t i = 0; i < all->diff->function_count; i++)
		print_function(all->diff, late ? late->diff : NULL, i, sample);
	print_edges(all->diff, sample);
}

int main(int argc, char **argv)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct diff_options options = { 0 };

	if (argc != 3) {
		fprintf(stderr, "usage: %s METRIC RECORDING.pb.gz\n", argv[0]);
		return 2;
	}
	options.metric = argv[1];
	profile = read_profile(argv[2]);
	print_recording(profile);
	if (profile_has_phases(profile))
		print_benchmarks(profile);
	else
		print_rows(profile, &options);
	return 0;
}
