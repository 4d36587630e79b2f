/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The order of two values for qsort(3): below, equal to or above 0. Each is evaluated twice. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))
