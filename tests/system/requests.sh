#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A server and its clients with a known number of requests: each is counted once, whoever is recorded, and so is an event in their place.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
program=$WORKLOADS/../workloads/workload_requests

refuses 'give only one of --no-requests, --requests and --work' kelvin record --no-requests --requests 5 -p 1
refuses 'give only one of' kelvin record --work sched:sched_switch --requests 5 -p 1
refuses "--requests 0: the least is one" kelvin record --requests 0 -p 1
for bad in '' request uprobe:/bin/sh: usdt:/bin/sh:main a:../b uprobe:/bin/sh:main+x; do
	refuses "--work '${bad//+/.}': write SUBSYSTEM:NAME of a tracepoint" kelvin record --work "$bad" -p 1
done
refuses "has no function 'no_such_function'" kelvin record --work "uprobe:$program:no_such_function" -o a.pb.gz -p $$
refuses "has no probe 'workload:no_such'" kelvin record --work "usdt:$program:workload:no_such" -o a.pb.gz -p $$
refuses '--work' kelvin record --work uprobe:/no/such/file:main -o a.pb.gz -p $$
refuses '--benchmarks: ' kelvin record --benchmarks --requests 5 -- true

# serve WORKERS NAP_MS: a server; its process in `pid`, its port in `port`.
serve() {
	rm -f port
	start "$program" serve port "$1" "$2"
	wait_until "the server listens" test -s port
	port=$(<port)
}

# recorded FILE SCRIPT OPTIONS...: records while the script runs, which begins when counting has begun.
recorded() {
	local file=$1 script=$2

	shift 2
	rm -f control answer
	mkfifo control answer
	"$KELVIN" record --control fifo:control,answer -o "$file" "$@" >stdout 2>stderr &
	recorder=$!
	exec 8>control 9<answer
	echo ping >&8
	read -r -t 30 <&9 || fail "the recorder does not answer"
	eval "$script"
	echo stop >&8
	wait "$recorder" || fail "exit code $? of the recorder"
	exec 8>&- 9<&-
}

latency='half of them within [0-9.]+ (µs|ms|s), 99 % within [0-9.]+ (µs|ms|s)$'

# Events that the user names need no program in the kernel.
if is_root; then
	serve 3 0
	asking="for i in 1 2 3; do \"\$program\" ask $port 5 20 & asked[i]=\$!; done; wait \"\${asked[@]}\""
	recorded a.pb.gz "$asking" -p "$pid" --work "uprobe:$program:handle_request"
	says stderr "^300 times uprobe:$program:handle_request \([0-9,]+ a second\)\$"
	recorded a.pb.gz "$asking" -p "$pid" --work "uprobe:$program:handle_request+0"
	says stderr '^300 times uprobe:'
	# Only while it is counted its semaphore lets the program meet it.
	recorded a.pb.gz "$asking" -p "$pid" --work "usdt:$program:workload:request"
	says stderr "^300 times usdt:$program:workload:request"
	run 0 kelvin record --work "uprobe:$program:handle_request" -o a.pb.gz -- "$program" both 2 60
	says stderr '^120 times uprobe:'
	run 0 kelvin record --work "uprobe:$program:listen_anywhere" -o a.pb.gz -- "$program" ask "$port" 1 50
	says stderr "^uprobe:$program:listen_anywhere did not happen\$"
	if in_mount_namespace 'mount -t tracefs tracefs /sys/kernel/tracing' test -e /sys/kernel/tracing/events/sched/sched_process_fork/id 2>/dev/null; then
		# shellcheck disable=SC2016
		run 0 in_mount_namespace 'mount -t tracefs tracefs /sys/kernel/tracing' "$KELVIN" record --work sched:sched_process_fork \
			-o a.pb.gz -- sh -c 'for i in 1 2 3 4 5 6 7; do sleep 0.01; done; i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done'
		says stderr '^7 times sched:sched_process_fork'
	fi
	kill "$pid"
fi

run 0 kelvin record --requests 1234 -o a.pb.gz -- "$program" both 2 60
says stderr '^1,234 requests as stated \([0-9,]+ a second\)$'

# Without the right to count, only who listens hears of it.
if is_root && command -v setpriv >/dev/null; then
	users_may_sample -1
	chmod 755 .
	mkdir -m 777 theirs
	theirs=(setpriv --reuid 65534 --clear-groups)
	start "${theirs[@]}" "$program" serve theirs/port 1 0
	server=$pid
	wait_until "the server listens" test -s theirs/port
	start "$program" ask "$(<theirs/port)" 1 1000000
	run 0 "${theirs[@]}" "$KELVIN" record -o theirs/a.pb.gz -d 0.5 -p "$server"
	says stderr '^requests are not counted: that needs CAP_BPF and CAP_PERFMON: .*; --requests N states their number$'
	kill "$pid" "$server"
	run 0 "${theirs[@]}" "$KELVIN" record -o theirs/a.pb.gz -- "$WORKLOADS/system_workload" --seconds 0.3
	says_not stderr 'request'
fi

kelvin doctor | grep -qE '^ok +requests' || skip "requests cannot be counted here: $(kelvin doctor | grep -A 1 -E '^no +requests' | tail -n 1)"

# A command without sockets says nothing of them.
run 0 kelvin record -o a.pb.gz -- "$WORKLOADS/system_workload" --seconds 0.3
says_not stderr 'request|calls out'

# One process, and its clients one after the other. A request takes longer than its nap.
serve 1 5
recorded a.pb.gz "\"\$program\" ask $port 4 25" -p "$pid"
says stderr "^100 requests answered \([0-9,]+ a second\), $latency"
half=$(sed -n 's/^100 requests .*half of them within \([0-9]*\).* ms,.*/\1/p' stderr)
at_least "${half:-0}" 5 "milliseconds of half of the requests"
recorded a.pb.gz "\"\$program\" ask $port 1 60" -p "$pid" --no-requests
says_not stderr 'request'
# Nothing counts in a pause.
recorded a.pb.gz "\"\$program\" ask $port 1 40; echo disable >&8; read -r <&9; \"\$program\" ask $port 1 40; echo enable >&8; read -r <&9
	\"\$program\" ask $port 1 40" -p "$pid"
says stderr '^80 requests answered'

# Who asks calls out.
run 0 kelvin record -o a.pb.gz -- "$program" ask "$port" 2 30
says stderr '^60 calls out$'
says_not stderr 'requests answered'
kill "$pid"

# Workers that have inherited the listener, and clients side by side.
serve 3 1
recorded a.pb.gz "for i in 1 2 3; do \"\$program\" ask $port 5 20 & asked[i]=\$!; done; wait \"\${asked[@]}\"" -p "$pid"
says stderr '^300 requests answered'
kill "$pid"

# Nobody else asks: what it asks itself is what it does.
run 0 kelvin record -o a.pb.gz -- "$program" both 3 40
says stderr '^120 requests answered'
says_not stderr 'calls out'

# One user's processes, more than are counted one by one, take nothing from another user's, which begin behind them.
if is_root && command -v setpriv >/dev/null; then
	chmod 755 .
	mkdir -m 777 others
	# shellcheck disable=SC2016
	recorded a.pb.gz 'setpriv --reuid 54321 --clear-groups "$program" crowd 6500
		start setpriv --reuid 54322 --clear-groups "$program" serve others/port 3 0
		server=$pid
		wait_until "the server listens" test -s others/port
		asked=()
		for i in 1 2 3; do "$program" ask "$(<others/port)" 5 40 & asked[i]=$!; done
		wait "${asked[@]}"
		workers="$server $(pgrep -P "$server" | xargs)"
		kill "$server"' -a -F 49
	kelvin report a.pb.gz --json >a.json
	# shellcheck disable=SC2154
	python3 - a.json "$workers" <<'END' || fail "a crowd of another user's processes took requests of $workers: $(<stderr)"
import json, sys
requests = json.load(open(sys.argv[1]))["recording"]["requests"]
workers = [p for p in requests["processes"] if str(p["pid"]) in sys.argv[2].split() and p["name"]]
sys.exit(sum(p["count"] for p in workers) != 600)
END
fi
