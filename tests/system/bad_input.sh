#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files that are no profiles, or damaged ones: one line, exit code 2, no crash.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

printf 'server;main;parse 70\nserver;main;hash 30\n' >good.folded
printf 'other;start;work 5\n' >other.folded
run 0 kelvin report good.folded
: >empty
head -c 3000 /dev/zero >zeros
head -c 3000 /dev/urandom >random
printf 'this is a letter\nand no profile\n' >letter
# zeros_gz MEGABYTES: a gzip file of that many million zeros, in members of ten million each, of which one is compressed.
zeros_gz() {
	local member=zeros_member.gz i

	[[ -s $member ]] || head -c 10000000 /dev/zero | gzip -1 >"$member"
	for ((i = 0; i < $1; i += 10)); do cat "$member"; done
}
zeros_gz 300 >zeros.gz
printf 'PERFILE2 and so on' >perf.data
mkdir folder
printf "PK\3\4 and so on" >archive.zip
printf "{\"\$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"profiles\":[" >speedscope.json

for command in "report FILE" "diff FILE good.folded" "diff good.folded FILE" "diff good.folded,FILE good.folded"; do
	try() {
		local pattern=$1 file=$2

		# shellcheck disable=SC2086
		refuses "$pattern" kelvin ${command/FILE/$file}
	}
	try 'cannot read missing: No such file' missing
	try 'cannot read empty: it is empty' empty
	try 'zeros' zeros
	try 'random' random
	try 'cannot read letter: not a profile' letter
	try 'zeros\.gz' zeros.gz
	try 'perf\.data' perf.data
	try 'folder' folder
	try "archive.zip: it is a zip archive; unpack it first: unzip" archive.zip
	try "speedscope.json: offset [0-9]+: the JSON ends early: the file was cut short" speedscope.json
done
refuses 'none/a.html: directory none does not exist' kelvin report good.folded -o none/a.html
refuses 'no function|share no|nothing in common' kelvin diff good.folded other.folded
refuses 'metric' kelvin diff good.folded good.folded --metric elephants
refuses 'missing' kelvin symbolize -e missing 1
refuses 'empty' kelvin symbolize -e empty 1
refuses 'letter' kelvin symbolize -e letter 1
refuses 'standard output' kelvin report good.folded --json - --text

# A named pipe is read from the descriptor that is open, once.
mkfifo pipe
cat good.folded >pipe &
run 0 timeout 20 "$KELVIN" report pipe --folded
diff good.folded <(sort -r stdout) || fail "a named pipe reads otherwise"
: >pipe &
refuses 'cannot read pipe: it is empty' timeout 20 "$KELVIN" report pipe

# A gzip bomb: 4 GB in 17 MB, of which 2 GB are inflated at most.
if [[ $(uname -m) == x86_64 && -z ${ASAN_OPTIONS:-} ]]; then
	zeros_gz 4000 >bomb.gz
	(ulimit -v 6000000 && refuses 'bomb.gz' kelvin report bomb.gz) || exit 1
fi

can_sample
run 0 kelvin record -o good.pb.gz -- "$WORKLOADS/system_workload" --cpu 0.2
size=$(stat -c %s good.pb.gz)
gunzip -c good.pb.gz >good.pb
for cut in 1 10 11 100 $((size / 2)) $((size - 9)) $((size - 1)); do
	head -c "$cut" good.pb.gz >cut.pb.gz
	refuses 'cut\.pb\.gz' kelvin report cut.pb.gz
	refuses 'cut\.pb\.gz' kelvin diff good.pb.gz cut.pb.gz
done
# Any byte wrong: a profile or a refusal, never a crash.
plain=$(stat -c %s good.pb)
for ((i = 0; i < 60; i++)); do
	cp good.pb bent.pb
	printf '\xff' | dd of=bent.pb bs=1 seek=$((i * plain / 60)) conv=notrunc status=none
	code=0
	kelvin report bent.pb >stdout 2>stderr || code=$?
	[[ $code -eq 0 || $code -eq 2 ]] || fail "exit code $code with byte $((i * plain / 60)) changed"
done
