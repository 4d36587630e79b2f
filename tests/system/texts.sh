#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Texts of functions whose sources are gone: from a git repository at the revisions of both sides, from a tree that the user names, from a
# debuginfod server. The program was built from two tags in two directories, which are removed before anybody asks.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$ROOT/tests/system/lib.sh"

command -v git >/dev/null || skip "git is needed"
export HOME=$work/home
mkdir "$HOME"
git config --global user.name a
git config --global user.email a@b
git config --global init.defaultBranch main

git init -q repo
mkdir -p repo/src
# work() gets one more line, and its loop other code, in the second version.
cat >repo/src/work.c <<'END'
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

__attribute__((noinline)) static void work(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		sink += i * 2654435761u; /* the first version */
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;

	while ((double)clock() / CLOCKS_PER_SEC < seconds)
		work(100000);
	return 0;
}
END
git -C repo add .
git -C repo commit -qm 'the first'
git -C repo tag v1
sed -i 's|^\t\tsink += .*|\t\tsink += (i * 2654435761u) / ((i \& 7) + 1); /* the second version */|' repo/src/work.c
git -C repo commit -qam 'the second'
git -C repo tag v2

# build TAG DIRECTORY: the program TAG, built in a directory of its own, which is removed.
build() {
	mkdir -p "$2"
	git -C repo archive "$1" | tar -x -C "$2"
	(cd "$2" && cc -g -O1 -gdwarf-5 -o "$work/$1" src/work.c -Wl,--build-id) || exit 2
	rm -rf "$2"
}

build v1 "$work/one/build"
build v2 "$work/elsewhere/b2"
for version in v1 v2; do
	run 0 kelvin record -o "$version.pb.gz" --label "commit=$(git -C repo rev-parse "$version")" -- "./$version" 0.3
	run 0 kelvin record -o "bare_$version.pb.gz" -- "./$version" 0.3
done

# The whole command line of each look; every place of a text in words.
look() {
	run_any kelvin diff v1.pb.gz v2.pb.gz --scale share --list '^work$' "$@"
}

shows_both() {
	says stdout 'the first version'
	says stdout 'the second version'
}

# Nobody has the texts: it is told, and lines have their times all the same.
look
says stdout 'work'
says_not stdout 'version'

# By the revisions that the user names, from the repository and from a directory in it.
look --repo repo --base-rev v1 --head-rev v2
shows_both
says stdout "from the repository at v1 \($(git -C repo rev-parse --short=9 v1)\)"
says stdout "from the repository at v2 \($(git -C repo rev-parse --short=9 v2)\)"
cp stdout by_names
(cd repo/src && exec "$KELVIN" diff ../../v1.pb.gz ../../v2.pb.gz --scale share --list '^work$' --base-rev v1 --head-rev HEAD) >stdout 2>stderr
shows_both
# By the labels of the recordings.
look --repo repo
shows_both
says stdout "from the repository at $(git -C repo rev-parse --short=9 v1),"
(cd repo && exec "$KELVIN" diff ../v1.pb.gz ../v2.pb.gz --scale share --list '^work$') >stdout 2>stderr
shows_both
# JSON and the page have the same texts.
look --repo repo --json lines.json -o page.html --text
jq -e '[.lines[].rows[] | .base_text, .head_text | strings] | (map(test("first version")) | any) and (map(test("second version")) | any)' \
	lines.json >/dev/null || fail "JSON lacks the texts"

# A benchmark of two builds has the same.
run_any kelvin bench --base './v1 0.1' --head './v2 0.1' --runs 3 -q --list '^work$' --repo repo --base-rev v1 --head-rev v2
shows_both

# Without labels nothing says which revision it was; one side may have its revision alone.
run_any kelvin diff bare_v1.pb.gz bare_v2.pb.gz --scale share --list '^work$' --repo repo
says_not stdout 'version'
says stderr 'base has no label commit.*--base-rev REV'
says stderr 'head has no label commit.*--head-rev REV'
run_any kelvin diff bare_v1.pb.gz bare_v2.pb.gz --scale share --list '^work$' --repo repo --head-rev v2
says_not stdout 'first version'
says stdout 'second version'
run 0 kelvin report bare_v1.pb.gz --list '^work$' --repo repo
says stderr 'the profile has no label commit.*--rev REV'
run 0 kelvin report bare_v1.pb.gz --list '^work$' --repo repo --rev v1
says_not stderr 'label'
says stdout 'the first version'
says stdout 'from the repository at v1'

# What cannot be read is refused before long work, with the next step.
refuses "no commit 'v7'.*git -C 'repo' fetch" kelvin diff v1.pb.gz v2.pb.gz --list work --repo repo --base-rev v7
refuses 'no git repository.*--repo DIR' kelvin diff v1.pb.gz v2.pb.gz --list work --base-rev v1
refuses 'cannot open the repository of gone' kelvin diff v1.pb.gz v2.pb.gz --list work --repo gone
refuses "the directory 'gone'" kelvin diff v1.pb.gz v2.pb.gz --list work --source-map /x=gone

# A shallow clone lacks the older one: it is told, and the newer is shown.
git clone -q --depth 1 "file://$work/repo" shallow
look --repo shallow
says stderr 'shallow clone.*fetch --unshallow'
says stdout 'second version'
says_not stdout 'first version'

# Another owner's repository is opened when the user trusts it.
if [[ $(id -u) -eq 0 ]]; then
	cp -r repo theirs
	chown -R 12345:12345 theirs
	refuses 'git config --global --add safe.directory' kelvin diff v1.pb.gz v2.pb.gz --list work --repo theirs --base-rev v1
	(cd theirs && exec "$KELVIN" diff ../v1.pb.gz ../v2.pb.gz --scale share --list '^work$') >stdout 2>stderr
	says stderr 'sources are not read.*safe.directory'
	says_not stdout 'first version'
	chmod 755 "$work"
	git config --global --add safe.directory "$work/theirs"
	look --repo theirs
	shows_both
fi

# The tree as it is now: by the beginning of its old paths, and by the end alone. It may differ, and that is told.
mkdir now
git -C repo archive v2 | tar -x -C now
look --source-map "$work/one/build=now"
says stdout 'from the disk now, may differ'
says stdout 'second version'
look --source-map now
says stdout 'from the disk now'
look --source-map /nowhere=now
says_not stdout 'version'

# clang's debug information has the MD5 of each file: a text that has it is the build's, and is taken before one that has not.
if command -v clang >/dev/null; then
	mkdir proven
	git -C repo archive v1 | tar -x -C proven
	(cd proven && clang -g -O1 -gdwarf-5 -o "$work/proven_v1" src/work.c) || exit 2
	rm -rf proven
	run 0 kelvin record --no-sources -o proven.pb.gz -- ./proven_v1 0.3
	run 0 kelvin report proven.pb.gz --list '^work$' --repo repo --rev v1
	says stdout "from the repository at v1 \\(.*, its MD5 is the build's"
	run 0 kelvin report proven.pb.gz --list '^work$' --repo repo --rev v2
	says stdout 'from the repository at v2 .*, may differ'
	git -C repo archive v1 | tar -x -C now
	run 0 kelvin report proven.pb.gz --list '^work$' --repo repo --rev v2 --source-map now
	says stdout "from the disk now, its MD5 is the build's"
	says stdout 'first version'
fi

# No other file of the disk gets into the output, whatever a profile says: its paths are those that it names itself.
echo 'secret, line 1' >secret.txt
for ((i = 2; i < 30; i++)); do echo "secret, line $i"; done >>secret.txt
chmod 600 secret.txt
ln -s ../../secret.txt now/src/link.c
python3 - "$work" <<'END'
import gzip
import sys

def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])

def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value

work = sys.argv[1]
paths = [f"{work}/secret.txt", "../secret.txt", "secret.txt", f"{work}/one/build/../../secret.txt", f"{work}/one/build/src/link.c",
         "/proc/self/environ", "/etc/passwd", "repo/../secret.txt", ":/secret.txt"]
strings = ["", "samples", "count"]
body = field(1, field(1, 1) + field(2, 2))
for i, path in enumerate(paths):
    strings += [f"work{i}", path]
    body += field(5, field(1, i + 1) + field(2, 3 + 2 * i) + field(3, 3 + 2 * i) + field(4, 4 + 2 * i) + field(5, 1))
    body += field(4, field(1, i + 1) + field(3, 0x1000 + i) + field(4, field(1, i + 1) + field(2, 3)))
    body += field(2, field(1, i + 1) + field(2, 100))
for text in strings:
    body += field(6, text.encode())
with gzip.open("evil.pb.gz", "wb") as out:
    out.write(body)
END
run 0 kelvin report evil.pb.gz --list work --repo repo --rev v1 --source-map now --source-map "$work/one/build=now" --max-lines 1000
says stdout work8
says_not stdout 'secret, line'
says_not stdout 'root:'
says_not stdout 'PATH='

# A debuginfod server has the sources of a build: only if the user asks for it.
command -v debuginfod >/dev/null || skip "debuginfod is needed for the last part"
mkdir served
git -C repo archive v1 | tar -x -C served
(cd served && cc -g -O1 -gdwarf-5 -o "$work/v3" src/work.c -Wl,--build-id) || exit 2
mkdir files
cp v3 files
run 0 kelvin record --no-sources -o v3.pb.gz -- ./v3 0.3
port=$((20000 + RANDOM % 20000))
start debuginfod -d :memory: -p "$port" -F files
export DEBUGINFOD_URLS=http://127.0.0.1:$port DEBUGINFOD_CACHE_PATH=$work/debuginfod
id=$(readelf -n v3 | sed -n 's/.*Build ID: //p')
wait_until "the server has the source" curl -fs "http://127.0.0.1:$port/buildid/$id/source$work/served/src/work.c" -o /dev/null
run 0 kelvin report v3.pb.gz --list '^work$'
says_not stdout 'first version'
run 0 kelvin report v3.pb.gz --list '^work$' --debuginfod
says stdout 'from a debuginfod server'
says stdout 'first version'
DEBUGINFOD_URLS='' refuses 'no debuginfod server' kelvin report v3.pb.gz --list work --debuginfod
exit 0
