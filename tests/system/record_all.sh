#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Several processes, the whole system, a control group.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
cp "$WORKLOADS/system_workload" first
cp "$WORKLOADS/system_workload" second
start ./first
one=$pid
start ./second
two=$pid
run 0 kelvin record -p "$one,$two" -d 1 -o a.pb.gz
at_least "$(share a.pb.gz '^first;')" 20 "share of the first process"
at_least "$(share a.pb.gz '^second;')" 20 "share of the second process"
run 0 kelvin record -p "$one" -p "$two" -p "$one" -d 0.5 -o b.pb.gz
refuses 'more than one kind' kelvin record -p "$one" -a -o c.pb.gz
kelvin doctor | grep -q "^ok .*other users" || skip "the whole system may not be sampled here"
run 0 kelvin record -a -d 1 -o d.pb.gz
at_least "$(share d.pb.gz 'main;serve')" 10 "share of the workloads in the whole system"
