#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Kelvin's answers address by address against llvm-symbolizer, GNU addr2line and, where it is there, the addr2line crate
# (CRATE_ADDR2LINE): where two of them agree, Kelvin has to agree. Of files whose debug information lies elsewhere, the peers are asked
# about the plain twin, since they do not find it. Names are compared as the linker knows them.
#   KELVIN  the program       SOURCES  this folder       WORK  where programs are built
# libdw is compared in test_dwarf.c, frame by frame.
set -euo pipefail

: "${KELVIN:?}" "${SOURCES:?}" "${WORK:?}"
for tool in llvm-symbolizer addr2line g++ readelf objcopy; do
	command -v "$tool" >/dev/null || { echo "no $tool: skipped"; exit 77; }
done
rm -rf "$WORK"
mkdir -p "$WORK"
cd "$WORK"
sources=$SOURCES/programs/agreement
crate=${CRATE_ADDR2LINE:-}
details=$WORK/details
wrong=()

has() { command -v "$1" >/dev/null; }

# addresses FILE [STEP]: every third byte of .text, at most 2000 of them; or every STEP bytes
addresses() {
	local start size step=${2:-0}

	read -r start size < <(readelf -SW "$1" | awk '{ for (i = 1; i < NF; i++) if ($i == ".text") { print $(i + 2), $(i + 4); exit } }')
	awk -v step="$step" -v start=$((16#$start)) -v size=$((16#$size)) 'BEGIN {
		if (!step) step = size > 6000 ? int(size / 2000) : 3
		for (at = 0; at < size; at += step) printf "0x%x\n", start + at
	}'
}

# ask_peers FILE: what is asked of the file, its symbols and the answers of each peer, beside it, once
ask_peers() {
	[[ ! -e $1.asked ]] || return 0
	addresses "$1" >"$1.asked"
	llvm-symbolizer -afi --no-demangle --output-style=GNU -e "$1" <"$1.asked" >"$1.llvm" 2>/dev/null
	addr2line -afi -e "$1" <"$1.asked" >"$1.gnu" 2>/dev/null
	[[ -z $crate ]] || "$crate" -afi -e "$1" <"$1.asked" >"$1.crate"
	nm "$1" >"$1.symbols" 2>/dev/null || :
}

# agree LABEL LEAST FILE [TWIN]: the share of what two peers agree on that Kelvin has to reach
agree() {
	local label=$1 least=$2 file=$3 twin=${4:-$3}

	ask_peers "$twin"
	"$KELVIN" symbolize --no-cache --no-demangle -e "$file" <"$twin.asked" >kelvin.out
	awk -v label="$label" -v least="$least" -v symbols="$twin.symbols" -v details="$details" -f "$SOURCES/agreement.awk" \
		kelvin.out "$twin.llvm" "$twin.gnu" ${crate:+"$twin.crate"} || wrong+=("$label")
}

# twins LABEL FILE TWIN: Kelvin on both, at every 37th byte; what is nameless is called by its file in both
twins() {
	local label=$1 file=$2 twin=$3 which different

	addresses "$twin" 37 >asked.txt
	for which in "$file" "$twin"; do
		"$KELVIN" symbolize --no-cache -e "$which" <asked.txt | sed "s/^$(basename "$which")+0x/file+0x/; s/^\.\///" >"$(basename "$which").answers"
	done
	different=$(diff "$(basename "$file").answers" "$(basename "$twin").answers" | grep -c "^<" || :)
	printf '%-26s %7d differ from its twin: %d\n' "$label" "$(wc -l <asked.txt)" "$different"
	((different == 0)) || wrong+=("$label, twin")
}

# build OUTPUT COMPILER FLAGS...: both units; in a folder of its own, for what lies beside it
build() {
	local output=$1 compiler=$2

	shift 2
	mkdir -p "$output"
	(cd "$output" && for unit in shelf main; do "$compiler" -std=c++17 "$@" -c "$sources/$unit.cc" -o "$unit.o"; done &&
		"$compiler" -std=c++17 "$@" shelf.o main.o -o program)
}

printf '%-26s %7s %9s %8s %8s %8s %8s %8s\n' file asked 'two agree' 'kelvin %' aliases 'llvm %' 'gnu %' "${crate:+crate %}"

for version in 4 5; do
	build "gcc-$version" g++ -O2 "-gdwarf-$version"
	agree "gcc, DWARF $version" 99.9 "gcc-$version/program"
done
build gcc-O0 g++ -O0 -g
agree "gcc -O0" 99.9 gcc-O0/program
build gcc-lto g++ -O2 -g -flto
agree "gcc -flto" 99.9 gcc-lto/program
build gcc-sections g++ -O2 -g -ffunction-sections -Wl,--gc-sections
agree "gcc, sections collected" 99.9 gcc-sections/program
build gcc-types g++ -O2 -g -fdebug-types-section
agree "gcc, type units" 99.9 gcc-types/program
for packing in zlib zstd; do
	mkdir -p "gcc-$packing"
	objcopy "--compress-debug-sections=$packing" gcc-5/program "gcc-$packing/program" 2>/dev/null || continue
	agree "gcc, $packing" 99.9 "gcc-$packing/program" gcc-5/program
done
if has clang++; then
	for version in 4 5; do
		build "clang-$version" clang++ -O2 "-gdwarf-$version"
		agree "clang, DWARF $version" 99.9 "clang-$version/program"
	done
	build clang-lines clang++ -O2 -g1
	agree "clang, lines only" 99.9 clang-lines/program
fi

# Split: the twin is the same program, whole.
for compiler in g++ clang++; do
	has "$compiler" || continue
	for version in 4 5; do
		name=${compiler%++}-split-$version whole=${compiler%++}-$version
		whole=${whole/#g-/gcc-}
		build "$name" "$compiler" -O2 "-gdwarf-$version" -gsplit-dwarf
		cmp -s <(objcopy -O binary -j .text "$name/program" /dev/stdout) \
			<(objcopy -O binary -j .text "$whole/program" /dev/stdout) || { echo "$name: the twin has other code"; continue; }
		agree "${compiler}, split, DWARF $version" 99.9 "$name/program" "$whole/program"
		has llvm-dwp || continue
		mkdir -p "$name-dwp"
		cp "$name/program" "$name-dwp/program"
		(cd "$name" && llvm-dwp -e program -o "../$name-dwp/program.dwp") 2>/dev/null || continue
		mkdir -p away && mv "$name"/*.dwo away/
		agree "${compiler}, packaged, DWARF $version" 99.9 "$name-dwp/program" "$whole/program"
		# The package bears the name of the binary also where the units lie in a debug file.
		(cd "$name-dwp" && mkdir -p .debug && objcopy --only-keep-debug program .debug/program.debug &&
			objcopy --strip-all --add-gnu-debuglink=.debug/program.debug program)
		agree "${compiler}, packaged, link" 99.9 "$name-dwp/program" "$whole/program"
		mv away/*.dwo "$name/"
	done
done

# Debug information elsewhere.
mkdir -p linked mini dwz stripped
(cd linked && objcopy --only-keep-debug ../gcc-5/program program.debug &&
	objcopy --strip-all --add-gnu-debuglink=program.debug ../gcc-5/program program)
agree "debuglink" 99.5 linked/program gcc-5/program
if has dwz; then
	cp gcc-5/program dwz/program
	cp gcc-O0/program dwz/other
	(cd dwz && dwz -m common.debug -M "$WORK/dwz/common.debug" program other) && agree "dwz with altlink" 99.5 dwz/program gcc-5/program
fi

# Without lines: MiniDebugInfo names the functions that the symbol table named.
if has xz; then
	strip --strip-debug -o mini/named gcc-5/program
	objcopy --strip-all mini/named mini/program
	xz -c mini/named >mini/named.xz
	objcopy --add-section .gnu_debugdata=mini/named.xz mini/program
	agree "MiniDebugInfo" 99.5 mini/program mini/named
fi

if has rustc && rustc -O -g -o rust-program "$sources/words.rs" 2>/dev/null; then
	agree "Rust" 99.9 rust-program
fi
if has go && go build -o go-program "$sources/words.go" 2>/dev/null; then
	agree "Go" 99.9 go-program
	objcopy --strip-all go-program go-stripped
	if go version | grep -q ' go1\.1[89]'; then
		# The table there leaves out type arguments, and the lines of wrappers that the compiler made.
		agree "Go, stripped" 99.5 go-stripped go-program
	else
		agree "Go, stripped" 99.9 go-stripped go-program
		twins "Go, stripped" go-stripped go-program
	fi
fi

# Every PLT entry has a name.
nameless=$(readelf -SW gcc-5/program | awk '$0 ~ / \.plt(\.sec|\.got)? / { for (i = 1; i < NF; i++) if ($i ~ /^\.plt/) print $(i + 2), $(i + 4) }' |
	while read -r start size; do
		# The first entry of .plt only leads to the loader.
		for ((at = 16#$start; at < 16#$start + 16#$size; at += 16)); do printf '%x\n' "$at"; done
	done | "$KELVIN" symbolize --no-cache -e gcc-5/program | grep -c '^??$' || :)
echo "PLT entries without a name (one leads to the loader): $nameless"
((nameless <= 1)) || wrong+=("PLT")

if ((${#wrong[@]})); then
	printf 'below the mark: %s\n' "${wrong[@]}"
	[[ -s $details ]] && head -60 "$details"
	exit 1
fi
