/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/state.h"
#include "sampler/sampler.h"
#include "tests/unit/sampler/used_locations_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SKIPPED = 77 };

/* ---- Targets: children of the test ---- */

static volatile uint64_t sink;

__attribute__((noinline)) static void burn(void)
{
	for (int i = 0; i < 100000; i++)
		sink += (uint64_t)i;
}

static void burn_a_little(void)
{
	for (int i = 0; i < 2000; i++)
		sink += (uint64_t)i;
}

__attribute__((noinline)) static void burn_two(void)
{
	burn();
	sink++;
}

__attribute__((noinline)) static void burn_three(void)
{
	burn_two();
	sink++;
}

static void *burn_in_thread(void *unused)
{
	burn();
	return unused;
}

static void busy(void)
{
	for (;;)
		burn_three();
}

static void busy_then_exit(void)
{
	while (clock() < CLOCKS_PER_SEC)
		burn_three();
}

__attribute__((noinline)) static uint64_t descend(unsigned int depth)
{
	volatile char room[1000];

	memset((char *)room, (int)depth, sizeof(room));
	burn_a_little();
	return depth ? descend(depth - 1) + (uint64_t)room[depth] : 0;
}

static void deep(void)
{
	for (;;)
		sink += descend(60);
}

static void sleeping(void)
{
	for (;;)
		pause();
}

static void churning(void)
{
	for (;;) {
		pthread_t threads[8];
		size_t count = 0;

		while (count < 8 && pthread_create(&threads[count], NULL, burn_in_thread, NULL) == 0)
			count++;
		while (count > 0)
			pthread_join(threads[--count], NULL);
	}
}

static pid_t start_target(void (*run)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		/* A test that fails before end_target() leaves nobody behind. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
		_exit(0);
	}
	return pid;
}

static void end_target(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- Recording ---- */

static struct sampler_options options_for(const pid_t *pid)
{
	return (struct sampler_options){ .target = { .kind = SAMPLER_TARGET_PIDS, .pids = pid, .pid_count = 1 },
		.event = "cpu-clock",
		.tool = "test" };
}

static double cpu_seconds(pid_t pid)
{
	struct timespec time = { 0 };
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/*
 * Records for `duration_ns` and returns in `used_s` how much CPU time `pid` used meanwhile: between start and finish,
 * which take as long as the machine lets them.
 */
static bool record_use(const struct sampler_options *options, int64_t duration_ns, struct recording *result,
	struct sampler_progress *progress, pid_t pid, double *used_s, struct error *err)
{
	struct sampler *sampler;
	bool ok;

	if (!sampler_create(options, &sampler, err))
		return false;
	ok = sampler_start(sampler, err);
	*used_s = pid ? cpu_seconds(pid) : 0;
	do {
		ok = ok && sampler_poll(sampler, 50, -1, progress, err);
	} while (ok && progress->state == SAMPLER_RUNNING && progress->elapsed_ns < duration_ns);
	*used_s = pid ? cpu_seconds(pid) - *used_s : 0;
	ok = ok && sampler_finish(sampler, result, NULL, err);
	sampler_destroy(sampler);
	if (ok)
		assert_int_equal(count_unused_locations(result->profile), 0);
	return ok;
}

static bool record(const struct sampler_options *options, int64_t duration_ns, struct recording *result,
	struct sampler_progress *progress, struct error *err)
{
	double unused;

	return record_use(options, duration_ns, result, progress, 0, &unused, err);
}

static const int64_t half_second_ns = 500000000;

/* Whether the stack has `outer` calling `inner` somewhere, both of the test's own image at `bias`. */
static const struct profile_location *location_at(const struct profile *profile, uint32_t stack)
{
	return &profile->locations[profile->stacks[stack].location];
}

static bool lies_in(const struct profile_location *location, void (*function)(void), uint64_t bias)
{
	uint64_t start = (uint64_t)(uintptr_t)function - bias;

	return location->address >= start && location->address < start + 256;
}

/* Runtime address minus image address of the test itself. */
static uint64_t own_bias(const struct profile *profile, const struct recording *result)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	size_t count;
	const struct elf_segment *segments = elf_image_segments(result->symbols.images[0], &count);

	assert_true(count > 0);
	assert_int_equal(profile->mappings[0].kind, PROFILE_MAPPING_FILE);
	return (uint64_t)(uintptr_t)__ehdr_start - segments[0].address;
}

static void test_known_call_chain(void **state)
{
	pid_t pid = start_target(busy);
	struct sampler_options options = options_for(&pid);
	struct sampler_progress progress;
	CLEANUP(recording_deinit) struct recording result = { 0 };
	const struct profile *profile;
	uint64_t with_chain = 0, samples = 0, bias;
	struct error err;

	assert_true(record(&options, half_second_ns, &result, &progress, &err));
	end_target(pid);
	profile = result.profile;
	bias = own_bias(profile, &result);
	assert_true(profile_validate(profile, &err));
	assert_true(profile->quality.samples > 5);
	assert_true(profile_quality_whole_percent(&profile->quality) > 95);
	for (size_t i = 0; i < profile->sample_count; i++) {
		uint64_t count = (uint64_t)profile->values[i * profile->value_type_count];

		samples += count;
		for (uint32_t stack = profile->samples[i].stack; stack; stack = profile->stacks[stack].parent) {
			uint32_t caller = profile->stacks[stack].parent;
			uint32_t callers_caller = caller ? profile->stacks[caller].parent : 0;

			if (callers_caller && lies_in(location_at(profile, stack), burn, bias) &&
				lies_in(location_at(profile, caller), burn_two, bias) &&
				lies_in(location_at(profile, callers_caller), burn_three, bias)) {
				with_chain += count;
				break;
			}
		}
	}
	assert_int_equal(samples, profile->quality.samples);
	assert_true(with_chain * 100 > samples * 90);
	assert_int_equal(profile->threads[0].pid, pid);
	assert_true(profile->runs[0].duration_ns >= half_second_ns);
}

static void test_values_are_cpu_time(void **state)
{
	pid_t pid = start_target(busy);
	struct sampler_options options = options_for(&pid);
	struct sampler_progress progress;
	CLEANUP(recording_deinit) struct recording result = { 0 };
	int64_t sum_ns = 0;
	struct error err;
	double used_s;

	assert_true(record_use(&options, half_second_ns, &result, &progress, pid, &used_s, &err));
	end_target(pid);
	assert_int_equal(result.profile->value_type_count, 2);
	for (size_t i = 0; i < result.profile->sample_count; i++)
		sum_ns += result.profile->values[2 * i + 1];
	/* One busy thread on a machine that may be shared: never more than the time that went by. */
	assert_in_range(sum_ns, (int64_t)(used_s * 1e9) / 2, result.profile->runs[0].duration_ns * 11 / 10);
	assert_int_equal(result.profile->event_count, result.profile->quality.samples);
}

/* Stacks of 60 kB: more of them is copied, and cut ones are joined to earlier ones. */
static void test_deep_stacks(void **state)
{
	pid_t pid = start_target(deep);
	struct sampler_options options = options_for(&pid);
	struct sampler_progress progress;
	CLEANUP(recording_deinit) struct recording result = { 0 };
	struct error err;
	double used_s;

	options.frequency_hz = 4000;
	assert_true(record_use(&options, 2 * half_second_ns, &result, &progress, pid, &used_s, &err));
	end_target(pid);
	/* On a machine that may be shared. */
	assert_true(result.profile->quality.samples > 5);
	assert_true((double)result.profile->quality.samples > used_s * options.frequency_hz / 2);
	assert_true(profile_quality_whole_percent(&result.profile->quality) > 70);
	assert_true(profile_validate(result.profile, &err));
}

/* Nobody reads the rings until they have long been full: what found no room is counted to the last sample. */
static void test_losses_are_counted(void **state)
{
	pid_t pid = start_target(busy);
	struct sampler_options options = options_for(&pid);
	CLEANUP(recording_deinit) struct recording result = { 0 };
	double before_s, used_s, most_s, counted;
	struct sampler *sampler;
	struct error err;

	options.frequency_hz = 10000;
	assert_true(sampler_create(&options, &sampler, &err));
	assert_true(sampler_start(sampler, &err));
	before_s = cpu_seconds(pid);
	usleep(1000000);
	/* Sampling ends somewhere within the call, which a busy machine makes long. */
	used_s = cpu_seconds(pid) - before_s;
	assert_true(sampler_finish(sampler, &result, NULL, &err));
	most_s = cpu_seconds(pid) - before_s;
	sampler_destroy(sampler);
	end_target(pid);
	counted = (double)(result.profile->quality.samples + result.profile->quality.lost);
	print_message("%.0f samples and losses of %.0f to %.0f expected\n", counted, used_s * 10000, most_s * 10000);
	if (used_s > 0.2) {
		assert_true(result.profile->quality.lost > 0);
		assert_true(counted > used_s * 10000 * 0.95 && counted < most_s * 10000 * 1.05);
	}
}

static void test_target_that_exits(void **state)
{
	pid_t pid = start_target(busy_then_exit);
	struct sampler_options options = options_for(&pid);
	struct sampler_progress progress;
	CLEANUP(recording_deinit) struct recording result = { 0 };
	struct error err;

	assert_true(record(&options, 60 * half_second_ns, &result, &progress, &err));
	waitpid(pid, NULL, 0);
	assert_int_equal(progress.state, SAMPLER_TARGET_GONE);
	assert_true(result.profile->quality.samples > 5);
	assert_true(profile_validate(result.profile, &err));
}

static void test_sleeping_target(void **state)
{
	pid_t pid = start_target(sleeping);
	struct sampler_options options = options_for(&pid);
	struct sampler_progress progress;
	struct recording result;
	struct error err;

	assert_false(record(&options, half_second_ns, &result, &progress, &err));
	end_target(pid);
	assert_int_equal(err.code, ERROR_EMPTY);
	assert_non_null(strstr(err.message, "slept"));
}

static void test_pid_that_is_not_there(void **state)
{
	pid_t pid = start_target(busy);
	struct sampler_options options = options_for(&pid);
	struct sampler *sampler;
	struct error err;

	end_target(pid);
	assert_false(sampler_create(&options, &sampler, &err));
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_non_null(strstr(err.message, "no such process"));
}

static void test_threads_born_and_dying(void **state)
{
	pid_t pid = start_target(churning);
	struct sampler_options options = options_for(&pid);
	struct sampler_progress progress;
	CLEANUP(recording_deinit) struct recording result = { 0 };
	struct error err;

	options.frequency_hz = 10000;
	assert_true(record(&options, half_second_ns, &result, &progress, &err));
	end_target(pid);
	assert_true(result.profile->thread_count > 20);
	assert_int_equal(result.profile->quality.lost_sideband, 0);
	assert_true(profile_quality_whole_percent(&result.profile->quality) > 95);
}

static void test_command(void **state)
{
	char *const argv[] = { (char *)"sh", (char *)"-c",
		(char *)"i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exit 7", NULL };
	struct sampler_options options = { .target = { .kind = SAMPLER_TARGET_COMMAND, .command = argv },
		.event = "cpu-clock" };
	struct sampler_progress progress;
	CLEANUP(recording_deinit) struct recording result = { 0 };
	struct error err;

	assert_true(record(&options, 60 * half_second_ns, &result, &progress, &err));
	assert_int_equal(progress.state, SAMPLER_TARGET_GONE);
	assert_true(WIFEXITED(result.child_status));
	assert_int_equal(WEXITSTATUS(result.child_status), 7);
	assert_true(result.profile->runs[0].whole_command);
	assert_int_equal(result.profile->runs[0].exit_status, 7);
	assert_true(result.profile->runs[0].cpu_ns > 0);
}

static void test_command_that_cannot_be_executed(void **state)
{
	char *const absent[] = { (char *)"/no/such/command", NULL };
	char *const forbidden[] = { (char *)"/proc/self/maps", NULL };
	struct sampler_options options = { .target = { .kind = SAMPLER_TARGET_COMMAND, .command = absent },
		.event = "cpu-clock" };
	struct sampler *sampler;
	struct error err;

	assert_true(sampler_create(&options, &sampler, &err));
	assert_false(sampler_start(sampler, &err));
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	sampler_destroy(sampler);
	options.target.command = forbidden;
	assert_true(sampler_create(&options, &sampler, &err));
	assert_false(sampler_start(sampler, &err));
	assert_int_equal(err.code, ERROR_PERMISSION);
	sampler_destroy(sampler);
}

static void test_start_disabled(void **state)
{
	pid_t pid = start_target(busy);
	struct sampler_options options = options_for(&pid);
	struct sampler_progress progress;
	CLEANUP(recording_deinit) struct recording result = { 0 };
	struct sampler *sampler;
	struct error err;

	options.start_disabled = true;
	assert_true(sampler_create(&options, &sampler, &err));
	assert_true(sampler_start(sampler, &err));
	for (int i = 0; i < 4; i++)
		assert_true(sampler_poll(sampler, 50, -1, &progress, &err));
	assert_int_equal(progress.samples, 0);
	assert_true(sampler_set_enabled(sampler, true, &err));
	/* However long a loaded machine keeps the target waiting. */
	for (int i = 0; i < 600 && progress.samples == 0; i++)
		assert_true(sampler_poll(sampler, 50, -1, &progress, &err));
	assert_true(sampler_finish(sampler, &result, NULL, &err));
	sampler_destroy(sampler);
	end_target(pid);
	assert_true(result.profile->quality.samples > 0);
}

/* A failure in the middle of a recording costs what would have come after it. */
static void test_ended_early(void **state)
{
	pid_t pid = start_target(busy);
	struct sampler_options options = options_for(&pid);
	struct sampler_progress progress = { 0 };
	CLEANUP(recording_deinit) struct recording result = { 0 };
	struct sampler *sampler;
	struct error err, why, later;

	error_set(&why, ERROR_LIMIT, "more than 7 items");
	error_set(&later, ERROR_MEMORY, "out of memory");
	assert_true(sampler_create(&options, &sampler, &err));
	assert_true(sampler_start(sampler, &err));
	for (int i = 0; i < 600 && progress.samples == 0; i++)
		assert_true(sampler_poll(sampler, 50, -1, &progress, &err));
	sampler_end_early(sampler, &why);
	sampler_end_early(sampler, &later);
	assert_true(sampler_finish(sampler, &result, NULL, &err));
	sampler_destroy(sampler);
	end_target(pid);
	assert_true(result.profile->quality.samples >= progress.samples);
	assert_string_equal(result.ended_early.message, "more than 7 items");
}

/* The user is told when the recorder gives its priority back, here because it seems to have used all that it may. */
static void test_priority_that_is_given_back(void **state)
{
	pid_t pid = start_target(busy);
	struct sampler_options options = options_for(&pid);
	struct sampler_progress progress = { 0 };
	CLEANUP(buffer_deinit) struct buffer notices;
	CLEANUP(recording_deinit) struct recording result = { 0 };
	struct sampler *sampler;
	struct error err;

	buffer_init(&notices, 1 << 16);
	assert_true(sampler_create(&options, &sampler, &err));
	/* Also where a higher priority is not permitted. */
	sampler->priority.is_nice = true;
	sampler->priority.is_counted = true;
	sampler->priority.seen_ns = INT64_MAX / 4;
	assert_true(sampler_start(sampler, &err));
	for (int i = 0; i < 600 && progress.samples == 0; i++)
		assert_true(sampler_poll(sampler, 50, -1, &progress, &err));
	assert_false(sampler->priority.is_nice || sampler->priority.is_real_time);
	assert_true(sampler_finish(sampler, &result, &notices, &err));
	sampler_destroy(sampler);
	end_target(pid);
	buffer_append_byte(&notices, '\0');
	assert_non_null(
		strstr(notices.data, "the recorder gave its high priority back, because it took more than half of "
				     "a CPU for seconds"));
}

/* Without a sample the failure is the reason, not that the target slept. */
static void test_ended_before_a_sample(void **state)
{
	pid_t pid = start_target(sleeping);
	struct sampler_options options = options_for(&pid);
	struct recording result = { 0 };
	struct sampler *sampler;
	struct error err, why;

	error_set(&why, ERROR_LIMIT, "more than 7 items");
	options.start_disabled = true;
	assert_true(sampler_create(&options, &sampler, &err));
	assert_true(sampler_start(sampler, &err));
	sampler_end_early(sampler, &why);
	assert_false(sampler_finish(sampler, &result, NULL, &err));
	assert_string_equal(err.message, "more than 7 items");
	sampler_destroy(sampler);
	end_target(pid);
}

static void test_bad_options(void **state)
{
	pid_t pid = getpid();
	struct sampler_options options = options_for(&pid);
	struct sampler *sampler;
	struct error err;

	options.event = "no-such-event";
	assert_false(sampler_create(&options, &sampler, &err));
	assert_int_equal(err.code, ERROR_USAGE);
	options.event = "cpu-clock";
	options.stack_bytes = 1001;
	assert_false(sampler_create(&options, &sampler, &err));
	assert_int_equal(err.code, ERROR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_call_chain),
		cmocka_unit_test(test_values_are_cpu_time),
		cmocka_unit_test(test_deep_stacks),
		cmocka_unit_test(test_losses_are_counted),
		cmocka_unit_test(test_target_that_exits),
		cmocka_unit_test(test_sleeping_target),
		cmocka_unit_test(test_pid_that_is_not_there),
		cmocka_unit_test(test_threads_born_and_dying),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_command_that_cannot_be_executed),
		cmocka_unit_test(test_start_disabled),
		cmocka_unit_test(test_ended_early),
		cmocka_unit_test(test_priority_that_is_given_back),
		cmocka_unit_test(test_ended_before_a_sample),
		cmocka_unit_test(test_bad_options),
	};
	struct sampler_capabilities capabilities;

	sampler_probe(&capabilities);
	if (!capabilities.can_sample_own) {
		printf("skipped: perf_event_open is not permitted (perf_event_paranoid is %d)\n",
			capabilities.perf_event_paranoid);
		return SKIPPED;
	}
	return cmocka_run_group_tests_name("sampler.live", tests, NULL, NULL);
}
