#compdef kelvin
# SPDX-License-Identifier: GPL-3.0-or-later
# `kelvin --complete [COMMAND]` prints the commands or options (cli/options.h), a line each: name, letter, argument, words for it
# and help, separated by tabs. A line without a name, "-", is of the command's words.

_kelvin() {
	local name letter argument choices text value once
	local -a command commands names options

	(( CURRENT == 2 )) || command=("$words[2]")
	while IFS=$'\t' read -r name letter argument choices text; do
		names=($name) value=":${argument//:/\\:}:" once=
		[[ $letter == - ]] || names+=($letter) once="($name $letter)"
		[[ $text != *'; repeatable' ]] || once='*'
		case $argument in
			PID*) value+=_pids ;;
			PATH) value+='_files -W /sys/fs/cgroup -/' ;;
			DIR) value+=_directories ;;
			FILE.*) value+="_files -g '*${argument#FILE}'" ;;
			*FILE*) value+=_files ;;
			COMMAND) [[ $name != - ]] || value=::command:_normal ;;
			-) value= ;;
		esac
		[[ $choices == - ]] || value+="(${choices//:/\\:})"
		[[ $argument != \[* ]] || value=":$value"
		[[ $argument != \[=* ]] || names=("$name=-")
		case $name in
			-) [[ $argument == - ]] || options+=("*$value") ;;
			-*) options+=("$once"${^names}"[${${text//\[/\\[}//\]/\\]}]$value") ;;
			*) commands+=("$name:$text") ;;
		esac
	done < <(${~words[1]} --complete $command 2>/dev/null)
	if (( CURRENT == 2 )); then
		_describe command commands
	else
		shift words
		(( CURRENT-- ))
	fi
	_arguments -S $options
}

_kelvin "$@"
