#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every option of every help is a heading of the manual page, and the other way round; the completions offer the same.
# The README has its pictures.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# offered_by SHELL WORD...: what its completion offers for the last word, a line each; of zsh, what it tells _arguments.
offered_by() {
	local shell=$1 script=$ROOT/docs/completions/kelvin.$1

	shift
	# shellcheck disable=SC2016
	case $shell in
	bash) bash -c 'compopt() { echo "$@"; }; . "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _kelvin; printf "%s\n" "${COMPREPLY[@]}"' \
		"$script" "$KELVIN" "$@" ;;
	zsh) zsh -fc '_describe() { print -l $commands }; _arguments() { print -rl -- $@ }; words=("$@") CURRENT=$#; . "$0"' \
		"$script" "$KELVIN" "$@" ;;
	fish) PATH=${KELVIN%/*}:$PATH HOME=$work fish -c 'source $argv[1]; complete -C "kelvin $argv[2..-1]"' "$script" "$@" ;;
	esac >stdout
}

shells=()
for shell in bash zsh fish; do
	if command -v $shell >/dev/null; then shells+=("$shell"); fi
done
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
	grep -oE -- '--[a-z][a-z-]*' options | sort >expected
	for shell in "${shells[@]}"; do
		offered_by "$shell" ''
		says stdout "^$command\b"
		offered_by "$shell" "$command" --
		grep -oE '^(\*|\([^)]*\))?--[a-z-]+' stdout | grep -oE -- '--[a-z-]+$' | sort -u >offered
		diff expected offered >stdout || fail "what the $shell completion of $command offers is not what there is"
	done
done

# completes WORD... -- PATTERN ZSH: what the last word is completed with, and by which action of zsh.
completes() {
	local shell

	for shell in "${shells[@]}"; do
		offered_by "$shell" "${@:1:$#-3}"
		if [[ $shell == zsh ]]; then says stdout "${*: -1}"; else says stdout "${*: -2:1}"; fi
	done
}

touch part.part
completes record --event c -- '^cpu-clock\b' '--event\[.*:EVENT:\(cycles cpu-clock '
completes record -e c -- '^cycles\b' '-e\[.*:EVENT:\(cycles cpu-clock '
completes record --pid '' -- "^$$\\b" '^\*--pid\[.*:_pids$'
[[ ! -d /sys/fs/cgroup/init.scope ]] || completes record --cgroup ini -- '^init.scope' '--cgroup\[.*:_files -W /sys/fs/cgroup -/$'
completes record --label '' -- '^service=' '^\*--label\[.*\(service= '
completes report --json par -- '^part.part\b' '--json\[.*::\[FILE\]:_files$'
completes recover par -- '^part.part\b' "^\\*:FILE\\.part:_files -g '\\*\\.part'$"
completes record --work usd -- '^usdt:' '\(uprobe\\: usdt\\:\)'
offered_by bash record --label ''
says stdout '^-o nospace$'
offered_by bash record --counters = page
says stdout '^page-faults$'

# The README shows pictures that are there, and no larger than a page of text should load.
mapfile -t pictures < <(grep -oE '(src|srcset)="[^"]+"' "$ROOT/README.md" | cut -d '"' -f 2)
at_least "${#pictures[@]}" 3 "pictures in the README"
for picture in "${pictures[@]}"; do
	[[ -s $ROOT/$picture ]] || fail "the README shows $picture, which is not there"
	bytes=$(stat -c %s "$ROOT/$picture")
	[[ $bytes -le 250000 ]] || fail "$picture has $bytes bytes, more than 250,000"
done
