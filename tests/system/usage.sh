#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Help, version, and everything that is no valid command line.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 kelvin --version
says stdout '^kelvin [0-9]+\.[0-9]+\.[0-9]+$'
run 0 kelvin --help
mapfile -t commands < <(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' stdout)
at_least "${#commands[@]}" 5 "commands in the help"
for command in "${commands[@]}"; do
	run 0 kelvin help "$command"
	cp stdout helped
	run 0 kelvin "$command" --help
	cmp -s stdout helped || fail "help $command differs from $command --help"
	[[ ! -s stderr ]] || fail "help of $command on stderr"
	says stdout "^Usage: kelvin $command"
	says stdout '^Examples:'
	says stdout '^Exit codes:'
	[[ $(wc -L <stdout) -le 132 ]] || fail "help of $command is $(wc -L <stdout) columns wide"
	refuses "unknown or ambiguous option '--no-such-option'; see 'kelvin $command --help'" kelvin "$command" --no-such-option
	refuses "unknown option '-Z'" kelvin "$command" -Z
done
run 2 kelvin
refuses "unknown command 'dance'" kelvin dance
refuses "unknown option '--dance'" kelvin --dance
refuses 'nothing to record' kelvin record
refuses "'-p' needs a value" kelvin record -p
refuses "name a control group" kelvin record --cgroup ''
refuses 'more than one target' kelvin record -t 1 -t 2
for bad in "-p x" "-p 0" "-p -1" "-p 1,x" "-F 0 -p 1" "-F x -p 1" "-d 0 -p 1" "-d x -p 1" "-D -1 -p 1" "-g elf -p 1" "-g dwarf,x -p 1" \
	"-g dwarf,99999999 -p 1" "--runs 3 -p 1" "--off-cpu=0 -p 1" "--off-cpu=x -p 1" "--quiet=yes -p 1"; do
	# shellcheck disable=SC2086
	refuses "see 'kelvin record --help'" kelvin record $bad
done
for bad in -d -D; do
	refuses "$bad '5 parsecs': this is not a duration; write for example $bad 500ms, $bad 30s, $bad 2m or $bad 1h" \
		kelvin record $bad '5 parsecs' -p 1
done
for bad in version =1 version= 1=1 'a key=1' $'version=4\n2' "version=$(printf '%300s' '' | tr ' ' x)"; do
	refuses "--label '.*see 'kelvin record --help'" kelvin record --label "$bad" -p 1
done
refuses "'service' was given before" kelvin record --label service=a --label service=b -p 1
refuses "there is no '='; write --label KEY=VALUE" kelvin record --label service -p 1
refuses "--min-time '2y': this is not a duration" kelvin bench --base true --head true --min-time 2y
# A value that would mean nothing is refused.
for bad in 'bench --layouts' 'bench --time-limit' 'bench --min-time' 'bench --runs' 'history --period' 'mcp --deadline' 'record -F' 'record -d' 'report --top'; do
	# shellcheck disable=SC2086
	refuses "${bad#* } ?0: " kelvin $bad 0
done
refuses 'two profiles are needed' kelvin diff
refuses 'one profile is needed' kelvin report
refuses 'there is no a.out here; name the binary with -e FILE' kelvin symbolize
refuses 'notes.txt, which does not end in .part; give the name with -o' kelvin recover notes.txt
refuses "unexpected 'now'" kelvin doctor now

# Standard streams that are closed are nobody else's, and only their use is an error.
printf 'main;work 5\n' >in.folded
run 0 kelvin report in.folded
cp stdout expected
for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
	eval "kelvin report in.folded --text out $closed" || fail "exit code $? with $closed"
	cmp -s expected out || fail "what is written with $closed"
done
code=0
kelvin report in.folded >&- 2>stderr || code=$?
[[ $code -eq 2 ]] || fail "exit code $code when the result has nowhere to go"
