#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The binary is replaced and deleted while it runs: the names stay.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
cp "$WORKLOADS/system_workload" server
start ./server --seconds 100
record_enough 400 -p "$pid" -o before.pb.gz
cp "$WORKLOADS/system_workload" new
strip new
mv new server
record_enough 400 -p "$pid" -o replaced.pb.gz
rm server
record_enough 400 -p "$pid" -o deleted.pb.gz
stop "$pid"
for file in before replaced deleted; do
	at_least "$(share $file.pb.gz '^server;_start;.*main;serve;parse_input')" 60 "share of parse_input in $file.pb.gz"
	at_least "$(share $file.pb.gz '^server;_start;.*main;serve;hash_output')" 15 "share of hash_output in $file.pb.gz"
done

# What a binary lacks is said.
says_not stderr 'without names'
cp "$WORKLOADS/system_workload" stripped && strip stripped
run 0 kelvin record -o stripped.pb.gz -- ./stripped --cpu 0.3
says stderr '^[0-9]+ % of the samples are in functions without names, most of them in /.*/stripped: '

# Written over in place, it is another under the same inode: the new one has its names, which the old one does not get.
cp "$(command -v gzip)" program
run 0 kelvin record -o over.pb.gz -- sh -c \
	"./program -c <'$KELVIN' >/dev/null; cat '$WORKLOADS/system_workload' >program; ./program --parse 3 --cpu 0.5"
kelvin report over.pb.gz --folded - >folded
says folded '^program;.*;main;serve;parse_input'

needs jq
code=0
kelvin diff before.pb.gz deleted.pb.gz --json diff.json >stdout 2>stderr || code=$?
[[ $code -ne 2 ]] || fail "the comparison failed"
jq -e '[.functions[] | select(.name == "parse_input" and .base_self_ns > 0 and .head_self_ns > 0)] | length == 1' diff.json >/dev/null ||
	fail "parse_input is not one function of both sides"

# Two builds at one path without build IDs, as of Go: each has its own names, which lie at the same addresses.
needs gcc
cat >build.c <<'END'
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) void NAME(void)
{
	while (clock() < CLOCKS_PER_SEC / 5)
		for (int i = 0; i < 100000; i++)
			sink += (unsigned long)i;
}

int main(void)
{
	NAME();
	return (int)(sink & 0);
}
END
for version in first second; do
	gcc -O1 -g -fno-optimize-sibling-calls -Wl,--build-id=none -DNAME="in_$version" build.c -o "$version" || fail "build.c does not compile"
done
run 0 kelvin record -o builds.pb.gz -- sh -c 'cp first build; ./build; mv second build; ./build'
at_least "$(share builds.pb.gz ';main;in_first')" 30 "share of the first build"
at_least "$(share builds.pb.gz ';main;in_second')" 30 "share of the second build"

# A program that has no file at all, as container runtimes start themselves.
cat >nameless.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static volatile unsigned long sink;

__attribute__((noinline)) void work(void)
{
	for (int i = 0; i < 30000; i++)
		sink += (unsigned long)i;
}

int main(int argc, char **argv)
{
	char *again[] = { argv[0], "again", NULL };
	int copy = memfd_create("copy", MFD_CLOEXEC), self = open("/proc/self/exe", O_RDONLY);

	if (argc == 1 && sendfile(copy, self, NULL, 1 << 30) > 0)
		fexecve(copy, again, environ);
	while (argc > 1 && clock() < CLOCKS_PER_SEC / 2)
		work();
	return 0;
}
END
gcc -O1 -g nameless.c -o nameless
run 0 kelvin record -o nameless.pb.gz -- ./nameless
at_least "$(share nameless.pb.gz ';main;work')" 80 "share of a program without a file"
