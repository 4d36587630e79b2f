# SPDX-License-Identifier: GPL-3.0-or-later
# `kelvin --complete [COMMAND]` prints the commands or options (cli/options.h), a line each: name, letter, argument, words for it
# and help, separated by tabs. A line without a name, "-", is of the command's words.

# Offers an option of these fields where the condition holds.
function __kelvin_option --argument-names condition name letter argument words text
	set -l offer complete -c kelvin -n $condition -l (string sub -s 3 -- $name) -d $text
	test $letter = - || set -a offer -s (string sub -s 2 -- $letter)
	test $words = - || set -a offer -a $words
	switch $argument
		case -
			$offer
		case '[=*'
			$offer -f
		case FILE '[FILE]'
			$offer -r
		case 'PID*'
			$offer -x -a '(__fish_complete_pids)'
		case DIR
			$offer -x -a '(__fish_complete_directories)'
		case PATH
			$offer -x -a '(string trim -r -c / (string replace /sys/fs/cgroup/ "" /sys/fs/cgroup/*/))'
		case '*'
			$offer -x
	end
end

for row in (kelvin --complete 2>/dev/null)
	set -l command (string split \t -- $row)
	if string match -q -- '-*' $command[1]
		__kelvin_option __fish_use_subcommand $command
		continue
	end
	complete -c kelvin -n __fish_use_subcommand -f -a $command[1] -d $command[5]
	for row in (kelvin --complete $command[1] 2>/dev/null)
		set -l option (string split \t -- $row)
		if test $option[1] != -
			__kelvin_option "__fish_seen_subcommand_from $command[1]" $option
		else if contains -- $option[3] - ADDRESS
			complete -c kelvin -n "__fish_seen_subcommand_from $command[1]" -f
		end
	end
end
