#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Where temporary files lie on machines that lack a place for them: what is read-only, full or not there is passed over, down to an error
# that names all of it.
# shellcheck source-path=SCRIPTDIR source=own_tmp.sh
. "$(dirname "$0")/own_tmp.sh"
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

[[ -n ${OWN_TMP:-} ]] || skip "mounts are needed"
[[ -x $(dirname "$KELVIN")/../sampler/simulate/tool/launcher ]] || skip "kelvin simulate is not built"
unset XDG_RUNTIME_DIR TMPDIR
for place in /var/tmp /dev/shm /run; do
	mount -t tmpfs -o mode=1777 none $place || skip "a $place of its own is needed"
done
chmod 755 /run

# lies_in DIRECTORY: the files of a simulation are there while it runs, and nothing is behind it.
lies_in() {
	run 0 kelvin simulate -q -o /dev/null -- find /run /var/tmp /dev/shm /mnt /tmp -maxdepth 3 -name 'kelvin-????????????????'
	says stdout "^$1/kelvin-[0-9a-f]{16}$"
	[[ $(wc -l <stdout) -eq 1 && -z $(ls -A "$1") ]] || fail "files are left in $1: $(ls -A "$1")"
	[[ $(stat -c %u.%a "$1") == 0.700 ]] || fail "$1 is open to others"
}

read_only() {
	mount -t tmpfs -o ro none "$1"
}

mkdir /run/kelvin
mount -t tmpfs -o size=16m none /mnt
TMPDIR=/none lies_in /tmp/kelvin-0
TMPDIR=/mnt lies_in /mnt/kelvin-0
# Its disk is full from the first count on; all is deleted all the same, and the user hears of it.
dd if=/dev/zero of=/mnt/full bs=1M count=17 2>/dev/null
TMPDIR=/mnt "$KELVIN" simulate -o /dev/null -- true >stdout 2>stderr && fail "counts were written to a full disk"
says stderr 'full'
[[ -z $(ls -A /mnt/kelvin-0) ]] || fail "files are left on a full disk"
umount /mnt

read_only /tmp
lies_in /var/tmp/kelvin-0
read_only /var/tmp
lies_in /run/kelvin/0
read_only /run
mkdir /mnt/kelvin 2>/dev/null
lies_in /dev/shm/kelvin-0
read_only /dev/shm
TMPDIR=/none "$KELVIN" simulate -o /dev/null -- true >stdout 2>stderr && fail "files lie nowhere"
says stderr 'no place for temporary files; set TMPDIR to a directory of your own: /none: .*No such file.*; /tmp: .*Read-only file system; /var/tmp: '
