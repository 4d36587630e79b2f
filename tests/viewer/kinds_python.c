/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kinds.h"

#include "maker.h"

#include <stdio.h>

enum { RUNS = 10, STEADY = 30, STEADY_MS = 40 };

#define START "_start!python3.12@s;Py_RunMain!python3.12@s"
#define BODY START ";py::<module>:/srv/app/w.py![jit]"
#define RUN BODY ";py::S.run:/srv/app/w.py![jit]"
#define CALL RUN ";PyObject_Call!python3.12@s"
#define CHECK CALL ";py::check:/srv/app/rules.py![jit]"
#define LOADS RUN ";py::loads:/usr/lib/python3.12/json/__init__.py![jit]@s"

/* tests/viewer/interpreter.test.js holds the same figures. */
static const struct python_row {
	const char *stack;
	int ms[DIFF_SIDES]; /* a run */
} rows[] = {
	{ START, { 5, 5 } },
	{ BODY, { 10, 10 } },
	{ RUN, { 20, 20 } },
	{ RUN ";list_append!python3.12@s", { 30, 30 } },
	{ RUN ";list_append!python3.12@s;realloc!libc.so@s", { 8, 8 } },
	{ CHECK, { 40, 40 } },
	{ CHECK ";PyObject_RichCompare!python3.12@s", { 60, 160 } },
	{ CALL ";scan!_json.so@l", { 15, 15 } },
	{ CALL ";scan!_json.so@l;PyLong_FromLong!python3.12@s", { 6, 6 } },
	{ LOADS, { 12, 12 } },
	{ LOADS ";unicode_new!python3.12@s", { 9, 9 } },
};

struct profile *kinds_python(int side)
{
	struct maker maker = maker_create("python3.12 w.py", side ? "22" : "11");

	for (int run = 0; run < RUNS; run++) {
		maker_run(&maker, "python3.12", 1500);
		for (int i = 0; i < STEADY; i++) {
			char stack[256];

			snprintf(stack, sizeof(stack), BODY ";py::steady_%02d:/srv/app/steady.py![jit]", i);
			maker_add(&maker, maker_stack_of(&maker, stack), STEADY_MS + (run + i) * 7 % 5 - 2, -1);
		}
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			maker_add(&maker, maker_stack_of(&maker, rows[i].stack), rows[i].ms[side], -1);
	}
	return maker_finish(&maker);
}
