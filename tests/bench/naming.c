/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What it takes to name functions in confined processes, one for each owner of binaries, beside naming them in the
 * process itself: bench_naming PAIRS FILE... prints for each pair the milliseconds of both, in turn. Each is measured
 * in a process of its own, whose memory is as new as a recorder's.
 */
#include "symbolize/naming.h"
#include "symbolize/symbolize.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 16, ADDRESSES = 300, OPTIONS_THREADS = 2 };

struct work {
	struct naming_task tasks[MOST_FILES];
	uint64_t addresses[MOST_FILES][ADDRESSES];
	size_t count;
};

static const struct symbolize_options options = { .threads = OPTIONS_THREADS };

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void must(bool ok, const struct error *err)
{
	if (ok)
		return;
	fprintf(stderr, "bench_naming: %s\n", err->message);
	exit(1);
}

/* Addresses at equal distances in the image's code. */
static size_t spread(const struct elf_image *image, uint64_t *addresses)
{
	size_t segment_count, count = 0;
	const struct elf_segment *segments = elf_image_segments(image, &segment_count);

	for (size_t i = 0; i < segment_count && count == 0; i++)
		for (; (segments[i].flags & 1) && count < ADDRESSES; count++)
			addresses[count] = segments[i].address + segments[i].memory_size / ADDRESSES * count;
	return count;
}

static void open_all(struct work *work, char **paths, int count)
{
	struct error err;

	*work = (struct work){ .count = (size_t)count };
	for (int i = 0; i < count; i++) {
		struct naming_task *task = &work->tasks[i];

		must(elf_image_open_path(paths[i], &task->image, &err), &err);
		task->label = paths[i];
		task->addresses = work->addresses[i];
		task->count = spread(task->image, work->addresses[i]);
	}
}

static double name_confined(struct work *work)
{
	struct buffer notices;
	double start_ms;

	buffer_init(&notices, 1 << 16);
	start_ms = now_ms();
	naming_run(work->tasks, work->count, &options, &notices);
	start_ms = now_ms() - start_ms;
	if (notices.size > 0)
		fprintf(stderr, "bench_naming: %.*s", (int)notices.size, notices.data);
	buffer_deinit(&notices);
	return start_ms;
}

static void name_one(void *context, size_t index)
{
	struct work *work = context;
	const struct naming_task *task = &work->tasks[index];
	struct symbolize_result *result;
	struct error err;

	must(symbolize_addresses(task->image, task->addresses, task->count, &options, &result, &err), &err);
	symbolize_result_destroy(result);
}

static double name_here(struct work *work)
{
	double start_ms = now_ms();

	work_pool_run(OPTIONS_THREADS, work->count, name_one, work);
	return now_ms() - start_ms;
}

static double in_new_process(double (*name)(struct work *work), char **paths, int count)
{
	int ends[2];
	double took_ms = 0;
	pid_t pid;

	if (pipe(ends) != 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		static struct work work;

		open_all(&work, paths, count);
		took_ms = name(&work);
		_exit(write(ends[1], &took_ms, sizeof(took_ms)) != sizeof(took_ms));
	}
	close(ends[1]);
	if (read(ends[0], &took_ms, sizeof(took_ms)) != sizeof(took_ms))
		exit(1);
	close(ends[0]);
	waitpid(pid, NULL, 0);
	return took_ms;
}

int main(int argc, char **argv)
{
	int pairs = argc > 2 ? atoi(argv[1]) : 0;

	if (argc < 3 || argc - 2 > MOST_FILES)
		return 2;
	for (int pair = 0; pair < pairs; pair++) {
		double here_ms = in_new_process(name_here, argv + 2, argc - 2);

		printf("%.3f %.3f\n", here_ms, in_new_process(name_confined, argv + 2, argc - 2));
		fflush(stdout);
	}
	return 0;
}
