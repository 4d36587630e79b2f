#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Memory that is out ends a command with a message that names the file and what was needed, and leaves whole files: the new ones, or those before.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# stacks FACTOR: 4,000 stacks of names that no two share.
stacks() {
	awk -v factor="$1" 'BEGIN {
		for (i = 0; i < 4000; i++)
			printf "main;run_%d;%s_%d;leaf_%d %d\n", i % 100, "a_function_with_a_name_that_is_as_long_as_those_of_templates", i, i, i % 7 * factor + 1
	}'
}
stacks 1 >base.folded
stacks 3 >head.folded
mkdir out

# within KILOBYTES COMMAND...: its exit code, in at most so much memory.
within() {
	(ulimit -v "$1" && shift && "$@") >stdout 2>stderr
}

# The least that the program starts in.
for ((least = 4000; ; least += 1000)); do
	within "$least" "$KELVIN" --version 2>/dev/null && break
	[[ $least -lt 1000000 ]] || fail "it does not start in $least kB"
done

out_of_memory=0
for ((more = 0; ; more += 1000)); do
	echo before | tee out/page.html >out/all.json
	within $((least + more)) "$KELVIN" diff base.folded head.folded -o out/page.html --json out/all.json
	code=$?
	[[ $(ls out) == $'all.json\npage.html' ]] || fail "within $more kB more: a file was left beside the outputs: $(ls out)"
	for file in page.html all.json; do
		grep -qx before "out/$file" || tail -n 1 "out/$file" | grep -qE '^(</html>|.*})$' ||
			fail "within $more kB more: $file is not whole"
	done
	[[ $code != 3 ]] || break
	[[ $code == 2 ]] || fail "within $more kB more: exit code $code"
	[[ -s stderr ]] || fail "within $more kB more: nothing is said"
	# Where memory is out before the worker begins, there is no file to name, or no process.
	grep -qE '^kelvin: cannot read .*base.folded.*: out of memory: [0-9]+ more bytes were needed, beside [0-9]+ in use, and ' stderr &&
		((out_of_memory++))
	[[ $more -lt 1000000 ]] || fail "it needs more than a gigabyte"
done
[[ $out_of_memory -gt 2 ]] || fail "memory was out $out_of_memory times"
grep -qx before out/page.html out/all.json && fail "an output is missing"
exit 0
