#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Labels: those of --label, and those that a service says of itself by OpenTelemetry's process context. They are in the profile, in every
# report, in what a killed recorder leaves, and where service and version are known they are the title.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs jq
service=$WORKLOADS/../workloads/workload_service
long=600000

# labels_of PROFILE: as "KEY=VALUE KEY=VALUE".
labels_of() {
	kelvin report "$1" --json | jq -r '.recording.labels // {} | to_entries | map("\(.key)=\(.value)") | join(" ")'
}

expect_labels() {
	[[ $(labels_of "$1") == "$2" ]] || fail "the labels of $1 are '$(labels_of "$1")', not '$2'"
}

publishes() {
	grep -q ':OTEL_CTX' "/proc/$1/maps"
}

start "$service" checkout 4.2.1 0 $long
old=$pid
wait_until "the service says what it is" publishes "$old"
record_enough 1 -p "$old" -o old.pb.gz --label commit=4f3c2a1
expect_labels old.pb.gz "commit=4f3c2a1 environment=test service=checkout version=4.2.1"
run 0 kelvin report old.pb.gz
[[ $(head -n 1 stdout) == "checkout 4.2.1" ]] || fail "the title is '$(head -n 1 stdout)'"
says stdout 'Labels:'

# The user knows better.
record_enough 1 -p "$old" -o own.pb.gz --label version=own --label service=cart
expect_labels own.pb.gz "environment=test service=cart version=own"

# A command says it some time after its start.
run 0 kelvin record -o new.pb.gz -- "$service" checkout 4.3.0 50 2000
expect_labels new.pb.gz "environment=test service=checkout version=4.3.0"
any=(--fail-on 'total>1000%' --inconclusive pass)
run 0 kelvin diff old.pb.gz new.pb.gz "${any[@]}"
[[ $(head -n 1 stdout) == "checkout 4.2.1 → 4.3.0" ]] || fail "the title is '$(head -n 1 stdout)'"
run 0 kelvin diff old.pb.gz new.pb.gz "${any[@]}" --markdown
says stdout '^\*\*checkout 4\.2\.1 → 4\.3\.0\*\*$'
run 0 kelvin diff old.pb.gz new.pb.gz "${any[@]}" -o diff.html
says diff.html '<title>checkout 4\.2\.1 → 4\.3\.0 – Kelvin diff</title>'

# One recording of two versions is of neither.
start "$service" checkout 4.3.0 0 $long
new=$pid
wait_until "the other service says what it is" publishes "$new"
record_enough 1 -p "$old,$new" -o both.pb.gz
says stderr "differ in their version \('4\.[23]\.[01]', '4\.[23]\.[01]'\), so the profile has no such label"
says_not stderr 'differ in their service'
expect_labels both.pb.gz "environment=test service=checkout"

# Several profiles as one side have what is the same in all.
run 0 kelvin report old.pb.gz,new.pb.gz --json both.json
[[ $(jq -c .recording.labels both.json) == '{"environment":"test","service":"checkout"}' ]] || fail "labels of two: $(jq -c .recording.labels both.json)"

# What a killed recorder leaves has them, too.
start "$KELVIN" record -p "$old" -o killed.pb.gz --label host=web-1
recorder=$pid
wait_until "something is written" test -s killed.pb.gz.part
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
run 0 kelvin recover killed.pb.gz.part -o killed.pb.gz
expect_labels killed.pb.gz "environment=test host=web-1 service=checkout version=4.2.1"

# A recording of the whole machine is of no service.
if kelvin doctor --json | jq -e .whole_system >/dev/null; then
	run 0 kelvin record -a -d 0.3 -o all.pb.gz
	expect_labels all.pb.gz ""
fi
