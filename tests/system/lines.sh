#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that say what each of their lines takes: recordings say the same, within 2 points, in each language.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

enough=4500 points=2
lines=$ROOT/tests/workloads/lines

can_sample

# expect NAME FUNCTION PROGRAM ROUNDS...: records the program, in as many rounds as make enough samples, and holds each line that it
# tells of against the stacks with FUNCTION.
expect() {
	local name=$1 function=$2 program=$3 rounds=$4 samples

	shift 4
	for _ in 1 2 3; do
		# shellcheck disable=SC2086
		run 0 kelvin record -F 9999 -o "$name.pb.gz" -- $program "$rounds" "$@"
		grep -E '^(total|[^ ]+:[0-9]+) [0-9]+$' stdout >"$name.truth"
		"$WORKLOADS/line_shares" "$name.pb.gz" "$function" >"$name.shares" || fail "$name: no shares"
		samples=$(sed -n 's/^samples //p' "$name.shares")
		[[ $samples -lt $enough ]] || break
		rounds=$((rounds * enough * 5 / 4 / (samples + 1) + 1))
	done
	[[ ! -s $name.truth ]] && fail "$name told nothing"
	at_least "$samples" "$enough" "samples of $name"
	awk -v points="$points" -v name="$name" '
		NR == FNR { share[$1] = $2; next }
		$1 == "total" { total = $2; next }
		{
			off = share[$1] - 100 * $2 / total
			if (off < 0 ? -off > points : off > points) wrong++
			printf "%-24s %-16s %6.2f %% by its clock, %6.2f %% recorded, %+.2f\n", name, $1, 100 * $2 / total, share[$1], off
		}
		END { exit wrong > 0 || NR == FNR }' "$name.shares" "$name.truth" >"$name.said" || { cat "$name.said" >stdout; fail "$name: lines are not where they were"; }
	cat "$name.said"
}

# native COMPILER LEVEL
native() {
	local compiler=$1 options=(-g "-O$2" -D_GNU_SOURCE "-I$ROOT/tests/workloads")

	command -v "$compiler" >/dev/null || return 0
	"$compiler" "${options[@]}" "$lines/lines.c" -o c || fail "$compiler -O$2"
	expect "c-$compiler-O$2" work ./c 230
	"${compiler/gcc/g}++" "${options[@]}" "$lines/lines.cc" -o cxx || fail "$compiler++ -O$2"
	expect "cxx-$compiler-O$2" basket::work ./cxx 750
}

native gcc 0
native gcc 1
native gcc 2
native clang 2
if command -v rustc >/dev/null; then
	for level in 0 2; do
		rustc -g -C "opt-level=$level" "$lines/lines.rs" -o rust || fail "rustc, level $level"
		expect "rust-O$level" work ./rust 650
	done
fi
if command -v go >/dev/null; then
	use_go_cache
	go build -o go "$lines/lines.go" || fail "go build"
	expect go main.work ./go 400
fi
expect python py::work: "python3 $lines/lines.py" 60
# Its clock has the threads that compile and collect garbage, too: there are none.
! command -v node >/dev/null || expect node "work /" "node --single-threaded $lines/lines.js" 400 100
! node --no-opt --no-sparkplug -e 0 2>/dev/null || expect node-interpreter "work /" "node --single-threaded --no-opt --no-sparkplug $lines/lines.js" 55 100
! command -v ruby >/dev/null || expect ruby rb::work: "ruby $lines/lines.rb" 45
! command -v php >/dev/null || expect php php::work: "php $lines/lines.php" 70
