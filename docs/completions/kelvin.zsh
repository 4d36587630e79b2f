#compdef kelvin
# SPDX-License-Identifier: GPL-3.0-or-later
# Each section below belongs to the command named in its first line.

_kelvin() {
	local -a commands

	commands=(
		'record:sample a running process or a command'
		'diff:compare two profiles'
		'report:show one profile'
		'symbolize:name addresses of a binary'
		'doctor:what this machine allows'
	)
	if (( CURRENT == 2 )); then
		_describe command commands
		_arguments '--help[help]' '--version[version]'
		return
	fi
	shift words
	(( CURRENT-- ))
	case $words[1] in
# record
	record)
		_arguments -S \
			'*'{-p,--pid}'[running processes]:pid:_pids' \
			{-t,--tid}'[one thread]:tid:' \
			{-a,--all-cpus}'[every process on every CPU]' \
			'--cgroup[a control group]:path:_files -W /sys/fs/cgroup -/' \
			{-o,--output}'[the profile]:file:_files' \
			{-d,--duration}'[seconds]:seconds:' \
			{-D,--delay}'[milliseconds until sampling begins]:milliseconds:' \
			{-F,--freq}'[samples per second]:hertz:' \
			{-e,--event}'[what is counted]:event:(cycles cpu-clock task-clock page-faults context-switches)' \
			{-g,--call-graph}'[how stacks are found]:mode:(dwarf dwarf,32768 fp)' \
			'*--project-root[sources of the user]:directory:_files -/' \
			'--origin-rules[what is user, library or system]:file:_files' \
			{-q,--quiet}'[errors only]' \
			{-h,--help}'[help]' \
			'*::command:_normal'
		;;
# diff
	diff)
		_arguments \
			{-o,--output}'[HTML page]:file:_files' \
			'--text[text on standard output]' \
			'--json[JSON]:file:_files' \
			'--markdown[for a pull request]:file:_files' \
			'--svg[static flame graph]:file:_files' \
			'--scale[what makes both sides comparable]:mode:(auto per-run robust share rate work=)' \
			'--metric[which value]:name:(cpu samples)' \
			'--min-effect[least difference that matters]:points:' \
			'*--fail-on[limit]:rule:' \
			'--ignore-warnings[judge limits all the same]' \
			'*--project-root[sources of the user]:directory:_files -/' \
			'--origin-rules[what is user, library or system]:file:_files' \
			{-h,--help}'[help]' \
			'1:base:_files' '2:head:_files'
		;;
# report
	report)
		_arguments \
			{-o,--output}'[HTML page]:file:_files' \
			'--text[text on standard output]' \
			'--json[JSON]:file:_files' \
			'--svg[static flame graph]:file:_files' \
			'--folded[folded stacks]:file:_files' \
			'--metric[which value]:name:(cpu samples)' \
			'*--project-root[sources of the user]:directory:_files -/' \
			'--origin-rules[what is user, library or system]:file:_files' \
			{-h,--help}'[help]' \
			'1:profile:_files'
		;;
# symbolize
	symbolize)
		_arguments \
			{-e,--exe}'[the binary]:file:_files' \
			{-p,--pretty-print}'[one line for each frame]' \
			{-s,--basenames}'[file names without directories]' \
			'--json[JSON on standard output]' \
			'--no-inlines[only the function that holds the code]' \
			{-h,--help}'[help]' \
			'*:address:'
		;;
# doctor
	doctor)
		_arguments '--json[JSON on standard output]' {-h,--help}'[help]'
		;;
# end
	esac
}

_kelvin "$@"
