#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that the kernel lets nobody watch but root: set-user-ID, with capabilities of their file, or unreadable. Where they begin it takes
# the events of their threads away, root's too. Root has samples of them; others learn how much is missing.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
is_root || skip "root is needed to make a program set-user-ID"
users_may_sample -1
needs setpriv
needs gcc
cat >burn.c <<'END'
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void burn(double seconds)
{
	struct timespec used;

	do {
		for (int i = 0; i < 100000; i++)
			sink += (unsigned long)i;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	} while ((double)used.tv_sec + (double)used.tv_nsec / 1e9 < seconds);
}

__attribute__((noinline)) static int watched(char **next)
{
	burn(0.2);
	return next[0] ? execv(next[0], next) : 0;
}

__attribute__((noinline)) static int unwatched(void)
{
	burn(0.9);
	return (int)(sink & 0);
}

int main(int argc, char **argv)
{
	return argc > 1 || strstr(argv[0], "watched") == NULL ? watched(argv + 1) : unwatched();
}
END
gcc -O1 -g -fno-optimize-sibling-calls burn.c -o watch || fail "burn.c does not compile"
chmod 755 "$work"
mkdir -m 777 open
install -m 755 "$KELVIN" open/kelvin
install -m 4755 watch open/unwatched
install -m 711 watch open/unreadable.watched
install -m 755 watch open/watch
unprivileged=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# share PROFILE FUNCTION: percent of its CPU time.
share() {
	awk -v of="$2" '$0 ~ of { sum += $NF } { all += $NF } END { printf "%d", all ? 100 * sum / all : 0 }' "$(folded "$1")"
}

for program in unwatched unreadable.watched; do
	# A file system may leave set-user-ID out.
	[[ $program != unwatched ]] || ! findmnt -no OPTIONS -T open | grep -qw nosuid || continue
	# The first 0.2 s of 0.9 s have samples.
	run 0 "${unprivileged[@]}" "$work/open/kelvin" record -o open/user.pb.gz -- "$work/open/watch" "$work/open/$program"
	says stderr "^0\.[4-9][0-9] s of CPU time \([6-9][0-9] %\) are not in the samples: the kernel lets only root sample '${program:0:15}' "
	says_not stderr 'less than a sampling period'
	at_least "$(share open/user.pb.gz ';watched')" 90 "percent of a user's samples in what may be watched"
	"$KELVIN" report open/user.pb.gz >text
	grep -qE '^- 0\.[4-9][0-9] s of CPU time \([6-9][0-9] %\) are not in the samples' text || fail "the report says nothing of it"

	# Root has the samples of nearly all of it.
	run 0 kelvin record -o root.pb.gz -- "${unprivileged[@]}" "$work/open/watch" "$work/open/$program"
	at_least "$(share root.pb.gz ';unwatched')" 30 "percent of root's samples in $program"
	says_not stderr 'lets only root sample'
done

# Alone it has no sample at all.
code=0
"${unprivileged[@]}" "$work/open/kelvin" record -o open/none.pb.gz -- "$work/open/unreadable.watched" >stdout 2>stderr || code=$?
[[ $code -ne 0 ]] || fail "a program without samples was recorded"
says stderr "the kernel lets only root sample 'unreadable.watc', which is set-user-ID, unreadable or has capabilities of its file"
