/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Calls a function in a child process of a user without rights, whose output is watched. The function ends the child
 * with status 0 where the kernel's programs were refused as they should be. Fails the test for another status, and
 * where anything was printed; skips it for a user who cannot become another one.
 */
void expect_refusal(void (*refuse)(void));
