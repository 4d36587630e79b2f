#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every option of every help is a heading of the manual page, and the other way round; the completions offer the same.
# The README has its pictures.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 kelvin --help
mapfile -t commands < <(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' stdout)
for command in "${commands[@]}"; do
	page=$ROOT/docs/kelvin-$command.1.scd
	[[ -f $page ]] || fail "no manual page of $command"
	says "$ROOT/docs/kelvin.1.scd" "kelvin-$command"
	kelvin "$command" --help | sed -nE 's/^ {2,6}(-[^ ]*( [^ ]+)*)  .*/\1/p' | sort >options
	at_least "$(wc -l <options)" 2 "options of $command"
	awk '/^\t/ && heading ~ /^\*-/ { print heading } { heading = $0 }' "$page" | sed 's/[*_\\]//g' | sort >headings
	diff options headings >stdout || fail "what the help of $command (<) and its manual page (>) have for themselves"
	grep -oE -- '--[a-z][a-z-]*' options | grep -v '^--help$' | sort >expected
	for shell in bash zsh fish; do
		awk -v command="$command" '$0 ~ "^# " { on = $2 == command } on' "$ROOT/docs/completions/kelvin.$shell" | sed 's/ -l \([a-z]\)/ --\1/' |
			grep -oE -- '--[a-z][a-z-]*' | grep -v '^--help$' | sort -u >offered
		diff expected offered >stdout || fail "what the $shell completion of $command offers is not what there is"
	done
done
if command -v bash >/dev/null; then bash -n "$ROOT/docs/completions/kelvin.bash" || fail "bash cannot read its completion"; fi
if command -v zsh >/dev/null; then zsh -n "$ROOT/docs/completions/kelvin.zsh" || fail "zsh cannot read its completion"; fi
if command -v fish >/dev/null; then fish --no-execute "$ROOT/docs/completions/kelvin.fish" || fail "fish cannot read its completion"; fi

# The README shows pictures that are there, and no larger than a page of text should load.
mapfile -t pictures < <(grep -oE '(src|srcset)="[^"]+"' "$ROOT/README.md" | cut -d '"' -f 2)
at_least "${#pictures[@]}" 3 "pictures in the README"
for picture in "${pictures[@]}"; do
	[[ -s $ROOT/$picture ]] || fail "the README shows $picture, which is not there"
	bytes=$(stat -c %s "$ROOT/$picture")
	[[ $bytes -le 250000 ]] || fail "$picture has $bytes bytes, more than 250,000"
done
