#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The tool of simulations by itself: exact calls of a program that does what breaks stacks, and callgrind's counts.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

program=$(realpath "$WORKLOADS/../workloads/workload_simulated")
built=$WORKLOADS/../../sampler/simulate/tool
[[ -x $built/kelvin-amd64-linux ]] || skip "there is no tool for this processor"

# Both tools in one folder: a program sees the folder's name in its environment, and its length moves the stack.
mkdir lib
ln -s "$built/kelvin-amd64-linux" /usr/libexec/valgrind/{callgrind-amd64-linux,default.supp,vgpreload_core-amd64-linux.so} lib
export VALGRIND_LIB=$work/lib

simulate() {
	local folder=$1

	shift
	setarch -R valgrind -q --vgdb=no --tool=kelvin --out-dir="$folder" "$@" >stdout 2>stderr
}

tree() {
	python3 "$ROOT/tests/system/simulated_tree.py" "$@"
}

# Files in the order in which processes began.
mkdir first pieces
simulate "$work/first" --trace-children=yes "$program" || fail "the program's exit code is not 0"
mapfile -t files < <(cd first && printf '%s\n' *.* | sort -V)
[[ ${#files[@]} -eq 4 ]] || fail "four programs ran, and left ${files[*]}"
tree "first/${files[0]}" "$program" >calls.0 || fail "the file cannot be read"
cp calls.0 calls

expects() {
	local path

	while read -r path; do
		grep -qxF -e "$path" calls || fail "not among the calls: $path ($(grep -F ";${path##*;}" calls | head -5))"
	done
}

# jumps() is left by longjmp() from three calls deep, and goes on in its own context; so do signals() and coroutines(). The
# fork counts for itself. What is called while nothing is measured is not there, and what comes after knows its callers.
expects <<'END'
- 100 main;jumps;outer;middle;inner
- 1 main;jumps;afterwards;work
- 20 main;signals;handle;work
- 20 main;signals;fault
- 20 main;signals;fault interrupted;handle_and_jump;work
- 2 main;signals;afterwards;work
- 3 thread;work
- 50 main;coroutines;first_coroutine;work
- 1 main;coroutines;afterwards
before 1 main;no_program;afterwards
one 1 main;afterwards;work
- 1 main;afterwards;work
END
# A coroutine on a stack that lies below is taken for a call of the one that switched to it.
[[ $(awk '/ main;coroutines;.*coroutine;work$/ { calls += $2 } END { print calls }' calls) -eq 100 ]] || fail "coroutines"
[[ $(grep -c 'processes;work' calls) -eq 0 ]] || fail "the parent has calls of its fork"
# Each level of a recursion is a node of its own.
[[ $(awk '/recurse$/ { calls += $2 } END { print calls }' calls) -eq 100001 ]] || fail "recursion: $(grep -c recurse calls)"
tree "first/${files[1]}" "$program" >calls.1
cp calls.1 calls
expects <<'END'
- 1 main;processes;work
END

# Memory for counts that they fill many times changes no count and no context. What a request has thrown away was in the file already.
simulate "$work/pieces" --max-counts=1 --trace-children=yes "$program" || fail "the program's exit code is not 0"
mapfile -t pieces < <(cd pieces && printf '%s\n' *.* | sort -V)
for i in 0 1; do
	tree "pieces/${pieces[i]}" "$program" >"calls.pieces.$i" || fail "counts in pieces cannot be read"
	cmp "calls.$i" "calls.pieces.$i" || fail "counts in pieces differ: $(diff "calls.$i" "calls.pieces.$i" | head -5)"
done
read -r records zeroed < <(tree "pieces/${pieces[0]}" --records)
at_least "$records" 8 "records of counts"
[[ $zeroed -eq 1 ]] || fail "$zeroed parts were thrown away"

# Two runs are equal to the last digit, in pieces and in one. Callgrind counts two instructions less, and its model of the caches is the
# same.
script='f() { [ $1 -eq 0 ] || f $(($1 - 1)); }; i=0; while [ $i -lt 5000 ]; do i=$((i + 1)); done; f 80'
mkdir second third
for folder in second third; do
	[[ $folder == second ]] || memory=--max-counts=1
	simulate "$work/$folder" ${memory:+"$memory"} sh -c "$script" || fail "the shell failed"
	tree "$folder"/* >"$folder.totals"
done
[[ $(<second.totals) == "$(<third.totals)" ]] || fail "two runs differ: $(<second.totals) and $(<third.totals)"
setarch -R valgrind --vgdb=no --tool=callgrind --cache-sim=yes --I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64 \
	--callgrind-out-file=callgrind.out sh -c "$script" 2>callgrind.log
read -r instructions first_misses last_misses < <(tr -d , <callgrind.log | awk '
	/I   refs/ { instructions = $4 } / LL refs/ { first = $4 } / LL misses/ { last = $4 }
	END { print instructions, first, last }')
read -r _ is_instructions is_first is_last _ <second.totals
close_to() {
	[[ $(($2 - $3)) -le $(($3 / 2000 + 3)) && $(($3 - $2)) -le $(($3 / 2000 + 3)) ]] || fail "$1: $2, callgrind: $3"
}
close_to instructions "$is_instructions" "$instructions"
close_to "misses of the first level" "$is_first" "$first_misses"
close_to "misses of the last level" "$is_last" "$last_misses"

# A folder that is not there is told, and the program's exit code is its own.
code=0
simulate "$work/nowhere" sh -c 'exit 7' || code=$?
[[ $code -eq 7 ]] || fail "exit code $code"
grep -q "kelvin: cannot make $work/nowhere/" stderr || fail "nothing was said of the folder that is not there"

# The more counts, the larger the file, and not the memory: f 600 has twice as many as f 300, 14 MB of them.
peak() {
	setarch -R python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
		valgrind -q --vgdb=no --tool=kelvin --out-dir="$work/second" "$1" sh -c "${script% *} $2"
}
growth=$(($(peak --max-counts=64 600) - $(peak --max-counts=64 300)))
bounded=$(($(peak --max-counts=1 600) - $(peak --max-counts=1 300)))
at_least "$growth" 8000 "kB more for twice as many counts"
at_least "$((growth / 4))" "$bounded" "a quarter of that where counts have 1 MB"

# A program that limits the size of its files goes on behind the limit.
mkdir limited
code=0
(ulimit -f 64 && simulate "$work/limited" --max-counts=1 sh -c "$script; exit 7") || code=$?
[[ $code -eq 7 ]] || fail "exit code $code of a program that limits its files"
grep -q "kelvin: cannot write $work/limited/.*: the program has limited the size of files" stderr || fail "nothing was said of the limit"
