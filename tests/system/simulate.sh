#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# kelvin simulate: exact counts in exact contexts, equal in two runs; fork and exec are followed; how the command ended is told.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

cat >calls.c <<'C'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int leaf(int n) { int sum = 0; for (int i = 0; i < n; i++) __asm__ volatile("" : "+r"(sum)); return sum; }
__attribute__((noinline)) int one(void) { return leaf(100) + 1; }
__attribute__((noinline)) int many(void) { int sum = 0; for (int i = 0; i < 30; i++) sum += leaf(1000); return sum; }
int main(int count, char **words)
{
	one();
	many();
	if (count > 1 && words[1][0] == 'c') abort();
	if (count > 1 && words[1][0] == 'f') {
		if (fork() == 0) { one(); execv(words[0], (char *[]){ words[0], NULL }); }
		wait(NULL);
	}
	return count > 1 ? atoi(words[1]) : 0;
}
C
cc -O1 -g -fno-optimize-sibling-calls -o calls calls.c || fail "the program is not built"

# value FILE STACK: the instructions of all stacks that contain it, one frame behind the other.
value() {
	run 0 kelvin report "$1" --metric instructions --folded
	awk -v stack="$2" 'index($0, stack) { sum += $NF } END { print sum + 0 }' stdout
}

run 0 kelvin simulate -o a.pb.gz -- ./calls
says stderr 'instructions, .* cycles \(estimated\) in 1 process$'
says stderr '^cycles: 0.5 for most instructions'
once=$(value a.pb.gz 'main;one;leaf')
often=$(value a.pb.gz 'main;many;leaf')
# A loop of 100 or 1,000 rounds takes the same number of instructions a round, and a few around it.
at_least "$((once / 100))" 2 "instructions of a round"
at_least "$((300 * once - often))" 0 "instructions of 300 short calls beyond those of 30 long ones"
at_least "$((often * 100 / (300 * once)))" 90 "share of 30 long calls in 300 short ones"

run 0 kelvin simulate -q -o b.pb.gz -- ./calls
[[ ! -s stderr ]] || fail "-q says something"
run 0 kelvin diff a.pb.gz b.pb.gz --metric instructions --text
says stdout '^Unchanged'
[[ $(value b.pb.gz 'main;many;leaf') == "$often" ]] || fail "two runs differ"

run 0 kelvin simulate -o c.pb.gz -- ./calls fork
says stderr 'in 2 processes$'
# Its own, that of the child before it executes, and that of the program that it executes.
[[ $(value c.pb.gz 'main;one;leaf') == "$((3 * once))" ]] || fail "fork and exec are not followed"

run 134 kelvin simulate -o d.pb.gz -- ./calls crash
[[ $(value d.pb.gz 'main;many;leaf') == "$often" ]] || fail "a crash loses counts"
run 7 kelvin simulate -o e.pb.gz -- ./calls 7
run 127 kelvin simulate -o f.pb.gz -- ./nothing
run 126 kelvin simulate -o f.pb.gz -- "$PWD/calls.c"
cp calls rights && chmod u+s rights
run 126 kelvin simulate -o f.pb.gz -- ./rights
says stderr 'is setuid'
run 2 kelvin simulate --cache 32k:7,, -- ./calls
says stderr 'power of two'
run 0 kelvin simulate -o - --runs 2 -- ./calls
mv stdout runs.pb.gz
[[ $(value runs.pb.gz 'main;many;leaf') == "$((2 * often))" ]] || fail "two runs are not twice one"

# Folded, direct and mutual recursion have few contexts, and each function what it executed.
cat >recursion.c <<'C'
__attribute__((noinline)) int walk(int n) { return n < 2 ? n : walk(n - 1) + walk(n - 2); }
__attribute__((noinline)) int odd(int n);
__attribute__((noinline)) int even(int n) { return n == 0 ? 1 : odd(n - 1) + 1; }
__attribute__((noinline)) int odd(int n) { return n == 0 ? 0 : even(n - 1) + 1; }
int main(void) { return walk(16) + even(200) == 0; }
C
cc -O1 -g -fno-optimize-sibling-calls -o recursion recursion.c || fail "the program is not built"
run 0 kelvin simulate -q -o unfolded.pb.gz -- ./recursion
run 0 kelvin simulate -q -o folded.pb.gz --fold-recursion -- ./recursion
for form in unfolded folded; do
	run 0 kelvin report $form.pb.gz --metric instructions --folded
	mv stdout $form.stacks
	awk '{ name = $0; sub(/ [0-9]+$/, "", name); sub(/.*;/, "", name); if (name ~ /^(walk|odd|even)/) sums[name] += $NF; all += $NF }
		END { for (name in sums) print name, sums[name]; print "all", all }' $form.stacks | sort >$form.sums
done
diff unfolded.sums folded.sums >/dev/null || fail "folding changes sums: $(paste unfolded.sums folded.sums)"
[[ $(grep -cE 'walk|even' folded.stacks) -le 12 ]] || fail "a folded recursion has $(grep -cE 'walk|even' folded.stacks) contexts"
at_least "$(grep -cE 'walk|even' unfolded.stacks)" 200 "contexts that are not folded"
run 2 kelvin bench --fold-recursion ./calls ./calls
says stderr 'give --simulate'

mkdir temporary
TMPDIR=$PWD/temporary run 0 kelvin simulate -q -o a.pb.gz -- ./calls
[[ $(find temporary -mindepth 1) == "temporary/kelvin-$(id -u)" ]] || fail "temporary files are left behind: $(find temporary)"

# A signal ends the command, and what was counted is kept.
start "$KELVIN" simulate -q -o k.pb.gz -- sh -c ': >begun; while :; do :; done'
wait_until "the command runs" test -e begun
kill -TERM "$pid"
code=0
wait "$pid" || code=$?
[[ $code -eq 143 ]] || fail "exit code $code after SIGTERM"
run 0 kelvin report k.pb.gz --text
says stdout 'cycles'

# Of a suite only what its harness switches on is counted, each benchmark for itself; what the harness says it is, is no benchmark.
if printf '#include <valgrind/callgrind.h>\n' | cc -E - >/dev/null 2>&1; then
	cat >suite.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>
static volatile int sum;
__attribute__((noinline)) void parse(void) { for (int i = 0; i < 20000; i++) sum += i; }
__attribute__((noinline)) void print(void) { for (int i = 0; i < 10000; i++) sum ^= i; }
__attribute__((noinline)) void set_up(void) { for (int i = 0; i < 90000; i++) sum -= i; }
int main(void)
{
	const char *mode = getenv("CODSPEED_RUNNER_MODE");
	if (!mode || strcmp(mode, "instrumentation") || !getenv("CODSPEED_ENV") || !getenv("CODSPEED_PROFILE_FOLDER")) return 9;
	CALLGRIND_DUMP_STATS_AT("Metadata: a-harness 1.2");
	set_up();
	CALLGRIND_START_INSTRUMENTATION; parse(); CALLGRIND_STOP_INSTRUMENTATION;
	CALLGRIND_DUMP_STATS_AT("suite.c::parse");
	set_up();
	CALLGRIND_START_INSTRUMENTATION; print(); CALLGRIND_STOP_INSTRUMENTATION;
	CALLGRIND_DUMP_STATS_AT("suite.c::print");
	return 0;
}
C
	cc -O1 -g -o suite suite.c || fail "the suite is not built"
	run 0 kelvin simulate --benchmarks -o suite.pb.gz -- ./suite
	[[ $(value suite.pb.gz set_up) -eq 0 ]] || fail "what is no benchmark was counted"
	parse=$(value suite.pb.gz parse)
	at_least "$((2 * $(value suite.pb.gz print)))" "$((parse - parse / 10))" "instructions of print against half of parse's"
	run 0 kelvin report suite.pb.gz --json
	says stdout '"harness": ?"a-harness 1\.2"'
	says stdout '"uri": ?"suite\.c::parse"'
	says_not stdout 'Metadata'
	run 125 kelvin simulate --benchmarks -o none.pb.gz -- true
	says stderr 'no benchmark was met'
fi

# A repeated string instruction moves 32 bytes a cycle, not one: a loop that a copy of memory takes the place of gets faster, as it does on
# a processor.
if [[ $(uname -m) == x86_64 ]]; then
	cat >copies.c <<'C'
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) void copy(void *to, const void *from, size_t size)
{
#ifdef BY_WORDS
	for (size_t i = 0; i < size / 8; i++) { ((volatile long *)to)[i] = ((const volatile long *)from)[i]; }
#else
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) :: "memory");
#endif
}
int main(int count, char **words)
{
	size_t size = (size_t)atoi(words[1]);
	char *a = calloc(1, size), *b = calloc(1, size);
	for (int i = 0; i < 20; i++) { copy(b, a, size); }
	return b[size / 2];
}
C
	cc -O1 -g -DBY_WORDS -o by_words copies.c || fail "the program is not built"
	cc -O1 -g -o by_string copies.c || fail "the program is not built"
	for size in 4096 1000000; do
		run 0 kelvin simulate -o words.pb.gz -- ./by_words $size
		run 0 kelvin simulate -o string.pb.gz -- ./by_string $size
		run_any kelvin diff words.pb.gz string.pb.gz --metric cycles --json d.json
		jq -e '[.functions[] | select(.name == "copy")][0] | .delta_self_pct_of_base < -20' d.json >/dev/null ||
			fail "a copy of $size bytes by rep movsb: $(jq -c '[.functions[] | select(.name == "copy")][0].delta_self_pct_of_base' d.json) %"
	done
fi
