/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbolize.h"
#include "tests/unit/support/unit_test.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

/* Names of locks: the objects of this very program. */

static int zeroed_lock;
int initialized_lock = 1;
struct {
	long members[4];
} tested_table = { { 1 } };
static __thread int own_lock;

static int *lock_of_function(void)
{
	static int function_lock;

	return &function_lock;
}

/* The program comes first; how far it is from its addresses in the file. */
static int take_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
	*(uint64_t *)bias = info->dlpi_addr;
	return 1;
}

static struct profile_lock_address place_of(const void *object, size_t offset)
{
	uint64_t bias = 0;

	dl_iterate_phdr(take_bias, &bias);
	return (struct profile_lock_address){ 0, (uint64_t)(uintptr_t)object + offset - bias };
}

enum { LOCKS = 8 };

struct subject {
	struct profile *profile;
	struct elf_image *image;
	struct profile_lock_address places[LOCKS];
	struct symbolize_options options;
	struct profile_symbols symbols;
};

static void subject_add(struct subject *s, struct profile_lock_address place)
{
	const struct profile_lock lock = { .pid = 1 };
	struct error err;
	uint32_t id;

	assert_true(profile_add_lock(s->profile, &lock, &id, &err));
	s->places[id] = place;
}

/* Without a location in the program: its code need not have been sampled. */
static void subject_init(struct subject *s)
{
	struct profile_mapping mapping = { .end = UINT64_MAX, .kind = PROFILE_MAPPING_FILE };
	struct error err;
	uint32_t id;

	*s = (struct subject){ .options = { .threads = 2 },
		.symbols = { .images = &s->image, .kallsyms = (char *)"", .lock_addresses = s->places } };
	assert_true(profile_create(&s->profile, &err));
	assert_true(elf_image_open_path("/proc/self/exe", &s->image, &err));
	assert_true(profile_intern(s->profile, "/opt/server", &mapping.path, &err));
	assert_true(profile_add_mapping(s->profile, &mapping, &id, &err));
	subject_add(s, place_of(&zeroed_lock, 0));
	subject_add(s, (struct profile_lock_address){ PROFILE_NONE, 0 });
	subject_add(s, place_of(&tested_table, 0x18));
	subject_add(s, place_of(lock_of_function(), 0));
	subject_add(s, place_of(&initialized_lock, 0));
	subject_add(s, (struct profile_lock_address){ 0, 1 });
	subject_add(s, place_of(&zeroed_lock, 0));
	/* Where the thread has its own, the program's file has something else, or nothing. */
	subject_add(s, place_of(&own_lock, 0));
}

static void subject_deinit(struct subject *s)
{
	profile_destroy(s->profile);
	elf_image_unref(s->image);
}

static void name_all(struct subject *s)
{
	struct error err;

	assert_true(symbolize_profile(s->profile, &s->symbols, &s->options, NULL, &err));
	assert_true(profile_finish(s->profile, &err));
	assert_true(profile_validate(s->profile, &err));
}

static void expect_name(const struct subject *s, size_t lock, const char *name, const char *module)
{
	assert_string_equal(profile_string(s->profile, s->profile->locks[lock].name), name);
	assert_string_equal(profile_string(s->profile, s->profile->locks[lock].module), module);
}

static void locks_are_the_objects_that_they_are_in(void **state)
{
	struct subject s;

	subject_init(&s);
	name_all(&s);
	expect_name(&s, 0, "zeroed_lock", "server");
	expect_name(&s, 1, "", "");
	expect_name(&s, 2, "tested_table+0x18", "server");
	expect_name(&s, 3, "function_lock", "server");
	expect_name(&s, 4, "initialized_lock", "server");
	expect_name(&s, 5, "", "");
	expect_name(&s, 6, "zeroed_lock", "server");
	expect_name(&s, 7, "", "");
	subject_deinit(&s);
}

/* The tables of code and of data come together, and each is whole. */
static void code_is_named_as_without_locks(void **state)
{
	struct subject s;
	struct profile_lock_address code = place_of((const void *)(uintptr_t)place_of, 4);
	const struct profile_location *location;
	struct error err;
	uint32_t id;

	subject_init(&s);
	assert_true(profile_add_location(s.profile, 0, code.address, &id, &err));
	name_all(&s);
	location = &s.profile->locations[id];
	assert_string_equal(
		profile_string(s.profile, s.profile->functions[s.profile->lines[location->first_line].function].name),
		"place_of");
	expect_name(&s, 2, "tested_table+0x18", "server");
	subject_deinit(&s);
}

static void without_names_locks_have_none(void **state)
{
	struct subject s;

	subject_init(&s);
	s.options.no_names = true;
	name_all(&s);
	expect_name(&s, 0, "", "");
	subject_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locks_are_the_objects_that_they_are_in),
		cmocka_unit_test(code_is_named_as_without_locks),
		cmocka_unit_test(without_names_locks_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
