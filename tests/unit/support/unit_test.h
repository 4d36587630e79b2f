/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* cmocka, behind the headers that it expects before its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
