# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Recordings of an innocent program beside a hostile one, for the system tests and the benchmark `hostile`. To be sourced in an empty
# directory of its own, where other users may look, with WORKLOADS (the folder of the programs) set.

# All that a hostile program does, in the order of the benchmark's table.
# shellcheck disable=SC2034
hostile_kinds=(none frames zeros missing-code missing-stack silent-file storm storm-names storm-commands live bend link abbreviations units
	zeros-info minidebug symbols perf-map jitdump dwo-fifo dwo-zero)

hostile_started=()

hostile_stop() {
	local one

	# By force, which answers whoever still waits for the file.
	umount -f "$PWD/silent" 2>/dev/null || true
	for one in "${hostile_started[@]}"; do
		kill -KILL "$one" 2>/dev/null || true
		wait "$one" 2>/dev/null || true
	done
	hostile_started=()
}

# hostile_has_printed PID FILE PATTERN: waits for a line of a program that was started; false when it ended before.
hostile_has_printed() {
	local end=$((SECONDS + 60))

	until grep -q "$3" "$2" 2>/dev/null; do
		kill -0 "$1" 2>/dev/null || return 1
		[[ $SECONDS -lt $end ]] || return 1
		sleep 0.02
	done
}

# hostile_give FILE...: to the user that the hostile programs become.
hostile_give() {
	[[ $(id -u) -ne 0 ]] || chown 65534:65534 "$@"
}

# hostile_file KIND FILE [ARGUMENT]: writes one of the files that cost more than their size.
hostile_file() {
	"$WORKLOADS/workload_hostile_files" "$@" && hostile_give "$2"
}

# hostile_make KIND: makes the files that the kind needs; the program's arguments are in `hostile_arguments`. Files are deleted by
# whoever owns the directory.
hostile_make() {
	local mega

	mkdir -p lair
	chmod 777 lair
	hostile_arguments=(run "$PWD/lair/file")
	case $1 in
	frames | bend | link | abbreviations | units | minidebug | symbols)
		hostile_file "${1/bend/bending}" lair/file || return
		[[ $1 != bend ]] || hostile_arguments[0]=bend
		;;
	zeros | zeros-info)
		mega=4000
		hostile_file zeros lair/file "$([[ $1 == zeros ]] && echo .debug_frame || echo .debug_info)=$mega" || return
		;;
	dwo-fifo)
		[[ -p lair/fifo ]] || mkfifo lair/fifo
		hostile_file dwo lair/file "$PWD/lair/fifo" || return
		;;
	dwo-zero) hostile_file dwo lair/file /dev/zero || return ;;
	perf-map)
		hostile_file perf-map lair/file 200 || return
		mv lair/file "/tmp/.hostile-$$.map" 2>/dev/null || true
		hostile_arguments=(map "/tmp/.hostile-$$.map")
		;;
	jitdump)
		hostile_file jitdump lair/file || return
		hostile_arguments=(dump "$PWD/lair" "$PWD/lair/file")
		;;
	silent-file)
		mkdir -p silent
		hostile_arguments=(silent-file "$PWD/silent")
		;;
	live) hostile_arguments=(live 65000) ;;
	none) hostile_arguments=(jit) ;;
	*) hostile_arguments=("$1") ;;
	esac
}

# hostile_start KIND: starts both programs, whose pids are in `innocent` and `hostile`. Code 77: this machine lacks what the kind needs.
hostile_start() {
	cp "$WORKLOADS/workload_shape" innocent
	hostile_make "$1" || return
	./innocent 600 >innocent.out 2>&1 &
	innocent=$!
	"$WORKLOADS/workload_hostile" "${hostile_arguments[@]}" >hostile.out 2>&1 &
	hostile=$!
	hostile_started+=("$innocent" "$hostile")
	hostile_has_printed "$innocent" innocent.out '^ready' || return 1
	hostile_has_printed "$hostile" hostile.out '^ready' && return 0
	wait "$hostile"
	return "$?"
}

# hostile_clean: what programs leave in /tmp, and how much of a storm is still being cleared away.
hostile_clean() {
	rm -rf "/tmp/perf-${hostile:-none}.map" "/tmp/.hostile-$$.map" lair
}

# hostile_value NAME LINE: of the pairs that workload_hostile_watch prints.
hostile_value() {
	sed -n "s/.*\b$1=\([^ ]*\).*/\1/p" <<<"$2"
}

# hostile_innocent KELVIN PROFILE CPU_SECONDS: two percentages: of the samples that the innocent program's CPU time makes, those that are
# there, and those that are there with whole stacks and names.
hostile_innocent() {
	"$1" report "$2" --json facts.json --folded folded.txt >/dev/null 2>&1 || { echo "0 0" && return; }
	awk -v cpu="$3" '
		FILENAME ~ /json/ {
			if ($1 == "\"ns\":" && !ns) ns = $2 + 0
			if ($1 == "\"samples\":" && !samples) samples = $2 + 0
			next
		}
		/^innocent[;+ ]/ { there += $NF }
		/^innocent;.*;main;run_shares;(work_a;leaf_a|work_b|work_c)[; ]/ { whole += $NF }
		END {
			each = samples ? ns / samples / 1e9 : 0
			printf "%.0f %.0f\n", 100 * there * each / cpu, 100 * whole * each / cpu
		}' facts.json folded.txt
}

# hostile_record KELVIN SECONDS PATIENCE [OPTION...]: records both programs to record.pb.gz; what it cost is in `watched`, what the
# recorder said in stderr.
hostile_record() {
	local kelvin=$1 seconds=$2 patience=$3

	shift 3
	rm -rf record.pb.gz record.pb.gz.part .cache
	# Not through a pipe, which a recorder that cannot be killed would hold open.
	XDG_CACHE_HOME=$PWD/.cache "$WORKLOADS/workload_hostile_watch" --file record.pb.gz --seconds "$seconds" --patience "$patience" \
		--innocent "$innocent" --hostile "$hostile" -- "$kelvin" record -p "$innocent,$hostile" -o record.pb.gz "$@" >watched.out 2>stderr || true
	watched=$(<watched.out)
}
