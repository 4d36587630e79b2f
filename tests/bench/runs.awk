# SPDX-License-Identifier: GPL-3.0-or-later
# awk -v run=N -v head=0|1 -f runs.awk: a run of the program whose folded stacks are read. Weights differ by up to a tenth from run to run.
# In head one stack of 50 is gone, another has a new function at its end, and a class takes half as much time again.

BEGIN {
	state = 77 * run + 1000 * head
}

{
	state = (state * 16807) % 2147483647
	weight = $NF
	sub(/ [0-9]+$/, "")
	if (head && NR % 50 == 0)
		next
	if (head && NR % 50 == 1)
		$0 = $0 ";added()"
	if (head && /Class7::/)
		weight *= 1.5
	print $0, 1 + int(weight * (0.9 + (state % 200) / 1000))
}
