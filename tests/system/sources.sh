#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The source as it was: which text a recording keeps, when, and what it says of it.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs gcc

# has FILE TEXT / has_not: whether a profile keeps a line with this text.
has() {
	gzip -dc "$1" | grep -aqF -- "$2" || fail "$1 does not have '$2'"
}
has_not() {
	! gzip -dc "$1" | grep -aqF -- "$2" || fail "$1 has '$2'"
}

# version NAME: the source tree of a version, and the program that is built of it, as a deploy makes both.
version() {
	rm -rf tree.new
	mkdir -p tree.new/src
	cat >tree.new/src/slow.h <<END
/* inlined of $1 */
static inline unsigned long mix_it(unsigned long sum, unsigned long i)
{
	return sum * 31 + (i ^ (sum >> 7)); /* mixed of $1 */
}
END
	cat >tree.new/src/main.c <<END
#include <stdlib.h>
#include "slow.h"

/* two lines above of $1 */
/* the line above of $1 */
__attribute__((noinline)) unsigned long slow(unsigned long n)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++)
		sum = mix_it(sum, i); /* hot of $1 */
	return sum; /* end of $1 */
}

/* never sampled of $1 */
int never(void)
{
	return 42; /* cold of $1 */
}

int main(int argc, char **argv)
{
	static volatile unsigned long sink;

	sink = slow(argc > 1 ? strtoul(argv[1], NULL, 0) : 100000000UL);
	return 0;
}
END
	rm -rf tree && mv tree.new tree
	gcc -g -O2 -o tree/program "$PWD/tree/src/main.c"
}

# ---- Both versions, after the tree was replaced ----

version v1
cp tree/program running
start ./running 100000000000
record_enough 100 -p "$pid" --project-root "$PWD/tree" -o v1.pb.gz
has v1.pb.gz '/* hot of v1 */'
has v1.pb.gz '/* mixed of v1 */'
has v1.pb.gz '/* two lines above of v1 */'
has v1.pb.gz '/* end of v1 */'
has_not v1.pb.gz 'cold of v1'
says stderr '^source text of [23] functions kept, 1 kB$'
version v2
run 0 kelvin record --project-root "$PWD/tree" -o v2.pb.gz -- tree/program
has v2.pb.gz '/* hot of v2 */'
has v1.pb.gz '/* hot of v1 */'
has_not v2.pb.gz 'of v1'

# The old program, whose source is gone: what is there now may differ, and is said to.
record_enough 100 -p "$pid" --project-root "$PWD/tree" -o late.pb.gz
says stderr '; [12] files? may differ from what was built$'
stop "$pid"

# ---- Which text ----

run 0 kelvin record -o none.pb.gz -- tree/program
has_not none.pb.gz 'hot of v2'
says_not stderr 'source text'
run 0 kelvin record --sources -o all.pb.gz -- tree/program
has all.pb.gz 'hot of v2'
run 0 kelvin record --sources --no-sources -o no.pb.gz -- tree/program
has_not no.pb.gz 'hot of v2'
run 0 kelvin record --project-root "$PWD/elsewhere" -o elsewhere.pb.gz -- tree/program
has_not elsewhere.pb.gz 'hot of v2'

# Runs of one build share the text.
run 0 kelvin record --runs 2 --project-root "$PWD/tree" -o runs.pb.gz -- tree/program
[[ $(gzip -dc runs.pb.gz | grep -acF 'hot of v2') -eq 1 ]] || fail "two runs keep the text twice"

# A text that is there is a profile like any other for other readers.
run 0 kelvin report v2.pb.gz --text
run_any kelvin diff v1.pb.gz v2.pb.gz --text

# ---- What debug information proves ----

# clang writes the MD5 of each file (DWARF 5): a file that was only touched is the build's, whatever its time says.
if command -v clang >/dev/null; then
	clang -gdwarf-5 -O1 -o proven "$PWD/tree/src/main.c"
	touch tree/src/main.c tree/src/slow.h
	run 0 kelvin record --sources -o touched.pb.gz -- ./proven
	has touched.pb.gz 'hot of v2'
	says stderr '^source text of [0-9]+ functions? kept, [0-9]+ kB$'
	echo '/* changed */' >>tree/src/main.c
	run 0 kelvin record --sources -o changed.pb.gz -- ./proven
	says stderr '; [12] files? may differ from what was built$'
	if clang -gdwarf-5 -gembed-source -O1 -o embedded "$PWD/tree/src/main.c" 2>/dev/null; then
		rm -r tree
		run 0 kelvin record --sources -o embedded.pb.gz -- ./embedded
		has embedded.pb.gz 'hot of v2'
		says stderr '^source text of [0-9]+ functions? kept, [0-9]+ kB$'
	fi
fi

# ---- Scripts ----

if command -v python3 >/dev/null; then
	cat >script.py <<'END'
def burn(n):
    total = 0
    for i in range(n):
        total = total * 3 % 1000003 + i  # hot line of a script
    return total


print(burn(2000000))
END
	run 0 kelvin record --sources -o script.pb.gz -- python3 script.py
	# Where the interpreter's frames are read, its functions have files.
	if kelvin report script.pb.gz --folded - 2>/dev/null | grep -q 'py::burn'; then
		has script.pb.gz 'hot line of a script'
	fi
fi

# ---- Limits: text that is much, or none ----

{
	echo 'static volatile unsigned long sink;'
	for ((i = 0; i < 200; i++)); do
		printf 'static void f%d(void)\n{\n' "$i"
		for ((k = 0; k < 150; k++)); do printf '\tsink += %d; /* %0100d */\n' "$k" "$k"; done
		printf '}\n'
	done
	printf 'int main(void)\n{\n\tfor (int i = 0; i < 6000; i++) {\n'
	for ((i = 0; i < 200; i++)); do printf '\t\tf%d();\n' "$i"; done
	printf '\t}\n\treturn 0;\n}\n'
} >much.c
gcc -g -O0 -o much much.c
run 0 kelvin record --sources -o much.pb.gz -- ./much
says stderr 'source text of [0-9]+ functions kept, (19|20)[0-9][0-9] kB'
