#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a command has from Kelvin names no place that another user can make, neither while it runs nor when Kelvin is gone and the command
# is not: no variable, no word of a command line, no descriptor. Nor does Kelvin use the directory of another user.
# shellcheck source-path=SCRIPTDIR source=own_tmp.sh
. "$(dirname "$0")/own_tmp.sh"
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

[[ $(id -u) -eq 0 ]] || skip "another user is needed"
needs setpriv
can_sample
chmod 711 "$work"

# As another user, who may be root's enemy.
stranger() {
	setpriv --reuid=12345 --regid=12345 --clear-groups "$@"
}

# The command says what it has, and leaves a process behind.
cat >suite <<'SH'
#!/bin/sh
env -0 >variables
tr '\0' '\n' </proc/$$/cmdline >words
ls -l /proc/$$/fd >descriptors
date=$(command -v date)
setsid sh -c 'echo $$ >survivor.pid; exec >survivor.out 2>&1 </dev/null; while [ ! -e go ]; do sleep 0.02; done; date +%Y; [ "$0" = simulate ] || node --version' "${1:-none}" &
while [ ! -s survivor.pid ]; do sleep 0.02; done
i=0
[ "$1" != simulate ] || i=11900
while [ $i -lt 12000 ]; do i=$((i + 1)); done
SH
chmod +x suite

# places FILE: the absolute paths in it that are Kelvin's.
places() {
	tr '\0:=, ' '\n' <"$1" | grep '^/' | grep -i kelvin | grep -v "^$work" | sort -u
}

# nobody_makes FILE...: each place in it is tried by the stranger, with all that is above it.
nobody_makes() {
	local place

	for place in $(places <(cat "$@")); do
		for ((; ${#place} > 1; )); do
			if [[ ! -e $place ]] && stranger mkdir "$place" 2>/dev/null; then
				fail "anybody makes $place again"
			fi
			if stranger touch "$place/by-a-stranger" 2>/dev/null && [[ ! -k $place ]]; then
				fail "anybody writes to $place"
			fi
			rm -f "$place/by-a-stranger"
			place=${place%/*}
		done
	done
}

survives() {
	local what=$1

	nobody_makes variables words
	[[ $what == simulate* ]] || ! grep -E ' [3-9][0-9]* -> .*(kelvin|runner)' descriptors || fail "$what: the command has a descriptor of ours"
	touch go
	wait_until "$what: the survivor ends" test ! -d "/proc/$(<survivor.pid)"
	# No program starts in a simulation that is over; valgrind says so where one was just about to.
	[[ $what != simulate* ]] || sed -i '/^valgrind: Cannot create log file /d' survivor.out
	[[ $(head -n 1 survivor.out) =~ ^20[0-9][0-9]$ || ($what == simulate* && ! -s survivor.out) ]] || fail "$what: another program ran: $(<survivor.out)"
	rm -f go survivor.*
}

run 0 kelvin record --benchmarks -q -o a.pb.gz -- ./suite
grep -az '^CODSPEED_PROFILE_FOLDER=/run/kelvin/0/kelvin-' variables | tr -d '\0' | grep -q . || fail "the folder of results lies elsewhere"
if command -v node >/dev/null; then
	grep -az '^PATH=[^:]*/node:' variables | tr -d '\0' | grep -q . || fail "no node of ours in PATH"
fi
survives "a suite"

# Our node asks the harness for its flags, and starts again with them.
if command -v node >/dev/null; then
	cat >flags.js <<'JS'
const path = process.env.__CODSPEED_NODE_CORE_INTROSPECTION_PATH__;
if (path) { require('fs').writeFileSync(path, '{"flags":["--stack-size=900"]}'); process.exit(0); }
console.log(process.execArgv.join(' '));
JS
	run 0 kelvin record --benchmarks -q -o node.pb.gz -- node flags.js
	says stdout '^--stack-size=900$'
fi

# The recorder is killed, and so is its child.
start "$KELVIN" record --benchmarks -q -o b.pb.gz -- sh -c './suite; sleep 60'
wait_until "the suite has begun" test -s survivor.pid
children=$(pgrep -P "$pid")
# shellcheck disable=SC2086
kill -KILL "$pid" $children
survives "a killed recorder"

# The directory of another user is not used either, however root came by its name.
mkdir -m 700 theirs
chown 12345:12345 theirs
chmod 755 "$work"
for command in 'record --benchmarks' simulate; do
	[[ $command != simulate || -x $(dirname "$KELVIN")/../sampler/simulate/tool/launcher ]] || continue
	# shellcheck disable=SC2086
	TMPDIR=$work/theirs XDG_RUNTIME_DIR=$work/theirs run 0 kelvin $command -q -o d.pb.gz -- ./suite ${command%% *}
	[[ -z $(ls -A theirs) ]] || fail "$command: files of root lie with another user: $(find theirs)"
	! tr '\0' '\n' <variables | grep -v '^XDG_RUNTIME_DIR=' | grep -v "^TMPDIR=$([[ $command == simulate ]] || echo "$work/theirs")" |
		grep "$work/theirs" || fail "$command names the directory of another user"
	# A program that is simulated does not see valgrind's words.
	tr '\0' '\n' <"/proc/$(<survivor.pid)/cmdline" >words
	[[ $command != simulate ]] || says words '^--log-file=.*/kelvin-0/kelvin-'
	survives "$command with a foreign TMPDIR"
done

# Who has taken our name in /tmp stops nobody.
if [[ -n ${OWN_TMP:-} ]]; then
	rm -rf /tmp/kelvin-0
	stranger mkdir -m 777 /tmp/kelvin-0
	run 0 kelvin simulate -q -o e.pb.gz -- true
	[[ -z $(ls -A /tmp/kelvin-0) ]] || fail "the directory of a stranger was used"
	rmdir /tmp/kelvin-0
fi
