#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Memory and files that never arrive: the recorder waits for none of them.
# shellcheck source-path=SCRIPTDIR source=hostile.sh
. "$(dirname "$0")/hostile.sh"

can_sample
is_root || skip "root is needed for memory that keeps the kernel waiting"
for kind in missing-code missing-stack silent-file; do
	unharmed "$kind" 1 || skip "$kind: $lacking"
done
