#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Storms of mappings, files, programs and names: they cost the recorder a share of a CPU that does not grow with what they have done
# before, and the innocent program nothing.
# shellcheck source-path=SCRIPTDIR source=hostile.sh
. "$(dirname "$0")/hostile.sh"

can_sample

# cost SECONDS: thousandths of a second of the recorder for each second of the storm.
cost() {
	awk -v seconds="$1" -v recorder="$(hostile_value cpu "$watched")" -v hostile="$(hostile_value hostile_cpu "$watched")" \
		'BEGIN { printf "%d\n", 1000 * seconds * recorder / hostile }'
}

# Where events are opened anew, because so many processes are born, a quarter of a second is missing.
unharmed storm 1.4
short=$(cost 1.4)
unharmed storm 3.5
at_most "$(cost 3.5)" $((short * 18 / 10 + 20)) "milliseconds of the recorder for a second of the storm, where they are $short at first"
unharmed storm-names 1
unharmed storm-commands 1

# To look at 65,000 mappings takes a recorder some times as long as it takes the kernel to print them.
hostile_start live || fail "the hostile program does not start: $(<hostile.out)"
begin=$(date +%s%N)
cat "/proc/$hostile/maps" >maps
printing=$((($(date +%s%N) - begin) / 1000000 + 1))
hostile_stop
unharmed live 0.5
start=$(awk -v start="$(hostile_value start "$watched")" 'BEGIN { printf "%d\n", 1000 * start }')
at_most "$start" $((40 * printing + 500)) "milliseconds before the recording, where $(wc -l <maps) mappings are printed in $printing"
