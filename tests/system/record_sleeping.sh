#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A target that sleeps is an error that says so, and no file.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
start sleep 60
refuses 'no samples: pid [0-9]+ \(sleep\) slept: it used 0\.[0-9]+ s of CPU time in 1\.[0-9] s; ' kelvin record -p "$pid" -d 1 -o a.pb.gz
start "$WORKLOADS/system_workload"
kill -STOP "$pid"
refuses 'no samples: pid [0-9]+ \(system_workload\) is stopped, .*kill -CONT [0-9]+' kelvin record -p "$pid" -d 0.5 -o a.pb.gz
[[ ! -e a.pb.gz ]] || fail "a file without samples"
