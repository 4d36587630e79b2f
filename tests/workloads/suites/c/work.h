/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One benchmark's function: included once for each, with its number as WORK. */
#define WORK_NAME_(number) work_##number
#define WORK_NAME(number) WORK_NAME_(number)

#ifndef SLOWER
#define SLOWER (-1)
#endif
#ifndef SLOWER_PERCENT
#define SLOWER_PERCENT 5
#endif

static __attribute__((noinline)) uint64_t WORK_NAME(WORK)(uint64_t state)
{
	for (int i = 0; i < WORK_STEPS; i++)
		state = (state ^ state >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + WORK;
#if SLOWER == WORK
	for (int i = 0; i < WORK_STEPS * SLOWER_PERCENT / 100; i++)
		state = (state ^ state >> 31) * UINT64_C(0x94d049bb133111eb) + WORK; /* the line to find */
#endif
	return state;
}
