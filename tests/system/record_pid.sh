#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A live process: its functions in the right shares, whole stacks, nothing lost.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
start "$WORKLOADS/system_workload" --parse 3
before=$(ticks "$pid")
run 0 kelvin record -p "$pid" -d 1 -o a.pb.gz
used=$(($(ticks "$pid") - before))
says stderr '^[0-9,]+ samples in 1\.[0-9] s, 0 lost, [0-9.]+ % whole stacks$'
says stderr '^wrote a\.pb\.gz \([0-9.]+ [kM]?B\)$'
# The target runs before and after the recording too: naming alone takes a while on a busy machine.
at_least "$(samples_said)" 20 "samples of a second at 997 Hz"
at_most "$(samples_said)" $((used * 997 * 12 / 1000 + 50)) "samples at 997 Hz of $used hundredths of a second of CPU time"
[[ $(stat -c %a a.pb.gz) == 600 ]] || fail "mode $(stat -c %a a.pb.gz) instead of 600"

at_least "$(share a.pb.gz ';main;serve;parse_input')" 60 "share of parse_input under main and serve"
at_least "$(share a.pb.gz ';serve;hash_output')" 15 "share of hash_output"
at_most "$(share a.pb.gz ';serve;hash_output')" 35 "share of hash_output"
at_least "$(share a.pb.gz '^system_workload;_start;')" 97 "stacks that reach the program's entry"
[[ $(ls) == $'a.pb.gz\nstderr\nstdout' ]] || fail "other files left behind: $(ls)"

run 0 kelvin record -p "$pid" -d 0.5 -F 100 -q -o low.pb.gz
[[ ! -s stderr && ! -s stdout ]] || fail "--quiet was not quiet"
run 0 kelvin record -p "$pid" -d 1 -g fp -o fp.pb.gz
at_least "$(share fp.pb.gz 'serve;parse_input')" 60 "share of parse_input by frame pointers"
run 0 kelvin record -p "$pid" -d 0.5 -o - 
"$KELVIN" report - --folded - <stdout | grep -q parse_input || fail "no profile on standard output"
