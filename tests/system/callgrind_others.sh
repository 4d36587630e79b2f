#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Who else writes callgrind's format: PHP's Xdebug and Python's pyprof2calltree. Their times are read in their unit, with the calls.
# Xdebug only where it is installed: Debian's package would slow down every other program in PHP.
# READS | callgrind.out | Xdebug 3.2 (PHP 8.2), pyprof2calltree 1.4 | times and memory; stacks estimated from calls
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs jq
needs pyprof2calltree

# is_read FILE ROOT NS: the program's functions below each other; the file's costs, of NS nanoseconds each, are all there.
is_read() {
	local total

	total=$(awk -v ns="$3" '/^calls=/ { getline; next } /^[0-9]+ [0-9]/ { sum += $2 } END { printf "%.0f\n", ns * sum }' "$1")
	run 0 kelvin report "$1" --folded folded --json report.json --text -
	says stdout '^[0-9.]+ (ms|s) of [tT]ime\.$'
	says stdout 'call graph estimated from calls'
	for stack in 'page;left;leaf' 'page;right;leaf'; do
		says folded "$2;$stack [0-9]+\$"
	done
	jq -e --argjson total "$total" '.metric.unit == "nanoseconds" and .totals.ns == $total' report.json >/dev/null ||
		fail "$1: not $total ns"
}

if php -d zend_extension=xdebug -m 2>/dev/null | grep -q '^xdebug$'; then
	cat >shop.php <<'PHP'
<?php
function leaf($n) { $s = 0; for ($i = 0; $i < $n; $i++) $s += $i * $i; return $s; }
function left($n) { return leaf($n); }
function right($n) { return leaf(3 * $n); }
function page($n) { left($n); right($n); return strrev(str_repeat("ab", $n)); }
for ($i = 0; $i < 20; $i++) page(20000);
PHP
	run 0 php -d zend_extension=xdebug -d xdebug.mode=profile -d xdebug.output_dir=. -d xdebug.use_compression=0 \
		-d xdebug.profiler_output_name=xdebug.out shop.php
	is_read xdebug.out '[{]main[}]' 10
fi

# The Python that the converter runs with reads what it has written itself.
python=$(sed -n '1s/^#! *//p' "$(command -v pyprof2calltree)")
cat >shop.py <<'PY'
def leaf(n):
    return sum(i * i for i in range(n))
def left(n):
    return leaf(n)
def right(n):
    return leaf(3 * n)
def page(n):
    return left(n) + right(n)
for i in range(20):
    page(20000)
PY
run 0 "$python" -m cProfile -o shop.prof shop.py
run 0 pyprof2calltree -i shop.prof -o python.out
head -n 1 python.out | grep -q '^event: ns' || fail "pyprof2calltree writes otherwise"
is_read python.out '<module>' 1
