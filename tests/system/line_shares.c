/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/foreign.h"
#include "profile/profile.h"

/*
 * line_shares FILE FUNCTION: a line for each place in a stack that has a function whose name has FUNCTION in it: the
 * last part of its file, its line ("lines.c:12"), and how much of the samples of these stacks have it, in percent; a
 * stack counts once. The first line has the number of these samples.
 */

enum { MAX_BYTES = 1 << 28, MOST_FRAMES = 4096 };

struct place {
	uint32_t file, line;
	double value;
};

struct places {
	struct place items[4096];
	size_t count;
};

static uint32_t file_of(const struct profile *profile, const struct profile_line *line)
{
	return line->file ? line->file : profile->functions[line->function].file;
}

/* Collects the frames of a stack, the innermost first; whether one is of the function. */
static bool collect(const struct profile *profile, uint32_t stack, const char *function,
	const struct profile_line **frames, size_t *count)
{
	bool has_function = false;

	for (*count = 0; stack != 0; stack = profile->stacks[stack].parent) {
		const struct profile_location *location = &profile->locations[profile->stacks[stack].location];

		for (uint32_t i = 0; i < location->line_count && *count < MOST_FRAMES; i++) {
			const struct profile_line *line = &profile->lines[location->first_line + i];
			const char *name = profile_string(profile, profile->functions[line->function].name);

			has_function |= strstr(name, function) != NULL;
			frames[(*count)++] = line;
		}
	}
	return has_function;
}

static bool is_seen(const struct profile *profile, const struct profile_line **frames, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (frames[i]->line == frames[at]->line && file_of(profile, frames[i]) == file_of(profile, frames[at]))
			return true;
	return false;
}

static void add(struct places *places, uint32_t file, uint32_t line, double value)
{
	size_t i = 0;

	while (i < places->count && (places->items[i].file != file || places->items[i].line != line))
		i++;
	if (i == sizeof(places->items) / sizeof(places->items[0]))
		return;
	if (i == places->count)
		places->items[places->count++] = (struct place){ file, line, 0 };
	places->items[i].value += value;
}

static void print_shares(const struct profile *profile, const char *function)
{
	static const struct profile_line *frames[MOST_FRAMES];
	static struct places places;
	double total = 0;

	for (size_t i = 0; i < profile->sample_count; i++) {
		double value = (double)profile->values[i * profile->value_type_count];
		size_t count;

		if (!collect(profile, profile->samples[i].stack, function, frames, &count))
			continue;
		total += value;
		for (size_t k = 0; k < count; k++)
			if (frames[k]->line && file_of(profile, frames[k]) && !is_seen(profile, frames, k))
				add(&places, file_of(profile, frames[k]), frames[k]->line, value);
	}
	printf("samples %.0f\n", total);
	for (size_t i = 0; i < places.count; i++) {
		const char *file = profile_string(profile, places.items[i].file), *slash = strrchr(file, '/');

		printf("%s:%u %.2f\n", slash ? slash + 1 : file, places.items[i].line,
			100 * places.items[i].value / total);
	}
}

int main(int argc, char **argv)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };
	struct error err = { 0 };

	buffer_init(&bytes, MAX_BYTES);
	if (argc != 3 || !file_read(argv[1], &bytes, &err) ||
		!foreign_read(bytes.data, bytes.size, argv[1], &profile, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	print_shares(profile, argv[2]);
	return 0;
}
