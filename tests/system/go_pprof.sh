#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# go has a pprof: from Go 1.25 on it is built when it is first asked for, here on one CPU and after what is sampled.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs go
use_go_cache
run 0 env GOMAXPROCS=1 nice -n 10 go tool -n pprof
says stdout 'pprof$'
