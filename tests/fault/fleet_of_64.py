#!/usr/bin/env python3
"""Fleets of simulated GPUs with planted faults, measured and judged as one run, and a score: which fault
was named with the right class and unit, and who was flagged although healthy.

    tests/fault/fleet_of_64.py build/ci/bin/sonde --folder FOLDER --seeds 10

Each seed is a run of `--nodes` times `--per-node` ranks, with the six faults of SLOW on GPUs that the
seed draws, and one run for each of BROKEN. Nodes are host names of ranks (unshare --uts): where that is
not allowed, the status is 77, skipped. A run whose JSON report is in the folder is measured with --again only.
Ends with 1 if a fault is missed or a healthy GPU flagged.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "kill"))
from launchers import MPI_ENVIRONMENT  # noqa: E402

SKIPPED = 77
MODEL = HERE.parents[1] / "src/device/sim/model/shipped/h200.json"
SM, SLICE = 17, 5
JOBS = "clock,cache.l1,placement,slices,shared,global.throughput"

# A fault: what stands behind the model or changes its file; the classes that are right; the verdicts
# that are; and what the worst finding must name, the unit or the metric.
Fault = collections.namedtuple("Fault", "how classes verdicts names")


def without_a_tpc(model):
    model["chip"]["enabled_tpcs"] -= 1


def with_a_smaller_l1(model):
    """One way of each set of the L1 is gone, and the data that was in it."""
    for shape in next(cache for cache in model["caches"] if cache["name"] == "l1")["by_carveout"]:
        lines = shape["sets"] * (shape["ways"] - 1)
        shape["data_lines"] = min(shape.get("data_lines", lines), lines)
        shape["ways"] -= 1


SLOW = {
    "slow_sm": Fault(f"+slow_sm={SM}:20", ("SM",), ("fail", "warn"), (f"SM {SM} ",)),
    "slow_slice": Fault(f"+slow_slice={SLICE}:30", ("memory",), ("fail", "warn"), ("slice ",)),
    "low_clock": Fault("+throttle=0.85", ("clock", "thermal"), ("fail", "warn"), ("clock",)),
    "low_bandwidth": Fault("+low_bandwidth=0.9", ("memory",), ("fail",), ("global.",)),
    "missing_tpc": Fault(without_a_tpc, ("structure",), ("fail", "warn"), ("SMs", "sm_count")),
    "small_l1": Fault(with_a_smaller_l1, ("structure", "SM"), ("fail", "warn"), ("cache.l1",)),
}
BROKEN_JOBS = "clock,cache.l1"
BROKEN = {
    "wrong_data": Fault("+wrong_data", ("wrong data",), ("fail",), ("wrong_data",)),
    "hang": Fault("+hang=10", ("hang",), ("fail",), ("hang",)),
    "growing_ecc": Fault("+ecc_rising=20", ("ECC",), ("fail", "warn"), ("ecc_corrected",)),
}


def read_model():
    """The H200 without its caches of code: no fault here is in them, and looking into them is half of the
    time of a rank and 0.3 GB of its memory."""
    model = json.loads(MODEL.read_text())
    model["caches"] = [one for one in model["caches"] if not one["name"].startswith("instruction")]
    del model["paths"]["instruction"]
    return model


def backend_of(fault, name, folder):
    """@param fault or nothing, for a healthy GPU"""
    model = read_model()
    in_model = fault is None or callable(fault.how)
    if fault is not None and in_model:
        fault.how(model)
    path = folder / f"{name if in_model else 'healthy'}.json"
    path.write_text(json.dumps(model))
    return str(path) if in_model else f"{path}{fault.how}"


def measure(arguments, name, seed, planted, jobs):
    """@returns the JSON report of a run with faults on the ranks that are the keys of `planted`"""
    report = arguments.folder / f"{name}-{arguments.nodes * arguments.per_node}-{seed}.json"
    if report.exists() and not arguments.again:
        return json.loads(report.read_text())
    ranks = arguments.nodes * arguments.per_node
    faults = SLOW | BROKEN
    models = [backend_of(faults[planted[rank]], planted[rank], arguments.folder)
              if rank in planted else backend_of(None, "healthy", arguments.folder)
              for rank in range(ranks)]
    on_node = (f"hostname node$(printf %02d $((OMPI_COMM_WORLD_RANK / {arguments.per_node} + 1)));"
               'exec "$@"')
    with tempfile.TemporaryDirectory(prefix="sonde-fleet-", dir=arguments.folder) as scratch:
        run = pathlib.Path(scratch) / "run.h5"
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), *UNSHARE,
                   "sh", "-c", on_node, "sonde", arguments.sonde, "run",
                   "--backend", "sim:" + ",".join(models), "--suite", "quick", "--jobs", jobs,
                   "--seed", str(seed), "--rendezvous-timeout-s", "300", "-o", run]
        # Many ranks share few cores: what takes seconds alone may take minutes here.
        environment = os.environ | MPI_ENVIRONMENT | {"SONDE_DEADLINE_FACTOR": "10"}
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if not run.exists():
            raise RuntimeError(f"status {done.returncode}, no run file:\n{done.stdout[-4000:]}")
        exported = subprocess.run([arguments.sonde, "export", run], stdout=subprocess.PIPE,
                                  check=True, text=True).stdout
    found = json.loads(exported)
    kept = {"status": done.returncode, "flags": found["flags"], "devices": [
        {key: device[key] for key in ("uuid", "node", "rank", "verdict", "reason", "likely")}
        for device in found["devices"]]}
    report.write_text(json.dumps(kept))
    return kept


def faults_of(found, planted):
    """What is wrong with the verdicts, as (fault or "healthy", text); nothing if all are right."""
    wrong = []
    for device in found["devices"]:
        name = planted.get(device["rank"])
        told = f"{device['verdict']}, {device['likely']}: {device['reason']}"
        if name is None:
            if device["verdict"] != "pass":
                wrong.append(("healthy", f"{device['node']} rank {device['rank']} {told}"))
            continue
        fault = (SLOW | BROKEN)[name]
        named = any(part in device["reason"] for part in fault.names)
        if device["verdict"] not in fault.verdicts or device["likely"] not in fault.classes or not named:
            wrong.append((name, told))
    return wrong


def score(arguments):
    scored = collections.Counter()
    runs = collections.Counter()
    ranks = arguments.nodes * arguments.per_node
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
        drawn = random.Random(seed).sample(range(ranks), len(SLOW))
        cases = [("slow", dict(zip(drawn, SLOW)), JOBS)]
        cases += [(name, {drawn[0]: name}, BROKEN_JOBS) for name in BROKEN]
        for name, planted, jobs in cases:
            if arguments.only and arguments.only != name and (
                    arguments.only != "broken" or name not in BROKEN):
                continue
            found = measure(arguments, name, seed, planted, jobs)
            assert len(found["devices"]) == ranks, f"{len(found['devices'])} devices in the file"
            wrong = faults_of(found, planted)
            for kind, text in wrong:
                print(f"seed {seed}, {name}: {kind}: {text}", flush=True)
            missed = {kind for kind, _ in wrong}
            for kind in planted.values():
                runs[kind] += 1
                scored[kind] += kind not in missed
            runs["healthy"] += ranks - len(planted)
            scored["healthy"] += ranks - len(planted) - sum(kind == "healthy" for kind, _ in wrong)
    print(f"\n{'planted':<16} right  of")
    for kind, count in runs.items():
        print(f"{kind:<16} {scored[kind]:>5} {count:>3}")
    return int(scored != runs or not runs)


def find_unshare():
    """The command that gives a process a host name of its own; nothing where that is not allowed."""
    for command in (["unshare", "--uts"], ["unshare", "--map-root-user", "--uts"]):
        if shutil.which("unshare") and subprocess.run(
                [*command, "hostname", "sonde-test"], stderr=subprocess.DEVNULL,
                check=False).returncode == 0:
            return command
    return None


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sonde", type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="reports are kept here")
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--per-node", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--only", default="", help='"slow", "broken", or one that breaks')
    parser.add_argument("--again", action="store_true", help="measure what is in the folder, too")
    return parser.parse_args()


if __name__ == "__main__":
    given = parse_arguments()
    given.folder = given.folder.resolve()
    given.folder.mkdir(parents=True, exist_ok=True)
    UNSHARE = find_unshare()
    if UNSHARE is None or not shutil.which("mpirun"):
        print("skipped: no mpirun, or no host names of their own for ranks (unshare --uts)")
        sys.exit(SKIPPED)
    sys.exit(score(given))
