# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Harnesses know the runner by names in /tmp, so the test has a /tmp of its own where that can be had.
if [[ -z ${OWN_TMP:-} ]] && unshare -m sh -c 'mount -t tmpfs none /mnt' 2>/dev/null; then
	export OWN_TMP=1
	exec unshare -m bash "$0" "$@"
fi
# elsewhere: the program and the sources stand in a place that the test covers with nothing, wherever they are.
elsewhere() {
	local build

	build=$(dirname "$(dirname "$(readlink -f "$KELVIN")")")
	mount -t tmpfs -o mode=755 none /media && mkdir /media/build /media/source &&
		mount --rbind "$build" /media/build && mount --rbind "$ROOT" /media/source || return
	KELVIN=/media/build/cli/${KELVIN##*/}
	WORKLOADS=/media/build/${WORKLOADS#"$build/"}
	ROOT=/media/source
}
if [[ -n ${OWN_TMP:-} ]]; then
	elsewhere || OWN_TMP=
fi
if [[ -n ${OWN_TMP:-} ]]; then
	mount -t tmpfs none /mnt && mkdir -m 1777 /mnt/upper && mkdir /mnt/work &&
		mount -t overlay -o lowerdir=/tmp,upperdir=/mnt/upper,workdir=/mnt/work overlay /tmp || OWN_TMP=
	[[ -z $OWN_TMP ]] || rm -f /tmp/runner.{ctl,ack}.fifo
fi
