#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# All threads of a process, those born during the recording too.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
start "$WORKLOADS/system_workload" --threads 4
record_enough 300 -p "$pid" -o a.pb.gz
stop "$pid"
at_least "$(share a.pb.gz '^(worker|system_workload);.*serve')" 95 "share of the workers"
! command -v go >/dev/null || use_go_cache
threads=$(go tool pprof -raw a.pb.gz 2>/dev/null | grep -o 'tid:\[[0-9]*\]' | sort -u | wc -l)
[[ $threads -eq 0 || $threads -ge 4 ]] || fail "$threads threads in the profile instead of 4"

# Threads that begin after the attachment.
start sh -c "$(once_recording b.pb.gz "exec '$WORKLOADS/system_workload' --threads 4 --cpu 0.3")"
run 0 kelvin record -p "$pid" -d 60 -o b.pb.gz
at_least "$(share b.pb.gz 'run_thread;serve')" 90 "share of threads born during the recording"
