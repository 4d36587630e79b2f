#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Debug information names any file as source. What root's recording keeps of files is what the processes' user could have read, and no
# file makes the recording wait, or grow.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
is_root || skip "root is needed to run programs of other users"
needs gcc
needs setpriv
chmod 711 "$work"

# has FILE TEXT / has_not: whether a profile keeps a line with this text.
has() {
	gzip -dc "$1" | grep -aqF -- "$2" || fail "$1 does not have '$2'"
}
has_not() {
	! gzip -dc "$1" | grep -aqF -- "$2" || fail "$1 has '$2'"
}

# text WORD: a source file with the word in the function that begins at line 2.
text() {
	printf '/* */\nvoid function(void)\n{\n\twork(); /* %s */\n\twork();\n\twork();\n}\n' "$1"
}

mkdir lair
text ROOTS_SECRET >secret.c
chmod 600 secret.c
text USERS_OWN >lair/own.c
chmod 600 lair/own.c
ln -s "$work/secret.c" lair/link.c
ln -s loop.c lair/loop.c
mkfifo lair/fifo.c
mkdir lair/directory.c
{ text BINARY && printf '\0'; } >lair/binary.c
truncate -s 1T lair/sparse.c
{ text LARGE_FILE && yes 'a line of generated code, of which there are a million more of the same kind' | head -c 50000000; } >lair/large.c
text CHANGING >lair/changing.c
chown -R -h 54321:54321 lair
chmod 755 lair

# program NAME PATH...: a program whose functions seem to be from these files.
program() {
	local name=$1 path number=0 calls=

	shift
	{
		printf 'static volatile unsigned long sink;\n'
		for path in "$@"; do
			number=$((number + 1))
			calls+="f$number(); "
			# shellcheck disable=SC1003
			printf '#line 2 "%s"\n__attribute__((noinline)) static void f%d(void)\n{\n for (int i = 0; i < 100000; i++) sink += i;\n}\n' \
				"$path" "$number"
		done
		printf '#line 1 "main"\n#include <time.h>\n#include <unistd.h>\n#include <sys/types.h>\n#include <stdlib.h>\n'
		printf 'int setresuid(uid_t, uid_t, uid_t);\n'
		printf 'int main(int argc, char **argv)\n{\n if (argc > 2 && setresuid(atoi(argv[2]), atoi(argv[2]), atoi(argv[2])) != 0) return 1;\n'
		printf ' while (clock() < atof(argv[1]) * CLOCKS_PER_SEC) { %s }\n return 0;\n}\n' "$calls"
	} >"$name.c"
	gcc -g -O1 -o "$name" "$name.c" || fail "the program is not built"
}

program hostile "$work/secret.c" "$work/lair/own.c" "$work/lair/link.c" "$work/lair/loop.c" "$work/lair/fifo.c" \
	"$work/lair/directory.c" "$work/lair/binary.c" "$work/lair/sparse.c" "$work/lair/large.c" "$work/lair/changing.c" \
	"$work/lair/../secret.c" "$work/lair/../../../../../../../$work/secret.c" /proc/self/environ /dev/zero /dev/stdin /proc/1/environ \
	/etc/shadow
chown 54321 hostile

# ---- What others may read, and no more; nothing waits ----

start bash -c 'while :; do echo "/* more */" >>"$1"; sleep 0.001; done' changes "$work/lair/changing.c"
changes=$pid
start setpriv --reuid 54321 --regid 54321 --clear-groups ./hostile 1000
wait_until "the program runs" executes "$pid" "$work/hostile"
run 0 timeout 60 "$KELVIN" record -d 1 --sources -p "$pid" -o hostile.pb.gz
has hostile.pb.gz USERS_OWN
has hostile.pb.gz LARGE_FILE
has_not hostile.pb.gz ROOTS_SECRET
has_not hostile.pb.gz BINARY
has_not hostile.pb.gz 'root:'
says stderr 'may differ from what was built$'
[[ $(stat -c %s hostile.pb.gz) -lt 1000000 ]] || fail "the profile has $(stat -c %s hostile.pb.gz) bytes"
stop "$pid"
stop "$changes"

# ---- Processes of two users: what anybody may read ----

text FOR_EVERYBODY >lair/public.c
program shared "$work/lair/own.c" "$work/lair/public.c"
start setpriv --reuid 54321 --regid 54321 --clear-groups ./shared 1000
first=$pid
start setpriv --reuid 54322 --regid 54322 --clear-groups ./shared 1000
wait_until "the programs run" executes "$pid" "$work/shared"
run 0 kelvin record -d 1 --sources -p "$first,$pid" -o two.pb.gz
stop "$pid"
stop "$first"
has two.pb.gz FOR_EVERYBODY
has_not two.pb.gz USERS_OWN

# ---- Root's programs that have become another user's, and links that others made for root ----

program dropper "$work/secret.c" "$work/lair/public.c"
chown 54321 dropper
run 0 kelvin record --sources -o dropped.pb.gz -- ./dropper 0.5 54321
has dropped.pb.gz FOR_EVERYBODY
has_not dropped.pb.gz ROOTS_SECRET
run 0 kelvin record --sources -o child.pb.gz -- bash -c './dropper 0.5 54321; true'
has_not child.pb.gz ROOTS_SECRET
run 0 kelvin record --sources -o lowered.pb.gz -- setpriv --reuid 54321 --regid 54321 --clear-groups ./dropper 0.5
has lowered.pb.gz FOR_EVERYBODY
has_not lowered.pb.gz ROOTS_SECRET

program roots "$work/secret.c" "$work/lair/public.c"
run 0 kelvin record --sources -o roots.pb.gz -- ./roots 0.5
has roots.pb.gz ROOTS_SECRET
program led "$work/lair/link.c" "$work/lair/public.c"
run 0 kelvin record --sources -o led.pb.gz -- ./led 0.5
has led.pb.gz FOR_EVERYBODY
has_not led.pb.gz ROOTS_SECRET

# ---- Another mount namespace ----

if unshare -m true 2>/dev/null; then
	text OUTSIDE >lair/public.c
	program inner "$work/lair/public.c"
	text INSIDE >inside.c
	chmod 644 inside.c
	# shellcheck disable=SC2016
	start unshare -m sh -c \
		'mount --bind inside.c lair/public.c && exec setpriv --reuid 54321 --regid 54321 --clear-groups ./inner 1000'
	wait_until "the program runs" executes "$pid" "$work/inner"
	run 0 kelvin record -d 0.5 --sources -p "$pid" -o inner.pb.gz
	stop "$pid"
	has inner.pb.gz INSIDE
	has_not inner.pb.gz OUTSIDE
fi

# ---- A file system that never answers ----

if command -v python3 >/dev/null && [[ -w /dev/fuse ]] && unshare -m true 2>/dev/null; then
	mkdir lair/fuse
	program stuck "$work/lair/fuse/stuck.c" "$work/lair/own.c"
	# Mounted, and never served.
	cat >mount.py <<'END'
import ctypes, os, sys

fd = os.open("/dev/fuse", os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = f"fd={fd},rootmode=40000,user_id=54321,group_id=54321,allow_other".encode()
if libc.mount(b"stuck", sys.argv[1].encode(), b"fuse", 0, options) != 0:
    sys.exit(77)
os.set_inheritable(fd, True)
os.setgroups([])
os.setresgid(54321, 54321, 54321)
os.setresuid(54321, 54321, 54321)
os.execv(sys.argv[2], sys.argv[2:])
END
	start unshare -m python3 mount.py "$work/lair/fuse" "$work/stuck" 1000
	wait_until "the program runs" executes "$pid" "$work/stuck"
	begin=$SECONDS
	run 0 timeout 60 "$KELVIN" record -d 0.5 --sources -p "$pid" -o stuck.pb.gz
	at_most $((SECONDS - begin)) 30 "seconds beside a file system that never answers"
	kelvin report stuck.pb.gz --folded - >folded
	says folded 'f2'
fi
