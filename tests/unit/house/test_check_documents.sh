#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The check of documents itself: what it must refuse and what it must let pass, on a small tree made here.
set -euo pipefail
check=$(dirname "$0")/check_documents.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree" "$tree.out"' EXIT
mkdir -p "$tree/docs/decisions"
printf '# A report\n\n## Who, what: `all` of it\n' >"$tree/docs/report.md"
printf '[report.md](report.md)\n' >"$tree/docs/README.md"
printf '# 07. It is so\n' >"$tree/docs/decisions/07-so.md"
printf -- '- [07](07-so.md) It is so\n' >"$tree/docs/decisions/README.md"

# expect WANT FILE TEXT: whether the tree passes with the text at the end of the file.
expect() {
  local want=$1 file=$tree/$2 text=$3 got=0
  [[ ! -e $file ]] || cp "$file" "$tree.before"
  printf '%s\n' "$text" >>"$file"
  "$check" "$tree" >"$tree.out" || got=1
  rm "$file"
  [[ ! -e $tree.before ]] || mv "$tree.before" "$file"
  [[ $got -eq $want ]] || { echo "$2 with '$text': expected $want, got $got"; cat "$tree.out"; exit 1; }
}

expect 0 x.md '[1](docs/report.md) [2](docs/report.md#who-what-all-of-it) [3](https://example.org/x)'
expect 0 docs/report.md '[1](#a-report) [2](decisions/07-so.md)'
expect 1 x.md '[1](report.md)'
expect 1 x.md '<img src="docs/none.png">'
expect 1 docs/report.md '[1](#no-such-heading)'
expect 0 x.c '/* docs/report.md says why (decision 07). */'
expect 1 x.c '/* docs/reports.md says why. */'
expect 1 x.c '/* Decision 08 says why. */'
expect 1 docs/more.md '# Not in the index'
expect 1 docs/decisions/08-more.md '# 08. Not in the index'
echo "10 cases hold"
