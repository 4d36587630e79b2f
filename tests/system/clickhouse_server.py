#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""clickhouse_server.py DIRECTORY: ClickHouse's HTTP interface in front of its real engine, which the package chdb-core has in it.

The data is in DIRECTORY/data. The port is written to DIRECTORY/port once the server listens, each query as a line to DIRECTORY/log.

Users: `kelvin` with the password `secret` may do everything, `reader` with `secret` may only read; the token `secret` is kelvin's.
What the engine does not do in a process, users and sessions of HTTP, is done here as the server does it (src/Server/HTTPHandler.cpp):
statuses by the code of the exception, X-ClickHouse-Exception-Code, settings and param_* in the URL, an exception behind a 200 that has begun.

POST /faults sets what goes wrong from now on, a JSON list of {"match": part of a query, "do": what, "times": how often}:
  before   the status "status" (503) and the text "text", before anything is done
  after    the same, when everything is done
  close    everything is done, and the connection closes without an answer
  stall    everything is done, and "seconds" (3600) pass before the answer
  body     a 200, the first "bytes" (0) bytes of the answer, and then an exception
  cut      a 200, the first "bytes" of the answer, and then the connection closes
  answer   a 200 with "text" as the body, before anything is done
  redirect to the address "to"
"""
import base64
import gzip
import json
import os
import re
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb.session import Session

VERSION = "26.9.2.1"
PASSWORDS = {"kelvin": "secret", "reader": "secret"}
# As exceptionCodeToHTTPStatus() has it.
STATUSES = {
    **dict.fromkeys((6, 27, 33, 36, 53, 62, 72, 386), 400),
    194: 401,
    **dict.fromkeys((192, 193, 516), 403),
    **dict.fromkeys((46, 47, 60, 81, 115), 404),
    159: 408,
    48: 501,
    439: 503,
}
OF_THE_INTERFACE = {"query", "database", "user", "password", "default_format", "enable_http_compression", "wait_end_of_query", "query_id"}
BEHIND_A_STATUS = b"Code: 241. DB::Exception: Memory limit (total) exceeded: would use 1.00 GiB. (MEMORY_LIMIT_EXCEEDED)\n"


class Failure(Exception):
    def __init__(self, code, text, status=None):
        super().__init__(text)
        self.code, self.text, self.status = code, text, status or STATUSES.get(code, 500)


def failure_of(error):
    text = str(error)
    code = re.search(r"Code: (\d+)\.", text)
    return Failure(int(code[1]) if code else 1002, text[code.start() :] if code else text)


class Engine:
    """One query after the other, as a session of the engine has them."""

    def __init__(self, directory):
        self.session = Session(directory)
        self.lock = threading.Lock()

    def run(self, database, query, body, settings, parameters):
        with self.lock:
            try:
                self.session.query(f"USE `{database}`")
                if query.lstrip().upper().startswith("INSERT"):
                    return self.insert(query, body, settings)
                return self.ask(query + body.decode(), settings, parameters)
            except Failure:
                raise
            except Exception as error:
                raise failure_of(error) from None

    def insert(self, query, body, settings):
        form = re.fullmatch(r"\s*(INSERT\s+INTO\s+.*?)\s+FORMAT\s+(\w+)\s*", query, re.S | re.I)
        if not form:
            raise Failure(62, "Code: 62. DB::Exception: Syntax error: an INSERT without FORMAT (SYNTAX_ERROR)")
        into = form[1]
        if settings:
            into += " SETTINGS " + ", ".join(f"{name} = {literal(value)}" for name, value in settings.items())
        insert = self.session.send_insert(into, form[2])
        for at in range(0, len(body), 1 << 20):
            insert.append(body[at : at + (1 << 20)])
        insert.finish()
        return b""

    def ask(self, query, settings, parameters):
        try:
            for name, value in settings.items():
                self.session.query(f"SET {name} = {literal(value)}")
            if is_read(query):
                return b"".join(part.bytes() for part in self.session.send_query(query, "TabSeparated", params=parameters))
            return self.session.query(query, "TabSeparated", params=parameters).bytes()
        finally:
            for name in settings:
                self.session.query(f"SET {name} = DEFAULT")


def literal(value):
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def is_read(query):
    return query.split(None, 1)[0].upper() in ("SELECT", "WITH") if query.strip() else False


class Front(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "ClickHouse"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path == "/ping":
            return self.send(200, b"Ok.\n")
        return self.do_POST(is_get=True)

    def do_POST(self, is_get=False):
        body = self.body()
        if urlsplit(self.path).path == "/faults":
            self.server.faults = json.loads(body)
            return self.send(200, b"")
        arguments = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        query = arguments.get("query", "")
        fault = self.fault_of(query + " " + body[:2000].decode(errors="replace"))
        do = fault.get("do")
        self.server.note(query or body.decode(errors="replace"))
        try:
            if do == "redirect":
                return self.send(307, b"", {"Location": fault["to"]})
            if do in ("before", "answer"):
                status = 200 if do == "answer" else fault.get("status", 503)
                return self.send(status, fault.get("text", "Service Unavailable").encode(), fault.get("headers"))
            answer = self.answer_to(arguments, query, body, is_get)
            self.server.keep(query, answer)
        except Failure as failure:
            return self.send(failure.status, failure.text.encode() + b"\n", {"X-ClickHouse-Exception-Code": str(failure.code)})
        if do == "after":
            return self.send(fault.get("status", 503), fault.get("text", "Service Unavailable").encode())
        if do == "close":
            return self.close()
        if do == "stall":
            time.sleep(fault.get("seconds", 3600))
            return self.close()
        if do == "body":
            return self.send(200, answer[: fault.get("bytes", 0)] + BEHIND_A_STATUS)
        if do == "cut":
            return self.send(200, answer, stop=fault.get("bytes", 0))
        return self.send(200, answer, {"X-ClickHouse-Summary": json.dumps({"read_rows": "0"})})

    def answer_to(self, arguments, query, body, is_get):
        user = self.user(arguments)
        statement = (query + body[:100].decode(errors="replace")).lstrip()
        if is_get and not is_read(statement):
            raise Failure(164, "Code: 164. DB::Exception: Cannot execute query in readonly mode. (READONLY)")
        if user == "reader" and not re.match(r"(?i)(SELECT|WITH|EXISTS|SHOW|DESCRIBE)\b", statement):
            right = " ".join(statement.split()[:2]).upper()
            raise Failure(497, f"Code: 497. DB::Exception: reader: Not enough privileges. It's necessary to have the grant {right}. (ACCESS_DENIED)")
        parameters = {name.removeprefix("param_"): value for name, value in arguments.items() if name.startswith("param_")}
        settings = {name: value for name, value in arguments.items() if name not in OF_THE_INTERFACE and not name.startswith("param_")}
        database = self.headers.get("X-ClickHouse-Database") or arguments.get("database") or "default"
        if not re.fullmatch(r"\w+", database):
            raise Failure(81, f"Code: 81. DB::Exception: Database `{database}` does not exist. (UNKNOWN_DATABASE)")
        return self.server.engine.run(database, query, body, settings, parameters)

    def user(self, arguments):
        user, password = self.headers.get("X-ClickHouse-User"), self.headers.get("X-ClickHouse-Key")
        kind, _, value = self.headers.get("Authorization", "").partition(" ")
        if kind == "Basic":
            user, _, password = base64.b64decode(value).decode().partition(":")
        if kind == "Bearer":
            user, password = "kelvin", value
        if not user and self.server.is_open:
            return "kelvin"
        if PASSWORDS.get(user) != password:
            name = user or "default"
            text = f"{name}: Authentication failed: password is incorrect, or there is no user with such name."
            raise Failure(516, f"Code: 516. DB::Exception: {text} (AUTHENTICATION_FAILED)")
        return user

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        coding = self.headers.get("Content-Encoding")
        if coding == "gzip":
            return gzip.decompress(data)
        if coding == "zstd":
            return subprocess.run(["zstd", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout
        return data

    def fault_of(self, query):
        with self.server.lock:
            for fault in self.server.faults:
                if fault["match"] in query and fault.get("times", 1) > 0:
                    fault["times"] = fault.get("times", 1) - 1
                    return fault
        return {}

    def send(self, status, data, headers=None, stop=None):
        """Chunked, as the server sends answers; `stop` bytes, and then the connection closes."""
        accepts_gzip = "gzip" in self.headers.get("Accept-Encoding", "") and "enable_http_compression=1" in self.path
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if accepts_gzip and status == 200 and data:
            data = gzip.compress(data, 1)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("X-ClickHouse-Server-Display-Name", "test")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if stop is not None:
            self.wfile.write(b"%x\r\n" % len(data) + data[: min(stop, len(data) - 1)])
            return self.close()
        for at in range(0, len(data), 1 << 16):
            part = data[at : at + (1 << 16)]
            self.wfile.write(b"%x\r\n" % len(part) + part + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def close(self):
        self.close_connection = True
        self.wfile.flush()
        self.connection.close()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, directory):
        self.directory, self.faults, self.lock = directory, [], threading.Lock()
        self.is_open = "--open" in sys.argv
        self.engine = Engine(os.path.join(directory, "data"))
        self.engine.session.query("SET max_threads = 2")
        self.engine.session.query("CREATE DATABASE IF NOT EXISTS kelvin")
        super().__init__(("127.0.0.1", 0), Front)

    def note(self, query):
        with self.lock, open(os.path.join(self.directory, "log"), "a") as log:
            log.write(" ".join(query.split()) + "\n")

    def keep(self, query, answer):
        """With --answers: what a fuzzer begins with."""
        if "--answers" in sys.argv and not query:
            with self.lock, open(os.path.join(self.directory, "answers"), "ab") as file:
                file.write(len(answer).to_bytes(2, "little") + answer)

    def handle_error(self, *_):
        """A client that closed its connection is none of a test's concerns."""


server = Server(sys.argv[1])
path = os.path.join(sys.argv[1], "port")
with open(path + ".new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename(path + ".new", path)
server.serve_forever()
