#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every option of every help stands in the manual page and in the completions, and the other way round.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

run 0 kelvin --help
mapfile -t commands < <(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' stdout)
for command in "${commands[@]}"; do
	page=$ROOT/docs/kelvin-$command.1.scd
	[[ -f $page ]] || fail "no manual page of $command"
	says "$ROOT/docs/kelvin.1.scd" "kelvin-$command"
	kelvin "$command" --help >help
	mapfile -t options < <(sed -n 's/^  \(-[a-zA-Z], \)\{0,1\} *\(--[a-z][a-z-]*\).*/\2/p' help | sort -u)
	at_least "${#options[@]}" 1 "long options of $command"
	for option in "${options[@]}"; do
		says "$page" "\\*$option\\*"
		[[ $option != --help ]] || continue
		for shell in bash zsh fish; do
			name=$option
			[[ $shell != fish ]] || name="-l ${option#--}"
			awk -v command="$command" '$0 ~ "^# " { on = $2 == command } on' "$ROOT/docs/completions/kelvin.$shell" | grep -qE -- "$name([^a-z-]|$)" ||
				fail "$option of $command is not in the $shell completion"
		done
	done
	while read -r option; do
		grep -qE -- "$option([^a-z-]|$)" help || fail "$option of $page is not in the help"
	done < <(sed -n 's/^\*.*\*\(--[a-z][a-z-]*\)\*.*/\1/p' "$page" | sort -u)
done
if command -v bash >/dev/null; then bash -n "$ROOT/docs/completions/kelvin.bash" || fail "bash cannot read its completion"; fi
if command -v zsh >/dev/null; then zsh -n "$ROOT/docs/completions/kelvin.zsh" || fail "zsh cannot read its completion"; fi
if command -v fish >/dev/null; then fish --no-execute "$ROOT/docs/completions/kelvin.fish" || fail "fish cannot read its completion"; fi
