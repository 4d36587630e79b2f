#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What `node --cpu-prof` writes is a profile: with node's own counts and times, and with functions that comparisons know again.
# READS | .cpuprofile | node 18 to 24, DevTools | counts and times of each stack
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs node
needs jq
cat >work.js <<'JS'
'use strict';
class Shop {
	parse(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
	get size() { let s = 0; for (let i = 0; i < 50000; i++) s = (s * 31 + i) | 0; return s; }
}
const shop = new Shop();
function serve() { return shop.parse(150000) + shop.size; }
for (let end = process.cpuUsage().user + 8e5; process.cpuUsage().user < end;)
	serve();
JS
# The same program, with two lines of comments more, in another directory.
mkdir other
{ printf '/* one */\n/* two */\n'; cat work.js; } >other/work.js
node --cpu-prof --cpu-prof-name=a.cpuprofile --cpu-prof-interval 500 work.js || skip "this node has no --cpu-prof"
node --cpu-prof --cpu-prof-name=b.cpuprofile --cpu-prof-interval 500 other/work.js

# Samples, and the time of each until the next one: all of the recording but what passed before the first.
run 0 kelvin report a.cpuprofile --json a.json
samples=$(jq '.samples | length' a.cpuprofile)
[[ $(jq .recording.samples a.json) -eq $samples ]] || fail "$(jq .recording.samples a.json) samples instead of $samples"
expected=$(jq '[.timeDeltas[1:][], .endTime - .startTime - (.timeDeltas | add)] | map(if . < 0 then 0 else . end) | add * 1000' a.cpuprofile)
[[ $(jq .totals.ns a.json) -eq $expected ]] || fail "$(jq .totals.ns a.json) ns instead of $expected"
# A function's own time is that of node's samples in it.
own() {
	jq --arg name "$1" '. as $all | [.nodes[] | select(.callFrame.functionName == $name) | .id] as $ids
		| [range(.samples | length) | select($all.samples[.] as $id | $ids | index($id))
			| [$all.timeDeltas[. + 1] // ($all.endTime - $all.startTime - ($all.timeDeltas | add)), 0] | max] | add * 1000' a.cpuprofile
}
[[ $(jq '[.functions[] | select(.key | test("^parse [^`]*/work\\.js`")) | .self_ns] | add' a.json) -eq $(own parse) ]] || fail "another time of parse() than node's"
at_least "$(share a.cpuprofile ';JS:serve [^;]*work\.js[^;]*;JS:parse ')" 40 "share of parse() under serve()"
grep -q ';JS:get size file://' "$(folded a.cpuprofile)" || fail "no getter with its file"

# Neither lines nor directories tell functions of two files apart, of which those without a name are known by their lines.
run_any kelvin diff a.cpuprofile b.cpuprofile --json diff.json
for name in "parse" "get size" "serve" "(anonymous)"; do
	found=$(jq -r --arg name "$name" '[.functions[] | select(.shown == $name and (.file | endswith("/work.js"))) |
		"\(.base_total_ns > 0) \(.head_total_ns > 0)"] | unique | join(", ")' diff.json)
	[[ $found == "true true" ]] || fail "'$name' is in base and in head: $found"
done

# A file that was cut says so.
head -c 2000 a.cpuprofile >cut.cpuprofile
refuses 'cannot read cut.cpuprofile: offset [0-9]+: the JSON ends early: the file was cut short' kelvin report cut.cpuprofile
