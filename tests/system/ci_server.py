#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""ci_server.py STATE: the few calls of GitHub's and GitLab's API that scripts/ci-comment makes, over comments in a JSON file.

STATE is {"comments": [...], "pulls": {"7": {...}}, "user": {...}}; it is written anew after each call that changes it. With "later": SECONDS
it refuses all calls, asks to be asked again then, and repeats the token. The port is written to STATE.port once the server listens, each
call as a line to STATE.log."""
import json
import re
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

state_path = sys.argv[1]


class Api(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, value, later=None):
        data = json.dumps(value).encode()
        self.send_response(status)
        if later:
            self.send_header("Retry-After", str(later))
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def body(self):
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]

    def handle_call(self):
        with open(state_path) as file:
            state = json.load(file)
        url = urlsplit(self.path)
        is_gitlab = url.path.startswith("/projects/") or url.path == "/user"
        token = self.headers.get("PRIVATE-TOKEN") if is_gitlab else self.headers.get("Authorization", "").removeprefix("Bearer ")
        with open(state_path + ".log", "a") as log:
            log.write(f"{self.command} {self.path}\n")
        if state.get("later"):
            return self.answer(503, {"message": f"not now, {token}"}, state["later"])
        if token != "secret":
            return self.answer(401, {"message": "Bad credentials"})
        if url.path == "/user":
            return self.answer(200, state["user"])
        pull = re.fullmatch(r"/repos/o/n/pulls/(\d+)", url.path)
        if pull:
            found = state["pulls"].get(pull[1])
            return self.answer(200 if found else 404, found or {"message": "Not Found"})
        every = re.fullmatch(r"/repos/o/n/issues/7/comments|/projects/3/merge_requests/7/notes", url.path)
        one = re.fullmatch(r"(?:/repos/o/n/issues/comments|/projects/3/merge_requests/7/notes)/(\d+)", url.path)
        if every and self.command == "GET":
            query = parse_qs(url.query)
            size, page = int(query["per_page"][0]), int(query["page"][0])
            return self.answer(200, state["comments"][(page - 1) * size : page * size])
        if every and self.command == "POST":
            body = self.body()
            if len(body) > 65536:
                return self.answer(422, {"message": "Validation Failed: body is too long"})
            state["comments"].append({"id": 1000 + len(state["comments"]), "user": state["user"], "body": body})
        elif one and self.command == ("PUT" if is_gitlab else "PATCH"):
            [comment] = [c for c in state["comments"] if c["id"] == int(one[1])]
            comment["body"] = self.body()
        else:
            return self.answer(404, {"message": "Not Found"})
        with open(state_path, "w") as file:
            json.dump(state, file)
        return self.answer(200, {})

    do_GET = do_POST = do_PATCH = do_PUT = handle_call


server = HTTPServer(("127.0.0.1", 0), Api)
with open(state_path + ".port", "w") as file:
    file.write(f"{server.server_port}\n")
server.serve_forever()
