#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# check_version.sh ROOT PROGRAM: fails unless the program, the newest entry of CHANGELOG.md, README.md and the recipes of docs/ci/ have one version.
set -euo pipefail

root=$1
program=$("$2" --version | sed -n '1s/^kelvin //p')
newest=$(sed -nE 's/^## \[([0-9]+\.[0-9]+\.[0-9]+)\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$/\1/p' "$root/CHANGELOG.md" | head -n 1)
others=$(grep -rhoE '(COMMIT +# v|version: |KELVIN_VERSION: |kelvin[-_])[0-9]+[0-9.]+[0-9]' "$root/docs/ci" "$root/README.md" |
	sed 's/.*[v _-]//' | sort -u)

[[ $newest == "$program" ]] || { echo "kelvin --version says $program, CHANGELOG.md $newest" && exit 1; }
[[ $others == "$program" ]] || { echo "kelvin --version says $program, docs/ci/ and README.md $others" && exit 1; }
