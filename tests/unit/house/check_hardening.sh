#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# check_hardening.sh PROGRAM: fails unless the program is compiled and linked as cmake/KelvinHardening.cmake says. The note of
# control-flow protection (IBT, SHSTK) is not looked for: the linker leaves it out as soon as one object of an archive lacks it, as
# Debian 12's do. That our own functions begin with endbr64 is.
set -euo pipefail

program=$1
failures=0

fail() {
	echo "$program: $*"
	failures=$((failures + 1))
}

headers=$(readelf --wide --file-header --program-headers --dynamic "$program")
imports=$(nm --dynamic --undefined-only "$program")
code=$(objdump --disassemble --no-show-raw-insn "$program")

# The functions of our own, by the first words of their names, in which the pattern occurs.
ours_with() {
	awk -v pattern="$1" '
		/^[0-9a-f]+ <.*>:$/ { name = substr($2, 2); sub(/[>.].*/, "", name) }
		$0 ~ pattern && name ~ /^(main|cmd_|diff_|elf_|frame_|profile_|render_|sampler_|symbolize_)/ { found[name] }
		END { count = 0; for (name in found) count++; print count }' <<<"$code"
}

grep -q 'Type: *DYN .*Position-Independent Executable' <<<"$headers" || fail 'it is no position-independent executable'
grep -q 'GNU_RELRO' <<<"$headers" || fail 'it has no read-only relocations (RELRO)'
grep -q 'BIND_NOW' <<<"$headers" || fail 'functions are bound when they are called first, so their table stays writable'
grep -Eq 'GNU_STACK .* RW +0x' <<<"$headers" || fail 'its stack may hold code'
! grep -Eq 'LOAD .* RWE ' <<<"$headers" || fail 'a segment is both writable and executable'
grep -q '__stack_chk_fail' <<<"$imports" || fail 'it has no stack protector'
[[ $(ours_with 'call.*<__stack_chk_fail') -ge 10 ]] || fail 'no function of its own has a stack protector'
[[ $(ours_with 'call.*<__[a-z]*_chk@') -ge 10 ]] || fail 'no function of its own calls fortified functions'
case $(uname -m) in
x86_64) [[ $(ours_with 'endbr64') -ge 10 ]] || fail 'its functions are not marked as targets of jumps (CET)' ;;
esac
[[ $failures -eq 0 ]]
