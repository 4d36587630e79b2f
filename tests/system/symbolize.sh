#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# symbolize prints what addr2line -a -f -i -C prints, addresses as arguments and on standard input.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs addr2line
needs jq
needs nm
workload=$WORKLOADS/system_workload
mapfile -t addresses < <(nm "$workload" | awk '$3 ~ /^(main|serve|parse_input|hash_output|run_threads)$/ { print $1 }')
at_least "${#addresses[@]}" 4 "functions in the workload"
more=()
for address in "${addresses[@]}"; do
	for offset in 4 9 16 33; do
		more+=("$(printf '%x' $((0x$address + offset)))")
	done
done
addr2line -a -f -i -C -e "$workload" "${addresses[@]}" "${more[@]}" 0 | sed 's/ (discriminator [0-9]*)//' >expected
run 0 kelvin symbolize -e "$workload" "${addresses[@]}" "${more[@]}" 0
diff expected stdout || fail "not what addr2line prints"
printf '%s\n' "${addresses[@]}" "${more[@]}" 0 | kelvin symbolize -a -f -i -C -e "$workload" >stdout 2>stderr
diff expected stdout || fail "other answers on standard input"
addr2line -a -f -i -C -p -s -e "$workload" "${more[@]}" | sed 's/ (discriminator [0-9]*)//' >expected
run 0 kelvin symbolize -p -s -e "$workload" "${more[@]}"
diff expected stdout || fail "not what addr2line -p -s prints"
run 0 kelvin symbolize --json -e "$workload" "${addresses[@]}"
jq -e '.schema == "kelvin.symbolize/1" and ([.addresses[].frames[0].function] | index("serve"))' stdout >/dev/null || fail "no serve in JSON"
start=$(readelf -SW "$workload" | awk '{ for (i = 1; i < NF; i++) if ($i == ".text") { print $(i + 2); exit } }')
addr2line -a -f -i -C -j .text -e "$workload" 10 40 | sed 's/ (discriminator [0-9]*)//' >expected
run 0 kelvin symbolize -j .text -e "$workload" 10 40
[[ $(grep -c . stdout) -ge 6 ]] || fail "no answers for .text, which begins at $start"
diff <(grep -v ^0x expected) <(grep -v ^0x stdout) || fail "other answers than addr2line -j"
refuses 'has no section' kelvin symbolize -j .nothing -e "$workload" 10
run 0 kelvin symbolize --explain-origin -e "$workload" "${addresses[0]}"
grep -q '(user: ' stdout || fail "no origin of a function of the workload's"
DEBUGINFOD_URLS='' refuses 'no debuginfod server' kelvin symbolize --debuginfod -e "$workload" 10
refuses 'no hexadecimal address' kelvin symbolize -e "$workload" xyz

# A program that asks line by line is answered line by line.
coproc SERVER { "$KELVIN" symbolize -e "$workload"; }
for _ in 1 2 3; do
	printf '%s\n' "${addresses[0]}" >&"${SERVER[1]}"
	read -r -t 10 line <&"${SERVER[0]}" || fail "no answer to one line"
	[[ $line == "0x${addresses[0]}" ]] || fail "answer out of step: $line"
	if ! read -r -t 10 _ <&"${SERVER[0]}" || ! read -r -t 10 _ <&"${SERVER[0]}"; then
		fail "half an answer"
	fi
done
