#!/usr/bin/env python3
"""Random hostile command lines: whatever a person, a script or an attacker types, sonde ends in time
with a status of its own and a message, and spares what is not its own.

    hostile_command_lines.py SONDE MODEL.json [--count 40] [--seed 1] [--only CASE]

Arguments are of the wrong type, empty, huge, no UTF-8, given twice; files are missing, folders,
loops, pipes, sockets; configurations are broken TOML and models broken JSON. Each case must end with
a documented status and no signal, within 10 s and 1 GB of address space, and say on stderr why it
failed, without raw control characters. A run as hostile as can be is `run` of one quick job.

Exit status: 0 all cases held, 1 some did not, 2 bad usage.
"""
import argparse
import copy
import json
import os
import random
import re
import resource
import shlex
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STATUSES = {0, 1, 2, 3, 4, 75}  # base/exit_status.hpp
LONGEST_S = 10
# A quick run of one rank starts with less than 300 MB, most of it mapped by Open MPI.
MOST_ADDRESS_SPACE_BYTES = 1_000_000_000
CORE = ["run", "--backend", "sim:gtx280", "--jobs", "clock", "--suite", "quick"]
FLAGS = ["--resume", "--force", "--dry-run", "--print-config", "--allow-shared-gpu"]
VALUED = ["--backend", "--suite", "--jobs", "-o", "--output", "--seed", "--job-timeout-s",
          "--rendezvous-timeout-s", "--progress-interval-s", "--config"]
COMMANDS = {"analyze": ["--baseline"], "report": ["-o", "--force"], "export": ["--format"],
            "compare": [], "merge": ["-o", "--force"], "list": ["--backend", "--format"],
            "status": [], "run": VALUED + FLAGS, "frobnicate": ["--frob"]}

TEXTS = [b"", b" ", b"-", b"--", b"=", b"-1", b"0", b"1", b"1.5", b"1e300", b"-1e300", b"nan",
         b"inf", b"-inf", b"9" * 30, b"0x10", b"18446744073709551616", b"true", b"[]", b"{}", b"\"",
         b"'", b"\\", b"%s%n%d", b"$(id)", b"a,b,,c", b",", b":", b"+", b"sim:", b"sim:,", b"sim:gtx280",
         b"sim:gtx280,h200", b"sim:gtx280+hang=1", b"sim:gtx280+slow_sm=99999:1", b"sim:gtx280+x=\x1b",
         b"cuda", b"clock", b"quick", b"json", b"prometheus", b"metrics", b"devices", b"jobs",
         b"gr\xf6\xdfe.h5", b"\xff\xfe", b"\xed\xa0\x80", "größe.h5".encode(), "\u202egnp.h5".encode(),
         b"\x1b[31mred", b"\x1b]0;title\x07", b"two\nlines", b"tab\t", b"\x7f", b"x" * 255, b"x" * 300,
         b"y" * 5000, b"a/" * 200 + b"b", b"../../../../../../nowhere/x.h5"]
FILES = [b"whole.h5", b"text.h5", b"empty.h5", b"cut.h5", b"folder", b"folder/", b"folder/new.h5",
         b"absent/new.h5", b"loop", b"dangling", b"link.h5", b"pipe", b"socket", b"node", b"new.h5",
         b"new.html", b"whole.h5/new.h5", b"blocked.h5", b"sim:pipe.json", b"sim:folder.json",
         b"sim:loop.json", b"sim:absent.json", b".", b"/"]
# What no command may replace or remove, whatever its name is given for.
SPARED = {"folder": stat.S_IFDIR, "pipe": stat.S_IFIFO, "socket": stat.S_IFSOCK,
          "node": stat.S_IFCHR, "blocked.h5.part": stat.S_IFDIR, "folder.json": stat.S_IFDIR,
          "pipe.json": stat.S_IFIFO}

TOML = b"""backend = "sim:gtx280"
suite = "quick"
jobs = ["clock"]
seed = 3
output = "new.h5"
resume = false
job-timeout-s = 60
progress-interval-s = 1.5
"""
TOML_VALUES = [b"-1", b"", b"[]", b"[[]]", b"{}", b"\"", b"'''", b"nan", b"inf", b"1e999", b"0x7f",
               b"99999999999999999999", b"true", b"1979-05-27", b"\"\\u001b[31m\"", b"\"\xff\"",
               b"[1, \"a\"]", b"[" * 5000, b"\"" + b"z" * 5000 + b"\"", b"\"\"\"\nmany\nlines\"\"\""]
TOML_LINES = [b"siut = 1", b"help = true", b"config = \"again.toml\"", b"seed = 4", b"[sweep]",
              b"[[run]]", b"a.b.c = 1", b"\"\" = 1", b"\"\x1b[31m\" = 1", b"\xff = 1", b"=", b"\x00"]
JSON_VALUES = [0, -1, 1, 3, 2147483647, 2**63, 1e300, -1e300, 0.5, True, None, "", "x", "4096 TiB",
               "-1 KiB", "0x0", "\x1b[31m", [], {}, [[]], [0] * 1000, {"kind": "modulo"}, "lru",
               [{"sets": 2147483647, "ways": 1}], "z" * 10000]


def make_fixtures(folder, whole):
    """The files that the command lines name."""
    (folder / "whole.h5").write_bytes(whole)
    (folder / "cut.h5").write_bytes(whole[: len(whole) // 2])
    (folder / "text.h5").write_text("text")
    (folder / "empty.h5").touch()
    for name in ("folder", "blocked.h5.part", "folder.json"):
        (folder / name).mkdir()
    for name in ("loop", "loop.json"):
        (folder / name).symlink_to(name)
    (folder / "dangling").symlink_to("nothing")
    (folder / "link.h5").symlink_to("whole.h5")
    for name in ("pipe", "pipe.json"):
        os.mkfifo(folder / name)
    if os.geteuid() == 0:
        os.mknod(folder / "node", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    here = os.getcwd()
    os.chdir(folder)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
    os.chdir(here)


def mutate_bytes(rng, text):
    """A few bytes of a text changed, lost, doubled or added."""
    text = bytearray(text)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        size = rng.choice([1, 1, 2, 10, 100])
        match rng.randrange(4):
            case 0:
                text[at:at + size] = b""
            case 1:
                text[at:at] = bytes(rng.randrange(256) for _ in range(size))
            case 2:
                text[at:at] = text[at:at + size]
            case 3:
                text[at:at + size] = bytes([rng.choice(b"\"'[]{}=,:#\n\\\x00\x1b\xff")])
    return bytes(text)


def make_toml(rng):
    lines = TOML.splitlines()
    match rng.randrange(5):
        case 0:
            return mutate_bytes(rng, TOML)
        case 1:
            lines.insert(rng.randrange(len(lines) + 1), rng.choice(TOML_LINES))
        case 2:
            return rng.choice([b"", b"[" * 100000, b"\x00" * 1000, os.fsencode("ü" * 99), b"x" * 2**21])
        case _:
            for _ in range(rng.randint(1, 3)):
                at = rng.randrange(len(lines))
                value = rng.choice(TOML_VALUES + [b"\"" + text + b"\"" for text in TEXTS])
                lines[at] = lines[at].split(b"=")[0] + b"= " + value
    return b"\n".join(lines) + b"\n"


def places_in(value, path=()):
    """The way to every value of a JSON text."""
    yield path
    if isinstance(value, (dict, list)):
        for key in (value if isinstance(value, dict) else range(len(value))):
            yield from places_in(value[key], (*path, key))


def make_model(rng, model):
    if rng.random() < 0.2:
        return mutate_bytes(rng, json.dumps(model).encode())
    if rng.random() < 0.1:
        return rng.choice([b"", b"[" * 10**6, b"{\"a\":" * 10**5, b"null", b"\xff", b" " * 5 * 2**20,
                           b"{\"source\": \"a\", \"source\": \"b\"}"])
    model = copy.deepcopy(model)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        path = rng.choice([path for path in places_in(model) if path])
        parent = model
        for key in path[:-1]:
            parent = parent[key]
        match rng.randrange(6):
            case 0:
                del parent[path[-1]]
            case 1 if isinstance(parent, list):
                parent.extend(parent * rng.choice([1, 10, 100]))
            case 2 if isinstance(parent, dict):
                key = rng.choice(["gpcs", "lines", "\x1b", "\u202e", ""])
                parent[key] = copy.deepcopy(rng.choice(JSON_VALUES))
            case 3 if isinstance(parent[path[-1]], (int, float)):
                parent[path[-1]] *= rng.choice([0, -1, 2, 16, 1000, 10**6, 10**12])
            case _:
                parent[path[-1]] = copy.deepcopy(rng.choice(JSON_VALUES))
    return json.dumps(model).encode()


def as_argument(text):
    """What execve can pass on."""
    return text.replace(b"\x00", b"")


def make_value(rng):
    text = rng.choice(TEXTS if rng.random() < 0.6 else FILES)
    return mutate_bytes(rng, text) if rng.random() < 0.1 else text


def make_run(rng, folder, model):
    """The valid core with one thing wrong, or more."""
    line = [word.encode() for word in CORE]
    kind = rng.randrange(4)
    if kind == 0:
        (folder / "hostile.toml").write_bytes(make_toml(rng))
        line = rng.choice([[b"run"], line]) + [b"--config", b"hostile.toml"]
    elif kind == 1:
        (folder / "hostile.json").write_bytes(make_model(rng, model))
        line[2] = b"sim:./hostile.json"
    for _ in range(rng.choice([0, 0, 1]) if kind < 2 else rng.randint(1, 3)):
        option = rng.choice(VALUED).encode()
        if option in line and rng.random() < 0.8:  # else it is there twice
            line[line.index(option) + 1] = make_value(rng)
        else:
            line += [option, make_value(rng)]
    if rng.random() < 0.3:
        line.append(rng.choice(FLAGS).encode())
    if not any(word in (b"-o", b"--output") for word in line) and rng.random() < 0.8:
        line += [b"-o", b"new.h5"]
    return line


def make_command(rng):
    """Another command, or none, with operands and options that may be its own."""
    name = rng.choice(list(COMMANDS))
    if rng.random() < 0.4:  # as it should be, but for the files
        operands = {"compare": 2, "merge": 2, "list": 0}.get(name, 1)
        line = [name.encode(), *(rng.choice([b"whole.h5", make_value(rng)]) for _ in range(operands))]
        line += [b"metrics"] if name == "list" else []
        line += [b"-o", rng.choice(FILES)] if "-o" in COMMANDS[name] else []
        return line + ([b"--force"] if rng.random() < 0.5 and name != "list" else [])
    line = [name.encode()] if rng.random() < 0.95 else [make_value(rng)]
    for _ in range(rng.choice([0, 1, 1, 2, 2, 3])):
        line.append(rng.choice([b"whole.h5", rng.choice(FILES), make_value(rng)]))
    options = COMMANDS[name] + ["--help", "--version", "--nope", "-x"]
    for _ in range(rng.choice([0, 1, 2])):
        line.append(rng.choice(options).encode())
        if rng.random() < 0.7:
            line.append(make_value(rng))
    if name == "run":
        line += [b"--suite", b"quick", b"--dry-run"]
    return line


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESS_SPACE_BYTES, MOST_ADDRESS_SPACE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def what_is_wrong(result, folder):
    """Faults of a command that has ended."""
    faults = []
    if result.returncode not in STATUSES:
        faults.append(f"ended with {result.returncode}")
    if result.returncode != 0 and not result.stderr.strip():
        faults.append("failed without a word")
    if re.search(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", result.stderr):
        faults.append("raw control characters on stderr")
    try:
        result.stderr.decode()
    except UnicodeDecodeError:
        faults.append("no UTF-8 on stderr")
    if b"did not expect" in result.stderr or b"std::" in result.stderr:
        faults.append("an error that nobody explains")
    for name, kind in SPARED.items():
        if name == "node" and os.geteuid() != 0:
            continue
        if stat.S_IFMT(os.lstat(folder / name).st_mode) != kind:
            faults.append(f"'{name}' was replaced")
    return faults


def run_case(case, options, whole, model):
    """Faults of one case, and its command line."""
    rng = random.Random(f"{options.seed} {case}")  # one case can be repeated alone
    with tempfile.TemporaryDirectory(prefix="sonde-hostile-") as name:
        folder = Path(name)
        make_fixtures(folder, whole)
        line = make_run(rng, folder, model) if rng.random() < 0.65 else make_command(rng)
        line = [os.fsencode(options.sonde), *map(as_argument, line)]
        shown = " ".join(shlex.quote(os.fsdecode(word)) for word in line[1:])
        start_s = time.monotonic()
        try:
            result = subprocess.run(line, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                                    timeout=LONGEST_S, preexec_fn=limit_memory, check=False)
        except subprocess.TimeoutExpired:
            return [f"did not end within {LONGEST_S} s"], shown, None
        faults = what_is_wrong(result, folder)
        if options.only is not None:
            print(f"{time.monotonic() - start_s:.1f} s, {result}")
        return faults, shown, result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sonde", type=Path)
    parser.add_argument("model", type=Path, help="a model that is right, to be spoiled")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="one case, with all that it says")
    options = parser.parse_args()
    options.sonde = options.sonde.resolve()
    os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})

    with tempfile.TemporaryDirectory(prefix="sonde-hostile-") as folder:
        subprocess.run([options.sonde, *CORE, "-o", "whole.h5"], cwd=folder, check=True,
                       capture_output=True)
        whole = Path(folder, "whole.h5").read_bytes()
    model = json.loads(options.model.read_text())

    cases = range(options.count) if options.only is None else [options.only]
    failed = 0
    statuses = {}
    slowest_s = 0.0
    for case in cases:
        start_s = time.monotonic()
        faults, shown, result = run_case(case, options, whole, model)
        slowest_s = max(slowest_s, time.monotonic() - start_s)
        status = "none" if result is None else result.returncode
        statuses[status] = statuses.get(status, 0) + 1
        if faults:
            failed += 1
            said = "" if result is None else ascii(os.fsdecode(result.stderr[-400:]))
            print(f"FAILED: seed {options.seed} case {case}: {', '.join(faults)}\n"
                  f"  sonde {ascii(shown[:400])}\n  {said}", flush=True)
    print(f"{len(cases)} command lines, {failed} failed, slowest {slowest_s:.1f} s, statuses "
          f"{dict(sorted(statuses.items(), key=str))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
