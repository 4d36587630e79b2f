# SPDX-License-Identifier: GPL-3.0-or-later
"""A server that means harm to whoever pushes or reads profiles.

    hostile_store.py DIRECTORY [ELSEWHERE [CERTIFICATE KEY]]

It writes its port to DIRECTORY/port, and each request as a line "METHOD PATH AUTHORIZATION" to DIRECTORY/log. The first part of a
request's path says what it does: "elsewhere" leads to the port ELSEWHERE. To any other it answers as a Pyroscope that has nothing. With a
certificate it has TLS; without one it is a proxy besides, as CONNECT asks for.
"""
import base64
import http.server
import json
import os
import pathlib
import socket
import socketserver
import ssl
import sys
import threading
import time

place = pathlib.Path(sys.argv[1])
seen = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/proto", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def endless(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/proto")
        self.end_headers()
        chunk = b"\x0a\x7f" + b"x" * 127
        try:
            while True:
                self.wfile.write(chunk * 512)
        except OSError:
            self.close_connection = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with open(place / "log", "a", encoding="utf-8") as log:
            log.write(f"{self.command} {self.path} {self.headers.get('Authorization')}\n")
        with open(place / "bodies", "ab") as bodies:
            bodies.write(body)
        what = self.path.split("/")[1]
        seen[what] = seen.get(what, 0) + 1
        if what == "html":
            self.answer(200, b"<html>log in</html>", "text/html; charset=utf-8")
        elif what == "busy" and seen[what] <= 2:
            self.answer(429, b'{"message":"slow down"}', "application/json", Retry_After="1")
        elif what == "failing":
            self.answer(500, b'{"message":"\\u001b[31mthe token was ' + self.headers.get("Authorization", "").encode() + b'"}', "application/json")
        elif what == "refusing":
            told = base64.b64decode(self.headers.get("Authorization", "").split()[-1]).decode()
            self.answer(400, json.dumps({"code": "invalid_argument", "message": f"not {told}"}).encode(), "application/json")
        elif what == "file":
            self.answer(302, b"", Location="file:///etc/passwd")
        elif what == "elsewhere":
            self.answer(307, b"", Location=f"http://127.0.0.1:{sys.argv[2]}/caught")
        elif what == "endless":
            self.endless()
        elif what == "closing":
            self.close_connection = True
        elif what == "stalling":
            time.sleep(600)
        elif what == "garbage":
            self.answer(200, os.urandom(4096))
        elif what == "json":
            self.answer(200, b"{}", "application/json")
        else:
            self.answer(200, b"")

    do_GET = do_POST

    def do_CONNECT(self):
        with open(place / "log", "a", encoding="utf-8") as log:
            log.write(f"{self.command} {self.path} {self.headers.get('Authorization')}\n")
        host, port = self.path.rsplit(":", 1)
        with socket.create_connection((host, int(port))) as server:
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=pass_on, args=(server, self.connection), daemon=True)
            back.start()
            pass_on(self.connection, server)
            back.join()
        self.close_connection = True


def pass_on(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    server.socket = context.wrap_socket(server.socket, server_side=True)
(place / "port.new").write_text(str(server.server_port))
os.rename(place / "port.new", place / "port")
server.serve_forever()
