#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A repository whose every setting, hook and attribute that names a program names one which leaves a mark. Kelvin reads its revisions,
# lists and files, and no mark is left; git itself leaves one with each kind that ordinary commands use, so the traps are real. All that
# is executed is git.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$ROOT/tests/system/lib.sh"

command -v git >/dev/null || skip "git is needed"
reader=$WORKLOADS/repository_reader
marks=$work/marks
export HOME=$work/home
mkdir -p "$HOME" "$marks" bin
# Whoever runs it leaves a mark that says by which setting.
cat >bin/trap <<END
#!/bin/sh
touch "$marks/\$1"
END
chmod 755 bin/trap
git config --global user.name a
git config --global user.email a@b
git config --global init.defaultBranch main

# trap NAME: the command line that leaves the mark.
trapped() {
	echo "$work/bin/trap $1"
}

git init -q bad
cd bad || exit 2
mkdir src
echo 'int first;' >src/a.c
git add .
git commit -qm first
git tag v1
echo 'int second;' >>src/a.c
git add .
# Attributes that come with the commits, as a clone has them.
echo '*.c diff=evil filter=evil merge=evil' >.gitattributes
git add .gitattributes
git commit -qm second
git tag v2

# Settings that are commands, by where git would run them.
while read -r key; do
	git config "$key" "$(trapped "$key")"
done <<'END'
core.pager
core.editor
core.fsmonitor
core.sshCommand
core.gitProxy
core.askPass
core.alternateRefsCommand
pager.log
pager.rev-parse
pager.ls-tree
pager.cat-file
sequence.editor
credential.helper
diff.external
diff.evil.command
diff.evil.textconv
filter.evil.clean
filter.evil.smudge
filter.evil.process
merge.evil.driver
gpg.program
gpg.ssh.program
gpg.x509.program
gpg.ssh.defaultKeyCommand
interactive.diffFilter
uploadpack.packObjectsHook
remote.origin.uploadpack
remote.origin.receivepack
remote.origin.vcs
trailer.evil.command
trailer.evil.cmd
sendemail.sendmailCmd
browser.evil.cmd
man.evil.cmd
mergetool.evil.cmd
difftool.evil.cmd
hook.evil.command
web.browser
END
for name in rev-parse ls-tree cat-file log show config; do
	git config "alias.$name" "!$(trapped "alias.$name")"
done
git config filter.evil.required true
git config hook.evil.event reference-transaction
git config log.showSignature true
git config diff.trustExitCode true
git config fetch.writeCommitGraph true
git config gc.auto 1
git config submodule.recurse true
git config submodule.evil.update "!$(trapped submodule.update)"
git config core.attributesFile "$PWD/.git/evil_attributes"
git config include.path "$work/included"
git config trace2.eventTarget "$marks/trace2.eventTarget"
git config trace2.normalTarget "$marks/trace2.normalTarget"
git config trace2.perfTarget "$marks/trace2.perfTarget"
git config core.hooksPath "$work/hooks"
# A partial clone, which fetches what it lacks by a command.
git config remote.origin.url "ext::$(trapped ext)"
git config remote.origin.promisor true
git config remote.origin.partialCloneFilter blob:none
git config protocol.ext.allow always
git config core.repositoryFormatVersion 1
git config extensions.partialClone origin
printf '[core]\n\tpager = %s\n' "$(trapped include.path)" >"$work/included"
echo '*.c diff=evil filter=evil textconv=evil' | tee .git/evil_attributes >.git/info/attributes
mkdir "$work/hooks"
for hook in $(ls .git/hooks | sed 's/\.sample$//') reference-transaction post-index-change fsmonitor-watchman post-checkout \
	pre-auto-gc post-rewrite; do
	printf '#!/bin/sh\n%s\n' "$(trapped "hook.$hook")" | tee "$work/hooks/$hook" >".git/hooks/$hook"
	chmod 755 "$work/hooks/$hook" ".git/hooks/$hook"
done
# Another commit in the place of v2, as replace refs say, and as grafts do; alternates that lead away.
mkdir -p .git/refs/replace
v1=$(git -C "$PWD" --no-pager -c core.fsmonitor=false rev-parse v1)
v2=$(git -C "$PWD" --no-pager -c core.fsmonitor=false rev-parse v2)
echo "$v1" >".git/refs/replace/$v2"
echo "$v2" >.git/info/grafts
echo "$work/nowhere/objects" >.git/objects/info/alternates
cd "$work" || exit 2
rm -f "$marks"/*

# The traps are real: git itself walks into them.
# At a terminal git has a pager. What it prints and whether it succeeds is of no interest.
script -qec 'git -C bad log' /dev/null </dev/null >/dev/null 2>&1
for line in '--no-replace-objects diff v1 v2' 'add .' 'tag extra v1' 'cat-file -p 1111111111111111111111111111111111111111'; do
	# shellcheck disable=SC2086
	timeout 20 git -C bad $line </dev/null >/dev/null 2>&1
done
for kind in core.fsmonitor diff.external filter.evil.process ext pager.log hook.reference-transaction; do
	[[ -e $marks/$kind ]] || fail "git itself did not walk into $kind: $(ls "$marks")"
done
rm -f "$marks"/*

# read_it DIRECTORY: all that Kelvin asks of a repository.
read_it() {
	run 0 "$reader" "$1" v2
	says stdout "^$v2"
	grep -qa 'src/a.c' stdout || fail "the list has no src/a.c"
	run 0 "$reader" "$1" v2 src/a.c
	says stdout '^int second;'
	run 0 "$reader" "$1" v1 src/a.c
	says_not stdout 'second'
	run 2 "$reader" "$1" v2 src/none.c
	run 2 "$reader" "$1" 1111111111111111111111111111111111111111
	run 2 "$reader" "$1" '--output=x'
}

no_marks() {
	[[ -z $(ls "$marks") ]] || fail "$1: a program of the repository was run: $(ls "$marks")"
}

read_it bad
no_marks "the repository"
read_it bad/src
cp -r bad/.git bare.git
git config -f bare.git/config core.bare true
read_it bare.git
# A work tree of its own, by a file .git; another by a link.
mkdir tree links
echo "gitdir: $work/bad/.git" >tree/.git
ln -s ../bad/.git links/.git
read_it tree
read_it links
git config -f bad/.git/config core.worktree "$work/hooks"
read_it bad
no_marks "other ways to it"

# What is missing is not fetched.
rm "bad/.git/objects/$(git --git-dir=bare.git -c core.fsmonitor=false rev-parse v1:src/a.c | sed 's|^..|&/|')"
run 2 "$reader" bad v1 src/a.c
says stderr 'lacks a part of commit'
no_marks "a missing object"

# Variables that have git run or write something, and a directory of PATH that is the repository's.
mkdir -p bad/bin
ln -s "$work/bin/trap" bad/bin/git
chmod 777 bad/bin
(
	cd bad || exit 2
	export GIT_EXTERNAL_DIFF="$work/bin/trap" GIT_SSH_COMMAND="$work/bin/trap" GIT_PAGER="$work/bin/trap" GIT_TRACE="$marks/GIT_TRACE" \
		GIT_TRACE2_EVENT="$marks/GIT_TRACE2" GIT_EXEC_PATH="$work/bad/bin" GIT_DIR="$work/nowhere" GIT_INDEX_FILE="$marks/index" \
		GIT_ALTERNATE_OBJECT_DIRECTORIES="$work/nowhere" GIT_CONFIG_PARAMETERS="'core.fsmonitor'='$work/bin/trap'" \
		LD_LIBRARY_PATH=. PATH="bin:.:$work/bad/bin:$PATH"
	"$reader" . v2 src/a.c
) >stdout 2>stderr || fail "not read with such variables"
says stdout '^int second;'
no_marks "variables"

# All that is executed is git, once for each question, and it starts nothing.
command -v strace >/dev/null || skip "strace is needed to see what is executed"
git=$(readlink -f "$(command -v git)")
strace -f -qq -o calls -e trace=execve,execveat,fork,vfork,clone,clone3 "$reader" bad v2 src/a.c >stdout 2>stderr || fail "not read below strace"
[[ $(readlink -f "$(sed -n 's/.*execve("\([^"]*\)".*/\1/p' calls | sed 1d | sort -u)") == "$git" ]] ||
	fail "something else than git was executed: $(grep exec calls)"
# The reader forks for each of them, and for what removes its temporary directory; git never.
for pid in $(sed -n 's/^\([0-9]*\) *execve(".*\/git".*/\1/p' calls); do
	! grep -E "^$pid +(fork|vfork|clone)" calls || fail "git made a process"
done
no_marks "strace"
exit 0
