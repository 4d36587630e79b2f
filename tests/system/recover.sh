#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A recorder that is killed at any moment leaves all but its last second; a full disk ends a recording, which is kept.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# has_worked PID: it has used a second of CPU time.
has_worked() {
	[[ $(ticks "$1") -ge 100 ]]
}

# is_larger FILE BYTES
is_larger() {
	[[ $(stat -c %s "$1") -gt $2 ]]
}

can_sample
start "$WORKLOADS/system_workload" --parse 3
workload=$pid

# What a recorder leaves that is killed now is what its file holds now: one recording is looked at at several moments, the last of which is
# its end. A recording holds what came before the file was last written to.
start "$KELVIN" record -p "$workload" -o a.pb.gz
recorder=$pid
wait_until "the recording begins" is_recording a.pb.gz
began=$(date +%s%3N)
wait_until "something is written" test -s a.pb.gz.part
for try in 1 2 3 4; do
	sleep "0.$((RANDOM % 900 + 100))"
	cp --preserve=timestamps a.pb.gz.part "$try.pb.gz.part"
done
# On a busy machine what was written until here may be a handful of samples, of which no share can be asked.
wait_until "the workload has worked" has_worked "$workload"
wait_until "more is written" is_larger a.pb.gz.part "$(stat -c %s a.pb.gz.part)"
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
[[ ! -e a.pb.gz && -s a.pb.gz.part ]] || fail "a killed recorder left $(ls)"
[[ $(stat -c %a a.pb.gz.part) == 600 ]] || fail "mode $(stat -c %a a.pb.gz.part) instead of 600"
cp --preserve=timestamps a.pb.gz.part 5.pb.gz.part
for try in 1 2 3 4 5; do
	run 0 kelvin recover "$try.pb.gz.part" -o "$try.pb.gz"
	says stderr '^recovered [0-9,]+ samples? of [0-9.]+ s$'
	says stderr "^wrote $try\\.pb\\.gz \\("
	recovered=$(sed -n 's/^recovered .* of \([0-9]*\)\.\([0-9]\) s$/\1\200/p' stderr)
	written=$(($(date -r "$try.pb.gz.part" +%s%3N) - began))
	# A copy may have met a chunk that was half written; one is written every 950 ms at most.
	at_least $((10#$recovered)) $((written - 1200)) "try $try: milliseconds recovered of $written"
	[[ $try -lt 5 && $(samples_in "$try.pb.gz" '') -lt 100 ]] ||
		at_least "$(share "$try.pb.gz" ';main;serve;parse_input')" 50 "try $try: share of parse_input"
	kelvin report "$try.pb.gz.part" --folded - 2>/dev/null | diff "$(folded "$try.pb.gz")" - >stdout || fail "a .part does not read as its profile"
done

# A profile without names is a profile.
run 0 kelvin recover --no-names 5.pb.gz.part -o nameless.pb.gz
says stderr '^wrote nameless\.pb\.gz \('
[[ $(share nameless.pb.gz parse_input) == 0 ]] || fail "--no-names named functions"
run 0 kelvin report nameless.pb.gz --text
says stdout 'system_workload'

# Cut and damaged ones give what comes before.
head -c -3 a.pb.gz.part >cut.part
run 0 kelvin recover cut.part
says stderr 'was not written whole and is left out$'
[[ -s cut ]] || fail "no profile under the name without .part"

# The next recording to the same file throws nothing away, and leaves nothing of its own behind.
run 0 kelvin record -p "$workload" -d 0.5 -o a.pb.gz
says stderr "was kept as a.pb.gz.part.old; 'kelvin recover a.pb.gz.part.old -o FILE' makes a profile of it\$"
[[ ! -e a.pb.gz.part && -s a.pb.gz.part.old ]] || fail "left behind: $(ls)"
start "$KELVIN" record -p "$workload" -o a.pb.gz
recorder=$pid
wait_until "the recording begins" is_recording a.pb.gz
refuses 'another recording is being written there' kelvin record -p "$workload" -d 0.2 -o a.pb.gz
kill -INT "$recorder"
wait "$recorder" || fail "a recording that was interrupted"
[[ ! -e a.pb.gz.part ]] || fail "a .part is left behind"

refuses 'cannot recover a.pb.gz: it is not the FILE.part of a killed recording' kelvin recover a.pb.gz -o b.pb.gz
refuses 'cannot read nowhere.part: No such file' kelvin recover nowhere.part
printf "\352\270\004\012KELVINPARTrubbish" >bad.part
run 2 kelvin recover bad.part
says stderr '^kelvin: cannot read bad.part: it holds no samples$'
printf 'KELVINPART\nKCHK' >former.part
refuses 'cannot read former.part: an older kelvin wrote this unfinished recording' kelvin recover former.part

# The disk is full in the middle: the recording ends by itself; what was written before is still there.
is_root || skip "root is needed to mount a small file system"
mkdir small
mount -t tmpfs -o size=12k,nr_inodes=10 none small 2>/dev/null || skip "a small file system cannot be mounted here"
start "$WORKLOADS/system_workload" --parse 3
workload=$pid
run 2 timeout 60 "$KELVIN" record -p "$workload" -F 20000 -o small/a.pb.gz
if [[ -e small/a.pb.gz ]]; then
	says stderr '^kelvin: the recording ended early: cannot write small/a.pb.gz.part: No space left on device; what was recorded until then is kept$'
	cp small/a.pb.gz saved.pb.gz
else
	says stderr "cannot write small/a.pb.gz: No space left on device; the recording is kept: 'kelvin recover small/a.pb.gz.part"
	run 0 kelvin recover small/a.pb.gz.part -o saved.pb.gz
fi
at_least "$(share saved.pb.gz ';main;serve;parse_input')" 50 "share of parse_input of what a full disk left"
