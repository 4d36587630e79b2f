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
	says stdout '^     -> '
fi
# Capabilities are for a group: whoever may execute the file has them.
if is_root && command -v setpriv >/dev/null; then
	chmod 755 .
	cp "$KELVIN" kelvin
	setpriv --reuid 65534 --regid 65534 --clear-groups ./kelvin doctor >stdout 2>stderr || true
	says stdout '^no +other users. processes'
	says stdout 'chgrp kelvin "\$k" && sudo chmod 0750 "\$k" && sudo setcap cap_perfmon,cap_bpf,'
fi
needs jq
kelvin doctor --json >stdout || true
jq -e '.confined_naming | type == "boolean"' stdout >/dev/null || fail "not told whether naming is confined"
jq -e '.schema == "kelvin.doctor/1"' stdout >/dev/null || fail "not schema kelvin.doctor/1"
