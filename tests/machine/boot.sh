#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Records under a stock Debian kernel that is booted in an emulator: another kernel than the one the tests run on, with another
# verifier of BPF programs.
# ctest gives it KELVIN, WORKLOADS, PROGRAMS_TEST (the unit test of BPF programs), ROOT and KERNEL (the kernel's image).
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
put_program "$PROGRAMS_TEST" test_programs
cp "$ROOT/tests/machine/init.sh" "$tree/init"
chmod +x "$tree/init"
(cd "$tree" && find . | cpio --quiet -o -H newc) | gzip -1 >"$work/initrd.gz"

timeout 240 qemu-system-x86_64 -M q35 -cpu max -smp 2 -m 1024 -net none -nographic -no-reboot \
	-kernel "$KERNEL" -initrd "$work/initrd.gz" -append "console=ttyS0 quiet panic=-1" </dev/null 2>&1 | tr -d '\r' >"$work/console"
grep -q '^all done$' "$work/console" || fail "the machine did not come to its end"

# says SECTION PATTERN: a line between "begin SECTION" and "end SECTION" that matches.
says() {
	sed -n "/^begin $1\$/,/^end $1 /p" "$work/console" | grep -qE -- "$2" || fail "$1: '$2' not found"
}

for section in programs command process children cpus interrupted; do
	says "$section" "^end $section 0\$"
done
says programs 'PASSED .* 6 test'
says command '100\.0 % whole stacks'
says command ';serve;parse_input [0-9]+$'
says process '100\.0 % whole stacks'
says process ';serve;hash_output [0-9]+$'
# More than the shell itself: the programs that it started were followed by the tracepoint of new tasks.
says children 'brief-[0-9]{3,} [0-9]+$'
says cpus '^system_workload;.*;serve;parse_input'
says interrupted 'wrote recovered\.pb\.gz'
