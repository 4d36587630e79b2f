#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The recipes of docs/layouts.md: functions keep their code and move; equal sources in several layouts are no change.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs jq
needs cc
needs clang
needs ld.lld
needs go
needs nm

cat >work.c <<'C'
#include <stdint.h>
__attribute__((noinline)) uint32_t parse(uint32_t s) { for (int i = 0; i < 60000; i++) s = s * 1664525u + (s >> 7); return s; }
__attribute__((noinline)) uint32_t mix(uint32_t s) { for (int i = 0; i < 40000; i++) { s ^= s << 13; s ^= s >> 17; } return s; }
__attribute__((noinline)) uint32_t collatz(uint32_t n) { uint32_t s = 0; while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; s++; } return s; }
C
cat >main.c <<'C'
#include <stdint.h>
uint32_t parse(uint32_t), mix(uint32_t), collatz(uint32_t);
int main(void)
{
	volatile uint32_t s = 1;
	for (uint32_t i = 1; i < 120; i++) {
		s = parse(s) + mix(s);
		for (uint32_t k = 1; k < 1500; k++) s += collatz(k);
	}
	return 0;
}
C
for i in $(seq 12); do echo "void pad$i(void) { __asm__ volatile(\".skip $((13 + i * 7)), 0x90\"); }"; done >pad.c

# moved PROGRAM FUNCTION: in its three layouts the function has several places.
moved() {
	local places

	places=$(for layout in 1 2 3; do nm "$1-$layout" | awk -v name="$2" '$3 == name { print $1 }'; done | sort -u | wc -l)
	at_least "$places" 2 "places of $2 in three layouts of $1"
}

# same PROGRAM: what Kelvin says of the code of two of its layouts, both of which it runs.
same() {
	run_any kelvin bench "./$1-1" "./$1-2" --runs 3 --json "$1.json" -q
	jq -e --arg name "$2" '[.functions[] | select(.name == $name)] | length == 1 and .[0].code == "same"' "$1.json" >/dev/null ||
		fail "the code of $2 in two layouts of $1: $(jq -c --arg name "$2" '.functions[] | select(.name == $name) | .code' "$1.json")"
	jq -e '.verdict != "regressed" and .verdict != "improved" and .verdict != "mixed"' "$1.json" >/dev/null ||
		fail "two layouts of $1 are $(jq -r .verdict_text "$1.json")"
}

# ---- lld, with gcc and clang ----

for layout in 1 2 3; do
	for compiler in gcc clang; do
		"$compiler" -O1 -g -ffunction-sections -fuse-ld=lld -Wl,--build-id -Wl,--shuffle-sections='.text*='$layout -o $compiler-$layout \
			main.c work.c pad.c 2>errors || fail "$compiler: $(<errors)"
	done
done
moved gcc collatz
moved clang collatz
same gcc collatz
same clang collatz

# ---- GNU ld, by the order of objects ----

for part in parse mix collatz; do
	sed -n "1p;/ $part(/p" work.c >$part.c
done
cc -O1 -g -c main.c parse.c mix.c collatz.c pad.c || fail "cannot compile"
for layout in 1 2 3; do
	# shellcheck disable=SC2046
	cc -Wl,--build-id -o objects-$layout $(printf '%s\n' ./*.o | shuf --random-source=<(yes $layout)) || fail "cannot link"
done
moved objects collatz
same objects collatz

# ---- Rust, where there is one ----

if command -v rustc >/dev/null; then
	cat >work.rs <<'RUST'
#[inline(never)]
fn collatz(mut n: u32) -> u32 {
    let mut s = 0;
    while n != 1 {
        n = if n & 1 == 1 { 3 * n + 1 } else { n / 2 };
        s += 1;
    }
    s
}

fn main() {
    let mut t = 0u32;
    for _ in 0..40 {
        for i in 1..9000 {
            t = t.wrapping_add(collatz(std::hint::black_box(i)));
        }
    }
    std::process::exit((t == 1) as i32);
}
RUST
	for layout in 1 2 3; do
		rustc -O -g -C symbol-mangling-version=v0 -C link-arg=-fuse-ld=lld -C link-arg=-Wl,--build-id \
			-C link-arg=-Wl,--shuffle-sections='.text*='$layout -o rust-$layout work.rs 2>errors || fail "rustc: $(<errors)"
	done
	at_least "$(for layout in 1 2 3; do nm rust-$layout | awk '/7collatz$/ { print $1 }'; done | sort -u | wc -l)" 2 "places of collatz in Rust"
	same rust work::collatz
fi

# ---- Go ----

mkdir program
cat >program/main.go <<'GO'
package main

import "os"

//go:noinline
func Collatz(n uint32) uint32 {
	s := uint32(0)
	for n != 1 {
		if n&1 == 1 {
			n = 3*n + 1
		} else {
			n /= 2
		}
		s++
	}
	return s
}

func main() {
	t := uint32(0)
	for r := 0; r < 40; r++ {
		for i := uint32(1); i < 9000; i++ {
			t += Collatz(i)
		}
	}
	if t == 1 {
		os.Exit(1)
	}
}
GO
printf 'module layouts\n' >program/go.mod
if (cd program && GOFLAGS=-mod=mod go build -ldflags=-randlayout=1 -o ../go-1 .) 2>errors; then
	for layout in 2 3; do
		(cd program && GOFLAGS=-mod=mod go build -ldflags=-randlayout=$layout -o ../go-$layout .) || fail "go build"
	done
	moved go main.Collatz
	same go main.Collatz
else
	# Debian 12 has a Go from before the flag.
	grep -q randlayout errors || fail "go build: $(<errors)"
fi

# ---- A comparison of layouts ----

# shellcheck disable=SC2016
build='gcc -O1 -g -ffunction-sections -fuse-ld=lld -Wl,--build-id -Wl,--shuffle-sections=.text*=$KELVIN_LAYOUT -o built-{layout} main.c work.c pad.c'
run_any kelvin bench './built-{layout}' './built-{layout}' --layouts 3 --build-base "$build" --build-head "$build" --json a.json --text
says stdout 'measured in several layouts of its code \(3 and 3\): layout alone moves this program by ± [0-9.]+ %'
says_not stderr 'the same bytes'
says_not stderr 'differ in their code'
jq -e '.verdict != "regressed" and .verdict != "improved" and .layouts.base == 3 and .layouts.spread_pct < 50' a.json >/dev/null ||
	fail "$(jq -c '.verdict_text, .layouts' a.json)"
jq -e '[.functions[] | select(.name == "collatz")] | length == 1 and .[0].layout_spread_pct != null and .[0].module == "built-{layout}"' \
	a.json >/dev/null || fail "collatz is not one function of all layouts: $(jq -c '[.functions[] | select(.name == "collatz")]' a.json)"
# So it is behind a link, and where a shell runs it.
for layout in 1 2 3; do ln -s "$PWD/built-$layout" "link-$layout"; done
run_any kelvin bench "sh -c './link-{layout}; true'" './link-{layout}' --layouts 3 --runs 3 --metric cpu --json b.json
jq -e '[.functions[] | select(.name == "collatz").base_self_ns > 0] | length == 1' b.json >/dev/null ||
	fail "collatz is not one function: $(jq -c '[.functions[] | select(.name == "collatz")]' b.json)"
