# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds a profile (gzipped pprof) against what a program said itself.

    oracle.py chains PROFILE LOG    of steps.py: how many samples of its steps have the right chain of Python functions
    oracle.py shares PROFILE LOG    of shares.py: how far the shares of functions are off, in percentage points
    oracle.py php-chains PROFILE LOG, and so on    likewise of programs in PHP (php-) and Ruby (rb-)
    oracle.py tasks PROFILE LOG     of tasks.py: how far the shares of named tasks are off, in percentage points
    oracle.py names PROFILE         the Python functions, each once
    oracle.py stacks PROFILE        each stack with its count, thread and lines, for the eye

The first three print NAME=VALUE pairs in one line, and then what is wrong. `chains-script` and `shares-script` do the same with the text of
`perf script -F comm,tid,event,ip,sym`, `chains-folded` and `shares-folded` with the raw format of `py-spy --full-filenames`. That names no
threads: a chain is right there when it is any of the log.
"""
import collections
import gzip
import re
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    """The fields of a protobuf message: (number, value)."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            size = 8 if tag & 7 == 1 else 4
            value, at = data[at : at + size], at + size
        yield tag >> 3, value


def numbers(message, field):
    """A repeated number, packed or not."""
    for number, value in fields(message):
        if number != field:
            continue
        if isinstance(value, int):
            yield value
            continue
        at = 0
        while at < len(value):
            one, at = varint(value, at)
            yield one


# How names of the language begin, and what steps.* itself calls below the end of a chain.
LANGUAGES = {
    "py": ("tick", "NamedThread.__enter__", "NamedThread.__exit__"),
    "php": ("tick", "cpu_time", "getrusage", "NamedThread::begin", "NamedThread::end", "md5", "sort", "preg_match_all"),
    "rb": ("tick", "enter", "leave"),
}
language = "py"

Sample = collections.namedtuple("Sample", "count thread pid frames")
Frame = collections.namedtuple("Frame", "name file line start")


def read(path):
    """The samples of a profile; frames begin with the outermost, inlined ones apart."""
    with gzip.open(path) as file:
        data = file.read()
    parts = collections.defaultdict(list)
    for number, value in fields(data):
        parts[number].append(value)
    strings = [value.decode(errors="replace") for value in parts[6]]
    functions, locations = {}, {}
    for message in parts[5]:
        function = dict(fields(message))
        functions[function[1]] = (
            strings[function.get(2, 0)],
            strings[function.get(4, 0)],
            function.get(5, 0),
        )
    for message in parts[4]:
        lines = []
        for number, value in fields(message):
            if number == 4:
                line = dict(fields(value))
                name, file, start = functions[line[1]]
                lines.append(Frame(name, file, line.get(2, 0), start))
        locations[next(numbers(message, 1))] = lines[::-1]
    samples = []
    for message in parts[2]:
        labels = {}
        for number, value in fields(message):
            if number == 3:
                label = dict(fields(value))
                labels[strings[label[1]]] = strings[label[2]] if 2 in label else label.get(3, 0)
        frames = []
        for location in numbers(message, 1):
            frames[:0] = locations[location]
        samples.append(
            Sample(next(numbers(message, 2)), labels.get("thread_comm") or "", labels.get("pid", 0), frames)
        )
    return samples


def read_script(path):
    """The samples of `perf script`."""
    samples, frames = [], []
    with open(path, errors="replace") as file:
        for line in file:
            if not line.strip():
                continue
            if not line[0].isspace() or re.match(r" *\S+ +\d+ .*:\s*$", line):
                frames = []
                samples.append(Sample(1, line.split()[0], 0, frames))
            else:
                frames.insert(0, Frame(" ".join(line.split()[1:]), "", 0, 0))
    return samples


def read_folded(path):
    """The samples of py-spy; functions have the names that Python itself gives them for perf."""
    samples = []
    with open(path, errors="replace") as file:
        for line in file:
            stack, _, count = line.rstrip("\n").rpartition(" ")
            frames = []
            for text in stack.split(";"):
                match = re.fullmatch(r"(.*) \((.*\.py|<.*>):(\d+)\)", text)
                if match:
                    frames.append(Frame(f"py::{match[1]}:{match[2]}", match[2], int(match[3]), 0))
                else:
                    frames.append(Frame(text, "", 0, 0))
            samples.append(Sample(int(count), "", 0, frames))
    return samples


READERS = {"script": read_script, "folded": read_folded}


def own_frames(sample):
    frames = [frame for frame in sample.frames if frame.name.startswith(f"{language}::")]
    if language == "rb":
        frames = [frame for frame in frames if not is_hidden_in_ruby(frame.name, frame.file)]
    return frames


def is_hidden_in_ruby(name, file):
    """Backtraces of Ruby 3.4 have neither code that is Ruby's own nor the bodies of rescue and ensure apart."""
    return file.startswith("<internal:") or name.startswith(("rb::rescue in ", "rb::ensure in "))


def short(frame):
    """The name of a function without its file."""
    name = frame.name[len(language) + 2 :]
    for file in (frame.file, "<internal>"):
        if file and name.endswith(":" + file):
            return name[: -len(file) - 1]
    return name.split(":")[0]


def read_chains(path):
    chains = collections.defaultdict(list)
    with open(path) as file:
        for block in file.read().split("\n\n"):
            lines = [line.split("\t") for line in block.splitlines()]
            if lines:
                chains[lines[0][0][:10]] = [
                    (f"{language}::{name}:{file}", int(line))
                    for _, name, file, line in lines
                    if language != "rb" or not is_hidden_in_ruby(f"rb::{name}", file)
                ]
    return chains


def is_right(frames, chain):
    names = [name for name, _ in chain]
    found = [frame.name for frame in frames]
    below = [short(frame) for frame in frames[len(names) :]]
    return found[: len(names)] == names and len(below) <= 2 and all(name in LANGUAGES[language] for name in below)


def find_step(frames, chains):
    """Of a sample without a name of its thread: the step whose chain it has, None where it is in no step."""
    inside = [number for number, frame in enumerate(frames) if short(frame).startswith("here")]
    if not inside or any(short(frame).startswith(("NamedThread", "own_chain")) for frame in frames):
        return None
    fitting = [step for step, chain in chains.items() if is_right(frames, chain)]
    # Chains of several steps have the same names, on other lines.
    return min(fitting, key=lambda step: len(wrong_lines(frames, chains[step])), default="?")


def wrong_lines(frames, chain):
    return [
        f"{short(frame)}: {frame.line} for {line}"
        for frame, (_, line) in zip(frames, chain)
        if line not in (0, frame.line)
    ]


def is_in_order(sample):
    """Of the step `libc`: whether the C library's function stands between the one that calls it and the one that it calls."""
    names = [frame.name.split(":")[2] if frame.name.startswith("py::") else frame.name for frame in sample.frames]
    outer, inner = names.index("call_from_libc"), names.index("call_from_libc.<locals>.compare")
    return any("qsort" in name for name in names[outer:inner])


def check_chains(samples, log, has_threads=True):
    chains = read_chains(log)
    sums = collections.Counter()
    steps = collections.Counter()
    wrong = collections.Counter()
    for sample in samples:
        frames = own_frames(sample)
        step = sample.thread[5:] if sample.thread.startswith("step:") else None
        if not has_threads:
            step = find_step(frames, chains)
        if step is None:
            continue
        sums["samples"] += sample.count
        steps[step] += sample.count
        if not is_right(frames, chains.get(step, [])):
            wrong[step, " ".join(short(frame) for frame in frames)] += sample.count
            continue
        sums["right"] += sample.count
        sums["libc"] += sample.count * (step == "libc")
        sums["ordered"] += sample.count * (step == "libc" and is_in_order(sample))
        bad = wrong_lines(frames, chains[step])
        sums["lines"] += sample.count * (not bad)
        if bad:
            wrong[step, "lines " + ", ".join(bad)] += sample.count
    print(
        f"samples={sums['samples']} right={100 * sums['right'] / (sums['samples'] or 1):.2f} "
        f"lines={100 * sums['lines'] / (sums['right'] or 1):.2f} "
        f"ordered={100 * (sums['ordered'] + (not sums['libc'])) / (sums['libc'] or 1):.2f} steps={len(steps.keys() & chains.keys())} of={len(chains)} "
        f"missing={','.join(chains.keys() - steps.keys())}"
    )
    # Wrong chains first, then wrong lines.
    for (step, what), count in sorted(wrong.items(), key=lambda item: (item[0][1].startswith("lines "), -item[1]))[:25]:
        print(f"  {count:6} {step}: {what[-300:]}")


def check_shares(samples, log):
    found = collections.Counter()
    total = 0
    for sample in samples:
        total += sample.count
        for name in {frame.name for frame in sample.frames}:
            found[name] += sample.count
    lines = []
    with open(log) as file:
        for line in file:
            name, path, share = line.rstrip("\n").split("\t")
            lines.append((100 * found[f"{language}::{name}:{path}"] / (total or 1) - float(share), name, float(share)))
    lines.sort(key=lambda line: -abs(line[0]))
    print(f"samples={total} functions={len(lines)} worst={abs(lines[0][0]):.3f}")
    for off, name, share in lines:
        print(f"  {name:32} {share:7.3f} %, found {share + off:7.3f} %, off by {off:+.3f}")


def check_tasks(samples, log):
    found = collections.Counter()
    for sample in samples:
        found[sample.thread] += sample.count
    total = sum(found.values()) or 1
    told = {}
    with open(log) as file:
        for line in file:
            name, share = line.rstrip("\n").split("\t")
            told["task " + name] = float(share)
    given = [name for name in told if name not in ("task ", "task asked")]
    numbered = sum(count for thread, count in found.items() if thread.startswith("task Task-"))
    worst = max(abs(100 * found[name] / total - told[name]) for name in given)
    print(f"named={sum(found[name] > 0 for name in given)} worst={worst:.3f} numbered={numbered}")
    for thread, count in found.most_common(20):
        print(f"  {thread:32} {100 * count / total:7.3f} %, told {told.get(thread, 0):7.3f} %")


def main():
    global language
    what, profile, *rest = sys.argv[1:]
    if what.split("-")[0] in LANGUAGES:
        language, _, what = what.partition("-")
    what, _, kind = what.partition("-")
    samples = READERS.get(kind, read)(profile)
    if what == "chains":
        check_chains(samples, rest[0], kind != "folded")
    elif what == "shares":
        check_shares(samples, rest[0])
    elif what == "tasks":
        check_tasks(samples, rest[0])
    elif what == "names":
        for name in sorted({frame.name for sample in samples for frame in own_frames(sample)}):
            print(name)
    elif what == "stacks":
        for sample in samples:
            print(sample.count, sample.pid, sample.thread)
            for frame in sample.frames:
                print(f"    {frame.name} {frame.file}:{frame.line}")
    else:
        sys.exit(__doc__)


main()
