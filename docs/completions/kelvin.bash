# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# `kelvin --complete [COMMAND]` prints the commands or options (cli/options.h), a line each: name, letter, argument, words for it
# and help, separated by tabs. A line without a name, "-", is of the command's words.

_kelvin() {
	local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} equals='' command=() names='' kind=- choices=-
	local name letter argument words

	if [[ $current == = ]]; then
		current='' equals=1
	elif [[ $option == = ]]; then
		option=${COMP_WORDS[COMP_CWORD - 2]} equals=1
	fi
	[[ $COMP_CWORD -eq 1 ]] || command=("${COMP_WORDS[1]}")
	while IFS=$'\t' read -r name letter argument words _; do
		if [[ $name == - ]]; then
			kind=$argument
			continue
		fi
		names+=" $name"
		if [[ $option == "$name" || $option == "$letter" ]] && [[ $option != - && $argument != - ]]; then
			[[ $argument == '[='* && -z $equals ]] || kind=$argument choices=$words
		fi
	done < <("${COMP_WORDS[0]/#\~\//$HOME/}" --complete "${command[@]}" 2>/dev/null)
	if [[ $kind == PID* ]]; then choices=$(ps -eo pid= 2>/dev/null); fi
	if [[ $COMP_CWORD -eq 1 || $current == -* ]]; then choices=$names; fi
	if [[ $choices != - ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
	else
		compopt -o filenames
		case $kind in
		PATH) mapfile -t COMPREPLY < <(cd /sys/fs/cgroup 2>/dev/null && compgen -d -- "$current") ;;
		DIR) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
		*) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
		esac
	fi
	if [[ ${COMPREPLY[*]} == *[=:] ]]; then compopt -o nospace; fi
}
complete -F _kelvin kelvin
