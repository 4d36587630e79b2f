#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The steps of action.yml are executed as GitHub does it, on a small project; the recipes are checked.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs jq
needs curl
python=/usr/bin/python3
$python -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
recipes=$ROOT/tests/system/ci_recipes.py
run 0 $python "$recipes" check "$ROOT"
[[ $(tr -d '\n' <stdout) == '' ]] || fail "the recipes are wrong"

# What is not pinned is found, wherever it stands.
loose() {
	rm -rf loose && mkdir -p loose/docs loose/scripts
	cp -r "$ROOT/docs/ci" loose/docs/ && cp "$ROOT/action.yml" "$ROOT/CONTRIBUTING.md" loose/ && cp "$ROOT/scripts/ci-kelvin" loose/scripts/
	sed -i -E "$2" "loose/$1"
	run 1 $python "$recipes" check loose
	says stdout "^$1: not pinned: "
}
loose action.yml 's/(upload-artifact)@.*/\1@v4/'
loose docs/ci/github-bench.yml 's/(checkout)@[0-9a-f]{40}/\1@main/'
loose docs/ci/github-bench.yml 's/(checkout@[0-9a-f]{39})[0-9a-f]/\1/'
loose docs/ci/github-bench.yml 's/ # v4.4.0//'
loose docs/ci/github-bench.yml 's/kelvin@COMMIT/kelvin@v0.2.0/'
loose docs/ci/github-comment.yml 's/ref: COMMIT/ref: main/'
loose docs/ci/github-release.yml 's/image: .*/image: debian:12/'
loose docs/ci/github-release.yml 's/image: .*/image: debian/'
loose docs/ci/gitlab.yml 's/^bench:/image: "debian:12"\n&/'
loose scripts/ci-kelvin 's/^image=.*/image=debian:12/'

# GitLab's jobs unpack what has the sum that they name, and nothing else.
mkdir -p gitlab/made/bin && touch gitlab/made/bin/kelvin
tar --create --xz --file gitlab/kelvin.tar.xz --directory gitlab --transform 's,^made,kelvin,' made
$python "$recipes" before "$ROOT/docs/ci/gitlab.yml" >before.sh
unpack() {
	rm -rf gitlab/job && mkdir gitlab/job
	run "$1" env -C gitlab/job KELVIN_RELEASE="file://$work/gitlab/kelvin.tar.xz" KELVIN_SHA256="$2" bash "$work/before.sh"
}
unpack 0 "$(sha256sum <gitlab/kelvin.tar.xz | cut -d ' ' -f 1)"
[[ -e gitlab/job/.kelvin/bin/kelvin ]] || fail "the release was not unpacked"
for sum in "$(sha256sum </dev/null | cut -d ' ' -f 1)" SHA256 ''; do
	unpack 1 "$sum"
	[[ -z $(ls gitlab/job/.kelvin) ]] || fail "unpacked by the sum '$sum'"
done
can_sample

# The ends of the pull request; no checkout has these.
base_commit=$(printf '1%.0s' {1..40}) head_commit=$(printf '2%.0s' {1..40})

# step CODE NAME [KEY VALUE]...: the step with these values of the workflow.
step() {
	step_of "$ROOT/action.yml" "$@"
}

# step_of FILE CODE NAME [KEY VALUE]...: of another file.
step_of() {
	local file=$1 code=$2 name=$3

	shift 3
	jq -n '$ARGS.positional | [range(0; length; 2) as $i | { key: .[$i], value: .[$i + 1] }] | from_entries' --args \
		github.action_repository o/kelvin github.event.pull_request.number 7 steps.bench.outputs.status "$(sed -n 's/^status=//p' output 2>/dev/null)" \
		github.event.pull_request.base.sha "$base_commit" github.event.pull_request.head.sha "$head_commit" github.token secret "$@" >values
	$python "$recipes" script "$file" "$name" values >step.sh || fail "no step $name"
	run "$code" env PATH="$PWD/temp/kelvin-program/bin:$PATH" GITHUB_ACTION_PATH="$ROOT" RUNNER_TEMP="$PWD/temp" GITHUB_PATH="$PWD/path" \
		GITHUB_OUTPUT="$PWD/output" GITHUB_STEP_SUMMARY="$PWD/summary" GITHUB_REPOSITORY=o/n KELVIN_RELEASES="file://$PWD/releases" \
		bash --noprofile --norc -eo pipefail step.sh
}

# A release of the program that was built.
version=$("$KELVIN" --version | sed 's/^kelvin //')
mkdir -p temp "releases/v$version" "made/bin"
# The program finds its tool beside itself, or not at all, which is all the same here.
cp "$KELVIN" made/bin/kelvin
name=kelvin-$version-linux-x86_64.tar.xz
tar --create --gzip --file "releases/v$version/$name" --transform 's,^made,kelvin,' made
(cd "releases/v$version" && sha256sum "$name" >SHA256SUMS)
rm -rf made

step 0 'Get Kelvin' inputs.version "$version"
says path '/temp/kelvin-program/bin$'
step 2 'Get Kelvin' inputs.version 0.0.1
says stderr 'cannot download'
step 2 'Get Kelvin' inputs.version '../../x'
says stderr 'no version'
echo broken >>"releases/v$version/$name"
step 2 'Get Kelvin' inputs.version "$version"
says stderr 'SHA256SUMS'

# A project whose head does twice as much; the order of words and quotes in a command stays.
work="'$WORKLOADS/system_workload' --parse 1 --cpu"
step 0 Measure inputs.base "$work 0.1" inputs.head "$work 0.2" inputs.runs 3 inputs.fail-on $'total>500%\nfunction>900%'
says output '^status=[03]$'
says stderr '^ci-bench: no checkout here has the commits of the pull request'
for file in report.html comment.md result.json number status; do
	[[ -s temp/kelvin/$file ]] || fail "no $file"
done
[[ $(head -n 1 temp/kelvin/comment.md) == '<!-- kelvin-diff -->' && $(<temp/kelvin/number) == 7 ]] || fail "no comment can be written"
[[ $(jq -r .schema temp/kelvin/result.json) == kelvin.diff/1 ]] || fail "no result"
cmp summary temp/kelvin/comment.md || fail "the summary of the job is another one"
step 0 Result

# The comment, by the real script against a server.
echo '{"comments": [], "user": {"id": 5, "login": "github-actions[bot]"}, "pulls": {}}' >state
start python3 "$ROOT/tests/system/ci_server.py" state
wait_until "the server listens" test -s state.port
GITHUB_API_URL=http://127.0.0.1:$(<state.port)
export GITHUB_API_URL
step 0 Comment
[[ $(jq '.comments | length' state) -eq 1 ]] || fail "no comment was written"
step 0 Comment inputs.token wrong
says stdout '^::warning::No comment was written'

# The other workflow, for a fork: the number in the artifact is the fork's word.
mkdir -p kelvin
ln -s "$ROOT/scripts" kelvin/scripts
sha=0123456789012345678901234567890123456789
jq -n --arg sha $sha '{ comments: [], user: { id: 5, login: "github-actions[bot]" },
	pulls: { "7": { head: { sha: $sha, repo: { full_name: "fork/n" } } }, "8": { head: { sha: $sha, repo: { full_name: "o/n" } } } } }' >state
from_fork=(github.event.workflow_run.head_sha "$sha" github.event.workflow_run.head_repository.full_name fork/n)
step_of "$ROOT/docs/ci/github-comment.yml" 0 Comment "${from_fork[@]}"
says stdout '^created'
echo 8 >temp/kelvin/number
step_of "$ROOT/docs/ci/github-comment.yml" 2 Comment "${from_fork[@]}"
says stderr 'not what was measured'
rm temp/kelvin/comment.md
step_of "$ROOT/docs/ci/github-comment.yml" 0 Comment "${from_fork[@]}"
[[ $(jq '.comments | length' state) -eq 1 ]] || fail "not one comment was written"

# What a workflow passes on is no script: neither here nor there.
rm -f output
step 0 Measure inputs.base true inputs.head true inputs.runs '$(touch pwned)' inputs.fail-on '`touch pwned`'
says output '^status=2$'
[[ ! -e pwned ]] || fail "a value was executed"
step 2 Result
step 2 Measure inputs.benchmarks maybe
says stderr 'true or false'

# Every value reaches its option, as one word each; the commits are those of the first checkout that has them.
git init -q head
for commit in base_commit head_commit; do
	git -C head -c user.name=n -c user.email=n@n commit -q --allow-empty -m "$commit" || fail "no commit"
	declare "$commit=$(git -C head rev-parse HEAD)"
done
printf '#!/bin/sh\nprintf "%%s\\n" "$@"\n' >temp/kelvin-program/bin/kelvin
step 0 Measure inputs.base "a 'b'" inputs.head 'c $d' inputs.benchmarks true inputs.runs 5 inputs.precision 2 inputs.time-limit 10m inputs.fail-on $'x\n\ny'
cat >expected <<TEXT
bench
--benchmarks
--runs=5
--precision=2
--time-limit=10m
--fail-on=x
--fail-on=y
--commits=$base_commit..$head_commit
--repo=head
--base=a 'b'
--head=c \$d
--mode=644
--output=$PWD/temp/kelvin/report.html
--markdown=$PWD/temp/kelvin/comment.md
--json=$PWD/temp/kelvin/result.json
--text
TEXT
cmp stdout expected || fail "other options: $(diff expected stdout)"
