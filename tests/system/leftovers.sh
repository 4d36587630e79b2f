#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A test that fails leaves nothing: no process, in whatever session, of whatever parent and environment it is, and no directory.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

cat >failing.sh <<'SH'
. "$ROOT/tests/system/lib.sh"
echo "$work" >"$OUTER/directory"
start sh -c 'echo $$ >"$OUTER/1"; exec sleep 600'
setsid sh -c 'echo $$ >"$OUTER/2"; exec sleep 600' &
(setsid sh -c 'echo $$ >"$OUTER/3"; exec env -i sleep 600' &)
(cd / && setsid sh -c 'echo $$ >"$OUTER/4"; sleep 600; :' &)
for i in 1 2 3 4; do
	wait_until "process $i" test -s "$OUTER/$i"
done
fail "on purpose"
SH
code=0
OUTER=$work bash failing.sh >said 2>&1 || code=$?
[[ $code -eq 1 ]] || fail "exit code $code: $(<said)"
says said 'on purpose'
for i in 1 2 3 4; do
	wait_until "process $i ends" test ! -d "/proc/$(<$i)"
done
[[ ! -e $(<directory) ]] || fail "its directory is left"
