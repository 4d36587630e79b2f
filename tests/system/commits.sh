#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# diff --commits: which commit of a range changed the code that is proven to differ, on repositories made here; and which are not to blame.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

command -v git >/dev/null || skip "git is not installed"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=n@n GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=n@n
declare -A at

# save NAME: everything as a commit of that name, whose id is in at[NAME].
save() {
	git -C r add -A
	git -C r commit -q --allow-empty -m "$1" || fail "no commit $1"
	at[$1]=$(git -C r rev-parse HEAD)
}

# profile NAME [FLAGS]: counts what the program of a commit executes, in NAME.pb.gz. Counts are exact: nothing here is noise.
profile() {
	rm -rf "tree/$1"
	mkdir -p "tree/$1"
	git -C r archive "${at[$1]}" | tar -x -C "tree/$1"
	# shellcheck disable=SC2086
	(cd "tree/$1" && cc -O1 -g ${2:-} -fno-ipa-icf -o ../../program ./*.c) || fail "$1 is not built"
	run 0 kelvin simulate -o "${3:-$1}.pb.gz" -- ./program
}

# suspects BASE HEAD [RANGE]: the subjects of the commits that are suspected, the first one first, on a line.
suspects() {
	run_any kelvin diff "$1.pb.gz" "$2.pb.gz" --commits "${3:-${at[$1]}..${at[${2%-flags}]}}" --repo r --json
	jq -r '[.commits[].subject] | join(",")' stdout
}

# expect SUSPECTS BASE HEAD [RANGE]
expect() {
	local expected=$1 found

	shift
	found=$(suspects "$@") || exit 1
	[[ $found == "$expected" ]] || fail "$*: suspects are '$found', and not '$expected'"
}

# blameless NAME...: commits that touched no code that was executed, of the last diff.
blameless() {
	local name

	for name in "$@"; do
		jq -e --arg id "${at[$name]}" '.commits_not_executed | index($id)' stdout >/dev/null || fail "$name touched code that was executed"
	done
}

git init -q r
cat >r/mix.h <<'C'
static inline unsigned mix(unsigned a, unsigned b)
{
	a ^= b * 0x9e3779b9u;
	a = a << 13 | a >> 19;
	return a;
}
C
cat >r/lib.c <<'C'
#include "mix.h"
#include "lib.h"

/* Counts the words. */
unsigned parse(const char *text, unsigned size)
{
	unsigned words = 0;

	for (unsigned i = 0; i < size; i++)
		if (text[i] == ' ')
			words++;
	return words;
}

unsigned hash(const char *text, unsigned size)
{
	unsigned sum = 7;

	for (unsigned i = 0; i < size; i++)
		sum = mix(sum, (unsigned char)text[i]);
	return sum;
}

int never(int a)
{
	if (a > 3)
		return a * 2;
	return a;
}
C
cat >r/lib.h <<'C'
unsigned parse(const char *text, unsigned size);
unsigned hash(const char *text, unsigned size);
int never(int a);
C
cat >r/main.c <<'C'
#include "lib.h"
#include <string.h>

static char text[20000];

int main(int count, char **words)
{
	unsigned sum = 0;

	(void)words;
	memset(text, 'a', sizeof(text));
	for (int i = 0; i < 20; i++)
		sum += parse(text, sizeof(text)) + hash(text, sizeof(text));
	if (count > 100)
		sum += (unsigned)never(count);
	return sum == 1;
}
C
save start
echo "Words." >r/README
save documents
sed -i 's/sum = mix(sum, (unsigned char)text\[i\]);/sum = mix(mix(sum, i), (unsigned char)text[i]);/' r/lib.c
save slow
sed -i 's|	unsigned sum = 7;|	/* The seed is\n	 * any number. */\n	unsigned sum = 7;|' r/lib.c
save comment
sed -i 's/^	/    /; s/^\(unsigned hash(const char \*text,\) /\1\n              /' r/lib.c
save layout
git -C r mv lib.c core.c
save rename
python3 - <<'P'
text = open("r/core.c").read()
at, end = text.index("unsigned hash("), text.index("int never(")
open("r/hash.c", "w").write('#include "mix.h"\n#include "lib.h"\n\n' + text[at:end])
open("r/core.c", "w").write(text[:at] + text[end:])
P
save move
sed -i 's/return a \* 2;/return a * 3;/' r/core.c
save unused
git -C r checkout -q -b side
sed -i 's/a > 3/a > 4/' r/core.c
save beside
git -C r checkout -q -
sed -i 's/words = 0/words = 1/' r/core.c
save cold
git -C r merge -q --no-edit side || fail "no merge"
at[merge]=$(git -C r rev-parse HEAD)
profile start
profile merge

# One of ten is it, through a rename, a move to another file, another layout, comments, and a merge.
expect slow start merge
blameless documents unused merge
[[ $(jq '.commits[0].share_pct | round') -gt 90 ]] <stdout || fail "the share is $(jq '.commits[0].share_pct' stdout)"
[[ $(jq -c '.commits[0] | [.functions, .rank, .executed]' stdout) == '[["hash"],1,true]' ]] || fail "$(jq -c '.commits[0]' stdout)"
run_any kelvin diff start.pb.gz merge.pb.gz --commits "${at[start]}..${at[merge]}" --repo r --text --markdown comment.md
says stdout "^Commits: ${at[slow]:0:10} is the first suspect: it changed hash, [0-9]+ % of the proven increase: slow\.$"
says stdout "^[0-9]+ of 9 commits touched no code that was sampled\.$"
says comment.md "^\*\*Commits\*\*: .*${at[slow]:0:10} is the first suspect"
# Of a part that somebody asks about, too.
run_any kelvin diff start.pb.gz merge.pb.gz --commits "${at[start]}..${at[merge]}" --repo r --focus hash --text
says stdout "^Commits: ${at[slow]:0:10} is the first suspect: it changed hash"
says stdout 'touched no code that was sampled in this part\.$'
# Before it, nothing happened; behind it, nothing but what says nothing.
expect "" start merge "${at[slow]}..${at[merge]}"
says_not stdout '"commits_text": ".*first suspect'

# What is taken back is nobody's fault; what comes again is that of who made it first. Two commits share a function.
sed -i 's/words++;/words += mix(i, 3) \& 1;/; s/text\[i\] == . ./text[i] != 32/; s/#include "lib.h"/#include "mix.h"\n&/' r/core.c
save other
git -C r revert --no-edit HEAD >/dev/null || fail "no revert"
at[revert]=$(git -C r rev-parse HEAD)
sed -i 's/    return words;/    for (unsigned i = 0; i < size; i++)\n        words ^= text[i];\n    return words;/' r/core.c
save loop
sed -i 's/        words ^= text\[i\];/        words ^= text[i] * i + (words >> 3);/' r/core.c
save longer
profile longer
expect longer,loop merge longer
profile revert
expect "" merge revert
says stdout 'nothing is proven to differ'

# Code of a header, which is inlined everywhere, is that of the header.
sed -i 's/	return a;/	a *= 5;\n	a ^= a >> 7;\n	a *= 9;\n	return a;/' r/mix.h
save header
profile header
expect header longer header
# Other flags are no commit; nor is what a library does.
at[flags]=${at[header]}
echo 'Other words.' >r/README
save words
profile words "-O0" words-flags
expect "" header words-flags
says stdout 'no commit of the range touched sampled code that is proven to differ: flags, data or a dependency'
blameless words

main=$(git -C r symbolic-ref --short HEAD)
# A branch that was brought up to date with base: what that merge brought is no difference to base.
git -C r checkout -q -b old "${at[merge]}"
sed -i 's/unsigned sum = 7;/unsigned sum = 7 + parse(text, size);/' r/hash.c
save branch
git -C r checkout -q -b newer "${at[merge]}"
sed -i 's/mix(mix(sum, i), /mix(mix(sum, i + 1), /' r/hash.c
save ahead
profile ahead
git -C r checkout -q old
git -C r merge -q --no-edit newer || fail "no merge of newer"
at[updated]=$(git -C r rev-parse HEAD)
profile updated
expect branch ahead updated
git -C r checkout -q "$main"

# Ranges that are none.
run_any kelvin diff start.pb.gz merge.pb.gz --commits "${at[merge]}..${at[merge]}" --repo r --text
says stderr 'both are the same commit$'
says stdout '^Commits: the range has no commits\.$'
run_any kelvin diff start.pb.gz merge.pb.gz --commits "${at[merge]}..${at[start]}" --repo r --text
says stderr 'its second commit is older than the first; write it the other way round$'
run_any kelvin diff start.pb.gz merge.pb.gz --commits "${at[beside]}..${at[longer]}" --repo r --text
git -C r branch apart "${at[documents]}"
run_any kelvin diff start.pb.gz merge.pb.gz --commits "side~0..${at[cold]}" --repo r --text
says stderr 'the first commit is no ancestor of the second'
refuses "has no commit 'nothing'" kelvin diff start.pb.gz merge.pb.gz --commits "nothing..HEAD" --repo r
for range in HEAD ..HEAD A...B A..B..C; do
	refuses 'write A\.\.B' kelvin diff start.pb.gz merge.pb.gz --commits "$range" --repo r
done
refuses 'for --commits' kelvin diff start.pb.gz merge.pb.gz --confirm true
mkdir empty
refuses 'is in no git repository|not a git repository|no repository' kelvin diff start.pb.gz merge.pb.gz --commits A..B --repo empty

# A shallow clone says what is missing, and goes on with what there is.
git clone -q --depth 3 "file://$PWD/r" shallow
refuses 'shallow clone.*fetch --unshallow' kelvin diff start.pb.gz header.pb.gz --commits "${at[start]}..HEAD" --repo shallow
git -C shallow fetch -q --depth 1 origin "${at[longer]}"
git -C r config uploadpack.allowAnySHA1InWant true
git -C shallow fetch -q --depth 1 origin "${at[start]}" || fail "no fetch"
run_any kelvin diff start.pb.gz header.pb.gz --commits "${at[start]}..${at[header]}" --repo shallow --text
says stderr 'shallow clone, which lacks commits of the range.*fetch --unshallow$'

# A repository starts nothing.
cat >trap.sh <<'S'
#!/bin/sh
touch "$(dirname "$0")/sprung"
cat
S
chmod +x trap.sh
git -C r config diff.external "$PWD/trap.sh"
git -C r config diff.c.textconv "$PWD/trap.sh"
git -C r config diff.c.command "$PWD/trap.sh"
git -C r config core.fsmonitor "$PWD/trap.sh"
git -C r config core.pager "$PWD/trap.sh"
echo '*.c diff=c filter=c' >r/.git/info/attributes
expect slow start merge
[[ ! -e sprung ]] || fail "git started a program that the repository names"

# A macro is code of the functions that name it, also by way of another one; what none of them names is not.
mv r before
git init -q r
cat >r/main.c <<'C'
#define UNUSED(a) ((a) + 1)
#define ROUND(a) ((a) * 31u + 7u)
#define STEP(a, b) \
	do { \
		(a) = ROUND(a) ^ (b); \
	} while (0)

__attribute__((noinline)) static unsigned fold(unsigned n)
{
	unsigned sum = 1;

	for (unsigned i = 0; i < n; i++)
		STEP(sum, i);
	return sum;
}

int main(void)
{
	return fold(100000) == 3;
}
C
save first
sed -i 's/UNUSED(a) ((a) + 1)/UNUSED(a) ((a) + 2)/' r/main.c
save unused
sed -i 's/define ROUND(a) .*/define ROUND(a) (((a) * 31u + 7u) % 1009u + (a) \/ 3u)/' r/main.c
save inner
sed -i 's/ROUND(a) ^ (b);/ROUND(a) ^ (b); (a) = ROUND(a) + (b) % 7u;/' r/main.c
save outer
for name in first inner outer; do
	profile $name
done
expect inner first inner
blameless unused
expect outer inner outer
