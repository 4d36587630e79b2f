#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Code fingerprints of two builds of real programs: Kelvin's own rooms (C) and a program of the standard library's templates (C++).
# With one function changed exactly those functions differ whose code the compiler made otherwise: it, and those it was inlined into.
# Linked in another order, at another address, or stripped, none does. What the compiler made is told from the object files alone,
# where nothing has an address yet: one section a function, what the linker fills in is zero.
#   LIST  list_fingerprints    ROOT  the source tree    WORK  where programs are built
set -euo pipefail

: "${LIST:?}" "${ROOT:?}" "${WORK:?}"
for tool in nm objdump objcopy pkg-config g++; do
	command -v "$tool" >/dev/null || { echo "no $tool: skipped"; exit 77; }
done
rm -rf "$WORK"
mkdir -p "$WORK"
cd "$WORK"
export LC_ALL=C
wrong=0
# Marks of parts and clones, as in the names of functions, and of sections.
plain='s/\.(cold|isra\.[0-9]+|constprop\.[0-9]+|part\.[0-9]+|lto_priv\.[0-9]+|llvm\.[0-9]+|[0-9]+)( |$)/\2/'

# made FOLDER: each function and what the compiler made of it, which is its sections' bytes, of all objects; a template's function may be made
# in several, and otherwise in each
made() {
	objdump -s "$1"/*.o | awk '
		function finish() {
			for (name in code) print name, code[name]
			delete code
			name = ""
		}
		/: +file format / { finish() }
		/^Contents of section / {
			name = /section \.text\./ ? $4 : ""
			sub(/:$/, "", name); sub(/^\.text\./, "", name); sub(/^(unlikely|startup|exit|hot)\./, "", name)
			if (name) code[name] = code[name] "|"
			next
		}
		name && NF { code[name] = code[name] substr($0, 1, 42) }
		END { finish() }' | sed -E -e "$plain" -e "$plain" -e "$plain" | sort -u
}

# seen FILE: each function and its fingerprint, as Kelvin sees them
seen() {
	nm "$1" | awk '$2 ~ /^[tTwW]$/ { print $1 }' | "$LIST" "$1" | sed -E -e "$plain" -e "$plain" | sort -u
}

# different A B: the names whose lines are not the same in both
different() {
	comm -3 "$1" "$2" | sed 's/^\t//' | cut -d' ' -f1 | sort -u
}

# compare WHAT EXPECTED BASE HEAD: the names that differ are those of the file EXPECTED
compare() {
	local what=$1 expected=$2

	different "$3" "$4" >differ.txt
	printf '%-44s %5d functions, %3d differ\n' "$what" "$(cut -d' ' -f1 "$3" | sort -u | wc -l)" "$(wc -l <differ.txt)"
	cmp -s "$expected" differ.txt || {
		echo "not those that the compiler made otherwise:"
		diff "$expected" differ.txt || :
		wrong=1
	}
}

# compile FOLDER SOURCES FILES...: into FOLDER/*.o
compile() {
	local folder=$1 sources=$2 file object

	shift 2
	mkdir -p "$folder"
	for file; do
		object=${file//\//-}
		# shellcheck disable=SC2086
		$compiler $flags -I"$sources" -c "$sources/$file" -o "$folder/${object%.*}.o"
	done
}

# change SOURCES FILE FROM TO: a copy of the sources, named after the file, in which one thing is changed
change() {
	local sources=$1 file=$2 copy

	copy=$sources-$(basename "$file")
	cp -r "$sources" "$copy"
	sed -i "s/$3/$4/" "$copy/$file"
	! cmp -s "$sources/$file" "$copy/$file" || { echo "$file holds no '$3'"; exit 1; }
}

# program FOLDER: links what was compiled there
program() {
	# shellcheck disable=SC2086
	$compiler $linking -o "$1/program" "$1"/*.o
	made "$1" >"$1/made"
	seen "$1/program" >"$1/seen"
}

# unchanged SOURCES LEAST FILES...: a program of at least LEAST functions; linked in another order or for another address, none differs
unchanged() {
	local sources=$1 name=$c-$1 least=$2

	shift 2
	compile "$name" "$sources" "$@"
	program "$name"
	(($(cut -d' ' -f1 "$name/seen" | sort -u | wc -l) >= least)) || { echo "$name: fewer than $least functions"; wrong=1; }
	# shellcheck disable=SC2046,SC2086
	$compiler $linking -o "$name/reversed" $(printf '%s\n' "$name"/*.o | tac)
	# shellcheck disable=SC2086
	$compiler $linking -Wl,-Ttext-segment=0x7000000 -o "$name/elsewhere" "$name"/*.o
	# A function of templates may be made otherwise in each object: which of them is linked depends on the order.
	join <(cut -d' ' -f1 "$name/made" | uniq -d) <(nm "$name"/*.o | awk '$2 == "W" { print $3 }' | sort -u) >"$name/several"
	grep -vwFf "$name/several" "$name/seen" >"$name/seen-once"
	for other in reversed elsewhere; do
		seen "$name/$other" | grep -vwFf "$name/several" >"$name/seen-$other"
		compare "$name, $other" none "$name/seen-once" "$name/seen-$other"
	done
}

# changed SOURCES FILE FILES...: after unchanged(); with the change in FILE, which FILES see if it is a header
changed() {
	local sources=$1 name=$c-$1 file=$2 other

	other=$name-$(basename "$file")

	shift 2
	mkdir "$other"
	cp "$name"/*.o "$other/"
	[[ $file == *.h ]] || set -- "$file"
	compile "$other" "$sources-$(basename "$file")" "$@"
	program "$other"
	# Of what was not linked in nothing is seen.
	different "$name/made" "$other/made" | join - <(cut -d' ' -f1 "$name/seen" | sort -u) >"$other/expected"
	[[ -s $other/expected ]] || { echo "$other: the change changed nothing"; wrong=1; }
	compare "$other" "$other/expected" "$name/seen" "$other/seen"
	sed 's/^/    /' "$other/expected" | head -8
}

: >none
mkdir rooms
(cd "$ROOT" && cp -r common binary profile symbolize "$WORK/rooms/")
cp -r "$ROOT/tests/unit/symbolize/programs/agreement" shelf
change rooms symbolize/dwarf/line.c 's->line = 0;' 's->line = 1;'
change rooms symbolize/dwarf/read.h 'first \& 0x7f' 'first \& 0x3f'
change shelf shelf.h 'grams > 900' 'grams > 700'
# Those with what is changed, and as many more as make a program of some size.
mapfile -t files < <(cd rooms && ls binary/elf/*.c binary/frame/*.c symbolize/dwarf/*.c symbolize/[ns]*.c)
# What no file of another folder includes, and no header.
mapfile -t readers < <(cd rooms && grep -rl '"symbolize/dwarf/read.h"' .  | sed 's,^\./,,' | sort)
for pair in gcc:g++ clang:clang++; do
	c=${pair%:*} compiler=${pair%:*}
	command -v "${pair#*:}" >/dev/null || continue
	flags="-O2 -ffunction-sections -fPIC -std=gnu17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 $(pkg-config --cflags libelf)"
	linking=-shared
	unchanged rooms 200 "${files[@]}"
	changed rooms symbolize/dwarf/line.c "${files[@]}"
	changed rooms symbolize/dwarf/read.h "${readers[@]}"
	compiler=${pair#*:} flags='-O1 -ffunction-sections -std=c++17' linking=
	unchanged shelf 30 shelf.cc main.cc
	changed shelf shelf.h shelf.cc main.cc
	c=$c-fixed flags="$flags -fno-pie" linking=-no-pie
	unchanged shelf 30 shelf.cc main.cc
	changed shelf shelf.h shelf.cc main.cc
done
exit "$wrong"
