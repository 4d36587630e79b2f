/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Reads a text of another tool with each allocation failing in turn: the error tells it, until none is left to fail. */
void read_with_failing_allocations(const char *text);
