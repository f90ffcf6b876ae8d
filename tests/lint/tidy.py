#!/usr/bin/env python3
"""Runs clang-tidy over the sources of the product, leaving out what was found clean before.

    tidy.py CLANG_TIDY BUILD_DIR FOLDER...

A source is clean as long as clang-tidy, .clang-tidy, its compile command and every file that it
includes are the same. Clean sources leave a stamp in sonde-tidy in ccache's folder, so that who
keeps that for other clones and machines keeps both. A source with findings leaves none, and is
reported every time.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

STAMPS_KEPT_S = 30 * 24 * 3600


def stamps_folder():
    try:
        asked = subprocess.run(["ccache", "--get-config", "cache_dir"], capture_output=True, check=True, text=True)
        return Path(asked.stdout.strip()) / "sonde-tidy"
    except (OSError, subprocess.CalledProcessError):
        return Path.home() / ".cache" / "sonde-tidy"


STAMPS = stamps_folder()


@functools.cache
def included(path, root):
    """The headers that a file names: those of the repository, and those of libraries in /usr/include."""
    found = []
    for name in re.findall(r'^#include ["<](.+)[">]', path.read_text(), re.M):
        places = (path.parent / name, root / "src" / name, root / name, Path("/usr/include") / name)
        found += [place for place in places if place.is_file()][:1]
    return found


def all_included(source, root):
    """The source and every header of the repository below it; of libraries, the headers named there."""
    files, waiting = set(), [source]
    while waiting:
        file = waiting.pop()
        if file not in files:
            files.add(file)
            waiting += included(file, root) if file.is_relative_to(root) else []
    return sorted(files)


@functools.cache
def fingerprint(path, root):
    """What a file is called, within the repository or the system, and what it holds."""
    name = path.relative_to(root) if path.is_relative_to(root) else path
    return str(name).encode() + hashlib.sha256(path.read_bytes()).digest()


def stamp_name(settings, command, files, root):
    parts = [settings, command.replace(str(root), ".").encode()]
    parts += [fingerprint(file, root) for file in files]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def check(tidy, build, source, stamp):
    """@returns what clang-tidy says about a source, nothing when it is clean."""
    if (STAMPS / stamp).exists():
        (STAMPS / stamp).touch()
        return ""
    done = subprocess.run([tidy, "-p", build, "--quiet", "--warnings-as-errors=*", source],
                          capture_output=True, text=True)
    if done.returncode == 0:
        (STAMPS / stamp).touch()
        return ""
    return done.stdout or done.stderr


def sweep_stamps():
    STAMPS.mkdir(parents=True, exist_ok=True)
    for stamp in STAMPS.iterdir():
        if stamp.stat().st_mtime < time.time() - STAMPS_KEPT_S:
            stamp.unlink(missing_ok=True)


def main(tidy, build, *folders):
    root, build = Path.cwd().resolve(), Path(build).resolve()
    commands = [entry for entry in json.loads((build / "compile_commands.json").read_text())
                if entry["file"].endswith(".cpp")
                and any(Path(entry["file"]).is_relative_to(root / folder) for folder in folders)]
    if not commands:
        raise SystemExit(f"tidy.py: {build} compiles nothing in {' '.join(folders)}")
    settings = subprocess.run([tidy, "--version"], capture_output=True, check=True).stdout
    settings += Path(".clang-tidy").read_bytes()
    sweep_stamps()

    def work(entry):
        stamp = stamp_name(settings, entry["command"], all_included(Path(entry["file"]), root), root)
        return check(tidy, str(build), entry["file"], stamp)

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        findings = [text for text in pool.map(work, commands) if text]
    for text in findings:
        print(text)
    print(f"clang-tidy: {len(commands)} sources, {len(findings)} with findings", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
