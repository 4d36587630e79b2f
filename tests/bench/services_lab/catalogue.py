# SPDX-License-Identifier: GPL-3.0-or-later
"""The services of the laboratory: how each is started with its settings, driven, and asked for its own count of requests.

Settings are the words of a deploy in deploys.txt: CHANGE=list RATE=40. What a service does not know goes to its environment."""
import os
import re
import signal
import subprocess

import processes

# Of the load generator.
CONNECTIONS = 8
HTTP = "GET {} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n"


class Service:
    """A service on 127.0.0.1 that is a program of tests/workloads/services, or a distribution's with settings."""
    protocol = "http"
    path = "/"
    warm_seconds = 2
    # Before that, what compiles its code at run time is driven at this rate.
    warm_rate = 0
    # The load generator ends by itself some time after the recording should have, in case that nobody ends it.
    spare_seconds = 90
    end_signal = signal.SIGTERM

    def __init__(self, lab, settings):
        self.lab = lab
        self.settings = settings
        self.port = processes.free_port()
        self.folder = lab.new_folder()
        self.counts = lab.new_counts()

    def command(self):
        raise NotImplementedError

    def environment(self):
        return {**os.environ, **self.settings, "SERVICE_COUNTS": self.counts, "PYTHONPATH": self.lab.programs,
                "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}

    def start(self):
        with open(f"{self.folder}/log", "w", encoding="utf-8") as log:
            self.process = processes.start(self.command(), env=self.environment(), cwd=self.folder, stdout=log, stderr=log)
        processes.wait_for_port(self.port, self.process)
        self.fill()

    def fill(self):
        """Puts the data there that requests ask for."""

    def requests(self):
        return [HTTP.format(self.settings.get("URL", self.path))]

    def load(self, rate, seconds):
        """The command that drives the service."""
        burst = self.settings.get("BURST", "1")
        return [self.lab.load, self.protocol, str(self.port), str(CONNECTIONS), str(rate), burst, str(seconds), *self.requests()]

    def count(self):
        """The requests that the service says it has answered."""
        total = 0
        for name in os.listdir(self.counts):
            with open(f"{self.counts}/{name}", encoding="ascii") as file:
                total += int(file.read().split("\n")[0] or 0)
        return total

    def end(self):
        processes.end(self.process, self.end_signal)


class Nginx(Service):
    protocol = "http"
    path = "/page.txt"

    def location(self):
        """What stands in the location of the requests."""
        words = ["add_header X-Kind $kind;"] if "MAPS" in self.settings else []
        words += [f"sub_filter 'word{i} fo' 'text{i} fo';" for i in range(int(self.settings.get("SUBS", "0")))]
        return " ".join(words + ["sub_filter_types text/plain; sub_filter_once off;"])

    def upstream(self):
        """What stands beside the server."""
        maps = [f"~*(shop|art)[a-z]*{i}=(\\d+) kind{i};\n" for i in range(int(self.settings.get("MAPS", "0")))]
        return "map $request_uri $kind { default none; " + "".join(maps) + "}"

    def command(self):
        settings = self.settings
        words = " ".join(f"word{i * 7919 % 1013} of line {i}\n" for i in range(int(settings.get("LINES", "1500"))))
        with open(f"{self.folder}/page.txt", "w", encoding="ascii") as page:
            page.write(words)
        with open(f"{self.folder}/nginx.conf", "w", encoding="ascii") as file:
            file.write(f"""daemon off; worker_processes 2; pid {self.folder}/pid; error_log {self.folder}/error;
events {{ worker_connections 256; }}
http {{
access_log off; default_type text/plain; keepalive_requests 1000000; sendfile on;
gzip {"on" if "GZIP" in settings else "off"}; gzip_comp_level {settings.get("GZIP", "1")}; gzip_types text/plain;
{self.upstream()}
server {{ listen 127.0.0.1:{self.port}; root {self.folder};
location = /status {{ stub_status; }}
location / {{ {self.location()} }}
}} }}
""")
        return ["nginx", "-p", self.folder, "-c", f"{self.folder}/nginx.conf", "-e", f"{self.folder}/error"]

    def count(self):
        """Requests without those that ask for their number."""
        self.asked = getattr(self, "asked", 0) + 1
        answer = processes.talk(self.port, b"GET /status HTTP/1.0\r\n\r\n", lambda text: False)
        return int(re.search(rb"\n *\d+ +\d+ +(\d+)", answer)[1]) - self.asked


class Redis(Service):
    protocol = "resp"
    loads = {
        "get": ["GET user:{}", "SET counter:{} 1"],
        "hget": ["HGET profile field:{}"],
        "set": ["SET user:{} value"],
        "script": ["EVAL \"local s=0 for i=1,300 do s=(s*31+i)%65521 end return redis.call('get',KEYS[1])..s\" 1 user:{}"],
        "members": ["SMEMBERS tags"],
        "ismember": ["SISMEMBER tags tag:{}"],
    }

    def command(self):
        settings = self.settings
        return ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--dir", self.folder,
                "--hash-max-listpack-entries", settings.get("LISTPACK", "128"),
                "--appendonly", "yes" if "FSYNC" in settings else "no", "--appendfsync", settings.get("FSYNC", "no")]

    def fill(self):
        lines = [f"SET user:{i} value:{i}" for i in range(20000)] + [f"HSET profile field:{i} value" for i in range(8000)]
        lines += [f"SADD tags tag:{i}" for i in range(300)] + ["PING"]
        processes.talk(self.port, "\r\n".join(lines + [""]).encode(), lambda answer: answer.endswith(b"+PONG\r\n"))

    def requests(self):
        kinds = self.loads[self.settings.get("LOAD", "get")]
        return [kind.format(i * 1613 % 8000) + "\r\n" for i in range(50) for kind in kinds]

    def count(self):
        """Commands that were sent, not those that a script calls."""
        sent = {request.split()[0].lower() for request in [*self.loads[self.settings.get("LOAD", "get")], "KEYS"]}
        answer = processes.talk(self.port, b"INFO commandstats\r\n", lambda text: text.endswith(b"\r\n\r\n"))
        calls = re.findall(r"cmdstat_(\w+):calls=(\d+)", answer.decode())
        return sum(int(count) for name, count in calls if name in sent)


class Memcached(Service):
    protocol = "memcached"
    items = 150000

    def command(self):
        options = [word for word in self.settings.get("OPTIONS", "").split(",") if word]
        return ["memcached", "-l", "127.0.0.1", "-p", str(self.port), "-U", "0", "-t", "2", "-m", "256", "-u", "root",
                *[word for option in options for word in ("-o", option)]]

    def fill(self):
        lines = "".join(f"set key:{i} 0 0 10 noreply\r\nvalue{i % 10}0000\r\n" for i in range(self.items))
        processes.talk(self.port, (lines + "get key:1\r\n").encode(), lambda answer: answer.endswith(b"END\r\n"))

    def requests(self):
        keys = int(self.settings.get("KEYS", "1"))
        return ["get " + " ".join(f"key:{(i * 613 + k * 7919) % self.items}" for k in range(keys)) + "\r\n" for i in range(200)]

    def count(self):
        answer = processes.talk(self.port, b"stats\r\n", lambda text: text.endswith(b"END\r\n"))
        keys = int(self.settings.get("KEYS", "1"))
        return int(re.search(rb"STAT cmd_get (\d+)", answer)[1]) // keys


class Postgres(Service):
    end_signal = signal.SIGINT
    # pgbench writes what it has measured only if it ends by itself.
    spare_seconds = 5
    user = ["setpriv", "--pdeathsig=QUIT", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    bin = "/usr/lib/postgresql/15/bin/"
    scripts = {
        "key": "\\set key random(1, 20000)\nselect name from items where key = :key;\n",
        "sort": "select count(*) from (select id, repeat(name, 12) wide from items where id < 6000 order by 2 offset 0) sorted;\n",
        "like": "select count(*) from items where id < 5000 and name like '%abc%';\n",
        "ilike": "select count(*) from items where id < 5000 and name ilike '%abc%';\n",
        "sum": "select kind, sum(price * amount), avg(price) from orders where day < 60 group by kind;\n",
    }
    tables = """create extension pg_stat_statements;
create table items (id int primary key, key int, name text);
insert into items select i, i, 'item ' || md5(i::text) from generate_series(1, 20000) i;
create table orders (id int primary key, item int, day int, kind int, price numeric, amount int);
insert into orders select i, i * 7919 % 20000, i % 365, i % 13, i % 97 + 0.5, i % 5 from generate_series(1, 30000) i;
vacuum analyze;"""

    def data(self):
        """A cluster for all rows: the first one makes it."""
        path = f"{self.lab.folder}/postgres"
        if not os.path.isdir(path):
            os.mkdir(path, 0o700)
            if self.user:
                processes.run(["chown", "postgres:postgres", path])
            processes.run([*self.user, f"{self.bin}initdb", "-D", path, "-U", "postgres", "-A", "trust", "-N", "--locale=C.UTF-8"], cwd="/")
        return path

    def command(self):
        settings = {"work_mem": "64MB", "jit": "off", "fsync": "off", "max_parallel_workers_per_gather": "0", "autovacuum": "off",
                    "shared_preload_libraries": "pg_stat_statements"}
        settings.update(word.split("=") for word in self.settings.get("CONFIG", "").replace(":", "=").split(",") if word)
        words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return [*self.user, f"{self.bin}postgres", "-D", self.data(), "-h", "127.0.0.1", "-p", str(self.port), "-k", "", *words]

    def psql(self, text):
        return processes.run([f"{self.bin}psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-Atqc", text], cwd="/")

    def start(self):
        os.chmod(self.folder, 0o755)
        super().start()

    def fill(self):
        until_ready = [f"{self.bin}pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port), "-t", "20"]
        while subprocess.run(until_ready, check=False).returncode == 1:
            pass
        if self.psql("select to_regclass('items')").strip() == "":
            for statement in self.tables.split(";\n"):
                self.psql(statement)
        self.psql("drop index if exists items_key")
        if self.settings.get("INDEX") != "0":
            self.psql("create index items_key on items (key)")

    def load(self, rate, seconds):
        script = f"{self.folder}/script.sql"
        with open(script, "w", encoding="ascii") as file:
            file.write(self.scripts[self.settings.get("LOAD", "key")])
        return [f"{self.bin}pgbench", "-n", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-f", script, "-c", "4",
                "-j", "1", "-R", str(rate), "-T", str(int(seconds)), "-M", "prepared", "-l",
                f"--log-prefix={self.folder}/transactions", *(["-C"] if self.settings.get("RECONNECT") else []), "postgres"]

    def count(self):
        return int(self.psql("select coalesce(sum(calls), 0) from pg_stat_statements where query not like '%pg_stat%'"))


class Flask(Service):
    path = "/resolve"

    def command(self):
        worker = self.settings.get("WORKER", "gthread")
        return [f"{self.lab.venv('flask', self.settings)}/bin/gunicorn", "-w", "2", "-k", worker, "--threads", "4", "--keep-alive", "60",
                "-b", f"127.0.0.1:{self.port}", "flask_shop:app"]


class FastApi(Service):
    path = "/orders"

    def command(self):
        return [f"{self.lab.venv('fastapi', self.settings)}/bin/uvicorn", "--no-access-log", "--log-level", "warning",
                "--timeout-keep-alive", "60", "--port", str(self.port), "fastapi_shop:app"]


class Asyncio(Service):
    def command(self):
        return [self.lab.python, f"{self.lab.programs}/asyncio_shop.py", str(self.port)]


class Node(Service):
    path = "/resolve"
    warm_rate = 300

    def command(self):
        return ["node", f"{self.lab.programs}/shop.js", str(self.port)]


class Java(Service):
    path = "/dedupe"
    warm_rate = 400

    def command(self):
        return ["java", f"-Xmx{self.settings.get('HEAP', '256m')}", "-XX:+UseG1GC",
                "-Dsun.net.httpserver.nodelay=true", "-cp", self.lab.build, "Shop", str(self.port)]


class Go(Service):
    path = "/check"

    def command(self):
        return [f"{self.lab.build}/shop_go", str(self.port)]


class Cpp(Service):
    path = "/price"

    def command(self):
        return [self.lab.release(self.settings.get("BUILD", "base"), self.settings.get("STRIP") == "1"), str(self.port)]


class Proxy(Nginx):
    """nginx before a service in C++, which is no part of what is recorded."""
    path = "/price"

    def start(self):
        self.backend = Cpp(self.lab, {"BUILD": self.settings.get("BACKEND", "base")})
        self.backend.start()
        super().start()

    def location(self):
        return "proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection '';"

    def upstream(self):
        return f"upstream backend {{ server 127.0.0.1:{self.backend.port}; keepalive 16; }}"

    def end(self):
        super().end()
        self.backend.end()


ALL = {"nginx": Nginx, "proxy": Proxy, "redis": Redis, "memcached": Memcached, "postgres": Postgres, "flask": Flask, "fastapi": FastApi,
       "asyncio": Asyncio, "node": Node, "java": Java, "go": Go, "cpp": Cpp}
