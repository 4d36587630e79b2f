# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Each section below belongs to the command named in its first line.

_kelvin() {
	local current previous options=

	current=${COMP_WORDS[COMP_CWORD]}
	previous=${COMP_WORDS[COMP_CWORD - 1]}
	if [[ $COMP_CWORD -eq 1 ]]; then
		mapfile -t COMPREPLY < <(compgen -W 'record simulate diff bench report recover symbolize doctor --help --version' -- "$current")
		return
	fi
	case ${COMP_WORDS[1]} in
# record
	record)
		options='--pid --tid --all-cpus --cgroup --output --duration --delay --control --runs --benchmarks --freq --event --off-cpu --counters --no-requests --requests --work --native --call-graph --verify --project-root
			--origin-rules --wait-rules --no-names --require-confinement --label --no-args --no-realtime --mode --quiet --help'
		case $previous in
		-p | --pid)
			mapfile -t COMPREPLY < <(compgen -W "$(ps -eo pid= 2>/dev/null)" -- "$current")
			return
			;;
		-e | --event)
			mapfile -t COMPREPLY < <(compgen -W 'cycles cpu-clock task-clock page-faults context-switches' -- "$current")
			return
			;;
		--label)
			compopt -o nospace
			mapfile -t COMPREPLY < <(compgen -W 'service= version= environment= commit= host=' -- "$current")
			return
			;;
		-g | --call-graph)
			mapfile -t COMPREPLY < <(compgen -W 'dwarf dwarf,32768 fp' -- "$current")
			return
			;;
		esac
		;;
# simulate
	simulate)
		options='--output --cache --runs --benchmarks --project-root --origin-rules --wait-rules --no-names --require-confinement --label --no-args --mode --quiet --help'
		if [[ $previous == --label ]]; then
			compopt -o nospace
			mapfile -t COMPREPLY < <(compgen -W 'service= version= environment= commit= host=' -- "$current")
			return
		fi
		;;
# diff
	diff)
		options='--output --text --json --markdown --svg --benchmark --scale --metric --min-effect --precision --fail-on --ignore-warnings --inconclusive
			--project-root --origin-rules --wait-rules --no-names --require-confinement --mode --help'
		if [[ $previous == --metric ]]; then
			mapfile -t COMPREPLY < <(compgen -W 'cpu off-cpu wall idle samples' -- "$current")
			return
		fi
		if [[ $previous == --scale ]]; then
			mapfile -t COMPREPLY < <(compgen -W 'auto per-run per-request robust share rate work=' -- "$current")
			return
		fi
		if [[ $previous == --inconclusive ]]; then
			mapfile -t COMPREPLY < <(compgen -W 'pass fail' -- "$current")
			return
		fi
		;;
# bench
	bench)
		options='--base --head --runs --warmup --min-time --time-limit --benchmarks --setup --prepare --freq --event --off-cpu --native --simulate --cache --save --no-args --mode --output --text --json --markdown
			--svg --scale --metric --min-effect --precision --fail-on --ignore-warnings --inconclusive --project-root --origin-rules --wait-rules --no-names --require-confinement --quiet --help'
		if [[ $previous == --metric ]]; then
			mapfile -t COMPREPLY < <(compgen -W 'cpu off-cpu wall idle samples' -- "$current")
			return
		fi
		if [[ $previous == --scale ]]; then
			mapfile -t COMPREPLY < <(compgen -W 'auto per-run per-request robust share rate work=' -- "$current")
			return
		fi
		if [[ $previous == --inconclusive ]]; then
			mapfile -t COMPREPLY < <(compgen -W 'pass fail' -- "$current")
			return
		fi
		;;
# report
	report)
		options='--output --text --json --svg --folded --benchmark --metric --verify --project-root --origin-rules --wait-rules --no-names --require-confinement --mode --help'
		if [[ $previous == --metric ]]; then
			mapfile -t COMPREPLY < <(compgen -W 'cpu off-cpu wall idle samples' -- "$current")
			return
		fi
		;;
# recover
	recover)
		options='--output --project-root --origin-rules --wait-rules --no-names --require-confinement --mode --help'
		;;
# symbolize
	symbolize)
		options='--exe --pretty-print --basenames --json --section --no-inlines --no-demangle --explain-origin --project-root
			--origin-rules --debuginfod --no-cache --verify --help'
		;;
# doctor
	doctor)
		options='--json --help'
		;;
# end
	esac
	if [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
	fi
}
complete -o filenames -F _kelvin kelvin
