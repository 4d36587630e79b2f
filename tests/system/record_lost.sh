#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A program that starts while the buffers of new mappings are full has its name and its mappings all the same: they are read again.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs taskset
mkfifo start
# The target stops its recorder, fills the buffers of all CPUs, starts the program, and lets the recorder go on.
cat >target.sh <<'END'
sh -c 'read -r _ <start; exec "$1" --cpu 0.6' sh "$1" &
sleep 0.3
kill -STOP $PPID
for cpu in $(taskset -cp $$ | sed 's/.*: //; s/,/ /g'); do
	for one in $(seq "${cpu%-*}" "${cpu#*-}"); do
		taskset -c "$one" sh -c 'for i in $(seq 450); do /bin/true; done' &
		filling="$filling $!"
	done
done
wait $filling
echo >start
sleep 0.1
kill -CONT $PPID
wait
END
for graph in dwarf fp; do
	run 0 kelvin record --call-graph "$graph" -o "$graph.pb.gz" -- sh target.sh "$WORKLOADS/system_workload"
	named=$("$KELVIN" report "$graph.pb.gz" --folded | awk '/;serve/ { sum += $NF } END { print sum + 0 }')
	at_least "$named" 420 "of some 600 samples of the program that have its names, $graph"
done
