#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A program whose call graph is known: in ten thousand stacks no function is called by one that does not call it.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

enough=10000 functions=40

can_sample
needs gcc

# callees N: the three functions that function N may call; not itself, so that a frame that is doubled shows.
callees() {
	echo $((($1 * 7 + 3) % functions)) $((($1 * 11 + 5) % functions)) $((($1 + 1) % functions))
}

{
	printf '#include <stdint.h>\n#include <stdlib.h>\n#include <pthread.h>\n#include <time.h>\n'
	printf 'struct walk { uint64_t seed; volatile uint64_t sink; };\n'
	printf '#define FRAME __attribute__((noipa))\ntypedef int function(struct walk *, int);\nstatic function '
	printf 'f0'
	for ((i = 1; i < functions; i++)); do printf ', f%d' "$i"; done
	printf ';\nFRAME static int burn(struct walk *w, int n) { for (int i = 0; i < 40 * n; i++) w->sink += i; return n; }\n'
	printf 'FRAME static uint64_t choose(struct walk *w) { w->seed = w->seed * 6364136223846793005u + 1442695040888963407u; return w->seed >> 33; }\n'
	for ((i = 0; i < functions; i++)); do
		read -r a b c <<<"$(callees "$i")"
		# Frames of different sizes; one in four has room whose size is known only as it runs.
		printf 'FRAME static int f%d(struct walk *w, int depth) {\n\tvolatile char room[%d];\n' "$i" $((8 + i * 24 % 200))
		[[ $((i % 4)) -ne 0 ]] || printf '\tvolatile char *more = __builtin_alloca(16 + choose(w) %% 64);\n\tmore[0] = 1;\n'
		printf '\troom[0] = (char)burn(w, depth);\n\tif (depth == 0) return room[0];\n'
		printf '\tswitch (choose(w) %% 3) {\n\tcase 0: return f%d(w, depth - 1) + room[0];\n' "$a"
		printf '\tcase 1: return f%d(w, depth - 1) * 3 + room[0];\n\tdefault: return f%d(w, depth - 1) - room[0];\n\t}\n}\n' "$b" "$c"
	done
	printf 'FRAME static void *start(void *seed) {\n\tstruct walk w = { .seed = (uint64_t)(uintptr_t)seed };\n'
	printf '\tfor (time_t end = time(NULL) + 60; time(NULL) < end;) w.sink += f0(&w, 24);\n\treturn NULL;\n}\n'
	printf 'int main(void) {\n\tpthread_t thread;\n\tpthread_create(&thread, NULL, start, (void *)7);\n\tstart((void *)9);\n\treturn 0;\n}\n'
} >graph.c
for compiler in gcc clang; do
	command -v "$compiler" >/dev/null || continue
	"$compiler" -O2 -g -fomit-frame-pointer -D"noipa=$([[ $compiler == gcc ]] && echo noipa || echo noinline)" graph.c -o graph -lpthread || fail "$compiler does not compile graph.c"
	start ./graph
	samples=0
	for seconds in 1.2 3 12 32; do
		run 0 kelvin record -p "$pid" -F 4999 -d "$seconds" -o graph.pb.gz
		samples=$(samples_said)
		[[ $samples -lt $enough ]] || break
	done
	kill "$pid"
	at_least "$samples" "$enough" "samples of a program built by $compiler"
	for ((i = 0; i < functions; i++)); do
		for callee in $(callees "$i"); do echo "f$i f$callee"; done
		echo "f$i burn"
		echo "f$i choose"
	done >edges
	echo "start f0" >>edges
	kelvin report graph.pb.gz --folded - >folded
	awk -v own='^(f[0-9]+|burn|choose|start)$' '
		NR == FNR { calls[$1 " " $2] = 1; next }
		{
			count = $NF
			sub(/ [0-9]+$/, "")
			frames = split($0, frame, ";")
			for (i = 2; i <= frames; i++)
				if (frame[i] ~ own && frame[i - 1] ~ own && !((frame[i - 1] " " frame[i]) in calls)) {
					print frame[i - 1] " does not call " frame[i]
					wrong += count
				}
			# From the outside only the thread and main come to start.
			for (i = 2; i <= frames; i++)
				if (frame[i] ~ own && frame[i] != "start" && frame[i - 1] !~ own) {
					print frame[i - 1] " does not call " frame[i]
					wrong += count
				}
		}
		END { exit wrong > 0 }' edges folded >stdout || fail "$compiler: stacks that cannot be"
	says_not folded 'lost|unknown'
	at_least "$(share graph.pb.gz '(main|start_thread|clone3?|libc[^;]*\+0x[0-9a-f]+);start;f0(;|$| )')" 99 "share of stacks that reach the start of their thread"
done
