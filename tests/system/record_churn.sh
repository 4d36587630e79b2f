#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Threads and processes born and dying by the thousand: nothing is lost, every stack is whole, memory does not follow their number.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
start "$WORKLOADS/system_workload" --churn --seconds 60
record_enough 300 -p "$pid" -o a.pb.gz
says stderr ', 0 lost, (100\.0|99\.[5-9]) % whole stacks$'
says_not stderr 'records of new mappings and threads were lost'
at_least "$(share a.pb.gz 'run_thread;serve')" 60 "share of the short-lived threads"

# Two hundred processes of ten milliseconds each.
run 0 kelvin record -o b.pb.gz -- sh -c "i=0; while [ \$i -lt 200 ]; do '$WORKLOADS/system_workload' --seconds 0.01; i=\$((i + 1)); done"
says stderr ', 0 lost, '
says_not stderr 'records of new mappings and threads were lost'
at_least "$(share b.pb.gz '^system_workload;')" 80 "share of the short-lived processes"
