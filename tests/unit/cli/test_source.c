/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/source.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sources of kinds that the program does not have: the interface is all that they need. */

struct fixture {
	char cache[64];
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	strcpy(fixture->cache, "/tmp/kelvin-source-XXXXXX");
	assert_non_null(mkdtemp(fixture->cache));
	assert_int_equal(setenv("XDG_CACHE_HOME", fixture->cache, 1), 0);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(rmdir(fixture->cache), 0);
	free(fixture);
	return 0;
}

/* ---- A source of addresses, as a simulator of this very program would be ---- */

struct simulation {
	struct source source;
	int reads;
};

__attribute__((noinline)) static int simulated_function(int number)
{
	__asm__ volatile("" : "+r"(number));
	return number;
}

static uint64_t image_address(void)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));

	return (uint64_t)(uintptr_t)simulated_function - (uint64_t)(uintptr_t)__ehdr_start;
}

static bool simulation_read(struct source *source, struct source_result *result, struct error *err)
{
	struct simulation *simulation = (struct simulation *)source;
	struct profile_mapping mapping = { .end = UINT32_MAX };
	uint32_t id, location;

	simulation->reads++;
	buffer_append_string(&result->notices, "simulated\n");
	result->recording.symbols.images = calloc(1, sizeof(*result->recording.symbols.images));
	result->recording.symbols.mapping_count = 1;
	return result->recording.symbols.images && profile_create(&result->recording.profile, err) &&
	       elf_image_open_path("/proc/self/exe", &result->recording.symbols.images[0], err) &&
	       profile_intern(result->recording.profile, elf_image_path(result->recording.symbols.images[0]),
		       &mapping.path, err) &&
	       profile_add_mapping(result->recording.profile, &mapping, &id, err) &&
	       profile_add_location(result->recording.profile, id, image_address(), &location, err);
}

static void simulation_destroy(struct source *source)
{
	((struct simulation *)source)->reads = -1;
}

static const struct source_functions simulation_functions = { .read = simulation_read, .destroy = simulation_destroy };

static const char *name_of_location(const struct profile *profile, uint32_t location)
{
	const struct profile_location *at = &profile->locations[location];

	return at->line_count == 0
		       ? ""
		       : profile_string(profile, profile->functions[profile->lines[at->first_line].function].name);
}

static void addresses_get_names(void **state)
{
	struct simulation simulation = { .source = { &simulation_functions, "a simulation", .is_read_once = true } };
	const struct symbolize_options options = { .threads = 1 };
	struct source_result result;
	struct error err;

	for (int run = 1; run <= 2; run++) {
		assert_true(source_read(&simulation.source, &result, &err));
		assert_int_equal(simulation.reads, run);
		assert_int_equal(result.recording.child_status, -1);
		assert_string_equal(name_of_location(result.recording.profile, 0), "");
		assert_true(source_name(&simulation.source, &options, &result, &err));
		assert_string_equal(name_of_location(result.recording.profile, 0), "simulated_function");
		assert_int_equal(result.notices.size, 10);
		assert_memory_equal(result.notices.data, "simulated\n", 10);
		source_result_deinit(&result);
	}
	source_destroy(&simulation.source);
	assert_int_equal(simulation.reads, -1);
	/* teardown() finds the cache empty: what is read once leaves nothing there. */
}

/* The names of a kernel that is not to be had are not those of the running one. */
static void kernels_of_others_stay_unnamed(void **state)
{
	struct simulation simulation = { .source = { &simulation_functions, "a simulation", .is_read_once = true } };
	const struct symbolize_options options = { .threads = 1 };
	struct profile_mapping kernel = { .kind = PROFILE_MAPPING_KERNEL, .end = UINT64_MAX };
	struct source_result result;
	uint32_t id, location = 0;
	struct error err;

	assert_true(source_read(&simulation.source, &result, &err));
	result.recording.symbols.kallsyms = strdup("");
	assert_non_null(result.recording.symbols.kallsyms);
	assert_true(profile_intern(result.recording.profile, "[kernel.kallsyms]", &kernel.path, &err) &&
		    profile_add_mapping(result.recording.profile, &kernel, &id, &err) &&
		    profile_add_location(result.recording.profile, id, 0xffffffff81000010, &location, &err));
	result.recording.symbols.images =
		realloc(result.recording.symbols.images, 2 * sizeof(*result.recording.symbols.images));
	assert_non_null(result.recording.symbols.images);
	result.recording.symbols.images[1] = NULL;
	result.recording.symbols.mapping_count = 2;
	assert_true(source_name(&simulation.source, &options, &result, &err));
	assert_string_equal(name_of_location(result.recording.profile, location), "[kernel]");
	assert_int_equal(result.notices.size, 10);
	source_result_deinit(&result);
}

/* ---- A source of names, as a profile store would be ---- */

struct store {
	struct source source;
	struct profile_function function; /* without its name */
};

static bool store_read(struct source *source, struct source_result *result, struct error *err)
{
	const struct store *store = (const struct store *)source;
	struct profile_function function = store->function;
	struct profile_line line = { 0 };
	uint32_t id;

	return profile_create(&result->recording.profile, err) &&
	       profile_intern(result->recording.profile, "std::sort", &function.name, err) &&
	       profile_add_function(result->recording.profile, &function, &line.function, err) &&
	       profile_add_location_of_lines(result->recording.profile, PROFILE_NONE, &line, 1, &id, err);
}

static void store_destroy(struct source *source)
{
}

static const struct source_functions store_functions = { .read = store_read, .destroy = store_destroy };

static enum profile_origin origin_after(enum profile_origin before, enum symbolize_rule rule)
{
	struct store store = {
		.source = { &store_functions, "a store", .is_named = true },
		.function = { .origin = before, .origin_rule = rule },
	};
	const struct symbolize_options options = { 0 };
	struct source_result result;
	enum profile_origin origin;
	struct error err;

	assert_true(source_read(&store.source, &result, &err));
	assert_true(source_name(&store.source, &options, &result, &err));
	origin = result.recording.profile->functions[0].origin;
	source_result_deinit(&result);
	return origin;
}

/* With the binaries at hand more is known than what a name tells. */
static void names_get_origins_where_none_is_decided(void **state)
{
	assert_int_equal(origin_after(PROFILE_ORIGIN_UNKNOWN, SYMBOLIZE_RULE_NONE), PROFILE_ORIGIN_LIBRARY);
	assert_int_equal(origin_after(PROFILE_ORIGIN_USER, SYMBOLIZE_RULE_PROJECT_ROOT), PROFILE_ORIGIN_USER);
	/* As older versions decided of what a program instantiates of a library. */
	assert_int_equal(origin_after(PROFILE_ORIGIN_USER, SYMBOLIZE_RULE_MAIN_PROGRAM), PROFILE_ORIGIN_LIBRARY);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(addresses_get_names),
		TEST(kernels_of_others_stay_unnamed),
		TEST(names_get_origins_where_none_is_decided),
	};

	return cmocka_run_group_tests_name("cli.source", tests, NULL, NULL);
}
