#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Threads that wait in known ways: each has its whole time, in the right class, also one that never wakes and one that is killed.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=waits.sh
. "$(dirname "$0")/waits.sh"

can_sample
needs jq

kinds=(mutex reader writer condition pipe epoll short long forever cpu)
# Files in memory are never waited for.
[[ $(stat -f -c %T .) == tmpfs ]] || kinds+=(disk fault)
taken=$(taken_away)
run 0 kelvin record --off-cpu -o a.pb.gz -- "$WORKLOADS/../workloads/workload_waits" 1.5 "${kinds[@]}"
if grep -q '^waits are not sampled: ' stderr; then
	skip "$(grep '^waits are not sampled: ' stderr)"
fi
cp stdout said
says stderr '^waiting: [0-9.]+ s in [0-9]+ threads: .*lock [0-9]+ %.*; idle [0-9.]+ s$'
says_not stderr 'a recording with --off-cpu'
waited_as_said a.pb.gz said "$taken"
for kind in mutex reader writer pipe condition; do
	found=$(jq -r --arg name "wait_$kind" '.functions[] | select(.name == $name) | .released_by[0].function' a.pb.gz.off-cpu.json)
	[[ $found == let_go_on ]] || fail "waits of $kind were ended by '$found'"
done

# Threads that only wait at one place, for nobody's lock, are idle by their life, those of the other kinds are not.
: >no.rules
for kind in condition forever long; do
	at_least "$(class_share a.pb.gz "wait_$kind" idle no.rules)" 95 "percent of the waits of $kind that are idle"
done
for kind in mutex reader writer; do
	at_least "$(class_share a.pb.gz "wait_$kind" lock no.rules)" 95 "percent of the waits of $kind in class lock"
done

# Whichever thread the disk's interrupt has met did not end them.
for kind in disk fault; do
	found=$(jq -r --arg name "wait_$kind" '[.functions[] | select(.name == $name) | .released_by[].function] | join(" ")' a.pb.gz.off-cpu.json)
	[[ -z $found ]] || fail "waits of $kind were ended by '$found'"
done

# Folded stacks have the values of the metric that is asked for: those of waits are no number of samples.
for metric in off-cpu idle; do
	run 0 kelvin report a.pb.gz --wait-rules keep.rules --metric "$metric" --folded -
	equal "$(awk '{ sum += $NF } END { printf "%.0f\n", sum / 1e6 }' stdout)" "$(jq '.totals.ns / 1e6 | round' "a.pb.gz.$metric.json")" \
		"milliseconds of $metric in folded stacks"
done

# A process that is killed while it waits: it has more than what was charged when its threads were last visited, a second after the start.
start "$WORKLOADS/../workloads/workload_waits" 60 forever
pid_killed=$pid
start sh -c "$(once_recording b.pb.gz "sleep 1.8; kill -KILL $pid_killed")"
run 0 kelvin record --off-cpu -p "$pid_killed" -o b.pb.gz
waited=$(waited b.pb.gz wait_forever)
at_least "$waited" 1100 "milliseconds of the killed thread"
at_most "$waited" "$(jq '.recording.duration_ns / 1e6 + 20 | round' b.pb.gz.off-cpu.json)" "milliseconds of the killed thread"

# One thread, without those around it.
start "$WORKLOADS/../workloads/workload_waits" 60 forever
run 0 kelvin record --off-cpu -t "$pid" -d 0.5 -o c.pb.gz
at_least "$(waited c.pb.gz main)" 350 "milliseconds of the first thread"
at_most "$(waited c.pb.gz wait_forever)" 0 "milliseconds of another thread"

# Who sleeps is proposed to be looked at, and only then.
run 0 kelvin record -p "$pid" -d 0.6 -o d.pb.gz
says stderr '^it used [0-9]+ % of one CPU: .* --off-cpu shows$'
start sleep 60
refuses '--off-cpu' kelvin record -p "$pid" -d 0.2 -o e.pb.gz
run 0 kelvin record --off-cpu -p "$pid" -d 0.5 -o e.pb.gz
says stderr '^waiting: [0-9.]+ s in 1 thread: timer 100 %$'
refuses 'page-faults' kelvin record --off-cpu -e page-faults -p "$pid" -d 0.2

# Locks have the names of the variables that they are: initialized, zeroed, within another, of a function, of a library. On the heap they
# have none.
run 0 kelvin record --off-cpu -o locks.pb.gz -- "$WORKLOADS/../workloads/workload_locks" 0.5
run 0 kelvin report locks.pb.gz --json locks.json
names="@,cache_mutex@workload_locks,library_mutex@libworkload_locks_library.so,own_mutex@workload_locks,registry+0x28@workload_locks,"
names+="zeroed_mutex@workload_locks"
equal "$(jq -r '[.locks[] | "\(.name)@\(.module)"] | sort | join(",")' locks.json)" "$names" "names of locks"
equal "$(jq -r '[.locks[] | .callers[0].function, .released_by[0].function] | unique | join(" ")' locks.json)" "hold_locks wait_for" \
	"functions of locks"
run 0 kelvin report locks.pb.gz --text
says stdout '^Locks that threads wait for'
# The five with most waiting: it depends on the scheduler which ones.
equal "$(grep -cE '^  ([a-z]+_mutex|registry\+0x28|lock [1-6] \(no name\)) .* 1 +hold_locks' stdout)" 5 "locks in the text"
run 0 kelvin diff locks.pb.gz locks.pb.gz --json locks-diff.json --inconclusive pass
equal "$(jq '[.locks[] | select(.base == .head)] | length' locks-diff.json)" 5 "locks that are matched by their names"
equal "$(jq .nameless_locks.head.count locks-diff.json)" 1 "locks without a name"
[[ -z $(jq -rn --slurpfile s "$ROOT/docs/diff.schema.json" --slurpfile d locks-diff.json -f "$ROOT/tests/system/schema.jq") ]] ||
	fail "the diff is not as the schema says"

# Without the right to sample waits the threads are looked at instead, and a line says what would help.
is_root || exit 0
needs setpriv
users_may_sample -1
chmod 755 .
mkdir -m 777 theirs
run 0 setpriv --reuid 65534 --clear-groups "$KELVIN" record --off-cpu -o theirs/f.pb.gz -- "$WORKLOADS/system_workload" --seconds 0.3
says stderr '^waits are sampled by looking at each thread .*: that needs CAP_BPF and CAP_PERFMON: run kelvin with sudo'
[[ -s theirs/f.pb.gz ]] || fail "no profile without the right to sample waits"
