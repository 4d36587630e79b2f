#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A file has one row where base and head were built in two directories, and a condition on it has the samples and the verdict of the row.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs cc
needs jq
can_sample

# build VERSION TIMES: in a directory of its own.
build() {
	mkdir -p "$1/src"
	cat >"$1/src/parse.c" <<-END
		#include "hash.h"
		__attribute__((noinline)) unsigned parse(unsigned n)
		{
			unsigned sum = 0;
			for (unsigned i = 0; i < n * $2; i++)
				sum = hash(sum, i);
		#include "steps.inc"
			return sum;
		}
	END
	cat >"$1/src/steps.inc" <<-'END'
		for (unsigned i = 0; i < n; i++)
			sum = (sum ^ i) * 7 + sum / 3;
	END
	cat >"$1/src/hash.h" <<-'END'
		static inline unsigned hash(unsigned a, unsigned b) { return ((a ^ b * 2654435761u) >> 13 ^ a) * 5; }
	END
	cat >"$1/src/main.c" <<-'END'
		unsigned parse(unsigned n);
		volatile unsigned sink;
		__attribute__((noinline)) static void render(unsigned n)
		{
			for (unsigned i = 0; i < n; i++)
				sink += i;
		}
		int main(void)
		{
			for (int i = 0; i < 6; i++) {
				sink += parse(5000000);
				render(5000000);
			}
			return 0;
		}
	END
	(cd "$1" && cc -g -O1 -o app src/main.c src/parse.c) || fail "$1 is not built"
	for i in 1 2 3; do
		run 0 kelvin record -q -o "$1.$i.pb.gz" -- "./$1/app"
	done
}

build v1 1
build v2 3
base=v1.1.pb.gz,v1.2.pb.gz,v1.3.pb.gz head=v2.1.pb.gz,v2.2.pb.gz,v2.3.pb.gz

# row KEY END: the one row of a list whose value ends so.
row() {
	jq -ce --arg tail "$2" '[.groups[] | select(.value | endswith($tail))] | if length == 1 then .[0] else empty end' "$1.json" ||
		fail "$2 has not one row: $(jq -c '[.groups[].value]' "$1.json")"
}

for key in file line; do
	run_any kelvin diff "$base" "$head" --by "$key" --json "$key.json"
	jq -e 'all(.groups[]; (.value | contains("/v1/")) | not)' "$key.json" >/dev/null || fail "$(jq -c '[.groups[].value]' "$key.json")"
done
for name in /v2/src/hash.h /v2/src/steps.inc /v2/src/main.c; do
	row file "$name" | jq -e '.base_count > 0 and .head_count > 0' >/dev/null || fail "$(row file "$name")"
done
[[ $(row file /v2/src/hash.h | jq -r .verdict) == more ]] || fail "$(row file /v2/src/hash.h)"

# same KEY VALUE ASKED...: each of these has the samples, the verdict and the q of the row of that value.
same() {
	local key=$1 value=$2 asked

	shift 2
	for asked in "$@"; do
		run_any kelvin diff "$base" "$head" --where "$key=$asked" --json where.json
		jq -ne --argjson row "$(row "$key" "$value")" --slurpfile alone where.json '$alone[0].totals
			| .base_ns == $row.base_ns and .head_ns == $row.head_ns and .state == $row.verdict and .q == $row.q' >/dev/null ||
			fail "--where $key=$asked: $(jq -c .totals where.json), and not $(row "$key" "$value")"
	done
}

same file /v2/src/hash.h hash.h src/hash.h v1/src/hash.h v2/src/hash.h "$PWD/v1/src/hash.h" "$PWD/v2/src/hash.h"
same file /v2/src/main.c main.c "$PWD/v1/src/main.c"
same file /v2/src/steps.inc steps.inc v1/src/steps.inc
same line /v2/src/hash.h:1 hash.h:1 v1/src/hash.h:1 "$PWD/v1/src/hash.h:1" "$PWD/v2/src/hash.h:1"
refuses '--where file=ash.h: no sample has this value; there are: ' kelvin diff "$base" "$head" --where file=ash.h

# Of a part, files are the same ones.
run_any kelvin diff "$base" "$head" --where file=v1/src/hash.h --by line --json part.json
jq -e '.groups | length > 0 and all(.value | contains("/v2/src/hash.h:"))' part.json >/dev/null || fail "$(jq -c .groups part.json)"
