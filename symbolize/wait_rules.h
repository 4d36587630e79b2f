/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The rules of waits that are shipped, in the syntax of --wait-rules. They come after the user's. Each is about a
 * function in which threads of a program wait for one thing alone, whatever they wait with; a pool's function that runs
 * tasks as well has a rule of its own for what is below its tasks. Names like `worker` or `take` say too little to be
 * among them.
 */
extern const char wait_rules_shipped[];
