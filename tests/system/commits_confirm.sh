#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --confirm: the first suspect is built and measured against its parent, in copies without a repository; `bench --commits` names it from its own runs.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

command -v git >/dev/null || skip "git is not installed"
can_sample
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=n@n GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=n@n

git init -q r
cat >r/p.c <<'C'
__attribute__((noinline)) unsigned work(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += i * sum ^ i;
	return sum;
}

volatile unsigned result;

int main(void)
{
	result = work(20000000);
	return 0;
}
C
git -C r add -A && git -C r commit -q -m start
sed -i 's/sum ^ i;/sum ^ i \/ (sum | 1);/' r/p.c
git -C r commit -q -am slow
git -C r commit -q --allow-empty -m empty
for side in base:HEAD~2 head:HEAD; do
	mkdir "${side%:*}"
	git -C r archive "${side#*:}" | tar -x -C "${side%:*}"
	cc -O1 -g -o "${side%:*}/p" "${side%:*}/p.c" || fail "the program is not built"
done

# What the command finds: the files of the commit, its id, and no repository.
# shellcheck disable=SC2016
command='echo "$KELVIN_COMMIT $(pwd)" >>"$CALLS"; [ ! -e .git ]; [ -e p ] || cc -O1 -g -o p p.c; ./p'
export CALLS=$PWD/calls
run_any kelvin bench --base base/p --head head/p --runs 5 --commits HEAD~2..HEAD --repo r --confirm "$command" --json result.json --text
[[ $(jq -r '[.commits[].subject] | join(",")' result.json) == slow ]] || fail "the suspects are $(jq -c .commits result.json)"
says stderr "^kelvin: --confirm measures commit $(git -C r rev-parse --short=12 HEAD~1) \(head\) against its parent \(base\)$"
[[ $(grep -c 'Regressed: ' stdout) -eq 2 ]] || fail "the suspect is not measured"
[[ $(cut -d ' ' -f 1 calls | sort -u) == $(git -C r rev-parse HEAD~1 HEAD~2 | sort) ]] || fail "other commits were measured"
# Each of both built once, before the runs, and is gone. On a busy machine a turn is made again.
[[ $(wc -l <calls) -eq 22 || $(wc -l <calls) -eq 24 ]] || fail "$(wc -l <calls) calls"
cut -d ' ' -f 2 calls | sort -u >folders
while read -r folder; do
	[[ ! -e $folder ]] || fail "$folder is left"
done <folders

# Nothing is measured where nothing is suspected.
run_any kelvin bench --base base/p --head base/p --runs 3 --commits HEAD~2..HEAD --repo r --confirm false
says stderr 'no commit is suspected, so none is measured$'
