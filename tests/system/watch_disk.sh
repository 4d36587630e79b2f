#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a watch does to its directory: it is bounded; a full disk loses nothing; who removes it ends the watch. A target that restarts all the
# time makes neither recordings nor messages.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample

# watch DIRECTORY OPTIONS...
watch() {
	local directory=$1

	shift
	"$KELVIN" watch -o "$directory" --every 1 -d 0.3 "$@" >lines 2>watched &
	watch=$!
	started+=("$watch")
}

end_watch() {
	local code=0

	kill -TERM "$watch" 2>/dev/null
	wait "$watch" || code=$?
	[[ $code -eq $1 ]] || { cat watched; fail "exit code $code of the watch, not $1"; }
}

has_profiles() {
	[[ $(find "$1" -name '*Z*.pb.gz' | wc -l) -ge $2 ]]
}

start "$WORKLOADS/system_workload" --seconds 100
target=$pid

# The oldest go; what is not the watch's stays, also what only looks like it.
mkdir -m 700 bounded
for second in 10 11 12 13 14 15 16 17; do
	echo x >"bounded/2020-01-01T00-00-${second}Z.pb.gz"
done
touch bounded/{notes.txt,2020-01-01T00-00-10Z.pb,.kelvin-0123456789abcdef}
mkdir bounded/2020-01-01T00-00-09Z.pb.gz
watch bounded -p "$target" --settle 0 --keep 6
newer() {
	[[ $(find bounded -name '202[1-9]-*Z*.pb.gz' | wc -l) -ge 2 ]]
}
wait_until "two profiles" newer
end_watch 0
[[ $(find bounded -type f -name '*Z*.pb.gz' | wc -l) -eq 6 ]] || fail "not bounded: $(ls bounded)"
[[ ! -e bounded/2020-01-01T00-00-11Z.pb.gz && -e bounded/2020-01-01T00-00-17Z.pb.gz ]] || fail "not the oldest: $(ls bounded)"
[[ -e bounded/notes.txt && -e bounded/2020-01-01T00-00-10Z.pb && -d bounded/2020-01-01T00-00-09Z.pb.gz ]] || fail "not its own"
[[ ! -e bounded/.kelvin-0123456789abcdef ]] || fail "what a killed writer left is there"

# A target that ends before it has settled is never recorded, and told of once.
stop "$target"
cp "$WORKLOADS/system_workload" storming
# shellcheck disable=SC2016
start bash -c 'while :; do "$0" --seconds 0.2; done' "$work/storming"
storm=$pid
watch restarts --exe "$work/storming" --settle 2
sleep 3
end_watch 0
stop "$storm"
[[ -z $(find restarts -name '*.gz*') ]] || fail "recorded: $(ls restarts)"
at_most "$(wc -l <watched)" 3 "lines about a target that restarts all the time"
[[ ! -s lines ]] || fail "$(<lines)"

# The directory is removed.
start "$WORKLOADS/system_workload" --seconds 100
target=$pid
watch removed -p "$target" --settle 0
wait_until "a profile" has_profiles removed 1
rm -rf removed
code=0
wait "$watch" || code=$?
[[ $code -eq 2 ]] || fail "exit code $code without a directory"
says watched "^kelvin: $work/removed was removed, so that the watch ends$"
[[ ! -e removed ]] || fail "it was made again"

is_root || skip "root is needed to mount a small file system"
mkdir -m 700 small
mount -t tmpfs -o size=24k none small 2>/dev/null || skip "a small file system cannot be mounted here"
chmod 700 small
watch small -p "$target" --settle 0
wait_until "the disk is full" grep -q 'No space left on device' watched
says watched "cannot write $work/small/2.*Z.*No space left on device"
says watched '^kelvin: the watch goes on; the next time it is tried again$'
find small -name '*Z*.pb.gz' -exec md5sum {} + >before
[[ -s before ]] || fail "nothing is there"
lines=$(wc -l <watched)
sleep 2.5
md5sum --quiet -c before || fail "something old was lost"
at_most "$(wc -l <watched)" $((lines + 2)) "lines about a full disk"
# With room again, it goes on.
mount -o remount,size=2m small
count=$(find small -name '*Z*.pb.gz' | wc -l)
wait_until "it goes on" has_profiles small $((count + 2))
end_watch 0
md5sum --quiet -c before || fail "something old was lost"
at_most "$(find small -name '*.part' | wc -l)" 1 "parts that are left"
