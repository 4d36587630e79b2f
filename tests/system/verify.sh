#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The second opinion: stacks of a program that is known, and the names in them, are those of libunwind and libdw.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs jq
workload=("$WORKLOADS/system_workload" --parse 3 --cpu 0.5)

# expect FILE: every stack and name of the workload that was compared is equal, and some were.
expect() {
	at_least "$(jq .verified.stacks.compared "$1")" "$2" "stacks compared in $1"
	at_least "$(jq .verified.names.compared "$1")" 1 "names compared in $1"
	[[ $(jq '.verified.stacks | .shorter + .other' "$1") -eq 0 ]] || fail "$1: $(jq -c .verified "$1")"
	[[ $(jq '.verified.names.other' "$1") -eq 0 ]] || fail "$1: $(jq -c .verified "$1")"
	jq -e '.verified.stacks | .compared == .equal + .longer + .shorter + .other' "$1" >/dev/null || fail "sums in $1"
	# Stacks that the kernel cut are joined to others here; libunwind has no more than the copy.
	jq -e '.verified.stacks | .longer * 20 <= .compared' "$1" >/dev/null || fail "$1: $(jq -c .verified "$1")"
}

run 0 kelvin record --verify=1 -o all.pb.gz -- "${workload[@]}"
says stderr "^[0-9,]+ stacks? compared with libunwind: [0-9,]+ equal.*; [0-9,]+ names? compared with libdw: [0-9,]+ equal"
run 0 kelvin report all.pb.gz --json all.json --text all.txt -o all.html
expect all.json 20
tr '\n' ' ' <all.txt | tr -s ' ' >all.line
says all.line "stacks compared with libunwind: .* names compared with libdw"

# One in N.
run 0 kelvin record --verify=10 -o some.pb.gz -- "${workload[@]}"
run 0 kelvin report some.pb.gz --json some.json
expect some.json 1
at_most "$(jq .verified.stacks.compared some.json)" $(($(jq .recording.samples some.json) / 10 + 1)) "stacks compared with --verify=10"
run 0 kelvin record --verify -o default.pb.gz -- "${workload[@]}"
run 0 kelvin report default.pb.gz --json default.json
at_least "$(jq .verified.stacks.compared default.json)" 1 "stacks compared with --verify"

# Nobody asked: nothing is said of it.
run 0 kelvin record -o none.pb.gz -- "${workload[@]}"
says_not stderr "libunwind"
run 0 kelvin report none.pb.gz --json none.json
[[ $(jq 'has("verified")' none.json) == false ]] || fail "'verified' where nothing was"

# Runs are added up.
run 0 kelvin record --runs 2 --verify=1 -o runs.pb.gz -- "$WORKLOADS/system_workload" --cpu 0.3
run 0 kelvin report runs.pb.gz --json runs.json
expect runs.json 20

# A recording of another time.
if command -v perf >/dev/null && perf record -q -F 997 -e cpu-clock --call-graph dwarf,16384 -o perf.data -- "${workload[@]}" 2>perf.log; then
	run 0 kelvin report perf.data --verify=1 --json perf.json --text perf.txt
	expect perf.json 20
fi

# Code that is made at run time and keeps frame pointers: V8's always does, HotSpot's if it is told to, and else nothing is known of it.
# expect_made FILE EQUAL LONGER: so many percent of the stacks are equal and longer here, at least, and 1 % are others at most.
expect_made() {
	run 0 kelvin report "$1" --json made.json
	at_least "$(jq .verified.stacks.compared made.json)" 200 "stacks compared of $1"
	jq -e --argjson equal "$2" --argjson longer "$3" '.verified.stacks | (.shorter + .other) * 100 <= .compared and
		.equal * 100 >= .compared * $equal and .longer * 100 >= .compared * $longer' made.json >/dev/null || fail "$1: $(jq -c .verified made.json)"
}

if command -v node >/dev/null; then
	echo 'function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
		while (process.cpuUsage().user < 1500000) [20, 21, 22].map(f);' >recursive.js
	run 0 kelvin record -F 499 --verify=1 -o node.pb.gz -- node recursive.js
	says stderr '^--verify: [0-9]+ stacks were compared along frame pointers'
	expect_made node.pb.gz 97 0
fi
if command -v javac >/dev/null; then
	cat >Recursive.java <<'END'
public class Recursive {
	interface Op { int apply(int n); }
	static final Op[] ops = { n -> f(n - 1), n -> f(n - 2), n -> f(n - 1) + 1 };
	static int f(int n) { return n < 3 ? n : ops[n % 3].apply(n) + ops[(n + 1) % 3].apply(n); }
	public static void main(String[] arguments) {
		var clock = java.lang.management.ManagementFactory.getThreadMXBean();
		for (long sum = 0; clock.getCurrentThreadCpuTime() < 2000000000L || sum == 1;)
			sum += f(20);
	}
}
END
	javac Recursive.java
	run 0 kelvin record -F 499 --verify=1 -o kept.pb.gz -- java -XX:+PreserveFramePointer Recursive
	expect_made kept.pb.gz 80 0
	run 0 kelvin record -F 499 --verify=1 -o free.pb.gz -- java -XX:-PreserveFramePointer Recursive
	expect_made free.pb.gz 0 80
fi

# shellcheck disable=SC2046
run 0 kelvin symbolize --no-cache --verify --json -e "$WORKLOADS/system_workload" \
	$(nm "$WORKLOADS/system_workload" | awk '$2 == "T" && $3 != "_init" && $3 != "_fini" { print $1 }')
says stderr "^[0-9]+ names? compared with libdw: [0-9]+ equal$"
jq -e '.verified.names | .compared > 0 and .other == 0' stdout >/dev/null || fail "names of symbolize"

refuses "--verify=0: the least is 1" kelvin record --verify=0 -- true
refuses "--verify 'x': this is not a whole number" kelvin record --verify=x -- true
refuses "--verify: with -g fp no stack is unwound" kelvin record -g fp --verify -- true
refuses "--verify: none.pb.gz has no copies of stacks" kelvin report none.pb.gz --verify
