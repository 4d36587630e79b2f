#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Images that cost far more than their size, or change while they are read: what is lost is theirs.
# shellcheck source-path=SCRIPTDIR source=hostile.sh
. "$(dirname "$0")/hostile.sh"

can_sample
# 17 million descriptions of code in half a megabyte; four gigabytes of zeros where descriptions are looked for.
unharmed frames 1
says stderr '^/.*/lair/file: its unwind tables are not used, so stacks may end there: inflated they would be far larger than the file$'
unharmed zeros 1
# Names, and the places and sizes of sections, that change as fast as they can.
for _ in 1 2; do
	unharmed bend 0.5
done
