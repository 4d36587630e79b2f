# SPDX-License-Identifier: GPL-3.0-or-later
"""The services that constants are calibrated on: how each is started and driven.

All are a distribution's, or small programs on its libraries."""

import os
import random
import shutil
import signal
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "services_lab"))
import catalogue  # noqa: E402
import processes  # noqa: E402

JARS = "/usr/share/java"


class Http(catalogue.Service):
    """A program of tests/data/calibration/programs that takes its port."""

    paths = ("/",)
    words = ()
    path_prefix = ""

    def requests(self):
        return [catalogue.HTTP.format(path) for path in self.paths]

    def environment(self):
        return {
            **super().environment(),
            "PYTHONPATH": self.lab.own_programs,
            "PYTHONHASHSEED": "random",
            "NODE_PATH": "/usr/share/nodejs",
            "HOME": self.folder,
        }

    def command(self):
        return [word.format(bin=self.lab.build, programs=self.lab.own_programs, port=self.port, folder=self.folder) for word in self.words]

    def write(self, name, text):
        with open(f"{self.folder}/{name}", "w", encoding="ascii") as file:
            file.write(text)
        return f"{self.folder}/{name}"

    def page(self, name="page.txt", lines=300):
        return self.write(name, "".join(f"word{i * 7919 % 1013} of line {i} of page\n" for i in range(lines)))


def program(words, paths, **more):
    """A service that is nothing but its words and paths."""
    return type("Program", (Http,), {"words": words, "paths": paths, **more})


# ---- C ----


class Nginx(catalogue.Nginx):
    def __init__(self, lab, settings):
        super().__init__(lab, {"SUBS": "4", "GZIP": "1", "LINES": "400", **settings})


class Redis(catalogue.Redis):
    def requests(self):
        kinds = (
            self.loads["get"]
            + self.loads["hget"]
            + self.loads["members"]
            + self.loads["script"]
            + ["LRANGE list 0 200", "ZRANGE ranks 10 90 WITHSCORES", "SORT list LIMIT 0 10"]
        )
        return [kind.format(i * 1613 % 8000) + "\r\n" for i in range(20) for kind in kinds]

    def fill(self):
        super().fill()
        lines = (
            [f"RPUSH list {i * 7919 % 1013}" for i in range(400)]
            + [f"ZADD ranks {i * 31 % 977} member:{i}" for i in range(1000)]
            + ["PING"]
        )
        processes.talk(self.port, "\r\n".join(lines + [""]).encode(), lambda answer: answer.endswith(b"+PONG\r\n"))


class Memcached(catalogue.Memcached):
    def __init__(self, lab, settings):
        super().__init__(lab, {"KEYS": "40", **settings})


class Postgres(catalogue.Postgres):
    scripts = {
        "mix": "".join(catalogue.Postgres.scripts[name] for name in ("key", "like", "sum"))
        + "\\set day random(1, 300)\nselect i.name, sum(o.price) from orders o join items i on i.id = o.item"
        " where o.day = :day group by 1 order by 2 limit 5;\n"
    }

    def __init__(self, lab, settings):
        super().__init__(lab, {"LOAD": "mix", **settings})


class Haproxy(Http):
    paths = tuple(f"/shop/{i}?kind={i * 7 % 50}" for i in range(10))

    def command(self):
        rules = "".join(
            f"  http-request set-header x-kind-{i} kind{i} if {{ path_reg ^/(shop|art)[a-z]*/{i}$ }}"
            f" || {{ url_param(kind) -m reg ^[0-9]*{i}$ }}\n"
            for i in range(40)
        )
        path = self.write(
            "haproxy.cfg",
            f"""global
  nbthread 2
defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 5s
frontend all
  bind 127.0.0.1:{self.port}
{rules}  http-request return status 200 content-type text/plain lf-string "%[path] %[date] %[rand] %[req.hdr(x-kind-3)] %[path,sha1,hex]"
""",
        )
        return ["haproxy", "-db", "-f", path]


class Lighttpd(Http):
    paths = ("/page.txt", "/small.txt", "/missing/../small.txt", "/list/")

    def command(self):
        self.page("page.txt", 400)
        self.page("small.txt", 20)
        os.makedirs(f"{self.folder}/list")
        for i in range(60):
            self.write(f"list/file{i}.txt", "text")
        path = self.write(
            "lighttpd.conf",
            f"""server.document-root = "{self.folder}"
server.bind = "127.0.0.1"
server.port = {self.port}
server.max-keep-alive-requests = 1000000
server.modules = ("mod_deflate", "mod_dirlisting", "mod_setenv", "mod_rewrite")
mimetype.assign = (".txt" => "text/plain")
deflate.mimetypes = ("text/plain", "text/html")
deflate.allowed-encodings = ("gzip")
dir-listing.activate = "enable"
""",
        )
        return ["lighttpd", "-D", "-f", path]


class Apache(Http):
    paths = ("/page.txt", "/small.txt?a=1", "/included.shtml")

    def command(self):
        self.page("page.txt", 400)
        self.page("small.txt", 20)
        self.write(
            "included.shtml", "".join(f'<!--#set var="v{i}" value="${{DATE_GMT}}{i}" --><!--#echo var="v{i}" -->\n' for i in range(30))
        )
        modules = "".join(
            f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"
            for name in ("mpm_event", "authz_core", "mime", "deflate", "filter", "include", "headers", "rewrite", "dir")
        )
        path = self.write(
            "apache.conf",
            f"""ServerRoot {self.folder}
ServerName localhost
Listen 127.0.0.1:{self.port}
PidFile {self.folder}/pid
DefaultRuntimeDir {self.folder}
ErrorLog {self.folder}/error
{modules}User www-data
Group www-data
StartServers 2
ServerLimit 2
ThreadsPerChild 8
MaxRequestWorkers 16
MinSpareThreads 1
MaxSpareThreads 16
MaxKeepAliveRequests 0
KeepAliveTimeout 60
TypesConfig /etc/mime.types
DocumentRoot {self.folder}
<Directory {self.folder}>
Require all granted
Options +Includes
AddType text/html .shtml
AddOutputFilter INCLUDES .shtml
RewriteEngine On
RewriteRule ^old/([a-z]+)/([0-9]+)$ page.txt?$1=$2
</Directory>
AddOutputFilterByType DEFLATE text/plain
Header set X-Kind "%D %t"
""",
        )
        return ["apache2", "-f", path, "-DFOREGROUND"]


class Varnish(Http):
    paths = tuple(f"/shop/{i}?b=2&a={i}" for i in range(12))

    def command(self):
        path = self.write(
            "vcl",
            """vcl 4.1;
import std;
backend none none;
sub vcl_recv {
  set req.url = std.querysort(req.url);
  set req.http.X-Kind = regsuball(req.url, "([a-z]+)/([0-9]+)", "\\\\2-\\\\1");
  if (req.http.X-Kind ~ "^/(art|shop)-[0-9]{3,}") { set req.http.X-Late = "1"; }
  return (synth(200, "OK"));
}
sub vcl_synth {
  set resp.http.Content-Type = "text/plain";
  synthetic("text " + req.url + regsuball(std.toupper(req.http.host + req.url), "[A-F]", "x") + now);
  return (deliver);
}
""",
        )
        return ["varnishd", "-F", "-n", f"{self.folder}/work", "-a", f"127.0.0.1:{self.port}", "-f", path, "-s", "malloc,32m", "-j", "none"]


class Beanstalkd(Http):
    protocol = "memcached"

    def command(self):
        return ["beanstalkd", "-l", "127.0.0.1", "-p", str(self.port)]

    def requests(self):
        """A request is several commands, the last of which answers what ends an answer: an unknown one, in no tube."""
        commands = [
            "put 5 0 60 8\r\nsome job\r\n",
            "reserve-with-timeout 0\r\n",
            "stats\r\n",
            "list-tubes\r\n",
            "peek-ready\r\n",
            "delete 1\r\n",
        ]
        return [
            "".join(commands[:4]) + "delete 1\r\n",
            "use other\r\n" + commands[0] * 4 + "peek-delayed\r\n",
            "stats-tube default\r\ndelete 1\r\n",
        ]


class Unbound(Http):
    """Answers from its cache and local zones, on UDP: nobody but the generator knows the load."""

    def ready(self):
        query = struct.pack(">HHHHHH", 7, 256, 1, 0, 0, 0) + b"\x05host1\x04test\x00\x00\x01\x00\x01"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
            asker.settimeout(0.2)
            for _ in range(60):
                asker.sendto(query, ("127.0.0.1", self.port))
                try:
                    return asker.recv(512)
                except OSError:
                    pass
        raise processes.Failure("no answer by UDP")

    def start(self):
        with open(f"{self.folder}/log", "w", encoding="utf-8") as log:
            self.process = processes.start(self.command(), cwd=self.folder, stdout=log, stderr=log)
        self.ready()

    def command(self):
        zones = "".join(
            f'local-data: "host{i}.test. 3600 IN A 10.0.{i // 256}.{i % 256}"\n'
            f'local-data: "host{i}.test. 3600 IN TXT {"x" * (i % 90 + 1)}"\n'
            for i in range(500)
        )
        path = self.write(
            "unbound.conf",
            f"""server:
interface: 127.0.0.1@{self.port}
num-threads: 2
username: ""
chroot: ""
directory: "{self.folder}"
do-daemonize: no
use-syslog: no
pidfile: "{self.folder}/pid"
rrset-roundrobin: yes
local-zone: "test." static
{zones}remote-control:
control-enable: no
""",
        )
        return ["unbound", "-d", "-c", path]

    def load(self, rate, seconds):
        random.seed(1)
        names = self.write(
            "queries", "".join(f"host{random.randrange(600)}.test {random.choice(['A', 'TXT', 'MX'])}\n" for _ in range(2000))
        )
        return [
            "dnsperf",
            "-s",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-d",
            names,
            "-c",
            "4",
            "-T",
            "1",
            "-Q",
            str(max(1, int(rate))),
            "-l",
            str(max(1, int(seconds))),
        ]


class Dnsmasq(Unbound):
    def command(self):
        hosts = self.write("hosts", "".join(f"10.0.{i // 256}.{i % 256} host{i}.test\n" for i in range(500)))
        texts = [f"--txt-record=host{i}.test,{'x' * (i % 90 + 1)}" for i in range(100)]
        return [
            "dnsmasq",
            "-k",
            "-p",
            str(self.port),
            "--listen-address=127.0.0.1",
            "--bind-interfaces",
            "--no-resolv",
            "--no-hosts",
            f"--addn-hosts={hosts}",
            "--local=/test/",
            "--user=root",
            f"--pid-file={self.folder}/pid",
            "--conf-file=/dev/null",
            *texts,
        ]


class Named(Unbound):
    def command(self):
        self.write(
            "zone",
            "$TTL 3600\n@ IN SOA ns hostmaster 1 3600 600 86400 3600\n@ IN NS ns\nns IN A 127.0.0.1\n"
            + "".join(f"host{i} IN A 10.0.{i // 256}.{i % 256}\nhost{i} IN TXT {'x' * (i % 90 + 1)}\n" for i in range(500)),
        )
        path = self.write(
            "named.conf",
            f"""options {{ directory "{self.folder}"; listen-on port {self.port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }};
pid-file "{self.folder}/pid"; session-keyfile "{self.folder}/key"; recursion no; dnssec-validation no; }};
controls {{ }};
zone "test" {{ type primary; file "{self.folder}/zone"; }};
""",
        )
        return ["named", "-f", "-n", "2", "-c", path]


class Squid(Http):
    """Answers from its memory; what it fetched once came from a server that is not recorded."""

    def start(self):
        self.backend = Lighttpd(self.lab, {})
        self.backend.start()
        super().start()

    def requests(self):
        return [
            f"GET http://127.0.0.1:{self.backend.port}{path} HTTP/1.1\r\nHost: 127.0.0.1:{self.backend.port}\r\n\r\n"
            for path in ("/small.txt", "/page.txt")
        ]

    def command(self):
        path = self.write(
            "squid.conf",
            f"""http_port 127.0.0.1:{self.port}
pid_filename {self.folder}/pid
cache_log {self.folder}/cache.log
access_log none
cache_mem 32 MB
cache_store_log none
coredump_dir {self.folder}
mime_table /usr/share/squid/mime.conf
icon_directory /usr/share/squid/icons
error_directory /usr/share/squid/errors/en
http_access allow all
refresh_pattern . 1440 100% 1440 override-expire override-lastmod ignore-reload
client_persistent_connections on
shutdown_lifetime 0 seconds
netdb_filename none
""",
        )
        os.chmod(self.folder, 0o777)
        return ["squid", "-N", "-f", path]

    def end(self):
        super().end()
        self.backend.end()


# ---- C++ ----


class Mariadb(Http):
    """Statements of text by its own client library's simplest user: a thread of Python a connection."""

    tables = catalogue.Postgres.tables
    end_signal = signal.SIGTERM

    def command(self):
        data = f"{self.lab.folder}/mariadb"
        if not os.path.isdir(data):
            processes.run(
                ["mariadb-install-db", f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db", "--user=root"]
            )
        return [
            "mariadbd",
            "--no-defaults",
            f"--datadir={data}",
            "--user=root",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--socket={self.folder}/socket",
            f"--pid-file={self.folder}/pid",
            "--innodb-flush-log-at-trx-commit=0",
        ]

    def fill(self):
        statements = """create database if not exists shop; use shop;
create table if not exists orders (id int primary key, item int, day int, kind int, name varchar(60), price double, key by_day (day));
insert ignore into orders
  select seq, seq * 7919 % 20000, seq % 365, seq % 13, concat('item ', md5(seq)), seq % 97 + 0.5 from seq_1_to_20000;
analyze table orders;"""
        processes.run(["mariadb", "--no-defaults", "-uroot", f"--socket={self.folder}/socket", "-e", statements])

    def load(self, rate, seconds):
        return [sys.executable, f"{os.path.dirname(os.path.abspath(__file__))}/mysql_load.py", str(self.port), "4", str(rate), str(seconds)]


# ---- Others that need files ----


class Caddy(Http):
    paths = ("/page.txt", "/small.txt", "/render.html", "/list/")

    def command(self):
        self.page("page.txt", 300)
        self.page("small.txt", 20)
        os.makedirs(f"{self.folder}/list")
        for i in range(20):
            self.write(f"list/file{i}.txt", "text")
        self.write(
            "render.html", '{{range $i, $n := splitList "," "a,b,c,d,e,f,g,h"}}<p>{{$i}} {{upper $n}} {{now | date "15:04"}}</p>{{end}}'
        )
        path = self.write(
            "Caddyfile",
            f"""{{
admin off
auto_https off
}}
http://127.0.0.1:{self.port} {{
root * {self.folder}
encode gzip
templates
file_server browse
}}
""",
        )
        return ["caddy", "run", "--config", path, "--adapter", "caddyfile"]

    def requests(self):
        return [catalogue.HTTP.format(path).replace("localhost", f"127.0.0.1:{self.port}") for path in self.paths]


class Tomcat(Http):
    paths = ("/page.jsp", "/page.jsp?a=1", "/text.txt")
    warm_rate = 300

    def command(self):
        for name in ("webapps/ROOT", "logs", "temp", "work"):
            os.makedirs(f"{self.folder}/{name}")
        (
            shutil.copytree("/usr/share/tomcat10/etc", f"{self.folder}/conf")
            if os.path.isdir("/usr/share/tomcat10/etc")
            else shutil.copytree("/etc/tomcat10", f"{self.folder}/conf")
        )
        shutil.copy(f"{self.lab.own_programs}/page.jsp", f"{self.folder}/webapps/ROOT/page.jsp")
        self.page("webapps/ROOT/text.txt", 200)
        self.write(
            "conf/server.xml",
            f"""<Server port="-1"><Service name="Catalina"><Connector port="{self.port}" address="127.0.0.1" protocol="HTTP/1.1"
maxKeepAliveRequests="-1" tcpNoDelay="true" compression="on" compressionMinSize="100"/><Engine name="Catalina" defaultHost="localhost">
<Host name="localhost" appBase="webapps"/></Engine></Service></Server>""",
        )
        self.write("conf/logging.properties", "handlers = java.util.logging.ConsoleHandler\n")
        return [
            "java",
            "-Xmx256m",
            f"-Dcatalina.base={self.folder}",
            "-Dcatalina.home=/usr/share/tomcat10",
            f"-Djava.io.tmpdir={self.folder}/temp",
            "-cp",
            "/usr/share/tomcat10/bin/bootstrap.jar:/usr/share/tomcat10/bin/tomcat-juli.jar",
            "org.apache.catalina.startup.Bootstrap",
            "start",
        ]


class PhpFpm(Http):
    """Driven through an nginx that is not recorded."""

    paths = ("/render", "/rank", "/match", "/parse")

    def start(self):
        self.front = processes.free_port()
        shutil.copy(f"{self.lab.own_programs}/service.php", self.folder)
        os.chmod(self.folder, 0o755)
        super().start()
        path = self.write(
            "nginx.conf",
            f"""daemon off; worker_processes 1; pid {self.folder}/nginx.pid; error_log {self.folder}/error;
events {{ worker_connections 256; }}
http {{ access_log off; keepalive_requests 1000000; server {{ listen 127.0.0.1:{self.front};
location / {{ include /etc/nginx/fastcgi_params;
  fastcgi_param SCRIPT_FILENAME {self.folder}/service.php; fastcgi_pass 127.0.0.1:{self.port}; }} }} }}
""",
        )
        self.proxy = processes.start(["nginx", "-p", self.folder, "-c", path, "-e", f"{self.folder}/error"])
        processes.wait_for_port(self.front, self.proxy)

    def load(self, rate, seconds):
        command = super().load(rate, seconds)
        command[2] = str(self.front)
        return command

    def command(self):
        path = self.write(
            "fpm.conf",
            f"""[global]
error_log = {self.folder}/fpm.log
daemonize = no
[www]
user = www-data
group = www-data
listen = 127.0.0.1:{self.port}
pm = static
pm.max_children = 3
""",
        )
        return ["php-fpm8.2", "-F", "-y", path]

    def end(self):
        super().end()
        if hasattr(self, "proxy"):
            processes.end(self.proxy)


class PhpServer(Http):
    paths = PhpFpm.paths

    def command(self):
        return ["php", "-d", "opcache.enable_cli=1", "-S", f"127.0.0.1:{self.port}", f"{self.lab.own_programs}/service.php"]


def gunicorn(module, paths):
    return program(
        [
            "/usr/bin/python3",
            "/usr/bin/gunicorn",
            "-w",
            "2",
            "-k",
            "gthread",
            "--threads",
            "4",
            "--keep-alive",
            "60",
            "-b",
            "127.0.0.1:{port}",
            module,
        ],
        paths,
    )


def python(name, paths):
    return program(["/usr/bin/python3", "{programs}/" + name, "{port}"], paths)


WORK = ("/render", "/parse", "/match", "/rank")
JETTY = ":".join(f"{JARS}/{name}.jar" for name in ("jetty9-server", "jetty9-util", "jetty9-http", "jetty9-io", "servlet-api"))


class Node(catalogue.Node):
    def requests(self):
        return [catalogue.HTTP.format(path) for path in ("/resolve", "/sums", "/sorted", "/page")]


class Java(catalogue.Java):
    def requests(self):
        return [catalogue.HTTP.format(path) for path in ("/dedupe", "/render", "/report", "/check", "/average")]


class Go(catalogue.Go):
    pass


# Name: language, class, guess of the rate that takes about a third of a CPU.
ALL = {
    "apache": ("c", Apache, 1500),
    "beanstalkd": ("c", Beanstalkd, 3000),
    "dnsmasq": ("c", Dnsmasq, 5000),
    "haproxy": ("c", Haproxy, 3000),
    "lighttpd": ("c", Lighttpd, 1500),
    "memcached": ("c", Memcached, 4000),
    "microhttpd": ("c", program(["{bin}/microhttpd", "{port}"], ("/list", "/sorted", "/sum", "/count")), 3000),
    "named": ("c", Named, 5000),
    "nginx": ("c", Nginx, 600),
    "postgres": ("c", Postgres, 60),
    "redis": ("c", Redis, 3000),
    "unbound": ("c", Unbound, 5000),
    "varnish": ("c", Varnish, 2500),
    "httplib": ("c++", program(["{bin}/httplib", "{port}"], ("/json", "/sorted", "/words", "/matching")), 1500),
    "mariadb": ("c++", Mariadb, 100),
    "shop-cpp": ("c++", catalogue.Cpp, 3000),
    "squid": ("c++", Squid, 1500),
    "axum": ("rust", program(["{bin}/axum_service", "{port}"], ("/list", "/parse", "/matching")), 2500),
    "service-rust": ("rust", program(["{bin}/service_rs", "{port}"], ("/json", "/words", "/sorted", "/parse")), 3000),
    "caddy": ("go", Caddy, 1000),
    "service-go": ("go", program(["{bin}/service_go", "{port}"], ("/list", "/compressed", "/parsed")), 800),
    "shop-go": ("go", Go, 1500),
    "aiohttp": ("python", python("aiohttp_service.py", WORK + ("/orders",)), 500),
    "django": ("python", gunicorn("django_service:application", ("/render", "/parse", "/orders")), 150),
    "flask": ("python", gunicorn("flask_service:app", ("/render", "/parse", "/orders")), 200),
    "http-server": ("python", python("http_server_service.py", WORK), 500),
    "tornado": ("python", python("tornado_service.py", WORK + ("/page",)), 500),
    "express": ("node", program(["node", "{programs}/express.js", "{port}"], ("/orders", "/parse", "/page/1", "/zip"), warm_rate=400), 800),
    "shop-node": ("node", Node, 500),
    "jetty": (
        "java",
        program(
            ["java", "-Xmx256m", "-cp", "{bin}:" + JETTY, "JettyService", "{port}"],
            ("/list", "/words", "/sorted", "/matching"),
            warm_rate=800,
        ),
        1500,
    ),
    "shop-java": ("java", Java, 800),
    "tomcat": ("java", Tomcat, 500),
    "php-fpm": ("php", PhpFpm, 600),
    "php-server": ("php", PhpServer, 600),
    "sinatra": ("ruby", program(["ruby", "{programs}/sinatra.rb", "{port}"], WORK + ("/orders",)), 200),
    "webrick": ("ruby", program(["ruby", "{programs}/webrick.rb", "{port}"], WORK), 200),
}
