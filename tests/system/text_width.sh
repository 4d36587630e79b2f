#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a person reads, on standard output and standard error, has at most 120 columns, or as many as COLUMNS says, also where names of
# C++, Rust and Python are longer.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

pairs="$ROOT/tests/data/pairs"

# check FILE WIDTH WHAT: it has text, and no line is wider.
check() {
	local longest

	longest=$(wc -L <"$1")
	[[ $longest -ge 1 && $longest -le $2 ]] || fail "$3: the longest line has $longest columns, not 1 to $2"
}

# fits WIDTH OUTPUTS ARGUMENTS: runs kelvin, whatever it finds, and checks the files OUTPUTS.
fits() {
	local width=$1 outputs=$2 output

	shift 2
	if [[ $width -eq 120 ]]; then unset COLUMNS; else export COLUMNS=$width; fi
	"$KELVIN" "$@" >stdout 2>stderr
	for output in $outputs; do
		check "$output" "$width" "kelvin $*, $output"
	done
}

for width in 120 80; do
	for name in criterion_base_1:criterion_head_1 gunicorn_base:gunicorn_head nginx_base:nginx_head inlined_base_1:inlined_head_1 \
		postgres_base:postgres_head; do
		base=$pairs/${name%:*}.pb.gz head=$pairs/${name#*:}.pb.gz
		fits "$width" stdout diff "$base" "$head"
		fits "$width" stdout report "$head"
		# The verdict, where the report is a file.
		fits "$width" "stdout stderr" diff "$base" "$head" -o page.html
	done
	fits "$width" stdout doctor
	# A refusal, whose file name and command stay whole.
	fits "$width" stderr report no_such_file_of_a_long_name_of_more_than_eighty_columns.pb.gz --metric time
	says stderr 'no_such_file_of_a_long_name_of_more_than_eighty_columns\.pb\.gz'
	fits "$width" stderr report one.pb.gz two.pb.gz three.pb.gz four.pb.gz five.pb.gz --no-such-option-as-this-one
	says stderr "'kelvin report --help'"
done

# The commands that doctor proposes can be copied.
if is_root && command -v setpriv >/dev/null; then
	chmod 755 .
	cp "$KELVIN" kelvin
	for COLUMNS in 120 80; do
		setpriv --reuid 65534 --regid 65534 --clear-groups ./kelvin doctor >stdout 2>stderr
		check stdout "$COLUMNS" "kelvin doctor of a user"
		sed -n '/^  -> k=/,/[^\\]$/{s/^  -> //;p;/[^\\]$/q}' stdout >command.sh
		sed -i '1s/^/command() { :; }; sudo() { echo "$*"; }; /' command.sh
		[[ $(bash command.sh | tail -n 1) =~ ^"setcap cap_perfmon,cap_bpf,".*"+ep " ]] || fail "the command cannot be copied"
	done
fi

if kelvin doctor >/dev/null; then
	loop='i=0; while [ $i -lt 150000 ]; do i=$((i + 1)); done'
	for width in 120 80; do
		fits "$width" stderr record -F 999 --off-cpu -o a.pb.gz -- "$WORKLOADS/system_workload" --seconds 0.3
		fits "$width" "stdout" bench --runs 2 --base "$loop" --head "$loop; $loop"
		fits "$width" "stdout stderr" bench --runs 2 --base "$loop" --head "$loop; $loop" -o page.html
		fits "$width" stderr bench --runs 2 --base "$loop; echo one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen >&2; exit 3" --head "$loop"
	done
fi
if command -v valgrind >/dev/null; then
	for width in 120 80; do
		fits "$width" stderr simulate -o a.pb.gz -- true
	done
fi
