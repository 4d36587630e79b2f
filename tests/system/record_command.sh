#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A command from its exec to its end: its exit code is ours, its output untouched.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
workload=$WORKLOADS/system_workload
run 0 kelvin record -o a.pb.gz -- "$workload" --seconds 0.5
at_least "$(share a.pb.gz 'main;serve')" 90 "share of the workload"
run 3 kelvin record -o b.pb.gz -- sh -c "'$workload' --seconds 0.3; echo out; exit 3"
[[ $(cat stdout) == out ]] || fail "the command's output is not alone on stdout"
[[ -s b.pb.gz ]] || fail "no profile of a command that failed"
run 137 kelvin record -o c.pb.gz -- sh -c "'$workload' --seconds 0.3; kill -KILL \$\$"
run 127 kelvin record -o d.pb.gz -- ./not-there
says stderr "^kelvin: cannot execute ./not-there: "
touch plain && chmod 644 plain
run 126 kelvin record -o d.pb.gz -- ./plain
run 125 kelvin record -o no/such/d.pb.gz -- true
says stderr "^kelvin: cannot write no/such/d.pb.gz: directory no/such does not exist"
run 125 kelvin record -o d.pb.gz -- true
says stderr "^kelvin: no samples: true ran for"
[[ ! -e d.pb.gz ]] || fail "a file without samples"
run 3 kelvin record -o d.pb.gz -- sh -c 'exit 3'
says stderr "^kelvin: no samples: sh -c exit 3 ran for"
[[ ! -e d.pb.gz ]] || fail "a file without samples"

# -d ends the recording, not the command; its exit code is still ours.
run 5 kelvin record -d 0.5 -o e.pb.gz -- sh -c "'$workload' --seconds 1; exit 5"
says stderr ' in 0\.[5-9] s, '
