#!/usr/bin/env python3
"""Run files of a fleet as large as one likes, from one measured device; and what sonde takes for it.

    tests/bench/big_fleet.py --sonde build/ci/bin/sonde --make-fleet build/ci/tests/bench/make_fleet --folder FOLDER --devices 1000

make_fleet writes the files, one for each node, and says which devices have a fault; sonde merges them, and analyses and
prints the whole. A table says what each step took: wall time, CPU time and most memory. Beyond the limits, or if another
device is flagged, it fails.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import time


def measure(what, command, output):
    """Runs it; what it took. @throws SystemExit if it ends with anything but 0, or 4: a verdict"""
    begin = time.monotonic()
    with open(output, "wb") as out:
        process = subprocess.Popen(command, stdout=out)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 4):
        raise SystemExit(f"{what} ended with {process.returncode}")
    took = {"step": what, "wall_s": time.monotonic() - begin,
            "cpu_s": used.ru_utime + used.ru_stime, "memory_mb": used.ru_maxrss / 1024,
            "output_mb": output.stat().st_size / 1e6}
    print("{step:<20} {wall_s:7.1f} s wall {cpu_s:7.1f} s CPU {memory_mb:7.0f} MiB memory "
          "{output_mb:8.2f} MB out".format(**took), flush=True)
    return took


def simulate(sonde, suite, folder):
    """A run file of one simulated H200."""
    run = folder / "template.h5"
    command = [sonde, "run", "--backend", "sim:h200", "--suite", suite, "-o", run]
    with open(folder / "template.txt", "wb") as log:
        done = subprocess.run(command, stdout=log, stderr=log, check=False)
    if done.returncode not in (0, 3):  # 3: some findings are missing
        raise SystemExit(f"no template: sonde ended with {done.returncode}")
    return run


def measure_all(sonde, files, folder):
    fleet, page = folder / "fleet.h5", folder / "report.html"
    steps = [measure("merge", [sonde, "merge", *files, "-o", fleet], folder / "merge.txt"),
             measure("analyze", [sonde, "analyze", fleet], folder / "analyze.txt")]
    for form in ("json", "csv", "prometheus"):
        steps.append(measure(f"export {form}", [sonde, "export", fleet, "--format", form],
                             folder / f"fleet.{form}"))
    steps.append(measure("report", [sonde, "report", fleet, "-o", page], folder / "report.txt"))
    print(f"fleet.h5 {fleet.stat().st_size / 1e6:.1f} MB, "
          f"report.html {page.stat().st_size / 1e6:.2f} MB")
    return steps, page.stat().st_size / 1e6


def check_verdicts(folder, faulty, devices):
    report = json.loads((folder / "fleet.json").read_text())
    assert len(report["devices"]) == devices, len(report["devices"])
    flagged = {one["uuid"] for one in report["devices"] if one["verdict"] != "pass"}
    assert flagged == set(faulty), f"{len(flagged)} flagged, {len(faulty)} have a fault"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sonde", required=True)
    parser.add_argument("--make-fleet", required=True)
    parser.add_argument("--suite", default="standard", help="what is measured of it")
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--devices", type=int, default=1000, help="a multiple of 8")
    parser.add_argument("--limit-s", type=float, default=float("inf"), help="of each step")
    parser.add_argument("--limit-mib", type=float, default=float("inf"), help="of each step")
    parser.add_argument("--limit-page-mb", type=float, default=5)
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    template = simulate(options.sonde, options.suite, options.folder)
    nodes = options.folder / "nodes"
    nodes.mkdir()
    faulty = subprocess.run([options.make_fleet, template, nodes, str(options.devices)], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.split()
    files = sorted(nodes.glob("*.h5"))
    print(f"{options.devices} devices in {len(files)} files, {len(faulty)} with a fault")
    steps, page_mb = measure_all(options.sonde, files, options.folder)
    check_verdicts(options.folder, faulty, options.devices)
    over = [took["step"] for took in steps
            if took["wall_s"] > options.limit_s or took["memory_mb"] > options.limit_mib]
    if page_mb > options.limit_page_mb:
        over.append("page")
    if over:
        raise SystemExit(f"beyond the limits: {', '.join(over)}")


if __name__ == "__main__":
    main()
