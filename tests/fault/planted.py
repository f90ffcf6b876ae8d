#!/usr/bin/env python3
"""Fleets of simulated H200s with planted faults, each measured and judged as one run: is every faulty GPU charged with the
right class and unit, does no healthy one fail, is nothing drained under contention?

    tests/fault/planted.py build/ci/bin/sonde --plans drawn --count 40 --first-seed 4711
    tests/fault/planted.py build/ci/bin/sonde --plans slow broken --nodes 8 --per-node 8 --count 10

drawn: 1 to 8 GPUs, up to three of them with faults of any kinds. slow: six faults at once, on GPUs that the seed draws.
broken: a run for each way in which one GPU breaks. Nodes are host names of ranks (unshare --uts): where that is not
allowed, the status is 77, skipped. Ends with 1 if one is wrong; each is printed as the command that repeats it.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "kill"))
from launchers import MPI_ENVIRONMENT  # noqa: E402

SKIPPED = 77
MODEL = HERE.parents[1] / "src/device/sim/model/shipped/h200.json"

# What a kind draws, or how it changes the model; the classes that are right; what a charge of that device must name
# (metric, reason, or unit), and whether the GPU shows it by itself.
Kind = collections.namedtuple("Kind", "how classes names alone")
# Jobs; the faults planted at once, with what stands behind the model; whether those that lead must be right.
Plan = collections.namedtuple("Plan", "jobs faults leads")


def without_a_tpc(model):
    model["chip"]["enabled_tpcs"] -= 1


def with_a_smaller_l1(model):
    """One way of each set of the L1 is gone, and the data that was in it."""
    for shape in next(cache for cache in model["caches"] if cache["name"] == "l1")["by_carveout"]:
        lines = shape["sets"] * (shape["ways"] - 1)
        shape["data_lines"] = min(shape.get("data_lines", lines), lines)
        shape["ways"] -= 1


CHANGES = {"missing_tpc": without_a_tpc, "small_l1": with_a_smaller_l1}
KINDS = {
    "slow_sm": Kind(lambda r: f"{r.randrange(132)}:{r.randrange(12, 41)}", ("SM",), ("SM {part}",), True),
    "slow_slice": Kind(lambda r: f"{r.randrange(94)}:{r.randrange(25, 50)}", ("memory",), ("slice ",), True),
    "slow_tpc": Kind(lambda r: f"{r.randrange(66)}:{r.choice((0.4, 0.5, 0.6))}", ("SM",), ("SM ",), True),
    "throttle": Kind(lambda r: f"{r.uniform(0.65, 0.88):.2f}", ("clock", "thermal"), ("clock", "throttle_reasons"), True),
    "ecc_rising": Kind(lambda r: "20", ("ECC",), ("ecc_corrected",), True),
    "xid": Kind(lambda r: str(r.choice((48, 62, 64, 79, 95))), ("Xid",), ("Xid {part}",), True),
    "new_xid": Kind(lambda r: f"{r.choice((48, 79, 95))}:30", ("Xid",), ("Xid {part}",), True),
    "nvlink_down": Kind(lambda r: str(r.randrange(18)), ("link",), ("NVLink {part}",), True),
    "nvlink_errors": Kind(lambda r: str(r.randrange(18)), ("link",), ("NVLink {part}",), True),
    "host_width": Kind(lambda r: str(r.choice((4, 8))), ("link",), ("link_width",), True),
    "host_copies": Kind(lambda r: f"{r.uniform(0.15, 0.3):.2f}", ("link",), ("_device_bytes_per_s",), True),
    "wrong_data": Kind(lambda r: "", ("wrong data",), ("wrong_data",), True),
    "hang": Kind(lambda r: str(r.randrange(10, 40)), ("hang",), ("hang",), True),
    "neighbour": Kind(lambda r: f"{r.uniform(0.3, 0.7):.2f}", ("contention",), ("foreign",), True),
    "low_bandwidth": Kind(lambda r: f"{r.uniform(0.6, 0.91):.2f}", ("memory",), ("global.",), False),
    "missing_tpc": Kind(lambda r: "", ("structure",), ("sm_count", "SMs"), False),
    "small_l1": Kind(lambda r: "", ("structure", "SM"), ("cache.l1",), False),
}
PLANS = {
    "drawn": Plan("device,clock,cache.l1,placement,slices,shared,global.throughput,host", {}, False),
    "slow": Plan("clock,cache.l1,placement,slices,shared,global.throughput",
                 {"slow_sm": "17:20", "slow_slice": "5:30", "throttle": "0.85", "low_bandwidth": "0.9",
                  "missing_tpc": "", "small_l1": ""}, True),
    "broken": Plan("clock,cache.l1", {"wrong_data": "", "hang": "10", "ecc_rising": "20"}, True),
}
ALWAYS_FAIL = ("low_bandwidth", "wrong_data", "hang")


def read_model():
    """The H200 without its caches of code: no fault here is in them, and looking into them is half of the
    time of a rank and 0.3 GB of its memory."""
    model = json.loads(MODEL.read_text())
    model["caches"] = [one for one in model["caches"] if not one["name"].startswith("instruction")]
    del model["paths"]["instruction"]
    return model


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
        planted[rank] = (kind, KINDS[kind].how(random_))
    return size, planted


def fleets_of(plan, seed, ranks):
    """Sizes and what is planted."""
    if plan == "drawn":
        return [draw(seed)]
    faults = PLANS[plan].faults
    drawn = random.Random(seed).sample(range(ranks), len(faults))
    if plan == "slow":
        return [(ranks, dict(zip(drawn, faults.items())))]
    return [(ranks, {drawn[0]: fault}) for fault in faults.items()]


def backend_of(kind, value, folder):
    """@param kind or nothing, for a healthy GPU"""
    model = read_model()
    name = kind if kind in CHANGES else "healthy"
    if kind in CHANGES:
        CHANGES[kind](model)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(model))
    if kind is None or kind in CHANGES:
        return str(path)
    return f"{path}+{kind}={value}" if value else f"{path}+{kind}"


def measure(given, plan, seed, fleet, folder):
    """The JSON report, what analyze says, and the command"""
    size, planted = fleet
    models = [backend_of(*planted.get(rank, (None, "")), folder) for rank in range(size)]
    run = folder / f"{seed}.h5"
    on_node = []
    if given.nodes > 1:
        host = f"hostname node$(printf %02d $((OMPI_COMM_WORLD_RANK / {given.per_node} + 1)))"
        on_node = [*UNSHARE, "sh", "-c", f'{host}; exec "$@"', "sonde"]
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(size), *on_node, given.sonde, "run", "--backend",
               "sim:" + ",".join(models), "--suite", "quick", "--jobs", PLANS[plan].jobs, "--seed", str(seed),
               "--allow-shared-gpu", "--rendezvous-timeout-s", "300", "-o", str(run)]
    # Many ranks share few cores: what takes seconds alone may take minutes here.
    environment = os.environ | MPI_ENVIRONMENT | {"SONDE_DEADLINE_FACTOR": "10"}
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if not run.exists():
        raise RuntimeError(f"status {done.returncode}, no run file:\n{done.stdout[-3000:]}")
    report = json.loads(subprocess.run([given.sonde, "export", run], capture_output=True, check=True, text=True).stdout)
    drained = subprocess.run([given.sonde, "analyze", run], capture_output=True, check=False, text=True).stdout
    run.unlink()
    return report, drained, shlex.join(command)


def is_named(report, device, kind, value, leads):
    """Whether a charge, or the leading one, has the right class and names the unit."""
    names = [name.format(part=value.split(":")[0]) for name in KINDS[kind].names]
    if leads:
        texts = [(device["likely"], device["reason"])]
    else:
        texts = [(flag["likely"], f"{flag['unit']} {flag['metric']} {flag['cause']} {flag['reason']}")
                 for flag in report["flags"] if flag["uuid"] == device["uuid"] and flag["severity"] != "info"]
    return any(likely in KINDS[kind].classes and any(name in text for name in names) for likely, text in texts)


def wrong_in(report, drained, planted, leads):
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
        if not KINDS[kind].alone and 2 * with_kind[kind] >= compared:
            # Nobody can tell, unless reference values do; but with a peer nobody passes.
            if device["verdict"] == "pass" and 1 < compared != with_kind[kind]:
                wrong.append(f"{kind} {told}")
            continue
        verdicts = ("fail",) if leads and kind in ALWAYS_FAIL else ("warn", "fail")
        if not is_named(report, device, kind, value, leads) or device["verdict"] not in verdicts:
            wrong.append(f"{kind}={value} {told}")
    return wrong


def find_unshare():
    """The command that gives a process a host name of its own; nothing where that is not allowed."""
    for command in (["unshare", "--uts"], ["unshare", "--map-root-user", "--uts"]):
        if shutil.which("unshare") and subprocess.run([*command, "hostname", "sonde-test"], stderr=subprocess.DEVNULL,
                                                      check=False).returncode == 0:
            return command
    return None


UNSHARE = find_unshare()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sonde", type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--plans", nargs="+", choices=PLANS, default=["drawn"])
    parser.add_argument("--count", type=int, default=40, help="seeds")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--per-node", type=int, default=8)
    given = parser.parse_args()
    if not shutil.which("mpirun") or (given.nodes > 1 and UNSHARE is None):
        print("skipped: no mpirun, or no host names of their own for ranks (unshare --uts)")
        return SKIPPED
    cases = [(plan, seed, fleet) for seed in range(given.first_seed, given.first_seed + given.count)
             for plan in given.plans for fleet in fleets_of(plan, seed, given.nodes * given.per_node)]
    right = 0
    with tempfile.TemporaryDirectory(prefix="sonde-planted-") as folder:
        for plan, seed, fleet in cases:
            size, planted = fleet
            report, drained, command = measure(given, plan, seed, fleet, pathlib.Path(folder))
            assert len(report["devices"]) == size, f"{len(report['devices'])} devices in the file"
            wrong = wrong_in(report, drained, planted, PLANS[plan].leads)
            right += not wrong
            shown = ", ".join(f"{rank}: {kind}={value}" for rank, (kind, value) in sorted(planted.items()))
            print(f"{plan} {seed}: {size} GPUs, {shown}: {'right' if not wrong else 'WRONG'}", flush=True)
            for text in wrong:
                print(f"    {text}", flush=True)
            if wrong:
                print(f"    {command}", flush=True)
    print(f"{right} of {len(cases)} right")
    return int(right != len(cases))


if __name__ == "__main__":
    sys.exit(main())
