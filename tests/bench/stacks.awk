# SPDX-License-Identifier: GPL-3.0-or-later
# awk -v nodes=N -f stacks.awk: folded stacks whose tree has about N nodes, the same every time. A stack shares a prefix of random
# length with the one before, as the stacks of real programs do.

function random(n) {
	state = (state * 16807) % 2147483647
	return state % n
}

# Few functions stand in most places, most in few.
function pick(n) {
	share = random(10000) / 10000
	return int(n * share * share * share)
}

BEGIN {
	state = 42
	name[0] = "main"
	while (made < nodes) {
		depth = 1 + (depth ? random(depth) : 0)
		for (target = 8 + random(32); depth < target; depth++) {
			name[depth] = "ns" pick(20) "::Class" pick(60) "::method" random(9) "(int, char const*)"
			made++
		}
		line = name[0]
		for (i = 1; i < depth; i++)
			line = line ";" name[i]
		print line, 1 + random(1000)
	}
}
