#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# symbolize prints what addr2line -a -f -i -C prints, with plain paths: addresses as arguments and on standard input.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs addr2line
needs jq
needs nm
workload=$WORKLOADS/system_workload
mapfile -t addresses < <(nm "$workload" | awk '$3 ~ /^(main|serve|parse_input|hash_output|run_threads)$/ { print $1 }')
at_least "${#addresses[@]}" 4 "functions in the workload"
more=()
for address in "${addresses[@]}"; do
	for offset in 4 9 16 33; do
		more+=("$(printf '%x' $((0x$address + offset)))")
	done
done

# addr2line tells of a discriminator, and leaves a path from the directory of the build as the compiler has written it.
as_ours() {
	sed -E 's/ \(discriminator [0-9]*\)//; :next; s|/[^/]+/\.\./|/|; t next'
}

addr2line -a -f -i -C -e "$workload" "${addresses[@]}" "${more[@]}" 0 | as_ours >expected
run 0 kelvin symbolize -e "$workload" "${addresses[@]}" "${more[@]}" 0
diff expected stdout || fail "not what addr2line prints"
printf '%s\n' "${addresses[@]}" "${more[@]}" 0 | kelvin symbolize -a -f -i -C -e "$workload" >stdout 2>stderr
diff expected stdout || fail "other answers on standard input"
addr2line -a -f -i -C -p -s -e "$workload" "${more[@]}" | as_ours >expected
run 0 kelvin symbolize -p -s -e "$workload" "${more[@]}"
diff expected stdout || fail "not what addr2line -p -s prints"
run 0 kelvin symbolize --json -e "$workload" "${addresses[@]}"
jq -e '.schema == "kelvin.symbolize/1" and ([.addresses[].frames[0].function] | index("serve"))' stdout >/dev/null || fail "no serve in JSON"
start=$(readelf -SW "$workload" | awk '{ for (i = 1; i < NF; i++) if ($i == ".text") { print $(i + 2); exit } }')
addr2line -a -f -i -C -j .text -e "$workload" 10 40 | as_ours >expected
run 0 kelvin symbolize -j .text -e "$workload" 10 40
[[ $(grep -c . stdout) -ge 6 ]] || fail "no answers for .text, which begins at $start"
diff <(grep -v ^0x expected) <(grep -v ^0x stdout) || fail "other answers than addr2line -j"
refuses 'has no section' kelvin symbolize -j .nothing -e "$workload" 10
run 0 kelvin symbolize --explain-origin -e "$workload" "${addresses[0]}"
grep -q '(user: ' stdout || fail "no origin of a function of the workload's"
DEBUGINFOD_URLS='' refuses 'no debuginfod server' kelvin symbolize --debuginfod -e "$workload" 10
refuses 'not a hexadecimal address' kelvin symbolize -e "$workload" xyz

# In JSON a line that is not known is null, a rule has a number and a text, and a name of any bytes is UTF-8.
run 0 kelvin symbolize --json --explain-origin -e "$workload" "${addresses[0]}" 1
jq -e '.addresses[0].frames[-1] | .line > 0 and .origin == "user" and (.origin_rule | type) == "number" and .origin_reason != ""' stdout >/dev/null ||
	fail "no origin in JSON"
jq -e '.addresses[1] | .address == "0x1" and .frames[0].line == null and .frames[0].source == "none"' stdout >/dev/null ||
	fail "an unknown address in JSON"
run 0 kelvin symbolize --json -e "$workload" <<<""
jq -e '.addresses | length == 1' stdout >/dev/null || fail "an empty line is a question"

# What is no address is answered as address 0, so that answers stay in step.
printf '%s\n' "${addresses[0]} behind" '' nonsense -1 "  0X${addresses[0]}" ffffffffffffffffffff "${addresses[0]}"$'\r' |
	kelvin symbolize -e "$workload" | grep -c ^0x >stdout
[[ $(<stdout) -eq 7 ]] || fail "not one answer a line"

# Files that are none, or not whole.
kelvin symbolize -e "$workload" 10 >/dev/full 2>stderr
[[ $? -eq 2 ]] || fail "a full disk goes unnoticed"
says stderr "cannot write standard output"
refuses 'not an ELF file' kelvin symbolize -e /etc/passwd 10
refuses 'No such file' kelvin symbolize -e ./missing 10
refuses 'not a regular file' kelvin symbolize -e . 10
: >nothing
refuses 'empty' kelvin symbolize -e nothing 10
if command -v gcc >/dev/null; then
	echo 'int f(int x) { return x * x; }' >object.c
	gcc -g -c object.c -o object.o || fail "gcc"
	refuses 'is an object file' kelvin symbolize -e object.o 0
	if gcc -m32 -g -nostdlib -shared -fPIC object.c -o narrow.so 2>/dev/null; then
		run 0 kelvin symbolize -e narrow.so "$(nm narrow.so | awk '$3 == "f" { print $1 }')"
		diff <(addr2line -afiC -e narrow.so "$(nm narrow.so | awk '$3 == "f" { print $1 }')") stdout || fail "a 32-bit file"
	fi
	if command -v objcopy >/dev/null; then
		echo "int main(void) { return 0; }" >main.c
		gcc -g -o linked main.c || fail "gcc"
		objcopy --only-keep-debug linked linked.debug || fail "objcopy"
		objcopy --strip-all --remove-section=.note.gnu.build-id --add-gnu-debuglink=linked.debug linked
		echo >>linked.debug
		run 0 kelvin symbolize -e linked 1040
		says stderr "has another checksum than linked asks for"
		[[ $(wc -l <stderr) -eq 1 ]] || fail "a refused debug file is not said once"
		if DEBUGINFOD_URLS=http://127.0.0.1:9/ kelvin symbolize --debuginfod -e linked 1040 1050 >stdout 2>stderr; then
			[[ $(grep -c "^no server of DEBUGINFOD_URLS gave" stderr) -eq 1 ]] || fail "a missing debug file is not said once"
		else
			says stderr "libdebuginfod"
		fi
	fi
fi

# A server that tells no size and sends without end, hides many bytes behind few, or says nothing: the bounds are kept by all that a command asks for
# together, and nothing stays.
cat >server.py <<'END'
import gzip, http.server, sys, time

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if sys.argv[1] == "silent":
            time.sleep(600)
        self.send_response(200)
        if sys.argv[1] == "bomb":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        bytes = gzip.compress(b"\0" * (64 << 20)) if sys.argv[1] == "bomb" else b"\0" * (1 << 16)
        sent = 0
        try:
            while True:
                self.wfile.write(bytes)
                sent += len(bytes)
                if sys.argv[1] == "bomb":
                    break
        except OSError:
            pass
        print(sent, file=open("sent", "a"), flush=True)

    def log_message(self, *arguments):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], file=open("port.new", "w"))
__import__("os").rename("port.new", "port")
server.serve_forever()
END
if command -v gcc >/dev/null && command -v python3 >/dev/null && command -v strip >/dev/null && grep -q libdebuginfod <(ldconfig -p 2>/dev/null); then
	echo "int main(void) { return 0; }" | gcc -x c - -Wl,--build-id -s -o stripped || fail "gcc"
	for kind in endless bomb silent; do
		seconds=100
		[[ $kind != silent ]] || seconds=1
		rm -f port sent stdout
		start python3 server.py "$kind"
		wait_until "the server listens" test -s port
		DEBUGINFOD_URLS=http://127.0.0.1:$(<port) DEBUGINFOD_CACHE_PATH=$work/fetched DEBUGINFOD_TIMEOUT=100 DEBUGINFOD_MAXTIME=$seconds \
			DEBUGINFOD_MAXSIZE=300000 run 0 kelvin symbolize --debuginfod -e stripped \
			< <(echo 1040; until [[ -s stdout ]]; do sleep 0.1; done; echo 1050)
		says stderr '^no server of DEBUGINFOD_URLS gave'
		[[ -z $(find fetched -size +300k) ]] || fail "$kind: more was written: $(find fetched -size +300k -ls)"
		if [[ $kind == endless ]]; then
			wait_until "the server has ended" test -s sent
			# For the first address the library asks three times, for the second not at all.
			at_most "$(wc -l <sent)" 3 "times that a server is asked which has used up what it may cost"
			at_most "$(awk '{ sum += $1 } END { print sum }' sent)" 30000000 "bytes that were sent"
		fi
		stop "$pid"
	done
fi
for size in 64 1000 20000; do
	head -c "$size" "$workload" >part.elf
	run 0 kelvin symbolize -e part.elf "${addresses[@]}"
	says stderr '^part.elf is cut short: [0-9]+ of at least [0-9]+ bytes are there'
done

# A warm cache says what a cold one and none say; with --no-cache nothing is written.
export XDG_CACHE_HOME=$work/cache
start=$(readelf -SW "$KELVIN" | awk '{ for (i = 1; i < NF; i++) if ($i == ".text") { print $(i + 2); exit } }')
for ((i = 0; i < 2000; i++)); do printf '%x\n' $((16#$start + i * 41)); done >many
kelvin symbolize --no-cache --json --explain-origin -e "$KELVIN" <many >none.json 2>stderr
[[ ! -e cache ]] || fail "--no-cache wrote a cache"
kelvin symbolize --json --explain-origin -e "$KELVIN" <many >cold.json
kelvin symbolize --json --explain-origin -e "$KELVIN" <many >warm.json
{ cmp none.json cold.json && cmp cold.json warm.json; } || fail "the cache changes answers"
if [[ $(stat -c %s "$KELVIN") -ge $((1 << 18)) ]]; then
	[[ -n $(find cache/kelvin/frames -type f) ]] || fail "nothing was kept of a large file"
	find cache/kelvin/frames -type f -exec sh -c 'printf damaged >"$1"' _ {} \;
	kelvin symbolize --json --explain-origin -e "$KELVIN" <many >damaged.json
	cmp none.json damaged.json || fail "a damaged cache changes answers"
fi

# A program that asks line by line is answered line by line.
coproc SERVER { "$KELVIN" symbolize -e "$workload"; }
for _ in 1 2 3; do
	printf '%s\n' "${addresses[0]}" >&"${SERVER[1]}"
	read -r -t 10 line <&"${SERVER[0]}" || fail "no answer to one line"
	[[ $line == "0x${addresses[0]}" ]] || fail "answer out of step: $line"
	if ! read -r -t 10 _ <&"${SERVER[0]}" || ! read -r -t 10 _ <&"${SERVER[0]}"; then
		fail "half an answer"
	fi
done
