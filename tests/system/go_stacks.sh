#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Go changes stacks where it calls C, the vdso and its own run time, and C where it calls Go: callers are on both. Each C function has one
# caller in Go, so that a wrong one shows; the two have frames of the same size, and calls are short.
# STACKS | Go | 1.26; 1.19 to 1.26 by hand | functions and lines; C, callbacks and the vdso have their Go callers where BPF programs may be loaded
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs go
needs gcc
needs jq
use_go_cache
cat >main.go <<'END_OF_GO'
package main

/*
static volatile unsigned long sink;
static void burn(int n) { for (int i = 0; i < n; i++) sink += (unsigned long)i; }
__attribute__((noinline)) static int c_one(int n) { burn(n); return n + (int)sink; }
__attribute__((noinline)) static int c_two(int n) { burn(n); return n - (int)sink; }
extern void goCallback(int);
__attribute__((noinline)) static int c_calls_back(int n) { goCallback(n); return (int)sink; }
*/
import "C"

import (
	"os"
	"syscall"
	"time"
)

var total int

//go:noinline
func goOne(n int) { total += int(C.c_one(C.int(n))) }

//go:noinline
func goTwo(n int) { total += int(C.c_two(C.int(n))) }

//go:noinline
func goSpin(n int) {
	for i := 0; i < n; i++ {
		total += i ^ total
	}
}

//export goCallback
func goCallback(n C.int) { goSpin(int(n)); goOne(int(n)) }

//go:noinline
func goBack(n int) { total += int(C.c_calls_back(C.int(n))) }

//go:noinline
func goClock(n int) {
	for i := 0; i < n; i++ {
		total += int(time.Now().UnixNano() & 1)
	}
}

func main() {
	var used syscall.Rusage
	for used.Utime.Sec*1000000+used.Utime.Usec < 900000 {
		for i := 0; i < 200; i++ {
			switch os.Args[1] {
			case "call":
				goOne(3000)
				goTwo(3000)
			case "back":
				goBack(3000)
			case "clock":
				goClock(100)
			}
		}
		syscall.Getrusage(0, &used)
	}
}
END_OF_GO
cat >go.mod <<'END_OF_MOD'
module stacks

go 1.19
END_OF_MOD

# record FILE PROGRAM CASE: but for the first moments, in which the recorder has not met the program.
record() {
	run 0 kelvin record -D 200 -F 999 -o "$1" -- "./$2" "$3"
}

# percent FILE OF CALLED: of the stacks that have the function CALLED, how many of a thousand have OF before it.
per_thousand() {
	awk -v of="$2" -v called="$3" '$0 ~ called { sum += $NF; if ($0 ~ of) part += $NF }
		END { printf "%d\n", sum ? 1000 * part / sum : -1 }' "$(folded "$1")"
}

has_frames() {
	kelvin doctor | grep -q '^ok   interpreters'
}

# C with its callers in Go, and none with another one's.
expect_calls() {
	record call.pb.gz "$1" call
	at_least "$(per_thousand call.pb.gz 'runtime.goexit;runtime.main;main.main;main.goOne;main._Cfunc_c_one;runtime.cgocall;runtime.asmcgocall;' ';c_one(;| )')" 980 "c_one below goOne in $1"
	at_least "$(per_thousand call.pb.gz 'runtime.goexit;runtime.main;main.main;main.goTwo;main._Cfunc_c_two;runtime.cgocall;runtime.asmcgocall;' ';c_two(;| )')" 980 "c_two below goTwo in $1"
	[[ $(samples_in call.pb.gz 'main.goTwo;.*;c_one|main.goOne;.*;c_two') -eq 0 ]] || fail "$1: C functions below another one's caller"
}

# Go that C calls, and C that it calls again.
expect_callbacks() {
	record back.pb.gz "$1" back
	at_least "$(per_thousand back.pb.gz 'main.main;main.goBack;main._Cfunc_c_calls_back;runtime.cgocall;runtime.asmcgocall;.*crosscall2;runtime.cgocallback;.*main.goCallback;main.goSpin' ';main.goSpin')" 980 "goSpin below C and goBack in $1"
	at_least "$(per_thousand back.pb.gz 'main.main;main.goBack;.*crosscall2;.*main.goCallback;main.goOne;.*asmcgocall;.*c_one' ';c_one(;| )')" 980 "c_one below both ways in $1"
}

expect_clock() {
	record clock.pb.gz "$1" clock
	at_least "$(per_thousand clock.pb.gz 'main.main;main.goClock;(time.Now;)?.*time.now' ';time.now|nanotime1')" 980 "time.now below goClock in $1"
}

build() {
	go build "${@:2}" -o "$1" . 2>build.log || fail "go build: $(head -n 5 build.log)"
}

build plain
if has_frames; then
	expect_calls plain
	expect_callbacks plain
	expect_clock plain
	build static -ldflags '-linkmode external -extldflags -static'
	expect_calls static
	build pie -buildmode=pie
	expect_calls pie
fi

# Where the other stack is not copied, such stacks are not whole, and it is said where they end.
run 0 kelvin record -F 999 --native -o native.pb.gz -- ./plain call
says stderr '^open stacks: [0-9,]+, which nothing cut, .* end at runtime.asmcgocall$'
at_most "$(sed -n 's/.* \([0-9]*\)[.0-9]* % whole stacks/\1/p' stderr)" 20 "percent of whole stacks without Go callers"
run 0 kelvin report native.pb.gz --json native.json
at_least "$(jq '.recording.stops.open' native.json)" 300 "open stacks in JSON"
run 0 kelvin report native.pb.gz --text -
says stdout 'whole stacks, [0-9.]+ % open'

# The second opinion follows Go's frame pointers, on both stacks. Few stacks go on through C again, which it does not follow.
if has_frames; then
	for case in call clock; do
		run 0 kelvin record -F 999 --verify=1 -o verified.pb.gz -- ./plain "$case"
		run 0 kelvin report verified.pb.gz --json verified.json
		# Who is shorter than along frame pointers is not called whole.
		jq -e '([.recording.stops | to_entries[] | select(.key | IN("root", "stitched", "kernel only") | not).value] | add // 0) as $not_whole |
			.verified.stacks | .equal * 100 >= .compared * 95 and .shorter <= $not_whole and (.shorter + .other) * 100 <= .compared and
				.compared > 300' verified.json >/dev/null ||
			fail "$case: $(jq -c .verified.stacks verified.json)"
	done
fi

# Stripped: the names of C are gone, Go's are not.
if has_frames; then
	build stripped -ldflags '-s -w'
	record stripped.pb.gz stripped call
	at_least "$(per_thousand stripped.pb.gz 'main.main;main.go(One|Two);main._Cfunc_c_(one|two);runtime.cgocall;runtime.asmcgocall' 'asmcgocall')" 980 "Go callers of C in a stripped program"
	# Of older versions, whose functions that change stacks keep no frame pointers.
	for old in /usr/lib/go-1.*/bin/go; do
		[[ -x $old ]] || continue
		env -u GOFLAGS GOTOOLCHAIN=local GOCACHE="$work/old-cache" "$old" build -o old . 2>build.log || continue
		expect_calls old
		expect_callbacks old
	done
fi
