/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Files below a directory of a test's own, as of a /proc or a /sys/fs/cgroup that is made up. What fails here fails the
 * test that uses it.
 */

/* The directory, while a test runs: "/tmp/kelvin-tree-XXXXXX". */
extern char made_tree[64];

/* Makes a file, and the directories above it: "/a.slice/cpu.max". */
void put(const char *name, const char *text);

/* For cmocka_unit_test_setup_teardown(). */
int set_up(void **state);
int tear_down(void **state);
