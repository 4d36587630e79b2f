#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The target exits during the recording: what was sampled is kept.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
start sh -c "$(once_recording a.pb.gz "exec '$WORKLOADS/system_workload' --cpu 0.5")"
begin=$(date +%s)
run 0 kelvin record -p "$pid" -d 100 -o a.pb.gz
at_most $(($(date +%s) - begin)) 50 "seconds until the end of a target was noticed"
says stderr "^system_workload \(pid $pid\) ended [0-9]+\.[0-9] s after the recording began\$"
at_least "$(share a.pb.gz 'serve')" 90 "share of the workload"
