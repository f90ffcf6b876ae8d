#!/usr/bin/env python3
"""Measures simulated dies, healthy ones and ones with a fault, each once into a run file that is
kept, and scores the fleet analysis on fleets drawn from them (score_fleets.cpp).

A file that is there is not measured again: an interrupted run goes on, and more dies are added to
those of before. Delete the folder after a change to what is measured.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys

# sonde run: all well, findings missing, a device failed its verdict.
MEASURED = (0, 3, 4)

# Those of the quick suite, and what finds a slow SM.
JOBS = "clock,cache.l1,cache.readonly,cache.l2,latency,placement,shared,global.throughput"


def without_a_tpc(model):
    model["chip"]["enabled_tpcs"] -= 1


def with_a_smaller_l1(model):
    """One way of each set of the L1 is gone, and the data that was in it."""
    for cache in model["caches"]:
        if cache["name"] != "l1":
            continue
        for shape in cache["by_carveout"]:
            lines = shape["sets"] * (shape["ways"] - 1)
            shape["data_lines"] = min(shape.get("data_lines", lines), lines)
            shape["ways"] -= 1


# Folder -> what stands behind the model, or what changes its file.
FAULTS = {"slow_sm": "+slow_sm=17:40", "low_bandwidth": "+low_bandwidth=0.93",
          "throttle": "+throttle=0.9", "missing_tpc": without_a_tpc, "small_l1": with_a_smaller_l1}


def backend(arguments, kind):
    """What --backend is for dies of that kind, "healthy" or a fault; writes changed models."""
    fault = FAULTS.get(kind, "")
    if isinstance(fault, str):
        return f"sim:{arguments.model}{fault}"
    model = json.loads(arguments.model_file.read_text())
    fault(model)
    path = arguments.folder / f"{kind}.json"
    path.write_text(json.dumps(model))
    return f"sim:{path}"


def measure(arguments, kind, backend_text, seed):
    folder = arguments.folder / kind
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"die_{seed:05}.h5"
    if path.exists():
        return
    command = [arguments.sonde, "run", "--backend", backend_text, "--suite", arguments.suite,
               "--jobs", arguments.jobs, "--seed", str(seed), "-o", path]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode not in MEASURED or not path.exists():
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode} "
                           f"(no run file) see:\n{done.stderr}")


def measure_all(arguments):
    """Healthy dies from the first seed on, faulty ones behind them: no die is both."""
    tasks = [("healthy", arguments.first_seed + i) for i in range(arguments.dies)]
    for place, kind in enumerate(FAULTS):
        first = arguments.first_seed + 100000 * (place + 1)
        tasks += [(kind, first + i) for i in range(arguments.faulty_dies)]
    backends = {kind: backend(arguments, kind) for kind, _ in tasks}
    with concurrent.futures.ThreadPoolExecutor(arguments.processes) as pool:
        measured = [pool.submit(measure, arguments, kind, backends[kind], seed)
                    for kind, seed in tasks]
        for future in concurrent.futures.as_completed(measured):
            future.result()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sonde", type=pathlib.Path, required=True)
    parser.add_argument("--score", type=pathlib.Path, required=True, help="the program score_fleets")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="run files are kept here")
    parser.add_argument("--model-file", type=pathlib.Path, required=True,
                        help="JSON file of the model that is changed for some faults")
    parser.add_argument("--model", default="h200")
    parser.add_argument("--suite", default="quick")
    parser.add_argument("--jobs", default=JOBS, help="as of sonde run")
    parser.add_argument("--dies", type=int, default=512, help="healthy ones")
    parser.add_argument("--faulty-dies", type=int, default=10, help="of each fault")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    arguments.folder = arguments.folder.resolve()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    measure_all(arguments)
    return subprocess.run([arguments.score, arguments.folder], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
