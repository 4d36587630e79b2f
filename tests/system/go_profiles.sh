#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Profiles of all kinds that Go's runtime writes: each value of each stack is what go tool pprof has; and what pprof makes of them in
# callgrind's format is read with its calls.
# READS | pprof | Go 1.26: CPU, heap, allocs, mutex, block, goroutine | each value of each stack as `go tool pprof` has it
# READS | callgrind.out | `go tool pprof -callgrind`, also with `-call_tree` | values in their units; stacks estimated from calls
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs go
needs jq
use_go_cache
go tool -n pprof >/dev/null || fail "go has no pprof"
cp "$ROOT/tests/unit/profile/data/go_kinds.go" kinds.go
run 0 go build -o kinds kinds.go
run 0 ./kinds .

# by_pprof FILE COLUMN: `root;...;leaf value` of each stack, from the tables that pprof prints.
by_pprof() {
	go tool pprof -raw "$1" 2>/dev/null | awk -v column="$2" '
		/^Samples:/ { part = "samples"; getline; next }
		/^Locations/ { part = "locations"; next }
		/^Mappings/ { part = "" }
		part == "samples" && /^ *-?[0-9].*: *[0-9 ]*$/ {
			split($0, sides, ":"); split(sides[1], values, " ")
			sample[++samples] = sides[2]; value[samples] = values[column]
		}
		part == "locations" {
			if ($1 ~ /^[0-9]+:$/) { id = $1; sub(":", "", id); sub(/^ *[0-9]+: 0x[0-9a-f]+ (M=[0-9]+ )?/, "") }
			sub(/^ +/, ""); sub(/ [^ ]*:[0-9]+(:[0-9]+)? s=[0-9]+$/, "")
			# Folded stacks have no other sign between frames: Kelvin writes `:` for it in a name, as of `struct { a; b }`.
			gsub(/;/, ":")
			name[id] = name[id] == "" ? $0 : $0 ";" name[id]
		}
		END {
			for (i = 1; i <= samples; i++) {
				stack = ""
				for (k = split(sample[i], ids, " "); k > 0; k--) stack = stack (stack == "" ? "" : ";") name[ids[k]]
				sum[stack] += value[i]
			}
			for (stack in sum) if (sum[stack]) printf "%s %d\n", stack, sum[stack]
		}' | sort
}
# by_kelvin FILE TYPE: without the marks of inlined frames, and the frames of activities that Kelvin adds.
by_kelvin() {
	kelvin report "$1" --metric "$2" --folded - |
		sed 's/_\[i\]\(;\| [0-9]*$\)/\1/g; s/_\[i\]\(;\| [0-9]*$\)/\1/g; s/\[garbage collection\];//g' | awk '
		{ value = $NF; sub(/ [0-9]+$/, ""); sum[$0] += value }
		END { for (stack in sum) printf "%s %d\n", stack, sum[stack] }' | sort
}

compared=0
for file in cpu heap allocs mutex block goroutine; do
	types=$(go tool pprof -raw "$file.pb.gz" 2>/dev/null | awk 'last == "Samples:" { gsub(/\[dflt\]/, ""); print; exit } { last = $0 }')
	column=0
	for type in $types; do
		column=$((column + 1))
		by_pprof "$file.pb.gz" "$column" >expected
		[[ -s expected ]] || continue
		by_kelvin "$file.pb.gz" "${type%/*}" >found
		cmp -s expected found || fail "$file $type: not the stacks of pprof: $(diff expected found | head -n 6)"
		compared=$((compared + 1))
	done
done
[[ $compared -ge 10 ]] || fail "only $compared values had stacks"

# A type of which no sample has a value is not shown unasked, and asked for, the error names the others.
cat >freed.go <<'GO'
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

//go:noinline
func fill() int {
	sum := 0
	for i := 0; i < 4000; i++ {
		sum += len(make([]byte, 64<<10+i%2))
	}
	return sum
}

func main() {
	runtime.MemProfileRate = 1 << 20
	fill()
	runtime.MemProfileRate = 0
	for i := 0; i < 4; i++ {
		runtime.GC()
	}
	pprof.Lookup("heap").WriteTo(os.Stdout, len(os.Args)-1)
}
GO
run 0 go build -o freed freed.go
./freed >freed.pb.gz || fail "freed fails"
go tool pprof -proto -focus=main.fill -output=fill.pb.gz freed.pb.gz >stdout 2>stderr || fail "pprof does not focus"
run 0 kelvin report fill.pb.gz --text - --json fill.json
says stdout '[0-9] MB of alloc_space'
jq -e '.metric.name == "alloc_space" and .metric.unit == "bytes"' fill.json >/dev/null || fail "not alloc_space"
refuses 'has a value for inuse_space; choose another metric with --metric: alloc_objects, alloc_space' kelvin report fill.pb.gz --metric inuse_space
refuses "has no metric 'inuse'; it has: alloc_objects, alloc_space, inuse_objects, inuse_space" kelvin report fill.pb.gz --metric inuse

# Texts, and files of gperftools, are from before the format; pprof makes it of them.
run 0 ./freed text
mv stdout heap.text
says heap.text '^heap profile: '
refuses "cannot read heap.text: it is in a format older than pprof.s .*'go tool pprof -proto -output=OUT PROGRAM FILE'" \
	kelvin report heap.text
go tool pprof -proto -output=converted.pb.gz freed heap.text >stdout 2>stderr || fail "pprof does not convert"
run 0 kelvin report converted.pb.gz --metric alloc_space
says stdout 'main.fill'
profiler=$(ldconfig -p | awk '/libprofiler[.]so/ { print $NF; exit }')
if [[ -n $profiler ]]; then
	run 0 env LD_PRELOAD="$profiler" CPUPROFILE=old.cpu "$WORKLOADS/system_workload" --cpu 0.3
	refuses "cannot read old.cpu: it is in a format older than pprof.s" kelvin report old.cpu
fi

# In callgrind's format, merged and as a tree: a function that is reached by two ways has its stacks.
mkdir waits
cat >waits/waits.go <<'GO'
package main

import (
	"os"
	"runtime/pprof"
)

//go:noinline
func wait(stop, ready chan bool) { ready <- true; <-stop }

//go:noinline
func left(stop, ready chan bool) { wait(stop, ready); println() }

//go:noinline
func right(stop, ready chan bool) { wait(stop, ready); println() }

func main() {
	stop, ready := make(chan bool), make(chan bool)
	for i := 0; i < 40; i++ {
		if i%4 == 0 {
			go left(stop, ready)
		} else {
			go right(stop, ready)
		}
		<-ready
	}
	pprof.Lookup("goroutine").WriteTo(os.Stdout, 0)
}
GO
run 0 go build -o wait ./waits/waits.go
./wait >wait.pb.gz || fail "wait fails"
go tool pprof -callgrind -unit=count -output=graph wait.pb.gz >stdout 2>stderr || fail "pprof writes no callgrind"
go tool pprof -callgrind -call_tree -unit=count -output=tree wait.pb.gz >stdout 2>stderr
grep -q '^cfn=.* main[.]wait \[1/2\]$' tree || fail "pprof does not number the two places of main.wait"
by_kelvin wait.pb.gz goroutine >expected
says expected '^main[.]right;main[.]wait;.* 30$'
for file in graph tree; do
	run 0 kelvin report "$file" --text - --json "$file.json"
	says stdout 'call graph estimated from calls'
	jq -e '.metric.unit == "count" and .totals.total == 41' "$file.json" >/dev/null || fail "$file: not 41 goroutines"
	by_kelvin "$file" goroutine >found
	cmp -s expected found || fail "$file: not the stacks of the profile: $(diff expected found | head -n 6)"
done

# The same of bytes, in whatever unit pprof chooses.
go tool pprof -callgrind -sample_index=alloc_space -output=bytes heap.pb.gz >stdout 2>stderr
run 0 kelvin report bytes
says stdout '(MB|GB) of alloc_space'
