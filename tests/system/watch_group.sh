#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A control group is watched as a systemd unit: its launcher is not taken for the service, the group may go and come back, a unit of this name
# that another user has made is none, and a version is a deploy of the same binary.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
kelvin doctor | grep -q '^ok .*whole system' || skip "control groups may not be sampled here"

group=
for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	{ [[ -e $root/cgroup.procs ]] && mkdir "$root/kelvin_watch_$$"; } 2>/dev/null || continue
	group=$root/kelvin_watch_$$
	! kelvin record --cgroup "$group" -d 0.1 -o try.pb.gz 2>&1 | grep -q 'cannot sample cgroup' || { rmdir "$group" && group= && continue; }
	break
done
[[ -n $group ]] || skip "no control group of version 2 can be made here"
name=kelvin-$$.service
unit=$group/$name
remove_groups() {
	local code=$? pid

	for pid in "${started[@]}"; do
		kill -KILL -- "-$pid" 2>/dev/null
	done
	[[ $code -eq 0 ]] || sleep 0.2
	rmdir "$unit" "$group/theirs/$name" "$group/theirs" 2>/dev/null
	(exit "$code")
	finish
}
trap remove_groups EXIT

# serve VERSION: as a service manager does, with a launcher that waits for the service.
serve() {
	mkdir -p "$unit"
	# shellcheck disable=SC2016
	start sh -c 'echo $$ >"$0/cgroup.procs"; OTEL_RESOURCE_ATTRIBUTES="service.name=shop,service.version=$2" "$1" --seconds 100; true' \
		"$unit" "$WORKLOADS/system_workload" "$1"
	launcher=$pid
}

end_service() {
	stop "$launcher"
	wait_until "the group is empty" rmdir "$unit"
}

has_profiles() {
	[[ $(find profiles -name '*Z*.pb.gz' 2>/dev/null | wc -l) -ge $1 ]]
}

# Another user's group of this name, which lies further up in the order of names.
mkdir -p "$group/theirs/$name"
chown 65534 "$group/theirs" "$group/theirs/$name" 2>/dev/null
serve 41
"$KELVIN" watch --unit "$name" -o profiles --every 1 -d 0.4 --settle 0.2 >lines 2>watched &
watch=$!
started+=("$watch")
# The launcher began first, and uses no CPU time.
tells_build() {
	kelvin report "$(find profiles -name '*Z*.pb.gz' 2>/dev/null | sort | tail -n 1)" --json report.json >/dev/null 2>&1
	grep -q "\"build\": \"$id\"" report.json
}
id=$(readelf -n "$WORKLOADS/system_workload" | sed -n 's/.*Build ID: //p')
wait_until "its build is known" tells_build
wait_until "three profiles" has_profiles 3
says watched "^kelvin: $name is recorded for 0.4 s"
end_service
wait_until "the end is told" grep -q 'the target has ended' watched
serve 42
wait_until "the deploy is told" test -s lines
says lines '^deploy [0-9-]{10} [0-9]{2}:[0-9]{2} UTC version 41 → 42: (unchanged|inconclusive)'
code=0
kill -TERM "$watch"
wait "$watch" || code=$?
[[ $code -eq 0 ]] || fail "exit code $code of the watch"
kelvin report "$(find profiles -name '*Z*.pb.gz' | sort | tail -n 1)" --json report.json >stdout 2>stderr
says report.json '"service": "shop"'
says report.json '"version": "42"'
end_service
