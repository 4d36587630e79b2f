#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Functions line by line: the texts of both versions as they were when they ran, aligned, with the times of their lines, and which of
# these are proven to differ.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs cc
needs jq


# The function parse() with the line that is told, among others that are the same.
write_tree() {
	mkdir -p tree
	cat >tree/mix.h <<'END'
static inline unsigned mix(unsigned x)
{
	x ^= x >> 13;
	x *= 0x5bd1e995;
	return x ^ (x >> 15);
}
END
	{
		cat <<'END'
#include <stdio.h>
#include "mix.h"

__attribute__((noinline)) unsigned rest(volatile const char *p, int n)
{
	unsigned sum = 0;

	for (int round = 0; round < 12; round++)
		for (int i = 0; i < n; i++)
			sum = sum * 31 + p[i];
	return sum;
}

END
		cat "$1"
		cat <<'END'

int main(void)
{
	static char text[1 << 16];
	unsigned sum = 0;

	for (int round = 0; round < 700; round++)
		sum += parse(text, sizeof(text)) + rest(text, sizeof(text));
	printf("%u\n", sum);
}
END
	} >tree/p.c
}

cat >base.c <<'END'
__attribute__((noinline)) unsigned parse(volatile const char *p, int n)
{
	unsigned sum = 0;

	for (int i = 0; i < n; i++) {
		sum += mix(p[i]);
		sum ^= sum << 3;
	}
	return sum;
}
END
# A comment moves the function; the line that takes long is another one.
cat >head.c <<'END'
/* It is safer now. */

__attribute__((noinline)) unsigned parse(volatile const char *p, int n)
{
	unsigned sum = 0;

	for (int i = 0; i < n; i++) {
		sum += mix(p[i]) / (unsigned)(p[i] + 7) / (unsigned)(p[i] + 9) / (unsigned)(p[i] + 11);
		sum ^= sum << 3;
	}
	return sum;
}
END

for side in base head; do
	write_tree $side.c
	cc -O1 -g -o $side tree/p.c || fail "cannot compile"
	for run in 1 2 3; do
		run 0 kelvin record -q --sources -o $side$run.pb.gz -- ./$side
	done
done
rm -r tree

base=base1.pb.gz,base2.pb.gz,base3.pb.gz head=head1.pb.gz,head2.pb.gz,head3.pb.gz

# The verdict comes first, then both versions; the tree is gone.
run 1 kelvin diff $base $head --list '^parse$'
says stdout '^Regressed: .*parse'
says stdout 'parse: base .* head .*proven more'
says stdout 'base: .*/tree/p.c, lines 14 to 23: kept by the recording, not changed since the build\.'
says stdout 'head: .*/tree/p.c, lines 16 to 25: kept by the recording, not changed since the build\.'
says stdout ' 19 +- +sum \+= mix\(p\[i\]\);$'
says stdout '▲ +21 \+ +sum \+= mix\(p\[i\]\) / \(unsigned\)'
says stdout ' 20 +22 +sum \^= sum << 3;'
says_not stdout 'int rest'

# row MEMBER: of the line that changed.
row() {
	jq -r ".lines[0].rows[] | select(.head_line == 21) | $1" lines.json
}

run 1 kelvin diff $base $head --list '^parse$' --json lines.json
[[ $(jq -r '.lines[0].function' lines.json) == parse ]] || fail "the function is not there"
[[ $(row .base_line) == 19 && $(row .state) == more && $(row .changed) == true ]] || fail "the row is $(row .)"
[[ $(row '.q < 0.05 and .head_self_ns > 2 * .base_self_ns and .head_inlined_ns >= .head_self_ns') == true ]] ||
	fail "the row is $(row .)"
# No other line is proven to be slower, though each moved by two.
[[ $(jq '[.lines[0].rows[] | select(.state == "more" and .head_line != 21)] | length' lines.json) == 0 ]] ||
	fail "other lines are proven: $(jq -c '.lines[0].rows[] | select(.state == "more")' lines.json)"

# mix() is inlined: its own lines have the time in its own file, and its call has it in parse(). In head the divisions have nearly all of it.
run 0 kelvin report base1.pb.gz --list 'mix|parse' --json one.json
[[ $(jq '[.lines[] | select(.function == "mix") | .rows[].head_self_ns] | add > 0' one.json) == true ]] ||
	fail "mix() has no time"
[[ $(jq '.lines[] | select(.function == "parse") | .rows[] | select(.head_line == 19) | .head_inlined_ns > .head_self_ns' one.json) == true ]] ||
	fail "the call of mix() has no time of it"

# A comment shows the change, without the rest.
run 1 kelvin diff $base $head --markdown lines.md
says lines.md '^```diff$'
says lines.md '^- .*sum \+= mix\(p\[i\]\);$'
says lines.md '^\+ .*▲ .*sum \+= mix\(p\[i\]\) / \(unsigned\)'
says_not lines.md 'int rest'

# Without kept text the lines are paired by their distance; a tree that has other text is not believed.
for side in base head; do
	for run in 1 2 3; do
		run 0 kelvin record -q --no-sources -o plain_$side$run.pb.gz -- ./$side
	done
done
plain_base=plain_base1.pb.gz,plain_base2.pb.gz,plain_base3.pb.gz plain_head=plain_head1.pb.gz,plain_head2.pb.gz,plain_head3.pb.gz
run 1 kelvin diff $plain_base $plain_head --list '^parse$'
says stdout 'its text was not found'
says stdout '▲ +19 +21$'
write_tree base.c
run 1 kelvin diff $plain_base $plain_head --list '^parse$' --source-map "$work=$work"
says stdout 'from the disk now, may differ from what was built\.'

# What cannot be listed.
refuses 'no function that was sampled is called so' kelvin report base1.pb.gz --list nothing_like_it
refuses 'this is no regular expression' kelvin report base1.pb.gz --list 'a('
