#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Recordings of a program over time, in a directory with what else may lie there: what is read, what is left out and told, and that the
# cache changes nothing but the time.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs jq

# recordings FIRST LAST PARSE: so many recordings of the workload, one after the other.
recordings() {
	local i

	start "$WORKLOADS/system_workload" --parse "$3"
	for ((i = $1; i <= $2; i++)); do
		run 0 kelvin record -p "$pid" -F 997 -d 0.5 --label version="$3" -o "$(printf 'd/p%02d.pb.gz' "$i")"
	done
	stop "$pid"
}

mkdir d
recordings 1 3 3
recordings 4 6 9

# What is shown is the same whether anything was kept, with all outputs at once.
run 0 kelvin history d --no-cache --json none.json --markdown none.md -o none.html --text none.txt
[[ ! -e .cache/kelvin/histories ]] || fail "--no-cache keeps something"
run 0 kelvin history d --json cold.json --markdown cold.md -o cold.html --text cold.txt
cache=$(echo .cache/kelvin/histories/*)
[[ $(stat -c %a "$cache") == 600 ]] || fail "others can read the cache"
cp "$cache" kept
run 0 kelvin history d --json warm.json --markdown warm.md -o warm.html --text warm.txt
for kind in json md html txt; do
	cmp "cold.$kind" "warm.$kind" || fail "another $kind with the cache"
	cmp "cold.$kind" "none.$kind" || fail "another $kind without a cache"
done
says stderr '^wrote warm.html '
cmp "$cache" kept || fail "nothing is new, but the cache is another one"
jq -e '.schema == "kelvin.history/1" and (.profiles | length) == 6' warm.json >/dev/null || fail "not six profiles"

# A cache that is damaged, or anything else, is as if there were none; one that is another user's is neither read nor written.
size=$(stat -c %s "$cache")
for at in 0 4 8 30 $((size / 2)) $((size - 1)); do
	cp kept "$cache"
	printf '\377' | dd of="$cache" bs=1 seek="$at" conv=notrunc status=none
	run 0 kelvin history d --text warm.txt
	cmp cold.txt warm.txt || fail "a cache that is damaged at $at is believed"
done
for bytes in 0 20 1000; do
	head -c "$bytes" kept >"$cache"
	run 0 kelvin history d --text warm.txt
	cmp cold.txt warm.txt || fail "a cache of $bytes bytes is believed"
done
rm "$cache"
ln -s "$PWD/kept" "$cache"
run 0 kelvin history d --text warm.txt
cmp cold.txt warm.txt || fail "a link in place of the cache"
if [[ $EUID -eq 0 ]]; then
	rm -rf .cache
	mkdir .cache
	chown nobody .cache
	HOME=$work/.cache run 0 kelvin history d --text warm.txt
	[[ -z $(ls .cache) ]] || fail "root keeps something in the cache of somebody else"
	rm -rf .cache
fi

# What else lies in a directory is told, and does not spoil the rest.
cp -r d mixed
echo 'this is no profile, whatever it may be called' >mixed/junk.pb.gz
head -c "$(($(stat -c %s d/p01.pb.gz) / 2))" d/p01.pb.gz >mixed/cut.pb.gz
cp d/p02.pb.gz mixed/twice.pb.gz
printf 'main;parse_input 70\nmain;hash_output 30\n' >mixed/stacks.folded
mkdir mixed/below && cp d/p03.pb.gz mixed/below/p.pb.gz
ln -s /etc/passwd mixed/link.pb.gz
mkfifo mixed/pipe.pb.gz
run 0 kelvin record -F 997 -o mixed/other.pb.gz -- bash -c 'for ((i = 0; i < 200000; i++)); do :; done'
run 0 kelvin history mixed --json mixed.json
says stderr 'mixed/junk.pb.gz is no profile, and left out'
says stderr 'mixed/cut.pb.gz.*left out'
[[ $(jq -r '[.profiles[].name] | index("link.pb.gz", "pipe.pb.gz", "p.pb.gz", "junk.pb.gz", "cut.pb.gz")' mixed.json) == null* ]] ||
	fail "what is no profile of the directory is read"

# Choices of profiles, limits, and what cannot be done.
run 0 kelvin history d/p0[1-3].pb.gz --json three.json
[[ $(jq '.profiles | length' three.json) -eq 3 ]] || fail "not the three that were named"
run 0 kelvin history d --label version=9 --json nine.json
[[ $(jq '.profiles | length' nine.json) -eq 3 ]] || fail "not the three with the label"
run 3 kelvin history d --label version=9 --fail-on 'total>2%'
says stderr 'limits were not checked'
# One new profile is judged beside all before it: by what it proves, and where it only makes it likely, that is no reason to pass.
needs python3
mkdir gates likely
for i in 1 2 3 4 5 6 7 8; do
	python3 "$ROOT/tests/system/store_profile.py" gates/p$i.pb.gz $((900 - i * 30)) 1
	python3 "$ROOT/tests/system/store_profile.py" likely/p$i.pb.gz $((900 - i * 30)) 100
done
run 0 kelvin history gates --metric cpu --fail-on 'function>5%' --fail-on 'total>5%' --fail-on 'function:beta>1%'
python3 "$ROOT/tests/system/store_profile.py" gates/p9.pb.gz 600 200
for rule in 'function>5%' 'function:beta>5%'; do
	run 1 kelvin history gates --metric cpu --fail-on "$rule"
	says stderr 'beta grew by [0-9.]* %, above the limit of 5 %, with p9\.pb\.gz'
done
run 0 kelvin history gates --metric cpu --fail-on 'function:alpha>5%'
python3 "$ROOT/tests/system/store_profile.py" likely/p9.pb.gz 600 147
run 3 kelvin history likely --metric cpu --fail-on 'function:beta>2%'
says stderr 'the limit of 2 % on beta is not decided: it grew by 3[0-9]\.[0-9] % with p9\.pb\.gz, which is likely'
run 0 kelvin history likely --metric cpu --fail-on 'function:alpha>2%'
# A rule that cannot fire is told.
run 0 kelvin history gates --metric cpu --fail-on 'function:gamma>5%'
says stderr "'function:gamma>5%': no profile of the history has samples of a function with this name"
run 2 kelvin history d --label version=7
run 2 kelvin history d --label version
run 2 kelvin history d --fail-on 'total'
run 2 kelvin history d --metric nonsense
run 2 kelvin history
run 2 kelvin history mixed/pipe.pb.gz
run 2 kelvin history nowhere
run 2 kelvin history d/p01.pb.gz d/p02.pb.gz -o d/p01.pb.gz
mkdir empty
run 2 kelvin history empty
says stderr 'there is no profile'
