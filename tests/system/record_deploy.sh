#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The binary is replaced and deleted while it runs: the names stay.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
cp "$WORKLOADS/system_workload" server
start ./server --seconds 100
record_enough 400 -p "$pid" -o before.pb.gz
cp "$WORKLOADS/system_workload" new
strip new
mv new server
record_enough 400 -p "$pid" -o replaced.pb.gz
rm server
record_enough 400 -p "$pid" -o deleted.pb.gz
for file in before replaced deleted; do
	at_least "$(share $file.pb.gz '^server;_start;.*main;serve;parse_input')" 60 "share of parse_input in $file.pb.gz"
	at_least "$(share $file.pb.gz '^server;_start;.*main;serve;hash_output')" 15 "share of hash_output in $file.pb.gz"
done
needs jq
code=0
kelvin diff before.pb.gz deleted.pb.gz --json diff.json >stdout 2>stderr || code=$?
[[ $code -ne 2 ]] || fail "the comparison failed"
jq -e '[.functions[] | select(.name == "parse_input" and .base_self_ns > 0 and .head_self_ns > 0)] | length == 1' diff.json >/dev/null ||
	fail "parse_input is not one function of both sides"
