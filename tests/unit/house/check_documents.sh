#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every link of a document leads to a file, and its anchor to a heading there; every document or decision that any file names is there;
# every document of a folder stands in the folder's README.md, a decision under its title.
#   check_documents.sh ROOT
set -euo pipefail
cd "${1:?usage: check_documents.sh ROOT}"
failures=0

fail() {
  echo "$*"
  failures=$((failures + 1))
}

# anchors FILE: those of its headings, as GitHub makes them.
anchors() {
  sed -n 's/^##* //p' "$1" | tr '[:upper:] ' '[:lower:]-' | tr -cd 'a-z0-9_\n-'
}

mapfile -t files < <(find . -type d \( -name build -o -name node_modules -o -name .git -o -name shared -o -name corpus -o -name house \) -prune -o \
  -type f -size -300k -printf '%P\n')
mapfile -t documents < <(printf '%s\n' "${files[@]}" | grep '\.md$')

links=0
while IFS=: read -r file line link; do
  links=$((links + 1))
  link=${link#*[(\"]}
  link=${link%[)\"]}
  anchor=${link#"${link%%#*}"}
  target=$file
  [[ $link == "#"* ]] || target=$(dirname "$file")/${link%%#*}
  if [[ ! -e $target ]]; then
    fail "$file:$line: there is no $link"
  elif [[ -n $anchor ]] && ! anchors "$target" | grep -qxF -- "${anchor#"#"}"; then
    fail "$file:$line: $target has no heading $anchor"
  fi
done < <(grep -noHE '\]\([^) ]+\)|(src|srcset)="[^"]+"' "${documents[@]}" | grep -vE '[("](https?|mailto):' || true)

while IFS=: read -r file line name; do
  [[ -e $name ]] || fail "$file:$line: there is no $name"
done < <(grep -IonHE '\bdocs/[A-Za-z0-9_/-]+\.(md|yml|json|svg|png|scd|bash|zsh|fish)\b' "${files[@]}" || true)
while IFS=: read -r file line name; do
  compgen -G "docs/decisions/${name: -2}-*.md" >/dev/null || fail "$file:$line: there is no $name"
done < <(grep -IonHE '\b([Dd]ecision |docs/decisions/)[0-9]{2}\b' "${files[@]}" || true)

for folder in docs docs/decisions; do
  for document in "$folder"/*.md "$folder"/*.scd; do
    [[ -e $document && $document != */README.md ]] || continue
    entry="[${document##*/}](${document##*/})"
    [[ $folder == docs ]] || entry="- $(sed -n '1s/^# \([0-9]*\)\. /[\1]('"${document##*/}"') /p' "$document")"
    [[ $(grep -cF -- "$entry" "$folder/README.md") -eq 1 ]] || fail "$folder/README.md does not have once: $entry"
  done
done

echo "${#documents[@]} documents and $links links checked, $failures wrong"
[[ $failures -eq 0 ]]
