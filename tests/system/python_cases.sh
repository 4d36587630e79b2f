#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Functions of Python programs where processes and threads come and go in unusual ways, and where nothing is to be had.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=python.bash
. "$(dirname "$0")/python.bash"

needs jq
can_read_python

# By pid: threads and children are made after the recording began, and at last another Python takes the process over. What the program
# imports is behind it by then: the name of a thread is asked for when its first samples are read, which is a while after they were taken.
start "$python" "$programs/steps.py" pid.steps --seconds 0.1 --wait-for pid.pb.gz.part \
	--steps plain,thread,fork,multiproc --execute "${pythons[-1]}"
wait_until "the program has begun" test -e pid.steps
run 0 kelvin record -p "$pid" -o pid.pb.gz
grep -q '^executed' pid.steps || fail "the process has not executed ${pythons[-1]}"
# A thread's first samples may come before it is known, on a busy machine.
chains_are_right pid.pb.gz pid.steps 200 96

# Every process of the machine, and one in a pid namespace, whose interpreter knows other thread ids than the recorder.
inner=()
! is_root || inner=(unshare --pid --fork --kill-child)
"$KELVIN" record -a -o all.pb.gz >stdout 2>stderr &
recorder=$!
wait_until "the machine is recorded" is_recording all.pb.gz
# Where records of names were lost, the recorder asks for the name that a thread has when it reads the samples, 0.4 s later: those of the
# start are read before the threads have the names of steps.
"${inner[@]}" "$python" "$programs/steps.py" inner.steps --seconds 0.1 --wait-for started --steps method,resub &
inner_pid=$!
"$python" "$programs/steps.py" all.steps --seconds 0.1 --wait-for started --steps plain,thread,task &
all_pid=$!
wait_until "the programs have begun" test -e inner.steps -a -e all.steps
sleep 1
touch started
wait "$inner_pid" "$all_pid"
kill -TERM "$recorder"
wait "$recorder" || code=$?
[[ ${code:-0} =~ ^(0|143)$ ]] || fail "the recording of the machine did not end as it was told to"
cat all.steps inner.steps >both.steps
chains_are_right all.pb.gz both.steps 200

# The first frames of a command are there where it is the interpreter; where it starts one later, those that are missed are told.
run 0 kelvin record -F 1000 -o first.pb.gz -- "$python" -c 'sum(range(20000000))'
! grep -q 'of interpreted programs' stderr || fail "frames of an interpreter that is the command are missed: $(<stderr)"
run 0 kelvin record -F 1000 -o later.pb.gz -- env "$python" -c 'sum(range(20000000))'
says stderr '^[0-9]+ samples of interpreted programs \([0-9.]+ % of theirs\) show .*: they were taken before the program .* was loaded'

# A thousand frames deep.
run 0 kelvin record -o deep.pb.gz -- "$python" "$programs/steps.py" deep.steps --seconds 0.3 --steps deep --depth 1000
chains_are_right deep.pb.gz deep.steps 150

# Functions that are made and freed one after the other, each where the last one was.
run 0 kelvin record -o made.pb.gz -- "$python" "$programs/steps.py" made.steps --seconds 0.4 --steps made
oracle chains made.pb.gz made.steps >told
at_least "$(value right)" 85 "percent of right chains of functions that are freed: $(<told)"

# Where Python names its functions itself, they have the same names, and are in the stack once. Its stacks are so deep that some do not fit
# the copy, and are joined to earlier ones. Those of other interpreters it does not name.
for python in "${pythons[@]}"; do
	"$python" -X perf -c 'import sys; raise SystemExit(not sys.is_stack_trampoline_active())' 2>/dev/null || continue
	for option in "" --native; do
		rm -f perf.steps
		run 0 kelvin record $option -o perf.pb.gz -- "$python" -X perf "$programs/steps.py" perf.steps --seconds 0.03 \
			${option:+--without sub,subsub,subthread}
		oracle chains perf.pb.gz perf.steps >told
		at_least "$(value right)" 90 "percent of the samples with the right chain with -X perf $option: $(<told)"
	done
	break
done
python=${pythons[0]}

# Tasks of asyncio have the names that somebody gave them, from 3.14 on: the samples of a thread that runs one have its name.
for python in "${pythons[@]}"; do
	"$python" -c 'import sys; raise SystemExit(sys.version_info[:2] < (3, 14))' || continue
	rm -f tasks
	run 0 kelvin record -o tasks.pb.gz -- "$python" "$programs/tasks.py" tasks 2
	oracle tasks tasks.pb.gz tasks >told
	at_least "$(value named)" 3 "names of tasks: $(<told)"
	at_most "$(value worst)" 5 "points by which the share of a task is off, rounded down: $(<told)"
	at_most "$(value numbered)" 0 "samples with the number of a task: $(<told)"
	# Names that are endless are not all taken.
	run 0 kelvin record -o names.pb.gz -- "$python" "$programs/tasks.py" tasks 0.1 300
	says stderr '^[0-9]+ samples in asyncio tasks have the name of their thread, because one user has more than 256 names of tasks$'

	# What an event loop waits for is what its tasks await, below what awaits them: `brief` has 20 %, `long` 80 %.
	run 0 kelvin record --off-cpu -o awaits.pb.gz -- "$python" "$programs/awaits.py" 4
	run 0 kelvin report --metric idle --folded - awaits.pb.gz
	awk '{ of = "loop" }
		/;py::serve:[^;]*;py::handle:[^;]*;.*;py::brief:[^;]*;py::pause:[^;]*;/ { of = "brief" }
		/;py::serve:[^;]*;py::handle:[^;]*;.*;py::long:[^;]*;py::pause:[^;]*;/ { of = "long" }
		{ sum[of] += $NF; all += $NF }
		END { for (of in sum) printf "%s=%d ", of, 100 * sum[of] / all }' stdout >told
	at_least "$(value brief)" 12 "percent of the waiting time in the brief task: $(<told)"
	at_least "$(value long)" 68 "percent of the waiting time in the long task: $(<told)"
done
python=${pythons[0]}

# A package is upgraded in place: the comparison names its function that got slower.
cat >prices.py <<'PROGRAM'
import sys

sys.path.insert(0, sys.argv[1])
from amounts import format_amount


def sum_digits(number):
    return sum(int(digit) for digit in str(number * number))


for number in range(90000):
    format_amount(number)
    sum_digits(number)
PROGRAM
for version in v1 v2; do
	run 0 kelvin record -o "$version.pb.gz" -- "$python" -B prices.py "$programs/shop/library/$version"
done
kelvin diff v1.pb.gz v2.pb.gz --json upgrade.json --inconclusive pass >/dev/null 2>stderr
jq -r '.functions[] | select(.language == "python" and .state == "more") | .name' upgrade.json >slower
grep -q '^py::format_amount:' slower || fail "the function that got slower is not named: $(jq -r .verdict_text upgrade.json)"
says_not slower '^py::(group|sum_digits):'

# Without names.
run 0 kelvin record --native -o native.pb.gz -- "$python" "$programs/steps.py" native.steps --seconds 0.1 --steps plain
at_most "$(samples_in native.pb.gz 'py::')" 0 "samples with Python functions in spite of --native"

# Without rights: a line says what would help.
is_root || exit 0
needs setpriv
users_may_sample -1
chmod 755 .
mkdir -m 777 theirs
run 0 setpriv --reuid 65534 --clear-groups "$KELVIN" record -o theirs/user.pb.gz -- "$python" "$programs/steps.py" theirs/steps \
	--seconds 0.2 --steps plain
says stderr '^Python frames are not shown: reading them needs CAP_BPF and CAP_PERFMON'
at_most "$(samples_in theirs/user.pb.gz 'py::')" 0 "samples with Python functions without the right to read them"
