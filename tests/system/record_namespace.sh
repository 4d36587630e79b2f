#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A process in namespaces of its own, as in a container: its files are found through it, under names that mean others to us, and
# when nothing of them can be seen from here.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
is_root || skip "root is needed to make namespaces"
needs unshare
mkdir -p inside/app
cp "$WORKLOADS/system_workload" server
# Here, the name stands for something else.
printf '#!/bin/sh\n' >inside/app/server
unshare -m true 2>/dev/null || skip "mount namespaces cannot be made here"
start unshare -m --propagation private sh -c "mount -t tmpfs none '$work/inside/app' && cp '$work/server' '$work/inside/app/server' && exec '$work/inside/app/server'"
sleep 0.5
[[ $(head -c 2 inside/app/server) == '#!' ]] || fail "the mount is seen outside"
record_enough 300 -p "$pid" -o a.pb.gz
at_least "$(share a.pb.gz '^server;_start;.*main;serve;parse_input')" 60 "share of parse_input in another mount namespace"
says_not stderr 'stays unnamed'

start unshare -m -p -f --propagation private sh -c "mount -t tmpfs none '$work/inside/app' && cp '$work/server' '$work/inside/app/server' && '$work/inside/app/server'; true"
sleep 0.5
record_enough 300 -p "$pid" -o b.pb.gz
at_least "$(share b.pb.gz '^server;_start;.*main;serve;parse_input')" 60 "share of parse_input in another process namespace"

# Not for its exit code: sanitizers need /proc too, and end with their own.
unshare -m --propagation private sh -c "umount -l /proc; exec '$KELVIN' record -p 1 -o c.pb.gz" 2>stderr && fail "recorded without /proc"
says stderr "^kelvin: cannot record: /proc is not there; 'mount -t proc proc /proc' makes it"
