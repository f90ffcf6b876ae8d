#!/usr/bin/env python3
"""Spoiled run files and shards before every command that reads them:
hostile_files_test.py <sonde> <make_run_file> <count> [seed]

Each command must end within 10 s and 1 GB of address space (and less before a file that grows when
it is read) with a status of its own (0 to 4), and what it prints must be free of injections. The first spoiled file of each fault is kept."""
import collections
import csv
import html.parser
import io
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from pathlib import Path

import mangle

SONDE, MAKE_RUN_FILE, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
LONGEST_S = 10
MOST_BYTES = 10**9
most_bytes = MOST_BYTES
RUN = ["run", "--backend", "sim:gtx980", "--jobs", "clock"]
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def bounded():
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def sonde(*arguments, limit=bounded, longest_s=LONGEST_S):
    return subprocess.run([SONDE, *map(str, arguments)], capture_output=True, timeout=longest_s,
                          preexec_fn=limit, env=ENVIRONMENT)


# --- what must not stand in the output -----------------------------------------------------------

def check_text(text, what):
    text = text.decode()  # is UTF-8, or raises
    for bad in re.finditer("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text):
        raise ValueError(f"a raw {bad.group()!r} in {what}")
    if "root:x:0" in text:
        raise ValueError(f"another file's content in {what}")
    return text


def check_csv(text):
    for row in csv.reader(io.StringIO(text)):
        for cell in row:
            if cell[:1] in ("=", "+", "-", "@"):
                float(cell)  # or raises


def check_prometheus(text):
    for line in text.splitlines():
        if not re.fullmatch(r'# .*|\w+(\{(\w+="([^"\\]|\\\\|\\"|\\n)*",?)*\})? \S+', line):
            raise ValueError(f"no sample of Prometheus: {line[:200]}")


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        if any(name.startswith("on") for name, _ in attributes):
            raise ValueError(f"a handler in <{tag}>")


def check_html(text):
    tags = Tags()
    tags.feed(text)
    if set(tags.seen) & {"img", "iframe", "x"} or tags.seen.count("script") not in (1, 4):
        raise ValueError("foreign tags in HTML")


CHECKS = {"json": json.loads, "csv": check_csv, "prometheus": check_prometheus,
          "junit": xml.etree.ElementTree.fromstring, "table": lambda text: None}


def ends_well(check, *arguments, **limits):
    """Runs a command; returns its status, and raises ValueError if anything is not as it must be."""
    what = " ".join(map(str, arguments))
    try:
        done = sonde(*arguments, **limits)
    except subprocess.TimeoutExpired:
        raise ValueError(f"over {LONGEST_S} s: {what}") from None
    if done.returncode not in (0, 1, 2, 3, 4):
        raise ValueError(f"status {done.returncode}: {what}: {done.stderr[-300:]}")
    errors = check_text(done.stderr, "stderr of " + what)
    if done.returncode in (1, 2) and not errors.startswith("sonde: "):
        raise ValueError(f"no message of sonde: {what}: {errors[-300:]}")
    text = check_text(done.stdout, "stdout of " + what)
    if done.returncode == 0:
        check(text)
    return done.returncode


# --- commands ------------------------------------------------------------------------------------

def read_everywhere(work, file, good, rng):
    readable = ends_well(CHECKS["json"], "export", "--format", "json", file) == 0
    page, merged = work / "page.html", work / "merged.h5"

    def report():
        if ends_well(lambda text: None, "report", "--force", file, "-o", page) == 0:
            check_html(check_text(page.read_bytes(), "report") if b"\x1b" in page.read_bytes()
                       else page.read_bytes().decode())

    commands = [lambda name=name: ends_well(CHECKS[name], "export", "--format", name, file)
                for name in CHECKS if name != "json"]
    commands += [report,
                 lambda: ends_well(lambda text: None, "compare", good, file),
                 lambda: ends_well(lambda text: None, "merge", "--force", file, good, "-o", merged),
                 lambda: ends_well(lambda text: None, "analyze", file)]
    # What cannot be read fails in the same way for all: two of them stand for the others.
    for command in commands if readable else rng.sample(commands, 2):
        command()


def resume(work, file, shard_name):
    out = work / "resumed.h5"
    parts = work / "resumed.h5.parts"
    shutil.rmtree(parts, ignore_errors=True)
    out.unlink(missing_ok=True)
    parts.mkdir()
    shutil.copy(file, parts / shard_name)
    if ends_well(lambda text: None, *RUN, "--resume", "-o", out, limit=None, longest_s=60) == 0:
        json.loads(sonde("export", "--format", "json", out).stdout)


def status(work, rng):
    parts = work / "running.h5.parts"
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir()
    state = rng.choice(["measuring", "done"])
    for rank in range(3):
        word = rng.choice(mangle.HOSTILE_TEXTS).decode(errors="replace")
        progress = {"rank": rank, "ranks": 3, "node": word, "uuid": word, "job": word,
                    "state": state, "jobs_done": 1, "jobs_total": 4, "probes_done": 7,
                    "elapsed_s": rng.choice([1.5, 1e300, -1]), "beat": 3}
        text = bytearray(json.dumps(progress).encode())
        if rng.random() < 0.3:
            text[rng.randrange(len(text))] ^= 1 << rng.randrange(7)
        (parts / f"{rank}.progress.json").write_bytes(text)
    # Of ranks at work it waits 10 s for another beat.
    ends_well(lambda text: None, "status", work / "running.h5", longest_s=30)


def main():
    global most_bytes
    rng = random.Random(SEED)
    faults = {}
    refused = collections.Counter()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        goods = [work / "measured.h5", work / "random.h5"]
        measured = sonde(*RUN, "-o", goods[0], limit=None, longest_s=120)
        assert measured.returncode in (0, 3, 4), measured.stderr
        subprocess.run([MAKE_RUN_FILE, goods[1], "3"], check=True, stdout=subprocess.DEVNULL)
        uuid = json.loads(sonde("export", "--format", "json", goods[0]).stdout)["devices"][0]["uuid"]
        shutil.copy(goods[1], work / "other.h5")
        for i in range(COUNT):
            good = goods[i % 2]
            file = work / "spoiled.h5"
            ways = [mangle.ALL[(i // 2) % len(mangle.ALL)]]
            if rng.random() < 0.2:
                ways.append(rng.choice(mangle.ALL[:2]))
            shutil.copy(good, file)
            most_bytes = rng.randrange(3 * 10**8, MOST_BYTES) if mangle.bomb in ways else MOST_BYTES
            for way in ways:
                try:
                    way(file, rng)
                except (OSError, ValueError, TypeError, KeyError, RuntimeError):
                    refused[way.__name__] += 1  # h5py's limits, or the file is too far gone for it
            try:
                if i % 20 == 0:
                    resume(work, file, uuid + rng.choice([".h5", ".h5.part"]))
                if i % 10 == 5:
                    status(work, rng)
                read_everywhere(work, file, good, rng)
            except Exception as error:  # whatever is wrong with it, it is a fault to report
                name = f"{type(error).__name__}: {error}"
                names = "+".join(way.__name__ for way in ways)
                print(f"FAILED: file {i} of seed {SEED}, {names}: {name[:600]}")
                kept = Path(tempfile.gettempdir()) / f"sonde_hostile_{SEED}_{i}.h5"
                if names not in faults:
                    shutil.copy(file, kept)
                faults.setdefault(names, []).append(i)
    count = sum(map(len, faults.values()))
    if refused:
        print("not or not wholly spoiled:", dict(refused))
    print(f"{COUNT} spoiled files, {count} faults, {time.monotonic() - start:.0f} s")
    return count > 0


if __name__ == "__main__":
    sys.exit(main())
