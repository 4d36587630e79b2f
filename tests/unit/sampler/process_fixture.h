/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"

/* What the tests of struct process_table share: a table that follows records, and is asked what lies at an address. */

/* Pids that no process has: /proc tells nothing of them. */
enum { PID = 0x7ffffff0, CHILD = 0x7ffffff1 };

struct fixture {
	struct profile *profile;
	struct process_reader *reader;
	struct process_table table; /* of the processes that run here, and of others as records tell */
};

int fixture_setup(void **state);
int fixture_teardown(void **state);

/* A test that has a fixture in `state`. */
#define PROCESS_TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

void tell_record(struct fixture *fixture, const struct record *record);

/* A record of an executable mapping. The inode is the length of the path: paths of other lengths are other files. */
void tell_mapping(struct fixture *fixture, int32_t pid, uint64_t start, uint64_t end, const char *path);

/* The path of what a process has mapped at an address, borrowed from the profile; NULL: nothing that is known. */
const char *path_at(struct fixture *fixture, int32_t pid, uint64_t address);

/* The same as a check. */
void expect_path(struct fixture *fixture, int32_t pid, uint64_t address, const char *path);
