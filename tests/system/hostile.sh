# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What the tests of hostile programs share: an innocent program is recorded beside each, and must be told as if it were alone.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../workloads/hostile.sh
. "$ROOT/tests/workloads/hostile.sh"

# Where the goal is 100 MB: several times what a recording of two small programs needs.
hostile_most_kb=$((200 * 1024))

WORKLOADS=$WORKLOADS/../workloads
[[ -x $WORKLOADS/workload_hostile ]] || skip "the hostile programs are not part of a sanitized build"
[[ $(uname -m) == x86_64 ]] || skip "the hostile programs' code is that of x86-64"
# The hostile programs run as another user.
chmod 711 "$work"

hostile_finish() {
	local code=$?

	hostile_stop
	hostile_clean
	(exit "$code")
	finish
}
trap hostile_finish EXIT

# unharmed KIND SECONDS [OPTION...]: records both programs. The recording ends by itself, needs no more memory than others, and has the
# innocent program's samples, as many as its CPU time makes, with whole stacks and names; of the hostile one it has the samples. A
# recorder that has not ended after a minute never will. False where this machine lacks what the kind needs, which is in `lacking`.
unharmed() {
	local kind=$1 code=0 percent

	hostile_start "$kind" || code=$?
	if [[ $code -eq 77 ]]; then
		# shellcheck disable=SC2034
		lacking=$(<hostile.out)
		hostile_stop
		hostile_clean
		return 1
	fi
	[[ $code -eq 0 ]] || fail "$kind: the hostile program does not start: $(<hostile.out)"
	hostile_record "$KELVIN" "$2" 60 "${@:3}"
	[[ $(hostile_value ended "$watched") == 1 ]] || fail "$kind: the recorder does not end: $watched"
	[[ $(hostile_value code "$watched") == 0 ]] || fail "$kind: exit code $(hostile_value code "$watched") of the recorder: $watched"
	at_most "$(hostile_value peak_kb "$watched")" "$hostile_most_kb" "$kind: kilobytes of memory that the recorder needs"
	percent=$(hostile_innocent "$KELVIN" record.pb.gz "$(hostile_value innocent_cpu "$watched")")
	# A busy machine leaves the program a hundred samples in a short recording.
	at_least "${percent% *}" 70 "$kind: percent of the innocent program's CPU time that is there"
	at_least "${percent#* }" $((${percent% *} * 95 / 100)) "$kind: percent of the innocent program's CPU time that has whole stacks"
	[[ $kind == storm-commands ]] || grep -q '^workload_hostil' folded.txt || fail "$kind: no sample of the hostile program"
	hostile_stop
	hostile_clean
}
