#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files that cost whoever names their functions minutes or gigabytes: they lose their own names.
# shellcheck source-path=SCRIPTDIR source=hostile.sh
. "$(dirname "$0")/hostile.sh"

can_sample
for kind in link abbreviations units zeros-info minidebug perf-map jitdump; do
	unharmed "$kind" 0.5
done
