#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The tables of docs/reads.md are made of the tests: each has the rows `READS | …` or `STACKS | …` that stand in comments of tests, and the
# test that holds them true. UPDATE_GOLDEN=1 writes the tables anew.
#   check_reads.sh ROOT
set -euo pipefail
cd "${1:?usage: check_reads.sh ROOT}"
page=docs/reads.md

# rows WORD: in the order of the first column.
rows() {
  grep -roHE "^[#/ *]*$1 [|] .*" tests/system tests/unit | grep -v '^tests/unit/house/' |
    sed -E "s/^([^:]*):[#\/ *]*$1 [|] (.*)/| \2 | \`\1\` |/; s/[[:space:]]*\*\/ [|] / | /" | LC_ALL=C sort
}

declare -A heads=(
  [READS]='| file | written by | what is read | test |'
  [STACKS]='| runtime | versions | what is known of its stacks | test |'
)
made=$(mktemp)
trap 'rm -f "$made"' EXIT
while IFS= read -r line; do
  case $line in
  '<!-- READS -->' | '<!-- STACKS -->')
    printf '%s\n' "$line"
    word=${line//[<>! -]/}
    printf '%s\n|---|---|---|---|\n' "${heads[$word]}"
    rows "$word"
    ;;
  '|'*) ;;
  *) printf '%s\n' "$line" ;;
  esac
done <"$page" >"$made"

if [[ ${UPDATE_GOLDEN:-} == 1 ]]; then
  cp "$made" "$page"
fi
diff -u "$page" "$made" || {
  echo "$page does not have what the tests say; UPDATE_GOLDEN=1 ctest -R house.reads writes it"
  exit 1
}
echo "$(grep -c '^| ' "$page") rows"
