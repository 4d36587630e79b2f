#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# -D begins later; -F and -e do what they say.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
start "$WORKLOADS/system_workload"
run 0 kelvin record -p "$pid" -D 1000 -d 1 -F 500 -e cpu-clock -o a.pb.gz
at_least "$(samples_said)" 250 "samples of one second at 500 Hz"
at_most "$(samples_said)" 700 "samples of one second at 500 Hz"
run 0 kelvin record -p "$pid" -d 1 -F 4000 -g dwarf,8192 -o b.pb.gz
at_least "$(samples_said)" 1000 "samples of one second at 4000 Hz"
