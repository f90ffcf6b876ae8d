#!/usr/bin/env python3
"""Runs clang-tidy over the sources of the product, leaving out what was found clean before.

    tidy.py CLANG_TIDY BUILD_DIR FOLDER...

A source is clean as long as clang-tidy, .clang-tidy, its compile command and every file that it
includes are the same; ninja knows the latter once the source was compiled. Clean sources leave a
stamp in sonde-tidy in ccache's folder, so that who keeps that for other clones and machines keeps
both. A source with findings leaves none, and is reported every time.
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


def read_dependencies(ninja_output):
    """{object: [files]} from `ninja -t deps`; an object that changed since has none."""
    dependencies, files = {}, None
    for line in ninja_output.splitlines():
        head = re.match(r"(\S.*): #deps \d+, .*\((\w+)\)$", line)
        if head:
            files = dependencies.setdefault(head[1], []) if head[2] == "VALID" else None
        elif line.strip() and files is not None:
            files.append(line.strip())
    return dependencies


@functools.cache
def fingerprint(path, root):
    """What a file is called, within the repository or the system, and what it holds."""
    name = path.relative_to(root) if path.is_relative_to(root) else path
    return str(name).encode() + hashlib.sha256(path.read_bytes()).digest()


def stamp_name(settings, command, files, root):
    """@returns None where the includes of a source are not known."""
    if not files:
        return None
    parts = [settings, command.replace(str(root), ".").encode()]
    parts += [fingerprint(file, root) for file in files]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def check(tidy, build, source, stamp):
    """@returns what clang-tidy says about a source, nothing when it is clean."""
    if stamp and (STAMPS / stamp).exists():
        (STAMPS / stamp).touch()
        return ""
    done = subprocess.run([tidy, "-p", build, "--quiet", "--warnings-as-errors=*", source],
                          capture_output=True, text=True)
    if done.returncode == 0:
        if stamp:
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
    listed = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True)
    dependencies = read_dependencies(listed.stdout)
    resolve = functools.cache(lambda file: (build / file).resolve())
    sweep_stamps()

    def work(entry):
        output = re.search(r"-o (\S+)", entry["command"])[1]
        files = [resolve(file) for file in dependencies.get(output) or []]
        stamp = stamp_name(settings, entry["command"], files, root)
        return check(tidy, str(build), entry["file"], stamp)

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        findings = [text for text in pool.map(work, commands) if text]
    for text in findings:
        print(text)
    print(f"clang-tidy: {len(commands)} sources, {len(findings)} with findings", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
