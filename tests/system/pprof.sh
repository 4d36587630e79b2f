#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# go tool pprof opens a recording and agrees with us.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs go
use_go_cache
go tool -n pprof >/dev/null || fail "go has no pprof"
start "$WORKLOADS/system_workload"
run 0 kelvin record -p "$pid" -d 1 -o a.pb.gz --label service=checkout --label version=4.2.1
stop "$pid"
run 0 go tool pprof -comments a.pb.gz
says stdout '^service=checkout$'
says stdout '^version=4.2.1$'
run 0 go tool pprof -top -sample_index=samples a.pb.gz
says stdout 'parse_input'
says stdout '^Type: samples'
run 0 go tool pprof -top a.pb.gz
says stdout '^Type: cpu'
run 0 go tool pprof -raw a.pb.gz
says stdout 'build_?[iI][dD]|[0-9a-f]{40}'
run 0 go tool pprof -traces a.pb.gz
says stdout 'hash_output'
run 0 go tool pprof -proto -output=b.pb.gz a.pb.gz
[[ $(share b.pb.gz parse_input) == "$(share a.pb.gz parse_input)" ]] || fail "shares change on the way through pprof"
