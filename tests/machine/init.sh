#!/bin/busybox sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=dash
# The first process of the emulated machine: records in several ways and prints what was found, then switches the machine off.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
cd /tmp || exit 1

# section NAME FUNCTION: what it prints, between two lines that name it; the second has its exit code.
section() {
	echo "begin $1"
	"$1" >said 2>&1
	code=$?
	cat said
	echo "end $1 $code"
}

programs() {
	test_programs
}

command() {
	kelvin record -F 200 -o command.pb.gz -- system_workload --parse 3 --seconds 3 && kelvin report --folded - command.pb.gz
}

process() {
	system_workload --parse 1 --threads 3 --seconds 60 &
	kelvin record -F 200 -d 3 -p $! -o process.pb.gz && kelvin report --folded - process.pb.gz
	code=$?
	kill $!
	return $code
}

# Enough processes that the recorder opens events of CPUs, filtered by BPF.
children() {
	cat >brief.sh <<'END'
i=0
while [ $i -lt 300 ]; do
	/bin/busybox true
	i=$((i + 1))
done
END
	kelvin record -F 500 -o children.pb.gz -- sh brief.sh && kelvin report --text - children.pb.gz | head -n 12 &&
		kelvin report --folded - children.pb.gz | awk '{ sum += $NF } END { print "brief-" NR, sum }'
}

cpus() {
	system_workload --seconds 60 &
	kelvin record -F 100 -a -d 2 -o cpus.pb.gz && kelvin report --folded - cpus.pb.gz
	code=$?
	kill $!
	return $code
}

# Threads inherit no groups whose values are read with samples before Linux 6.13: CPUs are counted.
counters() {
	kelvin record -F 200 --counters=page-faults -o counters.pb.gz -- workload_faults 1 50 2000 &&
		kelvin report --metric page-faults --text - counters.pb.gz
}

waiting() {
	test_waiting
}

# Kernel and user part of the stacks, and what the threads have waited by their own account.
waits() {
	# These threads do nothing else, so that they would be idle by their life.
	echo 'keep function wait_*' >keep.rules
	kelvin record --off-cpu -o waits.pb.gz -- workload_waits 1.5 condition epoll long forever &&
		kelvin report --wait-rules keep.rules --folded - waits.pb.gz | grep waiting || return
	for metric in off-cpu idle; do
		kelvin report --wait-rules keep.rules --metric $metric --json waits.json waits.pb.gz
		sed -n 's/.*{"name":"\(thread_[a-z]*\)".*"total_ns":\([0-9]*\),.*/found \1 \2/p' waits.json
	done
}

# More threads than CPUs.
preempted() {
	kelvin record --off-cpu -F 100 -o preempted.pb.gz -- system_workload --parse 1 --threads 4 --seconds 2 &&
		kelvin report --metric off-cpu --folded - preempted.pb.gz
}

interrupted() {
	system_workload --seconds 60 &
	target=$!
	kelvin record -F 100 -p $target -o interrupted.pb.gz &
	recorder=$!
	sleep 4
	kill -KILL $recorder
	wait $recorder
	kill $target
	kelvin recover interrupted.pb.gz.part -o recovered.pb.gz
}

kelvin doctor
for name in programs command process children cpus counters waiting waits preempted interrupted; do
	section $name
done
echo "all done"
poweroff -f
