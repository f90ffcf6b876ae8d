#!/usr/bin/env python3
"""Combinations of faults drawn from a seed, on 1 to 8 simulated H200s: is every faulty GPU charged with the right class and
unit, does no healthy one fail, is nothing drained under contention?

    tests/fault/combinations.py build/ci/bin/sonde --count 40 --first-seed 4711

Ends with 1 if one is wrong; each is printed as the command that repeats it.
"""
import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import fleet_of_64
from fleet_of_64 import MPI_ENVIRONMENT, backend_of, with_a_smaller_l1, without_a_tpc, Fault

JOBS = "device,clock,cache.l1,placement,slices,shared,global.throughput,host"

# What a kind draws, the classes that are right, what a charge of that device must name (metric, reason, or unit), and whether
# the GPU shows it by itself.
Kind = collections.namedtuple("Kind", "draw classes names alone")


def sm_and_cycles(random_):
    return f"{random_.randrange(132)}:{random_.randrange(12, 41)}"


KINDS = {
    "slow_sm": Kind(sm_and_cycles, ("SM",), "SM {part}", True),
    "slow_slice": Kind(lambda r: f"{r.randrange(94)}:{r.randrange(25, 50)}", ("memory",), "slice ", True),
    "slow_tpc": Kind(lambda r: f"{r.randrange(66)}:{r.choice((0.4, 0.5, 0.6))}", ("SM",), "SM ", True),
    "throttle": Kind(lambda r: f"{r.uniform(0.65, 0.88):.2f}", ("clock", "thermal"), "clock", True),
    "ecc_rising": Kind(lambda r: "20", ("ECC",), "ecc_corrected", True),
    "xid": Kind(lambda r: str(r.choice((48, 62, 64, 79, 95))), ("Xid",), "Xid {part}", True),
    "new_xid": Kind(lambda r: f"{r.choice((48, 79, 95))}:30", ("Xid",), "Xid {part}", True),
    "nvlink_down": Kind(lambda r: str(r.randrange(18)), ("link",), "NVLink {part}", True),
    "nvlink_errors": Kind(lambda r: str(r.randrange(18)), ("link",), "NVLink {part}", True),
    "host_width": Kind(lambda r: str(r.choice((4, 8))), ("link",), "link_width", True),
    "host_copies": Kind(lambda r: f"{r.uniform(0.15, 0.3):.2f}", ("link",), "_device_bytes_per_s", True),
    "wrong_data": Kind(lambda r: "", ("wrong data",), "wrong_data", True),
    "hang": Kind(lambda r: str(r.randrange(10, 40)), ("hang",), "hang", True),
    "neighbour": Kind(lambda r: f"{r.uniform(0.3, 0.7):.2f}", ("contention",), "foreign", True),
    "low_bandwidth": Kind(lambda r: f"{r.uniform(0.6, 0.91):.2f}", ("memory",), "global.", False),
    "missing_tpc": Kind(without_a_tpc, ("structure",), "sm_count", False),
    "small_l1": Kind(with_a_smaller_l1, ("structure", "SM"), "cache.l1", False),
}


def draw(seed):
    """{rank: (kind, text behind '=')} of a fleet, and its size"""
    random_ = random.Random(seed)
    size = random_.randrange(1, 9)
    faulty = random_.randrange(1, min(size, 3) + 1)
    alike = random_.random() < 0.4
    planted = {}
    kind = random_.choice(list(KINDS))
    for rank in random_.sample(range(size), faulty):
        if not alike:
            kind = random_.choice(list(KINDS))
        how = KINDS[kind].draw
        planted[rank] = (kind, "" if how in (without_a_tpc, with_a_smaller_l1) else how(random_))
    return size, planted


def model_of(kind, value, folder):
    if kind is None:
        return backend_of(None, "healthy", folder)
    how = KINDS[kind].draw
    if how in (without_a_tpc, with_a_smaller_l1):
        return backend_of(Fault(how, (), (), ()), kind, folder)
    return backend_of(Fault(f"+{kind}={value}" if value else f"+{kind}", (), (), ()), kind, folder)


def measure(sonde, seed, folder):
    size, planted = draw(seed)
    models = [model_of(*planted.get(rank, (None, "")), folder) for rank in range(size)]
    run = folder / f"{seed}.h5"
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(size), sonde, "run", "--backend",
               "sim:" + ",".join(models), "--suite", "quick", "--jobs", JOBS, "--seed", str(seed),
               "--allow-shared-gpu", "-o", str(run)]
    environment = fleet_of_64.os.environ | MPI_ENVIRONMENT | {"SONDE_DEADLINE_FACTOR": "10"}
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if not run.exists():
        raise RuntimeError(f"status {done.returncode}, no run file:\n{done.stdout[-3000:]}")
    report = json.loads(subprocess.run([sonde, "export", run], capture_output=True, check=True, text=True).stdout)
    drained = subprocess.run([sonde, "analyze", run], capture_output=True, check=False, text=True).stdout
    run.unlink()
    return report, drained, planted, " ".join(command)


def charges_of(report, device):
    return [flag for flag in report["flags"] if flag["uuid"] == device["uuid"] and flag["severity"] != "info"]


def wrong_in(report, drained, planted):
    """Texts of what is wrong; nothing if all is right."""
    wrong = []
    devices = {device["rank"]: device for device in report["devices"]}
    contended = {rank for rank, (kind, _) in planted.items() if kind == "neighbour"}
    compared = len(devices) - len(contended)
    with_kind = collections.Counter(kind for kind, _ in planted.values())
    decided = all(2 * with_kind[kind] < compared for kind, _ in planted.values() if not KINDS[kind].alone)
    for rank, device in sorted(devices.items()):
        told = f"rank {rank}: {device['verdict']}, {device['likely']}: {device['reason']}"
        if rank not in planted:
            if device["verdict"] == "fail" or (decided and device["verdict"] != "pass"):
                wrong.append(f"healthy {told}")
            continue
        kind, value = planted[rank]
        if kind == "neighbour":
            if device["verdict"] != "incomplete" or device["likely"] != "contention" or f"gpu={device['uuid']}" in drained:
                wrong.append(f"{kind} {told}")
            continue
        alone = KINDS[kind].alone
        if not alone and 2 * with_kind[kind] >= compared:
            # Nobody can tell, unless reference values do; but with a peer nobody passes.
            if device["verdict"] == "pass" and 1 < compared != with_kind[kind]:
                wrong.append(f"{kind} {told}")
            continue
        name = KINDS[kind].names.format(part=value.split(":")[0])
        right = any(flag["likely"] in KINDS[kind].classes and
                    name in f"{flag['unit']} {flag['metric']} {flag['cause']} {flag['reason']}"
                    for flag in charges_of(report, device))
        if not right or device["verdict"] not in ("warn", "fail"):
            wrong.append(f"{kind}={value} {told}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sonde", type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=1)
    given = parser.parse_args()
    right = 0
    with tempfile.TemporaryDirectory(prefix="sonde-combinations-") as folder:
        for seed in range(given.first_seed, given.first_seed + given.count):
            report, drained, planted, command = measure(given.sonde, seed, pathlib.Path(folder))
            wrong = wrong_in(report, drained, planted)
            right += not wrong
            shown = ", ".join(f"{rank}: {kind}={value}" for rank, (kind, value) in sorted(planted.items()))
            print(f"{seed}: {len(report['devices'])} GPUs, {shown}: {'right' if not wrong else 'WRONG'}", flush=True)
            for text in wrong:
                print(f"    {text}", flush=True)
            if wrong:
                print(f"    {command}", flush=True)
    print(f"{right} of {given.count} right")
    return int(right != given.count)


if __name__ == "__main__":
    sys.exit(main())
