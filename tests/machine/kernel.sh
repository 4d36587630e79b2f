#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Gets Debian's kernel for virtual machines without installing it: writes DIRECTORY/vmlinuz.
#   kernel.sh DIRECTORY
# Exits with 1 where the package cannot be had.
set -euo pipefail
directory=${1:?usage: kernel.sh DIRECTORY}

[[ ! -s $directory/vmlinuz ]] || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | head -n 1)
[[ -n $package ]]
apt-get download -q "$package" >/dev/null 2>&1
dpkg -x "$package"_*.deb tree
mkdir -p "$directory"
cp tree/boot/vmlinuz-* "$directory/vmlinuz"
