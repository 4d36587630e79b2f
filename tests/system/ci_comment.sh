#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# scripts/ci-comment against a server that behaves like GitHub's and GitLab's: it creates one comment, finds it again, and believes nothing.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs curl
needs jq
needs python3
marker='<!-- kelvin-diff -->'
bot='{"id": 5, "login": "github-actions[bot]"}'
sha=0123456789012345678901234567890123456789

# comments JSON: what stands under the pull request before.
comments() {
	jq -n --argjson comments "$1" --argjson bot "$bot" --arg sha $sha \
		'{ $comments, user: $bot, pulls: { "7": { head: { sha: $sha, repo: { full_name: "fork/n" } } } } }' >state
	rm -f state.log
}

comment() {
	run "$1" env GITHUB_TOKEN=secret GITHUB_API_URL="http://127.0.0.1:$port" "$ROOT/scripts/ci-comment" "${@:2}"
}

# posted FILTER: what jq says of the comments now.
posted() {
	jq -r ".comments | $1" state
}

# refused PATTERN ARGUMENT...: nothing was asked of the server that changes anything.
refused() {
	comment 2 "${@:2}"
	says stderr "^ci-comment: .*$1"
	! grep -q '^P' state.log 2>/dev/null || fail "something was posted: ${*:2}"
}

comments '[]'
start python3 "$ROOT/tests/system/ci_server.py" state
wait_until "the server listens" test -s state.port
port=$(<state.port)
printf '%s\n### Regressed: head takes 5 %% more\n' "$marker" >comment.md

# The first run creates, the second updates.
comment 0 comment.md --repository o/n --number 7
says stdout '^created'
[[ $(posted length) -eq 1 ]] || fail "not one comment: $(posted .)"
printf '%s\n### Unchanged\n' "$marker" >comment.md
comment 0 comment.md --repository o/n --number 7 --head-sha $sha --head-repository Fork/n
says stdout '^updated'
[[ $(posted length) -eq 1 && $(posted '.[0].body') == *Unchanged* ]] || fail "not updated: $(posted .)"

# Jobs with keys of their own have comments of their own; the one without is left alone.
comment 0 comment.md --repository o/n --number 7 --key linux-gcc
says stdout '^created'
comment 0 comment.md --repository o/n --number 7 --key linux-clang
says stdout '^created'
comment 0 comment.md --repository o/n --number 7 --key linux-gcc
says stdout '^updated'
[[ $(posted length) -eq 3 && $(posted '.[1].body') == '<!-- kelvin-diff linux-gcc -->'* ]] || fail "comments with keys: $(posted .)"
comment 2 comment.md --repository o/n --number 7 --key 'a --> @b'
says stderr 'the key is not what it should be'

# A server that wants to be asked in an hour is not waited for, and what it repeats of the token is not shown.
jq '.later = 3600' state >busy && mv busy state
run 2 timeout 60 env GITHUB_TOKEN=secret GITHUB_API_URL="http://127.0.0.1:$port" "$ROOT/scripts/ci-comment" comment.md --repository o/n --number 7
says stderr 'status 503: not now, \*\*\*$'
says_not stderr secret

# It is found behind two pages of others; one with the marker that somebody else wrote is left alone, as is one that quotes it.
comments "$(jq -n --argjson bot "$bot" --arg marker "$marker" '[range(230) | { id: ., user: { id: 9, login: "mallory" }, body: ($marker + "\nmine") }] +
	[{ id: 500, user: $bot, body: ("> " + $marker) }, { id: 501, user: $bot, body: ($marker + "\r\nold") }]')"
comment 0 comment.md --repository o/n --number 7
says stdout '^updated comment 501$'
[[ $(posted 'map(select(.body | test("Unchanged"))) | length') -eq 1 ]] || fail "another comment was changed"

# What Kelvin writes is posted as it is; of hostile names, and of series called like issues (api-1), outside of code all but the zero-width
# spaces.
for golden in "$ROOT"/tests/golden/render/*.markdown.txt; do
	comments '[]'
	comment 0 "$golden" --repository o/n --number 7
	posted '.[0].body' >body
	[[ $golden != *hostile* && $golden != *history* ]] || sed -i $'s/\u200b//g' body
	cmp body <(jq -Rrs . "$golden") || fail "$golden is not posted as it is"
done

# What a fork may write is harmless: mentions, links, pictures, tags, markers of other programs, references, lines that GitLab executes.
comments '[]'
{
	echo "$marker"
	printf '%s\n' '@maintainers' '![](https://evil.example/x)' '[click](//evil.example)' '[click][1]' '[1]: //evil.example' 'www.evil.example' \
		'<img src=x onerror=alert(1)>' '<!-- other-bot -->' '<details>' 'fixes #12' '$(touch pwned)' '`touch pwned`' '${{ secrets.TOKEN }}' '/merge' '  /approve'
	printf 'bytes \xff\xfe\0 \e[31m \xe2\x80\xae\n'
} >hostile.md
comment 0 hostile.md --repository o/n --number 7
posted '.[0].body' >body
for pattern in '@' '://' '\]\(' '\]\[' '\]:' 'www\.' '<img' '<!-- other' '#12' '^ */' $'\e'; do
	says_not body "$pattern"
done
says body '^<details>$'
[[ ! -e pwned ]] || fail "a line of the comment was executed"

# Names that would be references on either host, in every disguise: none is one in what the host renders, whoever wrote the file.
references=$ROOT/tests/system/ci_references.py
if command -v cmark-gfm >/dev/null; then
	run 0 python3 "$references" check
	python3 "$references" hostile | split -l 1000 - part.
	for part in part.*; do
		comments '[]'
		{ echo "$marker" && cat "$part"; } >hostile.md
		comment 0 hostile.md --repository o/n --number 7
		posted '.[0].body' | tail -n +2 >body
		says_not body 'The rest was cut'
		run 0 python3 "$references" found body
	done

	# The same names through a comparison by Kelvin: of functions, and of the files that are compared.
	python3 "$references" samples | awk '{ print "main;work" NR, 10000; print "main;" $0, 1000 }' >'#12 @user a5c3785 !5'
	sed 's/ 1000$/ 9000/' '#12 @user a5c3785 !5' >'GH-12 ~label www.a.example $7'
	run_any "$KELVIN" diff '#12 @user a5c3785 !5' 'GH-12 ~label www.a.example $7' --markdown=names.md
	[[ -s names.md ]] || fail "no comment of hostile names"
	comments '[]'
	comment 0 names.md --repository o/n --number 7
	posted '.[0].body' | tail -n +2 >body
	run 0 python3 "$references" found body
	says body '<code>[^ ]*12</code>'
elif [[ -n ${KELVIN_NO_SKIP:-} ]]; then
	fail "cmark-gfm is not installed: nothing tells what the hosts make of a comment"
fi

# Too long is cut where a line ends, and fits after it was made harmless.
comments '[]'
{
	echo "$marker"
	yes '@@@@@@@@@@@@@@@@@@@@' | head -n 40000
} >long.md
comment 0 long.md --repository o/n --number 7
[[ $(posted '.[0].body | length') -le 65536 && $(posted '.[0].body') == *'The rest was cut'* ]] || fail "the comment is not cut"

# What is refused.
comments '[]'
head -c 2000000 /dev/zero >zeros
echo 'no marker' >plain.md
printf '%s\n' '<!-- kelvin-diff --><b>' >extended.md
ln -s comment.md link.md
refused 'larger than' zeros --repository o/n --number 7
refused 'marker' plain.md --repository o/n --number 7
refused 'marker' extended.md --repository o/n --number 7
refused 'no regular file' link.md --repository o/n --number 7
for number in 0 07 7x '7/../8' $'7\n8' -7 '$(id)' 9999999999; do
	refused 'number' comment.md --repository o/n --number "$number"
	printf '%s' "$number" >number
	refused 'number' comment.md --repository o/n --number @number
done
refused 'repository' comment.md --repository 'o/n/../x' --number 7
refused 'needs a value' comment.md --repository o/n --number 7 --head-sha ''
refused 'the commit' comment.md --repository o/n --number 7 --head-sha main
refused 'not what was measured' comment.md --repository o/n --number 7 --head-sha ${sha/0/1}
refused 'not what was measured' comment.md --repository o/n --number 7 --head-sha $sha --head-repository mallory/n
refused 'status 404: Not Found' comment.md --repository o/n --number 8 --head-sha $sha
run 2 env GITHUB_TOKEN=wrong GITHUB_API_URL="http://127.0.0.1:$port" "$ROOT/scripts/ci-comment" comment.md --repository o/n --number 7
says stderr 'status 401: Bad credentials'
run 2 env -u GITHUB_TOKEN "$ROOT/scripts/ci-comment" comment.md --repository o/n --number 7
says stderr 'GITHUB_TOKEN is not set'

# The number in a file, as an artifact brings it.
echo 7 >number
comment 0 comment.md --repository o/n --number @number

# GitLab: notes of a merge request.
comments '[]'
for expected in created updated; do
	run 0 env GITLAB_TOKEN=secret CI_API_V4_URL="http://127.0.0.1:$port" "$ROOT/scripts/ci-comment" comment.md --gitlab --project 3 --number 7
	says stdout "^$expected"
done
[[ $(posted length) -eq 1 ]] || fail "not one note: $(posted .)"
