/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "process_fixture.h"

#include "sampler/process/reader.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

int fixture_setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct error err;

	assert_non_null(fixture);
	assert_true(profile_create(&fixture->profile, &err));
	assert_true(process_reader_create(&fixture->reader, &err));
	process_table_init(&fixture->table, fixture->profile, process_host_live(fixture->reader), NULL);
	*state = fixture;
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *fixture = *state;

	process_table_deinit(&fixture->table);
	process_reader_destroy(fixture->reader);
	profile_destroy(fixture->profile);
	free(fixture);
	return 0;
}

void tell_record(struct fixture *fixture, const struct record *record)
{
	struct error err;

	assert_true(process_table_update(&fixture->table, record, &err));
}

void tell_mapping(struct fixture *fixture, int32_t pid, uint64_t start, uint64_t end, const char *path)
{
	const struct record record = {
		.kind = RECORD_MMAP,
		.pid = pid,
		.tid = pid,
		.mmap = { .address = start,
			.size = end - start,
			.executable = true,
			.path = path,
			.inode = strlen(path) },
	};

	tell_record(fixture, &record);
}

const char *path_at(struct fixture *fixture, int32_t pid, uint64_t address)
{
	struct process_space space = { .table = &fixture->table };
	struct process *process;
	struct unwind_code code;
	struct error err;

	assert_true(process_table_get(&fixture->table, pid, &process, &err));
	space.process = process;
	if (!process_space_find(&space, address, &code))
		return NULL;
	return profile_string(fixture->profile,
		fixture->profile->mappings[process_table_locate(&fixture->table, code.image, address).mapping].path);
}

void expect_path(struct fixture *fixture, int32_t pid, uint64_t address, const char *path)
{
	const char *found = path_at(fixture, pid, address);

	if (!path) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, path);
}
