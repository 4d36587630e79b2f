# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What tests of waits have in common: the waits of a recording, held to what the program tells of itself (workload_waits).

# The waits of workload_waits as they were, also where a thread does nothing else.
printf 'keep function wait_*\n' >keep.rules

# waited PROFILE FUNCTION: milliseconds of waiting, for work or anything else, in a function and in all that it calls. A metric that has no
# sample is refused.
waited() {
	local metric

	for metric in off-cpu idle; do
		[[ $1.$metric.json -nt $1 ]] || kelvin report "$1" --wait-rules keep.rules --metric "$metric" --json "$1.$metric.json" >/dev/null 2>&1 ||
			echo '{"functions": []}' >"$1.$metric.json"
	done
	jq -s --arg name "$2" '[.[].functions[] | select(.name == $name).total_ns] | add // 0 | . / 1e6 | round' "$1.off-cpu.json" "$1.idle.json"
}

# class_share PROFILE FUNCTION CLASS [RULES]: percent of the function's waits but those for a CPU.
class_share() {
	awk -v name="$2" -v class="[waiting: $3]" '
		index($0, ";" name ";") && match($0, /\[waiting: [a-z ]*\]/) {
			found = substr($0, RSTART, RLENGTH)
			if (found == "[waiting: run queue]" && class != found) next
			sum += $NF
			if (found == class) part += $NF
		}
		END { printf "%d\n", sum ? 100 * part / sum + 0.5 : -1 }' < <(
		for metric in off-cpu idle; do
			kelvin report "$1" --wait-rules "${4:-keep.rules}" --metric "$metric" --folded - 2>/dev/null
		done
	)
}

# interval PROFILE: milliseconds that a sample stood for at most: on a busy machine more than the 10 that were asked for.
interval() {
	jq '.recording.wait_interval_us / 1000 | ceil' "$1.off-cpu.json"
}

# taken_away: milliseconds that interrupts and the hypervisor have taken from all CPUs so far, in which a thread neither waits nor works.
taken_away() {
	awk '/^cpu / { print 10 * ($7 + $8 + $9) }' /proc/stat
}

# missing: milliseconds that the recorder says are missing.
missing() {
	sed -n 's/^\([0-9]*\)\.\([0-9]\) s of waiting are missing, .*/\1\200/p' stderr
}

# is_about PROFILE VALUE EXPECTED CALLS TAKEN WHAT, in milliseconds: within 2 %, an interval of each of a thread's two sums, and 5 us a call,
# for the switches themselves are neither waited nor worked; less by what may have been TAKEN away.
is_about() {
	local slack=$(($3 / 50 + 2 * $(interval "$1") + $4 / 200))

	at_least "$2" $(($3 - slack - $5)) "$6"
	at_most "$2" $(($3 + slack)) "$6"
}

# equal VALUE EXPECTED WHAT
equal() {
	[[ $1 == "$2" ]] || fail "$3: $1, not $2"
}

# lock_of PROFILE FUNCTION: the variable that the function waits for most, without the place in it.
lock_of() {
	kelvin report "$1" --wait-rules keep.rules --json - | jq -r --arg name "$2" '
		[.locks[] | .name as $lock | .callers[] | select(.function == $name) | { $lock, ns }] | max_by(.ns).lock // ""
		| sub("[+]0x[0-9a-f]+$"; "")'
}

# waited_as_said PROFILE FILE TAKEN: each thread has the time that the program has printed into the file, in its class, at its lock. TAKEN: what
# taken_away said before. `stderr` is the recorder's.
waited_as_said() {
	local kind ms calls lock class taken=$(($(taken_away) - $3))

	# Any thread may be the one that ended while the machine gave the recorder no CPU.
	taken=$((taken + 10#0$(missing)))

	while read -r kind _ ms calls lock; do
		# Two threads are of this kind.
		[[ $kind == cpu ]] || is_about "$1" "$(waited "$1" "thread_$kind")" "${ms%.*}" "$calls" "$taken" "milliseconds of $kind"
		case $kind in
		mutex | reader | writer) class=lock ;;
		condition | forever) class=condition ;;
		pipe | disk | fault) class=io ;;
		epoll) class=idle ;;
		short | long) class=timer ;;
		cpu) class="run queue" ;;
		esac
		at_least "$(class_share "$1" "wait_$kind" "$class")" 95 "percent of the waits of $kind in class $class"
		[[ $lock == - ]] || equal "$(lock_of "$1" "wait_$kind")" "$lock" "the lock of $kind"
	done <"$2"
}
