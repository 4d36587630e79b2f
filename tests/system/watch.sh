#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A service is watched: its restart is no deploy, its new build is one and has become slower, and a watch that was killed goes on.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
programs=$WORKLOADS/../workloads

refuses 'nothing to watch; name it with -p, --unit, --cgroup or --exe' kelvin watch -o profiles
refuses 'give only one of -p, --unit, --cgroup and --exe' kelvin watch -p 1 --exe sleep -o profiles
refuses 'say with -o where' kelvin watch -p $$
refuses 'has to end before the next one begins' kelvin watch -p $$ -o profiles --every 10 -d 10
refuses "--keep 5: at least 6" kelvin watch -p $$ -o profiles --keep 5
refuses "--keep-bytes '5X': write a size" kelvin watch -p $$ -o profiles --keep-bytes 5X
refuses 'write the whole name: --unit nginx.service' kelvin watch --unit nginx -o profiles
refuses 'no such process' kelvin watch -p 2147483646 -o profiles
mkdir -m 777 open
refuses 'others may write to' kelvin watch -p $$ -o open
[[ ! -e profiles ]] || fail "a refusal has made the directory"

# install VERSION: the service is that program from its next start on.
install_service() {
	cp "$programs/$1" service.new && mv service.new service
}

# A client asks it.
serve() {
	rm -f port
	start ./service serve port 1 0
	service=$pid
	wait_until "the service listens" test -s port
	start "$programs/workload_requests" ask "$(<port)" 1000000 20
}

# watch: its messages are in the file watched, its lines in the file lines, which go on.
watch() {
	"$KELVIN" watch --exe "$work/service" -o profiles --every 1 -d 0.5 --settle 0.2 --label environment=test >>lines 2>watched &
	watch=$!
	started+=("$watch")
}

profiles() {
	find profiles -name '*Z*.pb.gz' | wc -l
}

has_profiles() {
	[[ $(profiles) -ge $1 ]]
}

end_watch() {
	local code=0

	kill -TERM "$watch"
	wait "$watch" || code=$?
	[[ $code -eq 0 ]] || { cat watched; fail "exit code $code of the watch"; }
	[[ -z $(find profiles -name '*.part' -o -name '.kelvin-*') ]] || fail "left behind: $(ls -A profiles)"
}

install_service workload_requests
serve
watch
wait_until "three profiles" has_profiles 3
says watched "^kelvin: $work/service \(now pid $service, $work/service\) is recorded for 0.5 s each 1 s into $work/profiles"
[[ $(stat -c %a profiles) == 700 ]] || fail "the mode of the directory"
refuses "pid $watch watches into $work/profiles already" kelvin watch -p "$service" -o profiles

# The same build again.
stop "$service"
wait_until "the end is told" grep -q '^kelvin: the target has ended' watched
serve
count=$(profiles)
wait_until "profiles behind the restart" has_profiles $((count + 2))
says watched "^kelvin: $work/service has restarted \(pid $service\)"

# The watch is killed while it records; what it had is recovered by the next one.
recording=
is_recording_now() {
	recording=$(find profiles -name '*.part' -size +0)
	[[ -n $recording ]]
}
wait_until "a recording" is_recording_now
kill -KILL "$watch"
wait "$watch" 2>/dev/null
before=$(find profiles -name '*Z*.pb.gz')
[[ -e $recording ]] || is_recording_now || fail "the recording had ended"
watch
wait_until "it is recovered" test -e "${recording%.part}" -a ! -e "$recording"
for file in $before; do
	[[ -e $file ]] || fail "$file is gone"
done
count=$(profiles)
wait_until "it goes on" has_profiles $((count + 1))
[[ ! -s lines && -z $(find profiles -name 'deploy-*') ]] || fail "a deploy without one: $(<lines)"

# A signal asks for a recording; the clock of the schedule is not waited for.
kill -HUP "$watch"

# A build that is slower.
install_service workload_requests_slower
stop "$service"
serve
wait_until "the deploy is told" test -s lines
says watched '^kelvin: a new build: build [0-9a-f]{12} → [0-9a-f]{12}; it is compared as soon as it has 3 profiles'
says lines "^deploy [0-9-]{10} [0-9]{2}:[0-9]{2} UTC build [0-9a-f]{12} → [0-9a-f]{12}: regressed[:,] .*; [0-9]+ profiles before and 3 after; report $work/profiles/deploy-[0-9TZ-]*\.html$"
says lines 'parse_header'
! kelvin doctor | grep -qE '^ok +requests' || says lines ': regressed, CPU per request [0-9.]+ → [0-9.]+ µs \(\+[0-9.]+ %, [0-9.]+ to [0-9.]+\), parse_header; '
[[ $(wc -l <lines) -eq 1 ]] || fail "more than one line"
page=$(find profiles -name 'deploy-*.html')
grep -q '"verdict": "regressed"' "${page%.html}.json" || fail "the JSON of the report says something else"
end_watch

# What the profiles tell.
newest=$(find profiles -name '*Z*.pb.gz' | sort | tail -n 1)
run 0 kelvin report "$newest" --json report.json
id=$(readelf -n "$programs/workload_requests_slower" | sed -n 's/.*Build ID: //p')
says report.json "\"build\": \"$id\""
says report.json '"environment": "test"'
says report.json '"started": "2[0-9-]*T[0-9-]*Z"'

# Another watch makes no second report of what was told.
count=$(profiles)
watch
wait_until "it goes on" has_profiles $((count + 1))
end_watch
[[ $(wc -l <lines) -eq 1 ]] || fail "the deploy was told twice: $(<lines)"
