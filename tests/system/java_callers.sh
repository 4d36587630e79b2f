#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The callers of a Java program are those that it has: below interface and virtual calls, in methods that were compiled while they ran or whose
# code was given up, in native code and in exceptions, by every compiler, in every JDK that is installed.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs java
needs javac
cat >Callers.java <<'END'
import java.util.function.LongUnaryOperator;
import java.util.zip.Deflater;

/* Each method is called by the methods that the table of the test names, and by no others. */
public class Callers {
	interface Op {
		long apply(long x);
	}

	static abstract class Shape {
		abstract long area(long x);
	}

	static long spin(long x, int count) {
		for (int i = 0; i < count; i++)
			x = x * 31 + (i ^ x >> 7);
		return x;
	}

	/* An interface that several classes implement, and a class that several extend: neither compiler knows which is called. */
	static final Op[] ops = { x -> leafI(x), x -> leafI(x + 1), x -> leafI(x + 2), x -> leafI(x + 3) };

	static long leafI(long x) {
		return spin(x, 60);
	}

	static long loopI(long x, int count) {
		for (int i = 0; i < count; i++)
			x = ops[i & 3].apply(x) + 1;
		return x;
	}

	static class ShapeA extends Shape {
		long area(long x) {
			return leafV(x);
		}
	}

	static class ShapeB extends Shape {
		long area(long x) {
			return leafV(x + 1);
		}
	}

	static class ShapeC extends Shape {
		long area(long x) {
			return leafV(x + 2);
		}
	}

	static final Shape[] shapes = { new ShapeA(), new ShapeB(), new ShapeC() };

	static long leafV(long x) {
		return spin(x, 60);
	}

	static long loopV(long x, int count) {
		for (int i = 0; i < count; i++)
			x = shapes[i % 3].area(x) + 1;
		return x;
	}

	/* A loop that is compiled while it runs. */
	static long longLoop(long x) {
		for (int i = 0; i < 2000000; i++)
			x = x * 13 + (i ^ x >> 9);
		return x;
	}

	/* What is compiled holds until a rare object comes, again and again; its code is given up while it runs. */
	static long outerD(long x) {
		long sum = 0;

		for (int i = 0; i < 20; i++)
			sum += leafD(x + i, i);
		return sum;
	}

	static long leafD(long x, int i) {
		Object object = x % 1009 == 0 ? (Object) "text" : (Object) Long.valueOf(x);

		return object instanceof Long ? spin((Long) object + i, 200) : spin(object.hashCode(), 200);
	}

	static final byte[] from = new byte[200000], to = new byte[200000];

	static long copy(long x) {
		for (int i = 0; i < 20; i++)
			System.arraycopy(from, i, to, 100 - i, 199000);
		return x + to[5];
	}

	static long deflate(long x) {
		Deflater deflater = new Deflater(6);

		deflater.setInput(from, 0, 20000);
		deflater.finish();
		deflater.deflate(to);
		deflater.end();
		return x;
	}

	static long catcher(long x) {
		for (int i = 0; i < 100; i++)
			try {
				x = thrower(x, 5);
			} catch (IllegalStateException e) {
				x += e.getStackTrace().length;
			}
		return x;
	}

	static long thrower(long x, int depth) {
		if (depth > 0)
			return thrower(x, depth - 1);
		throw new IllegalStateException("x");
	}

	static long fib(int n) {
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	}

	static double sine(double x) {
		for (int i = 0; i < 2000; i++)
			x += Math.sin(x) + Math.pow(Math.abs(x), 0.3);
		return x;
	}

	static volatile long sink;

	static void part(LongUnaryOperator work, int milliseconds) {
		for (long end = System.nanoTime() + milliseconds * 1000000L; System.nanoTime() < end;)
			sink = work.applyAsLong(sink);
	}

	static void parts() {
		part(x -> loopI(x, 2000), 20);
		part(x -> loopV(x, 2000), 20);
		part(x -> longLoop(x), 10);
		part(x -> outerD(x), 20);
		part(x -> copy(x), 5);
		part(x -> deflate(x), 5);
		part(x -> catcher(x), 10);
		part(x -> fib(20), 10);
		part(x -> (long) sine(x), 5);
	}

	public static void main(String[] arguments) {
		for (;;)
			parts();
	}
}
END
javac -g --release 8 Callers.java 2>stderr || fail "Callers.java does not compile"

# A line for each method: those that may call it. Lambdas of parts() and of the table of operations are told apart by their callers.
cat >callers.txt <<'END'
main -
parts main
part parts
lambda$parts$ part
loopI lambda$parts$
lambda$static$ loopI
leafI lambda$static$
loopV lambda$parts$
area loopV
leafV area
longLoop lambda$parts$
outerD lambda$parts$
leafD outerD
copy lambda$parts$
deflate lambda$parts$
catcher lambda$parts$
thrower catcher thrower
fib lambda$parts$ fib
sine lambda$parts$
spin leafI leafV leafD
<clinit> *
END

# judge FILE: of samples in the program's thread, those in all, those below main(), and those all of whose callers are right.
judge() {
	sed -E 's/_\[[ijk]\]//g' "$(folded "$1")" | awk '
		NR == FNR { for (i = 2; i <= NF; i++) may[$1, $i] = 1; next }
		{
			count = $NF
			sub(/ [0-9]+$/, "")
			frames = split($0, frame, ";")
			is_java = is_right = 0
			first = before = "-"
			for (i = 1; i <= frames; i++) {
				if (frame[i] ~ /anon.0x|^Interpreter$|vtable chunks/)
					is_java = 1
				if (frame[i] !~ /^[a-z]+ Callers(\$Shape[ABC])?[.][a-zA-Z0-9<>$]+[(]/)
					continue
				name = frame[i]
				sub(/[(].*/, "", name)
				sub(/.*[.]/, "", name)
				sub(/[0-9]+$/, "", name)
				if (first == "-") {
					first = name
					is_right = 1
				}
				is_right = is_right && ((name, before) in may || (name, "*") in may)
				before = name
				is_java = 1
			}
			all += is_java * count
			below += (first == "main") * count
			right += is_right * count
		}
		END { print all + 0, below + 0, right + 0 }' callers.txt -
}

# expect_callers WHAT COMMAND...: while a program has only begun, and on a busy machine, some code cannot be read in time.
expect_callers() {
	local what=$1 all=0 below=0 right=0

	shift
	start "$@" Callers
	for ((end = SECONDS + 50; SECONDS < end;)); do
		record_enough 400 -p "$pid" -o callers.pb.gz
		read -r all below right < <(judge callers.pb.gz)
		[[ $all -lt 300 || $((below * 100)) -lt $((all * 99)) || $((right * 100)) -lt $((all * 99)) ]] || break
	done
	kill -KILL "$pid"
	at_least "$all" 300 "samples of $what"
	at_least $((below * 1000 / all)) 990 "of 1,000 samples below main(), of $what"
	at_least $((right * 1000 / all)) 990 "of 1,000 samples with the right callers, of $what"
}

# Those of JDK 8 and later, each once.
mapfile -t machines < <(find /usr/lib/jvm -path '*/bin/java' -exec readlink -f {} + 2>/dev/null | sort -u)
for java in "${machines[@]}"; do
	for options in -XX:+TieredCompilation -XX:TieredStopAtLevel=1; do
		expect_callers "$java $options" "$java" "$options"
	done
done
for options in -XX:-TieredCompilation -Xint -XX:+UseSerialGC -XX:+PreserveFramePointer -Xshare:off; do
	expect_callers "java $options" java "$options"
done
