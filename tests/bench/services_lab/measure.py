# SPDX-License-Identifier: GPL-3.0-or-later
"""One recording of a service that is driven at a fixed rate, and what the load generator, the service and the kernel say of that time."""
import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

import catalogue
import processes

# How long what compiles its code at run time is driven before, and when a recorder has surely begun.
WARM_SECONDS = 5
BEGIN_SECONDS = 2.5


class Lab:
    """Folders, programs and options that all rows share."""

    def __init__(self, options):
        self.options = options
        self.kelvin = os.path.realpath(os.environ["KELVIN"])
        self.build = os.environ["SERVICES_BUILD"]
        self.programs = os.environ["SERVICES_PROGRAMS"]
        self.python = f"{self.venv('flask', {})}/bin/python"
        self.load = f"{self.build}/load"
        self.folder = tempfile.mkdtemp(prefix="kelvin-services-")
        os.chmod(self.folder, 0o755)
        self.memory = tempfile.mkdtemp(prefix="kelvin-services-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)

    def new_folder(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        os.chmod(folder, 0o755)
        return folder

    def new_counts(self):
        """A folder of counters, in memory: what a service writes there costs it little."""
        return tempfile.mkdtemp(dir=self.memory)

    def venv(self, kind, settings):
        release = settings.get("PACKAGING", "26") if kind == "flask" else settings.get("PYDANTIC", "2")
        return f"{self.build}/venv-{kind}-{release}"

    def release(self, build, stripped):
        return f"{self.build}/shop_{build}{'_stripped' if stripped else ''}"

    def remove(self):
        for folder in self.folder, self.memory:
            shutil.rmtree(folder, ignore_errors=True)


class Load:
    """The load generator, of which the figures of a window of time are taken."""

    def __init__(self, service, rate, seconds, command=None):
        self.since = time.time()
        self.is_pgbench = command is None and isinstance(service, catalogue.Postgres)
        self.folder = service.folder
        self.process = processes.start(command or service.load(rate, seconds), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def begin(self):
        self.since = time.time()
        if not self.is_pgbench:
            self.next_line()

    def next_line(self):
        if self.process.poll() is not None:
            raise processes.Failure("the load generator has ended")
        self.process.send_signal(signal.SIGUSR1)
        return json.loads(self.process.stdout.readline())

    def take(self):
        """Ends the window. pgbench tells of it only when it has ended."""
        if self.process.poll() is not None:
            raise processes.Failure("the load generator has ended")
        self.until = time.time()
        self.line = None if self.is_pgbench else self.next_line()

    def end(self):
        if self.is_pgbench:
            self.process.wait(60)
        processes.end(self.process)
        self.process.stdout.close()

    def figures(self):
        """Requests a second, and quantiles of the time to the first byte of an answer, in nanoseconds."""
        if not self.is_pgbench:
            return {"per_s": self.line["count"] / self.line["seconds"], "errors": self.line["errors"],
                    "p50": self.line["first_p50_ns"], "p99": self.line["first_p99_ns"]}
        times = []
        for name in os.listdir(self.folder):
            if name.startswith("transactions."):
                with open(f"{self.folder}/{name}", encoding="ascii") as file:
                    for line in file:
                        words = line.split()
                        if len(words) >= 7 and self.since <= float(words[4]) + float(words[5]) / 1e6 < self.until:
                            times.append((int(words[2]) - int(words[6])) * 1000)
        quantiles = statistics.quantiles(times, n=100) if len(times) > 1 else [0] * 99
        return {"per_s": len(times) / (self.until - self.since), "errors": 0, "p50": quantiles[49], "p99": quantiles[98]}


def record(lab, deploy, service, path):
    """Records a service for a while; returns what the kernel and the service say of that time."""
    command = [lab.kelvin, "record", "-q", "-p", str(service.process.pid), "-d", str(lab.options.seconds), "-o", path]
    recorder = processes.start(command + (["--off-cpu"] if deploy.off_cpu else []), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        started, cpu, count = time.monotonic(), processes.cpu_seconds(service.process.pid), service.count()
        time.sleep(lab.options.seconds)
        seconds = time.monotonic() - started
        cpu, count = processes.cpu_seconds(service.process.pid) - cpu, service.count() - count
        said = recorder.communicate(timeout=120)[0]
        if recorder.returncode != 0:
            raise processes.Failure(f"kelvin record: {said.strip()[-200:]}")
        return {"cpu_per_s": cpu / seconds, "own_per_s": count / seconds}
    finally:
        processes.end(recorder)


def measure(lab, deploy, settings, rate, path):
    """Starts a service with its settings, drives and records it."""
    service = catalogue.ALL[deploy.service](lab, settings)
    noise, loads = [], []
    seconds = lab.options.seconds
    try:
        service.start()
        noise += [processes.start(["sh", "-c", "while :; do :; done"]) for _ in range(int(settings.get("NOISE", "0")))]
        rate = float(settings.get("RATE", rate))
        if int(settings.get("WARM_RATE", service.warm_rate)) > 0:
            processes.run(service.load(int(settings.get("WARM_RATE", service.warm_rate)), WARM_SECONDS))
        loads.append(Load(service, rate, service.warm_seconds + seconds + service.spare_seconds))
        if "BESIDE" in settings:
            beside, _, request = settings["BESIDE"].partition(":")
            loads.append(Load(service, 0, 0, [lab.load, service.protocol, str(service.port), "1", beside, "1", str(seconds + 90),
                                              request.replace("_", " ") + "\r\n"]))
        time.sleep(service.warm_seconds)
        for load in loads:
            load.begin()
        figures = record(lab, deploy, service, path)
        for load in loads:
            load.take()
            load.end()
        said = [load.figures() for load in loads]
        figures.update(said[0], per_s=sum(its["per_s"] for its in said), errors=sum(its["errors"] for its in said))
        figures["cpu_per_request"] = figures["cpu_per_s"] / max(figures["per_s"], 0.01)
        return figures
    finally:
        for load in loads:
            processes.end(load.process)
        for process in noise:
            processes.end(process)
        if hasattr(service, "process"):
            service.end()


def count_exactly(lab, deploy, path):
    """Drives a service only while it is recorded; returns the requests by the load generator, by the service and by Kelvin."""
    service = catalogue.ALL[deploy.service](lab, deploy.base)
    load = recorder = None
    try:
        service.start()
        own = service.count()
        recorder = processes.start([lab.kelvin, "record", "-q", "-p", str(service.process.pid), "-d", "8", "-o", path])
        time.sleep(BEGIN_SECONDS)
        load = Load(service, deploy.rate, 3)
        load.process.wait(30)
        load.until = time.time()
        recorder.wait(120)
        load.line = None if load.is_pgbench else json.loads(load.process.stdout.readline())
        own = service.count() - own
        processes.run([lab.kelvin, "report", path, "--json", f"{path}.json"])
        with open(f"{path}.json", encoding="utf-8") as file:
            requests = json.load(file)["recording"].get("requests") or {}
        return load.line["count"] if load.line else round(load.figures()["per_s"] * (load.until - load.since)), own, requests.get("count")
    finally:
        if load is not None:
            load.end()
        if recorder is not None:
            processes.end(recorder)
        if hasattr(service, "process"):
            service.end()
