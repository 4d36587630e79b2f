#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# kelvin simulate leaves nothing of what interpreters write because it asks for names: no perf map in /tmp, no log of V8 in the working
# directory. A map that is opened again is found all the same, and files that a program wants itself stay.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# expect_files [NAME]: all that the directory `here` holds.
expect_files() {
	[[ $(ls -A here) == "${1:-}" ]] || fail "the directory holds '$(ls -A here)', not '${1:-}'"
}

cat >writer.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static int make(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || fcntl(fd, F_GETFD) != FD_CLOEXEC) exit(3);
	return fd;
}
int main(int count, char **words)
{
	static const unsigned char code[] = { 0xb9, 0x10, 0x27, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
	unsigned char *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *pid = fopen(words[1], "w");
	(void)count;
	fprintf(pid, "%d", getpid());
	fclose(pid);
	snprintf(path, sizeof(path), "isolate-0x5-%d-v8.log", getpid());
	dprintf(make(path), "log\n");
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	close(make(path));
	dprintf(make(path), "%lx 10 made_by_jit\n", (unsigned long)made);
	for (size_t i = 0; i < sizeof(code); i++) made[i] = code[i];
	((void (*)(void))made)();
	close(make("kept.map"));
	return 0;
}
C
cc -O1 -o writer writer.c || fail "the program is not built"
mkdir here
run 0 env -C here "$KELVIN" simulate -q -o ../a.pb.gz -- ../writer ../pid
expect_files kept.map
[[ ! -e /tmp/perf-$(<pid).map ]] || fail "the map is left behind"
run 0 kelvin report a.pb.gz --metric instructions --json -
says stdout 'made_by_jit'

# Who asks for V8's log gets it.
rm -r here && mkdir here
run 0 env -C here "$KELVIN" simulate -q -o ../a.pb.gz -- ../writer ../pid --prof
[[ -e here/isolate-0x5-$(<pid)-v8.log ]] || fail "a log that was asked for is removed"

command -v node >/dev/null || exit 0
rm -r here && mkdir here
cat >script.js <<'JS'
function wordsOf(n) { let sum = 0; for (let i = 0; i < n; i++) sum += String(i).split('').length; return sum; }
wordsOf(200);
require('fs').writeFileSync(process.argv[2], String(process.pid));
JS
run 0 env -C here "$KELVIN" simulate -q -o ../node.pb.gz -- node ../script.js ../pid
expect_files
[[ ! -e /tmp/perf-$(<pid).map ]] || fail "the map of node is left behind"
run 0 kelvin report node.pb.gz --metric instructions --json -
says stdout '"wordsOf"'
