# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives MariaDB at a fixed rate, whatever it does: mysql_load.py PORT CONNECTIONS RATE SECONDS.

It tells what was answered as tests/workloads/services/load.c does."""

import json
import random
import signal
import socket
import struct
import sys
import threading
import time

PORT, CONNECTIONS, RATE, SECONDS = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
STATEMENTS = (
    "select name from orders where id = {}",
    "select kind, sum(price), avg(price) from orders where day = {} group by kind order by 2",
    "select count(*) from orders where id < 600 and name like '%a{}%'",
)
# PROTOCOL_41, SECURE_CONNECTION, CONNECT_WITH_DB
CAPABILITIES = 0x200 | 0x8000 | 0x8
lock = threading.Lock()
count, since, sent = 0, time.monotonic(), 0
begin = time.monotonic()


def read_packet(file):
    head = file.read(4)
    return file.read(int.from_bytes(head[:3], "little"))


def connect():
    connection = socket.create_connection(("127.0.0.1", PORT))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    file = connection.makefile("rb")
    read_packet(file)
    body = struct.pack("<IIB23x", CAPABILITIES, 1 << 24, 33) + b"root\0" + b"\0" + b"shop\0"
    connection.sendall(len(body).to_bytes(3, "little") + b"\1" + body)
    if read_packet(file)[0] != 0:
        sys.exit("mysql_load: no login")
    return connection, file


def query(connection, file, text):
    body = b"\3" + text.encode()
    connection.sendall(len(body).to_bytes(3, "little") + b"\0" + body)
    ends = 0
    packet = read_packet(file)
    while ends < 2 and packet[0] not in (0xFF,):
        packet = read_packet(file)
        ends += packet[0] == 0xFE and len(packet) < 9


def work(number):
    global count, sent
    connection, file = connect()
    chance = random.Random(number)
    while time.monotonic() < begin + SECONDS:
        with lock:
            due = begin + sent / RATE
            sent += 1
        time.sleep(max(0, due - time.monotonic()))
        query(connection, file, STATEMENTS[sent % len(STATEMENTS)].format(chance.randrange(1, 360)))
        with lock:
            count += 1


def tell(*_):
    global count, since
    now = time.monotonic()
    line = {"count": count, "errors": 0, "seconds": now - since, "first_p50_ns": 0, "first_p99_ns": 0}
    count, since = 0, now
    print(json.dumps(line), flush=True)


signal.signal(signal.SIGUSR1, tell)
threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(CONNECTIONS)]
for thread in threads:
    thread.start()
while any(thread.is_alive() for thread in threads):
    time.sleep(0.05)
tell()
