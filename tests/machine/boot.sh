#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Records under a stock Debian kernel that is booted in an emulator: another kernel than the one the tests run on, with another
# verifier of BPF programs.
# ctest gives it KELVIN, WORKLOADS, WAITS (workload_waits), PROGRAMS_TEST and WAITING_TEST (unit tests of BPF programs), ROOT and KERNEL (the kernel's image).
# Time in the emulator is slow and uneven: only counts and structure are looked at.
set -uo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree

fail() {
	printf 'FAILED: %s\n' "$*"
	cat "$work/console"
	exit 1
}

# The program, and the shared libraries that it needs.
put_program() {
	local library

	cp "$1" "$tree/bin/$2"
	while read -r library; do
		mkdir -p "$tree${library%/*}"
		cp -L "$library" "$tree$library"
	done < <(ldd "$1" | grep -o '/[^ ]*')
}

mkdir -p "$tree"/{bin,proc,sys,dev,tmp}
cp "$(command -v busybox)" "$tree/bin/busybox"
put_program "$KELVIN" kelvin
put_program "$WORKLOADS/system_workload" system_workload
put_program "$WAITS" workload_waits
put_program "$WORKLOADS/../workloads/workload_faults" workload_faults
put_program "$PROGRAMS_TEST" test_programs
put_program "$WAITING_TEST" test_waiting
cp "$ROOT/tests/machine/init.sh" "$tree/init"
chmod +x "$tree/init"
(cd "$tree" && find . | cpio --quiet -o -H newc) | gzip -1 >"$work/initrd.gz"

# One thread emulates all CPUs. With one each, a CPU may run the old code of what another one has just patched, as the kernel does when a
# tracepoint gets its first program: on a busy host the machine then stopped, or crashed, now and then.
timeout 540 qemu-system-x86_64 -M q35 -accel tcg,thread=single -cpu max -smp 2 -m 1024 -net none -nographic -no-reboot \
	-kernel "$KERNEL" -initrd "$work/initrd.gz" -append "console=ttyS0 quiet panic=-1" </dev/null 2>&1 | tr -d '\r' >"$work/console"
grep -q '^all done$' "$work/console" || fail "the machine did not come to its end"

# says SECTION PATTERN: a line between "begin SECTION" and "end SECTION" that matches. grep reads to the end: sed fails
# when its pipe is closed.
says() {
	sed -n "/^begin $1\$/,/^end $1 /p" "$work/console" | grep -E -- "$2" >/dev/null || fail "$1: '$2' not found"
}

says_not() {
	! sed -n "/^begin $1\$/,/^end $1 /p" "$work/console" | grep -E -- "$2" >/dev/null || fail "$1: '$2' found"
}

for section in programs command process children cpus counters waiting waits preempted interrupted; do
	says "$section" "^end $section 0\$"
done
says programs 'PASSED .* 6 test'
# A sample in the program's first instructions may be open.
says command '(99\.[5-9]|100\.0) % whole stacks'
says command ';serve;parse_input [0-9]+$'
says process '(99\.[5-9]|100\.0) % whole stacks'
says process ';serve;hash_output [0-9]+$'
# More than the shell itself: the programs that it started were followed by the tracepoint of new tasks.
says children 'brief-[0-9]{3,} [0-9]+$'
says cpus '^system_workload;.*;serve;parse_input'
says counters '^1[0-9]{2},[0-9]{3} page faults\.$|^[89][0-9],[0-9]{3} page faults\.$'
says counters '^  touch_pages .* ([89][0-9]\.[0-9]|100) %$'
# Both hooks that show the kernel's part of the stack.
says waiting '^hook: fentry$'
says waiting '^hook: kprobe$'
# The kernel's part of the stack is that of the wait.
says waits 'futex_wait_\[k\];.*schedule_\[k\];.*\[waiting: condition\] [0-9]+$'
says waits 'do_epoll_wait_\[k\];.*schedule_\[k\];.*\[waiting: idle\] [0-9]+$'
says waits 'hrtimer_nanosleep_\[k\];.*schedule_\[k\];.*\[waiting: timer\] [0-9]+$'
# Its end is the switch, not what the sampling has called there.
says_not waits '(bpf_|__perf_event_)[^;]*;.*\[waiting: (lock|timer)\]'
# What a thread has waited, but for 5 % (to switch takes an emulator long) and an interval of each of its two sums.
sed -n '/^begin waits$/,/^end waits /p' "$work/console" | awk '
	$1 == "found" { found[$2] += $3 / 1e6; next }
	NF == 5 && $2 ~ /^[0-9]+$/ { known["thread_" $1] = $3 }
	END {
		for (name in known) {
			threads++
			difference = found[name] - known[name]
			if (difference < 0) difference = -difference
			if (difference > known[name] / 20 + 20) { printf "%s waited %d ms, found %d ms\n", name, known[name], found[name]; exit 1 }
		}
		if (threads != 4) exit 1
	}' || fail "waits: other times than the threads have logged"
# A thread that has lost its CPU waits in its own code, not in what the kernel did to take it.
says preempted ';serve;parse_input;\[waiting: run queue\] [0-9]+$'
says_not preempted '(exit_to_user|irqentry_exit|preempt_schedule)[^;]*;.*\[waiting: run queue\]'
says interrupted 'wrote recovered\.pb\.gz'
