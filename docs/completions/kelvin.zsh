#compdef kelvin
# SPDX-License-Identifier: GPL-3.0-or-later
# Each section below belongs to the command named in its first line.

_kelvin() {
	local -a commands

	commands=(
		'record:sample a running process or a command'
		'simulate:count what a command executes'
		'diff:compare two profiles'
		'bench:run two commands alternately and compare them'
		'report:show one profile'
		'recover:turn what a killed recording left into a profile'
		'symbolize:name addresses of a binary'
		'doctor:show what this machine allows'
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
			{-d,--duration}'[stop after this time]:time, as 30, 500ms or 2m:' \
			{-D,--delay}'[start sampling after this time]:time, as 500ms or 2s:' \
			'--runs[runs of the command into one profile]:number:' \
			'--benchmarks[tells the benchmarks of a suite apart]' \
			'--verify=-[compares stacks with libunwind, names with libdw]::one stack in N:' \
			'--control[takes commands while recording]:pipes:' \
			{-F,--freq}'[samples per second on each CPU]:hertz:' \
			{-e,--event}'[the event to count]:event:(cycles cpu-clock task-clock page-faults context-switches)' \
			'--counters=-[reads counters with each sample]::events:(page-faults context-switches minor-faults major-faults task-clock instructions branch-misses cache-misses)' \
			'--off-cpu=-[samples where threads wait, too]::milliseconds of waiting for a sample:' \
			'(--requests --work)--no-requests[counts no requests]' \
			'(--no-requests --work)--requests[states how many requests were answered]:number:' \
			'(--no-requests --requests)--work[an event that is counted in place of requests]:event:(uprobe\: usdt\:)' \
			'--native[native code only]' \
			{-g,--call-graph}'[how stacks are found]:mode:(dwarf dwarf,32768 fp)' \
			'*--project-root[sources of the user]:directory:_files -/' \
			'--origin-rules[what is user, library or system]:file:_files' \
			'--mode[permissions of what is written]:octal number:(600 640 644)' \
			'*--label[kept in the profile]:key=value:(service= version= environment= commit= host=)' \
			'--no-args[keeps only the name of the program]' \
			'--wait-rules[what threads wait for]:file:_files' \
			'--no-names[names no functions]' \
			'--require-confinement[fails where who reads binaries cannot be confined]' \
			'--no-realtime[no real-time priority]' \
			{-q,--quiet}'[errors only]' \
			{-h,--help}'[help]' \
			'*::command:_normal'
		;;
# simulate
	simulate)
		_arguments -S \
			{-o,--output}'[the profile]:file:_files' \
			'--cache[sizes of the caches]:I1,D1,LL:' \
			'--runs[runs of the command into one profile]:number:' \
			'--benchmarks[counts only the benchmarks of a suite]' \
			'*--project-root[sources of the user]:directory:_files -/' \
			'--origin-rules[what is user, library or system]:file:_files' \
			'--wait-rules[what threads wait for]:file:_files' \
			'--no-names[names no functions]' \
			'--require-confinement[fails where who reads binaries cannot be confined]' \
			'*--label[kept in the profile]:key=value:(service= version= environment= commit= host=)' \
			'--no-args[keeps only the name of the program]' \
			'--mode[permissions of what is written]:octal number:(600 640 644)' \
			{-q,--quiet}'[errors only]' \
			{-h,--help}'[help]' \
			'*::command:_normal'
		;;
# diff
	diff)
		_arguments \
			{-o,--output}'[HTML page]:file:_files' \
			'--text[text]::file:_files' \
			'--json[JSON]::file:_files' \
			'--markdown[for a pull request]::file:_files' \
			'--svg[static flame graph]::file:_files' \
			'--scale[how both sides are made comparable]:mode:(auto per-run per-request robust share rate work=)' \
			'--benchmark[only this benchmark]:name or URI:' \
			'--metric[which value]:name:(cpu off-cpu wall idle samples)' \
			'--min-effect[smallest difference that matters]:points:' \
			'--precision[change of a benchmark that does not matter]:percent:' \
			'*--fail-on[limit]:rule:' \
			'--ignore-warnings[check limits even when hardly comparable]' \
			'--inconclusive[exit code when inconclusive]:result:(pass fail)' \
			'*--project-root[sources of the user]:directory:_files -/' \
			'--origin-rules[what is user, library or system]:file:_files' \
			'--mode[permissions of what is written]:octal number:(600 640 644)' \
			'--wait-rules[what threads wait for]:file:_files' \
			'--no-names[names no functions]' \
			'--require-confinement[fails where who reads binaries cannot be confined]' \
			{-h,--help}'[help]' \
			'1:base:_files' '2:head:_files'
		;;
# bench
	bench)
		_arguments \
			'--base[before the change]:command:' \
			'--head[after it]:command:' \
			'--runs[of either command]:number:' \
			'--warmup[runs before all others, not recorded]:number:' \
			'--min-time[least total time of either command]:time, as 30, 500ms or 2m:' \
			'--time-limit[no run begins that would end later]:time, as 90, 90s or 10m:' \
			'--benchmarks[the commands are suites, compared benchmark by benchmark]' \
			'--setup[run once before everything]:command:' \
			'--prepare[run before every run]:command:' \
			'--simulate[counts in place of samples]' \
			'--cache[caches of the simulated processor]:I1,D1,LL:' \
			'--save[keeps the profiles]:directory:_files -/' \
			{-F,--freq}'[samples per second on each CPU]:hertz:' \
			{-e,--event}'[the event to count]:event:(cycles cpu-clock task-clock page-faults context-switches)' \
			'--off-cpu=-[samples where threads wait, too]::milliseconds of waiting for a sample:' \
			'--native[native code only]' \
			{-q,--quiet}'[no progress]' \
			{-o,--output}'[HTML page]:file:_files' \
			'--text[text]::file:_files' \
			'--json[JSON]::file:_files' \
			'--markdown[for a pull request]::file:_files' \
			'--svg[static flame graph]::file:_files' \
			'--scale[how both sides are made comparable]:mode:(auto per-run per-request robust share rate work=)' \
			'--metric[which value]:name:(cpu off-cpu wall idle samples)' \
			'--min-effect[smallest difference that matters]:points:' \
			'--precision[change of a benchmark that does not matter]:percent:' \
			'*--fail-on[limit]:rule:' \
			'--ignore-warnings[check limits even when hardly comparable]' \
			'--inconclusive[exit code when inconclusive]:result:(pass fail)' \
			'*--project-root[sources of the user]:directory:_files -/' \
			'--origin-rules[what is user, library or system]:file:_files' \
			'--mode[permissions of what is written]:octal number:(600 640 644)' \
			'--no-args[keeps only the name of the program]' \
			'--wait-rules[what threads wait for]:file:_files' \
			'--no-names[names no functions]' \
			'--require-confinement[fails where who reads binaries cannot be confined]' \
			{-h,--help}'[help]'
		;;
# report
	report)
		_arguments \
			{-o,--output}'[HTML page]:file:_files' \
			'--text[text]::file:_files' \
			'--json[JSON]::file:_files' \
			'--svg[static flame graph]::file:_files' \
			'--folded[folded stacks]::file:_files' \
			'--benchmark[only this benchmark]:name or URI:' \
			'--metric[which value]:name:(cpu off-cpu wall idle samples)' \
			'--verify=-[compares stacks with libunwind, names with libdw]::one stack in N:' \
			'*--project-root[sources of the user]:directory:_files -/' \
			'--origin-rules[what is user, library or system]:file:_files' \
			'--mode[permissions of what is written]:octal number:(600 640 644)' \
			'--wait-rules[what threads wait for]:file:_files' \
			'--no-names[names no functions]' \
			'--require-confinement[fails where who reads binaries cannot be confined]' \
			{-h,--help}'[help]' \
			'1:profile:_files'
		;;
# recover
	recover)
		_arguments -S \
			{-o,--output}'[the profile]:file:_files' \
			'*--project-root[sources of the user]:directory:_files -/' \
			'--origin-rules[what is user, library or system]:file:_files' \
			'--mode[permissions of what is written]:octal number:(600 640 644)' \
			'--wait-rules[what threads wait for]:file:_files' \
			'--no-names[names no functions]' \
			'--require-confinement[fails where who reads binaries cannot be confined]' \
			{-h,--help}'[help]' \
			'1:unfinished recording:_files -g "*.part"'
		;;
# symbolize
	symbolize)
		_arguments \
			{-e,--exe}'[the binary]:file:_files' \
			{-p,--pretty-print}'[one line for each frame]' \
			{-s,--basenames}'[file names without directories]' \
			'--json[JSON on standard output]' \
			{-j,--section}'[addresses count from its start]:section:' \
			'--no-inlines[only the function that holds the code]' \
			'--no-demangle[names as the linker knows them]' \
			'--explain-origin[whose code a frame is, and why]' \
			'*--project-root[sources of the user]:directory:_files -/' \
			'--origin-rules[what is user, library or system]:file:_files' \
			'--debuginfod[fetch a missing debug file]' \
			'--no-cache[no cache of resolved frames]' \
			'--verify[compares names with libdw]' \
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
