# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the services, batch programs and suites that constants are calibrated on.

scripts/calibrate-record builds and installs what this needs. Each recording is RECORDINGS/PROGRAM/ID.pb.gz with its circumstances
beside it in ID.json; rows.py makes tables of them.
"""

import argparse
import json
import os
import signal
import shutil
import subprocess
import sys
import time

import services
import batches
import measure
import processes

# CPUs that a service is to use at load x 1, so that x 2.5 still fits beside the generator; and what the generator can do.
WANTED_CPUS, MOST_PER_S = 0.33, 9000
BURST_SECONDS = 1.0
BEGIN_SECONDS = 0.7
CONDITIONS = ["restart"] * 4 + ["load-0.4", "load-2.5", "starved", "bursts"]
FACTORS = {"load-0.4": 0.4, "load-2.5": 2.5}


class Lab(measure.Lab):
    """Folders and programs that services ask for."""

    def __init__(self, options):
        super().__init__(options)
        self.recordings = os.environ["CALIBRATION_RECORDINGS"]
        self.own_programs = os.environ["CALIBRATION_PROGRAMS"]


# ---- What else goes on ----


def machine():
    """Seconds of CPU time that the machine was busy and that were stolen, and seconds in which something waited for a CPU."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(word) / processes.TICKS for word in file.readline().split()[1:]]
    with open("/proc/pressure/cpu", encoding="ascii") as file:
        pressure = int(file.readline().rpartition("=")[2]) / 1e6
    return {"busy": fields[0] + fields[1] + fields[2] + fields[5] + fields[6], "steal": fields[7], "pressure": pressure}


class Window:
    """A time in which CPU time is counted: of the recorded program, of the generator, and of all."""

    def __init__(self, root, own):
        self.root, self.own = root, own
        self.before, self.cpu, self.own_cpu, self.since = machine(), processes.cpu_seconds(root), self.count_own(), time.monotonic()

    def count_own(self):
        return sum(processes.cpu_seconds(pid) for pid in self.own)

    def end(self):
        seconds, now = time.monotonic() - self.since, machine()
        cpu, own = processes.cpu_seconds(self.root) - self.cpu, self.count_own() - self.own_cpu
        return {
            "cpu_seconds": cpu,
            "window_seconds": seconds,
            "others_cpus": (now["busy"] - self.before["busy"] - cpu - own) / seconds,
            "steal_cpus": (now["steal"] - self.before["steal"]) / seconds,
            "pressure": (now["pressure"] - self.before["pressure"]) / seconds,
            "load_average": os.getloadavg()[0],
        }


# ---- Generators ----


def start_load(service, rate, seconds):
    return processes.start(service.load(rate, seconds), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def can_tell(service):
    return service.load(1, 1)[0].endswith(("load", "python3")) or "mysql_load" in service.load(1, 1)[1]


def read_line(load):
    load.send_signal(signal.SIGUSR1)
    return json.loads(load.stdout.readline())


def bursts(service, rate, seconds):
    """Drives on for a second and rests for one; returns what was answered, where the generator tells."""
    answered, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        begin = time.monotonic()
        load = start_load(service, rate, BURST_SECONDS)
        out = load.communicate(timeout=60)[0]
        if can_tell(service):
            answered += json.loads(out.strip().split("\n")[-1])["count"]
        time.sleep(max(0, begin + 2 * BURST_SECONDS - time.monotonic()))
    return answered


def choose_rate(lab, name):
    """The rate at load x 1: kept, so that all recordings of a service have the same."""
    path = f"{lab.recordings}/{name}/rate"
    if os.path.exists(path):
        with open(path, encoding="ascii") as file:
            return float(file.read())
    language, kind, rate = services.ALL[name]
    service = kind(lab, {})
    try:
        service.start()
        if service.warm_rate:
            processes.run(service.load(service.warm_rate, 4))
        for seconds in 1, 2:
            load = start_load(service, rate, seconds + 2)
            time.sleep(0.5)
            window, tells = Window(service.process.pid, []), can_tell(service)
            if tells:
                read_line(load)
            time.sleep(seconds)
            figures = window.end()
            if tells:
                rate = read_line(load)["count"] / figures["window_seconds"]
            processes.end(load)
            load.stdout.close()
            cpus = figures["cpu_seconds"] / figures["window_seconds"]
            if cpus < 0.001:
                raise processes.Failure(f"{name} does nothing at {rate} a second")
            rate = min(rate * min(WANTED_CPUS / cpus, 8), MOST_PER_S)
    finally:
        if hasattr(service, "process"):
            service.end()
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{rate:.0f}")
    return float(f"{rate:.0f}")


# ---- Recordings ----


def keep(lab, name, identity, figures):
    with open(f"{lab.recordings}/{name}/{identity}.json", "w", encoding="utf-8") as file:
        json.dump(figures, file)


def record_service(lab, name, condition, identity, waits):
    language, kind, _ = services.ALL[name]
    rate, seconds = choose_rate(lab, name), lab.options.seconds
    service, started = kind(lab, {}), []
    path = f"{lab.recordings}/{name}/{identity}.pb.gz"
    try:
        service.start()
        if service.warm_rate:
            processes.run(service.load(min(service.warm_rate, rate), lab.options.warm))
        load = start_load(service, rate * FACTORS.get(condition, 1), service.warm_seconds + seconds + 3 if condition != "bursts" else 1)
        started.append(load)
        time.sleep(1.5)
        if condition == "starved":
            started += [processes.start(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"]) for cpu in range(os.cpu_count())]
            time.sleep(0.3)
        recorder = processes.start(
            [lab.kelvin, "record", "-q", "-p", str(service.process.pid), "-d", str(seconds), "-o", path, *(["--off-cpu"] if waits else [])],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(recorder)
        tells = can_tell(service) and condition != "bursts"
        time.sleep(BEGIN_SECONDS if condition != "bursts" else 0.3)
        window = Window(service.process.pid, [load.pid])
        if tells:
            read_line(load)
        if condition == "bursts":
            answered = bursts(service, rate * 2, seconds - 1)
        else:
            time.sleep(seconds - BEGIN_SECONDS)
        figures = window.end()
        line = read_line(load) if tells else None
        said = recorder.communicate(timeout=120)[0]
        if recorder.returncode != 0:
            raise processes.Failure(f"kelvin record: {said.strip()[-200:]}")
        if line:
            figures["driven_per_s"] = line["count"] / line["seconds"]
        elif condition == "bursts" and can_tell(service):
            figures["driven_per_s"] = answered / seconds
        else:
            figures["driven_per_s"] = rate * FACTORS.get(condition, 1)
        figures["errors"] = line["errors"] if line else 0
        figures.update(language=language, kind="service", condition=condition, is_driven_known=bool(line), rate=rate, waits=waits)
        keep(lab, name, identity, figures)
        return figures
    finally:
        for process in started:
            processes.end(process)
            if process.stdout:
                process.stdout.close()
        if hasattr(service, "process"):
            service.end()


class Around:
    """What the machine did while a command ran."""

    def __init__(self):
        self.before, self.since = machine(), time.monotonic()

    def end(self):
        seconds, now = time.monotonic() - self.since, machine()
        rates = {name: (now[name] - self.before[name]) / seconds for name in now}
        return {
            "busy_cpus": rates["busy"],
            "steal_cpus": rates["steal"],
            "pressure": rates["pressure"],
            "window_seconds": seconds,
            "load_average": os.getloadavg()[0],
            "waits": False,
        }


def record_command(lab, name, identity, options, words, folder):
    path, around = f"{lab.recordings}/{name}/{identity}.pb.gz", Around()
    done = subprocess.run(
        [lab.kelvin, "record", "-q", *options, "-o", path, "--", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        timeout=300,
        check=False,
    )
    if done.returncode != 0:
        raise processes.Failure(f"{name}: {done.stdout[-300:]}")
    return around.end()


def record_batch(lab, name, identity):
    language, command = batches.ALL[name]
    folder, inputs = lab.new_folder(), batches.input_of(lab)
    words = [word.format(bin=lab.build, programs=lab.own_programs, folder=folder, input=inputs) for word in command]
    figures = record_command(lab, name, identity, [], words, folder)
    keep(lab, name, identity, {"language": language, "kind": "batch", "condition": "run", **figures})
    shutil.rmtree(folder, ignore_errors=True)


def record_suite(lab, name, identity):
    language, command = batches.SUITES[name]
    words = [word.format(bin=lab.build) for word in command]
    figures = record_command(lab, name, identity, ["--benchmarks"], words, lab.own_programs)
    keep(lab, name, identity, {"language": language, "kind": "suite", "condition": "execution", **figures})


def jobs(options):
    """(name, function, identity, condition) of all that is to be recorded."""
    names = options.names
    for name in sorted(services.ALL):
        if names and name not in names:
            continue
        for number, condition in enumerate(CONDITIONS, 1):
            if (options.conditions and condition not in options.conditions) or (
                options.count and condition == "restart" and number > options.count
            ):
                continue
            yield name, (
                "waits" if options.waits else "service"
            ), f"{options.round}{number}{'w' if options.waits else ''}-{condition}", condition
    if options.waits:
        return
    for kind, table, count in ("batch", batches.ALL, 8), ("suite", batches.SUITES, 12):
        for name in sorted(table):
            if (names and name not in names) or (not names and options.conditions):
                continue
            for number in range(1, (options.count or count) + 1):
                yield name, kind, f"{options.round}{number:02}", kind


def main():
    parser = argparse.ArgumentParser(prog="scripts/calibrate-record")
    parser.add_argument("names", nargs="*", help="services, batch programs and suites (default: all)")
    parser.add_argument(
        "--round", default="a", help="a letter that the names of the recordings begin with, so that others stay (default: a)"
    )
    parser.add_argument("--conditions", nargs="*", help="of services: restart, load-0.4, load-2.5, starved, bursts (default: all)")
    parser.add_argument("--count", type=int, help="restarts of services, runs of batch programs and suites (default: 4, 8 and 12)")
    parser.add_argument("--waits", action="store_true", help="records where the services' threads wait, too")
    parser.add_argument("--seconds", type=float, default=6, help="of a recording of a service (default: 6)")
    parser.add_argument("--warm", type=float, default=4, help="how long what compiles its code at run time is driven before (default: 4)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    lab, failed = Lab(options), []
    try:
        for name, kind, identity, condition in jobs(options):
            os.makedirs(f"{lab.recordings}/{name}", exist_ok=True)
            if os.path.exists(f"{lab.recordings}/{name}/{identity}.json") or name in failed:
                continue
            try:
                if kind == "batch":
                    record_batch(lab, name, identity)
                    said = ""
                elif kind == "suite":
                    record_suite(lab, name, identity)
                    said = ""
                else:
                    figures = record_service(lab, name, condition, identity, kind == "waits")
                    said = (
                        f"{figures['driven_per_s']:8.0f}/s {figures['cpu_seconds'] / figures['window_seconds']:5.2f} CPUs, "
                        f"others {figures['others_cpus']:4.2f}" + (f" ERRORS {figures['errors']}" if figures["errors"] else "")
                    )
                print(f"{name:14}{identity:16}{said}", flush=True)
            except (processes.Failure, OSError, subprocess.SubprocessError, ValueError) as failure:
                failed.append(name)
                print(f"{name:14}{identity:16}FAILED: {str(failure)[:300]}", flush=True)
    finally:
        lab.remove()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
