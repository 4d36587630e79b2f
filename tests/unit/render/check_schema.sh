#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Holds a document of JSON against its schema, and sees that damage is noticed.
#   check_schema.sh ROOT SCHEMA DOCUMENT      SCHEMA is a file of docs/
set -euo pipefail
root=${1:?} schema=${2:?} document=${3:?}
wrong() {
	jq -rn --slurpfile s "$root/docs/$schema" --slurpfile d "$1" -f "$root/tests/system/schema.jq"
}
found=$(wrong "$document")
[[ -z $found ]] || {
	echo "$document is not what docs/$schema says:"
	head -n 10 <<<"$found"
	exit 1
}
damaged=$(mktemp)
trap 'rm -f "$damaged"' EXIT
jq '.extra = 1 | del(.profiles[0].name) | .changes[0].state = "closed"' "$document" >"$damaged"
[[ $(wrong "$damaged" | wc -l) -eq 3 ]] || {
	echo "a damaged document passes: $(wrong "$damaged")"
	exit 1
}
