#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A Java program has its methods' names and lines without doing anything for it: compiled, inlined and interpreted ones, and the same
# names as its own perf map has.
# STACKS | HotSpot (Java) | JDK 17 and 25; 8 to 25 by hand | methods and lines: compiled, inlined, interpreted, deoptimised
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs java
needs javac
needs jcmd
mkdir -p com/example
cat >com/example/Shares.java <<'END'
package com.example;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.function.LongUnaryOperator;

/* Of each 20 ms of CPU time, 10 in half(), 6 in a lambda and 4 in inlined(), of outer(). */
public class Shares {
	static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
	static long sink;

	static long half(long from) {
		long sum = from;

		for (int i = 0; i < 20000; i++)
			sum = sum * 31 + (i ^ sum >> 7);
		return sum;
	}

	static long inlined(long sum, int count) {
		for (int i = 0; i < count; i++)
			sum = sum * 17 + (i ^ sum >> 5);
		return sum;
	}

	static long outer(long from, int[] weights, String name) {
		long sum = from + name.length() + weights[0];

		for (int i = 0; i < 20; i++)
			sum = inlined(sum, 1000 + i);
		return sum;
	}

	static void work(LongUnaryOperator part, long milliseconds) {
		long end = threads.getCurrentThreadCpuTime() + milliseconds * 1000000;

		while (threads.getCurrentThreadCpuTime() < end)
			sink = part.applyAsLong(sink);
	}

	static void parts(LongUnaryOperator lambda) {
		for (;;) {
			work(Shares::half, 10);
			work(lambda, 6);
			work(from -> outer(from, new int[] { 1 }, "x"), 4);
		}
	}

	public static void main(String[] arguments) {
		parts(from -> {
			long sum = from;

			for (int i = 0; i < 20000; i++)
				sum = sum * 13 + (i ^ sum >> 9);
			return sum;
		});
	}
}
END
javac -g com/example/Shares.java || fail "Shares.java does not compile"

half='long com[.]example[.]Shares[.]half[(]long[)]'
lambda='long com[.]example[.]Shares[.]lambda[$]main[$][0-9]+[(]long[)]'
outer='long com[.]example[.]Shares[.]outer[(]long, int\[\], java[.]lang[.]String[)]'
inlined='long com[.]example[.]Shares[.]inlined[(]long, int[)]'

# near VALUE EXPECTED WHAT: within 8 points; of 500 samples or more that is four standard errors of a half and above.
near() {
	at_least "$1" $(($2 - 8)) "$3"
	at_most "$1" $(($2 + 8)) "$3"
}

# expect_shares FILE HOW: by those samples that are in the three parts of the work.
expect_shares() {
	local part all

	all=$(samples_in "$1" "$half|$lambda|$outer")
	at_least "$all" 300 "samples of the work, $2"
	part=$(samples_in "$1" "$half")
	near $((100 * part / all)) 50 "share of half(), $2"
	part=$(samples_in "$1" "$lambda")
	near $((100 * part / all)) 30 "share of the lambda, $2"
	part=$(samples_in "$1" "$outer")
	near $((100 * part / all)) 20 "share of outer(), $2"
	at_most "$(samples_in "$1" '//anon[+]0x')" $((all / 50)) "samples with frames without a name, $2"
	at_least "$(samples_in "$1" 'void com[.]example[.]Shares[.]main[(]java[.]lang[.]String\[\][)]')" $((all * 98 / 100)) "samples below main(), $2"
}

# Compiled: the parts by themselves, and with debug information for all instructions, without which only those at calls and safepoints tell
# what they were inlined from. It may take a while on a busy machine until they are.
start java -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints -XX:CompileCommand=dontinline,com.example.Shares::half \
	-XX:CompileCommand=dontinline,com.example.Shares::lambda* -XX:CompileCommand=dontinline,com.example.Shares::outer com.example.Shares
for ((end = SECONDS + 50; SECONDS < end;)); do
	record_enough 600 -p "$pid" -o compiled.pb.gz
	[[ $(samples_in compiled.pb.gz "$outer;${inlined}_\\[i]") -lt 50 ]] || break
done
expect_shares compiled.pb.gz "compiled"
at_least "$(samples_in compiled.pb.gz "$outer;${inlined}_\\[i]")" 50 "samples of a method that was inlined"
says_not stderr 'have no names'

# Its own perf map has the same names for what is compiled by itself. HotSpot writes it where it sees /tmp.
jcmd "$pid" Compiler.perfmap >stdout 2>stderr || fail "jcmd writes no perf map"
for name in "$half" "$lambda" "$outer" 'StubRoutines [(][^)]*[)]'; do
	grep -oE "$name" "$(folded compiled.pb.gz)" | sort -u >ours
	[[ -s ours ]] || fail "no $name in the recording"
	grep -oE " $name\$" "/tmp/perf-$pid.map" | cut -c2- | sort -u >theirs
	grep -qxFf theirs ours || fail "$name is called otherwise in the perf map: $(cat theirs)"
done
rm -f "/tmp/perf-$pid.map"
# The line of the loop, which is in no name.
run 0 kelvin report compiled.pb.gz --json report.json
grep -q '"Shares.java"' report.json || fail "no source file in the report"
kill -KILL "$pid"

start java -Xint com.example.Shares
record_enough 600 -p "$pid" -o interpreted.pb.gz
expect_shares interpreted.pb.gz "interpreted"
at_least "$(samples_in interpreted.pb.gz "$outer.*;$inlined")" 30 "samples of a method that is called by the interpreter"
kill -KILL "$pid"
