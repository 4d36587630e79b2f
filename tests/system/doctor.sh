#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# doctor tells what is allowed, and agrees with what record can do.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

code=0
kelvin doctor >stdout 2>stderr || code=$?
[[ $code -eq 0 || $code -eq 2 ]] || fail "exit code $code"
says stdout '^kelvin [0-9]'
says stdout "perf_event_max_sample_rate $(cat /proc/sys/kernel/perf_event_max_sample_rate)"
says stdout "perf_event_paranoid $(cat /proc/sys/kernel/perf_event_paranoid)"
if [[ $code -eq 0 ]]; then
	run 0 kelvin record -q -o a.pb.gz -- "$WORKLOADS/system_workload" --seconds 0.3
else
	says stdout '^  -> '
fi
# Capabilities are for a group: whoever may execute the file has them.
if is_root && command -v setpriv >/dev/null; then
	chmod 755 .
	cp "$KELVIN" kelvin
	setpriv --reuid 65534 --regid 65534 --clear-groups ./kelvin doctor >stdout 2>stderr || true
	says stdout '^no +other users. processes'
	says stdout '^no +waits +cannot be sampled \(--off-cpu\)$'
	says stdout '^no +interpreters +functions of node and HotSpot are shown, those of CPython, PHP and Ruby are not$'
	says stdout 'chgrp kelvin "\$k" && sudo chmod 0750 "\$k" && sudo setcap cap_perfmon,cap_bpf,'
fi
needs jq
kelvin doctor --json >stdout || true
jq -e '.confined_naming | type == "boolean"' stdout >/dev/null || fail "not told whether naming is confined"
# By the hook that is named, or for the reason that is.
hook=$(jq -r .waits stdout)
kelvin doctor >said || true
if [[ $hook == null ]]; then
	says said '^no +waits +cannot be sampled'
	[[ $(grep -A1 '^no +waits' -E said | tail -1) == "  -> "* ]] || fail "not told what would allow it to sample waits"
else
	says said "^ok +waits +can be sampled \(--off-cpu\), by ($hook)\$"
	[[ $hook =~ ^(fentry|kprobe|rseq)$ ]] || fail "unknown hook $hook"
fi
# Languages by what the text says.
languages=$(jq -c .interpreters stdout)
if grep -qE '^ok +interpreters +functions of CPython 3\.11 to 3\.15, PHP 7\.4 to 8\.5, Ruby 3\.0 to 3\.4, node and HotSpot are shown$' said; then
	[[ $languages == '["java","javascript","php","python","ruby"]' ]] || fail "the languages are $languages"
else
	says said '^no +interpreters +functions of node and HotSpot are shown, those of CPython, PHP and Ruby are not$'
	[[ $languages == '["java","javascript"]' ]] || fail "the languages are $languages"
	[[ $(grep -A1 '^no +interpreters' -E said | tail -1) == "  -> "* ]] || fail "not told what would show functions of CPython"
fi
jq -e '.schema == "kelvin.doctor/1"' stdout >/dev/null || fail "not schema kelvin.doctor/1"
