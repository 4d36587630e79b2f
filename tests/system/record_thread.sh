#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# One thread by its tid: the others are left out.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
start "$WORKLOADS/system_workload" --threads 3
sleep 0.3
tids=(/proc/"$pid"/task/*)
tid=${tids[-1]##*/}
[[ $tid != "$pid" ]] || fail "the workload has no threads"
run 0 kelvin record -t "$tid" -d 1 -o a.pb.gz
at_least "$(share a.pb.gz 'serve;')" 95 "share of the worker's code"
at_most "$(samples_said)" 1300 "samples of one thread in one second at 997 Hz"
refuses 'thread|tid|process' kelvin record -t 4194303 -o b.pb.gz
