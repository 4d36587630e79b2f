#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# tree_rights.py COMMAND...: runs a recorder, and prints each of its processes once, as it was when it had its rights: the name, the user,
# the effective capabilities, whether it may get privileges (NoNewPrivs), its filter of system calls (Seccomp), its numbers (one for each
# process namespace), whether its file systems are others' (mount namespace) and whether a crash may write its memory.
import os
import subprocess
import sys

FIELDS = ('Name', 'Uid', 'Groups', 'CapEff', 'NoNewPrivs', 'Seccomp', 'NSpid')


def status_of(pid):
    with open(f'/proc/{pid}/status') as status:
        fields = dict(line.rstrip('\n').split(':\t', 1) for line in status if ':\t' in line)
    return {name: fields.get(name, '') for name in FIELDS}


def look_at(pid, own_mounts):
    status = status_of(pid)
    return (status['Name'], status['Uid'].split('\t')[0], status['Groups'].strip() or '-', status['CapEff'], status['NoNewPrivs'],
            status['Seccomp'], str(len(status['NSpid'].split())),
            'same' if os.readlink(f'/proc/{pid}/ns/mnt') == own_mounts else 'own',
            'undumpable' if os.stat(f'/proc/{pid}/maps').st_uid != int(status['Uid'].split('\t')[0]) or status['Uid'].startswith('0')
            else 'dumpable')


def main():
    own_mounts = os.readlink('/proc/self/ns/mnt')
    recorder = subprocess.Popen(sys.argv[1:])
    seen = {}
    while recorder.poll() is None:
        for entry in os.listdir('/proc'):
            if not entry.isdigit() or int(entry) < recorder.pid:
                continue
            try:
                with open(f'/proc/{entry}/comm') as comm:
                    if not comm.read().startswith('kelvin'):
                        continue
                # The last look is the one after it gave up its rights.
                seen[entry] = look_at(entry, own_mounts)
            except OSError:
                pass
    for row in sorted(set(seen.values())):
        print(*row)
    return recorder.returncode


sys.exit(main())
