#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Text in a pipe has at most 120 columns, or as many as COLUMNS says, also where names of C++, Rust and Python are longer.
set -uo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

pairs="$ROOT/tests/data/pairs"

# check WIDTH ARGUMENTS: no line of what kelvin writes is wider.
check() {
	local width="$1" text longest
	shift
	text="$("$KELVIN" "$@" 2>/dev/null || true)"
	longest="$(wc -L <<<"$text")"
	if ((longest == 0 || longest > width)); then
		echo "kelvin $*: the longest line has $longest columns, not 1 to $width" >&2
		exit 1
	fi
}

for name in criterion_base_1:criterion_head_1 gunicorn_base:gunicorn_head nginx_base:nginx_head \
	inlined_base_1:inlined_head_1 postgres_base:postgres_head; do
	for width in 120 80; do
		if ((width == 120)); then unset COLUMNS; else export COLUMNS=$width; fi
		check "$width" diff "$pairs/${name%:*}.pb.gz" "$pairs/${name#*:}.pb.gz"
		check "$width" report "$pairs/${name#*:}.pb.gz"
	done
done
