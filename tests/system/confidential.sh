#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What is written is for its owner alone unless a mode is asked for, and command lines stay out of it on request.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

has_mode() {
	[[ $(stat -c %a "$2") == "$1" ]] || fail "mode $(stat -c %a "$2") of $2 instead of $1"
}

umask 022
printf 'main;work 50\n' >a.folded
all=(-o a.html --text a.txt --json a.json --svg a.svg)
run 0 kelvin report a.folded "${all[@]}" --folded a.out
run 0 kelvin diff a.folded a.folded --inconclusive pass -o d.html --markdown d.md
for file in a.html a.txt a.json a.svg a.out d.html d.md; do
	has_mode 600 "$file"
done
# One's own file keeps its mode; the one that is asked for is exact.
chmod 664 a.html
umask 077
run 0 kelvin report a.folded "${all[@]}"
has_mode 664 a.html
run 0 kelvin report a.folded "${all[@]}" --mode 0644
has_mode 644 a.html
has_mode 644 a.txt
run 0 kelvin diff a.folded a.folded --inconclusive pass -o d.html --mode=640
has_mode 640 d.html
for bad in 8 0 1777 rw 6440 -1 ''; do
	refuses "--mode '$bad': write an octal number up to 777, as 640" kelvin report a.folded --mode "$bad"
done

# Another user's link leads nowhere, in the default name as well.
if is_root; then
	mkdir -m 1777 shared
	echo precious >victim
	ln -s ../victim shared/kelvin.pb.gz
	chown -h 65534 shared/kelvin.pb.gz
	cd shared || exit 2
	refuses 'is a link that user 65534 made in a directory of another user; remove it or name another file' kelvin record -p $$
	refuses 'is a link that user 65534 made' kelvin report ../a.folded -o kelvin.pb.gz
	cd ..
	[[ $(<victim) == precious ]] || fail "another user's link was followed"
fi

can_sample
says_nothing_of_it() {
	for file; do
		! { gzip -dcf <"$file" | grep -q hunter2; } || fail "$file has the command's arguments"
	done
}
printf '#!/bin/sh\nexec "%s" --cpu 0.2\n' "$WORKLOADS/system_workload" >work.sh
chmod +x work.sh
command=(./work.sh --password=hunter2)
run 0 kelvin record -q -o with.pb.gz -- "${command[@]}"
has_mode 600 with.pb.gz
gzip -dc with.pb.gz | grep -q hunter2 || fail "no arguments without --no-args"
run 0 kelvin record -q -o a.pb.gz --mode 640 --no-args -- "${command[@]}"
has_mode 640 a.pb.gz
gzip -dc a.pb.gz | grep -q work.sh || fail "the program is not named"
run 0 kelvin report a.pb.gz --json a.json --text a.txt
run 0 kelvin bench --runs 1 --base "${command[*]}" --head "${command[*]}" --no-args --save saved --json b.json --markdown b.md --text b.txt --mode 644 \
	--inconclusive pass
has_mode 644 saved/base.pb.gz
says_nothing_of_it a.pb.gz a.json a.txt saved/*.pb.gz b.json b.md b.txt
