#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Root records in a directory where others may write: nothing goes to files or pipes of theirs, nothing of root's is overwritten, and
# two recordings that were killed are both there.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
is_root || skip "root is needed to be another user"
needs setpriv
chmod 711 "$work"
mkdir shared
chmod 1777 shared
start "$WORKLOADS/system_workload"
workload=$pid
cd shared || exit 2

as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

# record_here [OPTION...]: exit code and messages; a recorder that hangs is a failure.
record_here() {
	local code=0

	timeout 60 "$KELVIN" record -p "$workload" -d 0.2 "$@" >../stdout 2>../stderr || code=$?
	[[ $code -eq 0 || $code -eq 2 ]] || fail "exit code $code: $* with $(ls -la)"
	return "$code"
}

# keeps FILE: root's file is as it was.
keeps() {
	[[ $(<"$1") == precious ]] || fail "$1 is overwritten"
}

printf precious >../precious

# Links of another user, to the recording's name and to a report's; the kernel's own guard does not see what is resolved before.
as_nobody ln -s "$work/precious" kelvin.pb.gz
record_here && fail "a recording follows another user's link"
keeps ../precious
as_nobody ln -s "$work/precious" a.html
printf 'a;b 1\n' >../folded
"$KELVIN" report ../folded -o a.html >../stdout 2>../stderr && fail "a report follows another user's link"
keeps ../precious
rm kelvin.pb.gz a.html

# What lies where the recording is written meanwhile: a pipe, a file of another user, another name of another file.
as_nobody mkfifo a.pb.gz.part
record_here -o a.pb.gz && fail "a pipe is recorded to"
rm -f a.pb.gz.part
as_nobody sh -c 'umask 0; : >b.pb.gz.part'
if record_here -o b.pb.gz; then
	[[ $(stat -c %u b.pb.gz) == 0 ]] || fail "a recording is in a file of another user"
fi
if [[ -e b.pb.gz.part ]]; then
	[[ ! -s b.pb.gz.part ]] || fail "a file of another user received the recording"
fi
ln ../precious c.pb.gz.part
record_here -o c.pb.gz || true
keeps ../precious

# One's own links are followed, as those of the directory's owner.
cd "$work" || exit 2
mkdir own elsewhere
ln -s ../elsewhere/a.pb.gz own/a.pb.gz
cd own || exit 2
record_here -o a.pb.gz || fail "one's own link is not followed"
[[ -L a.pb.gz && -s ../elsewhere/a.pb.gz ]] || fail "one's own link is not followed: $(ls -la . ../elsewhere)"

# writes_to PID FILE LEFT: the recorder has the file open, has written to it, and it is not the one that was left there.
writes_to() {
	local inode size

	read -r inode size < <(stat -c '%i %s' "$2") && [[ $size -gt 0 && $inode != "$3" ]] &&
		find "/proc/$1/fd" -lname "*/$2" | grep -q .
}

# Killed twice: the third recording finds and keeps what both left.
for _ in 1 2; do
	left=$(stat -c %i d.pb.gz.part 2>/dev/null)
	start "$KELVIN" record -p "$workload" -o d.pb.gz
	recorder=$pid
	wait_until "something is written" writes_to "$recorder" d.pb.gz.part "$left"
	kill -KILL "$recorder"
	wait "$recorder" 2>/dev/null
done
record_here -o d.pb.gz || fail "no recording after two that were killed"
[[ $(find . -name 'd.pb.gz.part*' -size +0 | wc -l) -eq 2 ]] || fail "of two killed recordings there are: $(ls -la)"
