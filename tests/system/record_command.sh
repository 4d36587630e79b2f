#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A command from its exec to its end: its exit code is ours, its output untouched.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
workload=$WORKLOADS/system_workload
run 0 kelvin record -o a.pb.gz -- "$workload" --seconds 0.5
at_least "$(share a.pb.gz 'main;serve')" 90 "share of the workload"
run 3 kelvin record -o b.pb.gz -- sh -c "'$workload' --cpu 0.1; echo out; exit 3"
[[ $(cat stdout) == out ]] || fail "the command's output is not alone on stdout"
[[ -s b.pb.gz ]] || fail "no profile of a command that failed"
run 137 kelvin record -o c.pb.gz -- sh -c "'$workload' --cpu 0.1; kill -KILL \$\$"
run 127 kelvin record -o d.pb.gz -- ./not-there
says stderr "^kelvin: cannot execute ./not-there: "
touch plain && chmod 644 plain
run 126 kelvin record -o d.pb.gz -- ./plain
run 125 kelvin record -o no/such/d.pb.gz -- true
says stderr "^kelvin: cannot write no/such/d.pb.gz: directory no/such does not exist"

# Too short for a sample, as a rule: then there is no file, and the command's own failure is still told.
code=0
kelvin record -o d.pb.gz -- true >stdout 2>stderr || code=$?
if [[ $code -eq 125 ]]; then
	says stderr "^kelvin: no samples: true ran for"
	[[ ! -e d.pb.gz ]] || fail "a file without samples"
else
	[[ $code -eq 0 && -s d.pb.gz ]] || fail "exit code $code of a command that succeeded"
fi
run 3 kelvin record -o d2.pb.gz -- sh -c 'exit 3'

# Several runs make one profile; the first that fails ends them.
run 0 kelvin record --runs 3 -o runs.pb.gz -- "$workload" --cpu 0.1
[[ $(grep -c '^wrote ' stderr) -eq 1 ]] || fail "not one summary for three runs"
kelvin diff runs.pb.gz runs.pb.gz --json runs.json >/dev/null 2>&1
jq -e '.evidence.runs_base == 3' runs.json >/dev/null || fail "not three runs: $(jq -c .evidence runs.json)"
kelvin record --runs 2 -q -o - -- sh -c "echo said; '$workload' --cpu 0.1" 2>stderr | kelvin report - --json >runs.json 2>>stderr
jq -e '.recording.runs == 2' runs.json >/dev/null || fail "not two runs through a pipe"
[[ $(grep -c '^said$' stderr) -eq 2 ]] || fail "what a command prints is not on standard error beside a profile on standard output"
# Standard output by another name is no other file.
run 0 kelvin record -q -o /dev/stdout -- sh -c "echo said; '$workload' --cpu 0.1"
says stderr '^said$'
kelvin report - --folded <stdout | grep -q serve || fail "no profile on /dev/stdout"
run 4 kelvin record --runs 5 -o failing.pb.gz -- sh -c "'$workload' --cpu 0.1; [ -e once ] && exit 4; touch once"
says stderr '^kelvin: run 2 of 5 ended with exit code 4; 1 run is kept in failing.pb.gz$'
says stderr '^wrote failing.pb.gz'
rm once
run 4 kelvin record --runs 5 -o failing.pb.gz -- sh -c "'$workload' --cpu 0.1; exit 4"
says stderr '^kelvin: run 1 of 5 ended with exit code 4; 1 run is kept in failing.pb.gz$'
run 127 kelvin record --runs 5 -o nothing.pb.gz -- ./not-there
says stderr '^kelvin: run 1 of 5 ended with exit code 127; nothing is kept$'
run 2 kelvin record --runs 3 -p $$
says stderr 'only a command can be run several times'

run 0 kelvin record -d 1e300 -o long.pb.gz -- "$workload" --cpu 0.1
# -d ends the recording, not the command; its exit code is still ours.
run 5 kelvin record -d 0.3 -o e.pb.gz -- sh -c "'$workload' --seconds 1.2; exit 5"
says stderr ' in 0\.[3-9] s, '
