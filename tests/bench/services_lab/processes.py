# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes of the laboratory: started in sessions of their own and ended with all their children; what the kernel says of them."""
import ctypes
import os
import signal
import socket
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")
PR_SET_PDEATHSIG = 1
CPUCLOCK_SCHED = 2  # see clock_getcpuclockid(3): the clock of a process, of which its id is a part
libc = ctypes.CDLL(None)


class Failure(Exception):
    """What ends a row, in one line."""


def start(command, **options):
    """Starts a command whose process group ends with it, and which the kernel ends with the laboratory."""
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen(command, start_new_session=True,
                            preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL), **options)


def end(process, number=signal.SIGTERM, seconds=8):
    """Ends a started command, first as its service wants to be ended, then its whole group."""
    if process.poll() is None:
        process.send_signal(number)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run(command, **options):
    """What a command prints; a Failure where it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
                          **options)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command[:3])}: {done.stdout.strip()[-300:]}")
    return done.stdout


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for_port(port, process, seconds=30):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if process.poll() is not None:
            raise Failure(f"{process.args[0]} ended with {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise Failure(f"{process.args[0]} does not listen")


def talk(port, message, enough):
    """Sends bytes and returns the answer as soon as `enough` says so."""
    with socket.create_connection(("127.0.0.1", port), 20) as connection:
        connection.sendall(message)
        answer = b""
        while not enough(answer):
            got = connection.recv(65536)
            if not got:
                break
            answer += got
        return answer


def stat_fields(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()


def tree(root):
    """A process and all its descendants, with the fields of their stat."""
    fields = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fields[int(name)] = stat_fields(name)
            except (FileNotFoundError, ProcessLookupError):
                pass
    found, pids = {}, [root]
    while pids:
        pid = pids.pop()
        if pid in fields:
            found[pid] = fields[pid]
            pids += [child for child, its in fields.items() if int(its[1]) == pid]
    return found


def process_clock(pid):
    """The CPU time of all threads of a process, those that ended included, in seconds."""
    try:
        return time.clock_gettime(~pid << 3 | CPUCLOCK_SCHED)
    except OSError:
        return 0


def cpu_seconds(root):
    """The CPU time of a process, of its descendants, and of those of them that have ended and were waited for."""
    return sum(process_clock(pid) + sum(map(int, fields[13:15])) / TICKS for pid, fields in tree(root).items())
