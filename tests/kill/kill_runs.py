#!/usr/bin/env python3
"""Kills something of a run at a random instant, and sees what becomes of it.

For each kill: (a) all processes are gone soon after it, or after the last job of those who live;
(b) whatever stands under the result's name can be read at any time; (c) --resume, by the same
launcher, comes to the findings of an undisturbed run; (d) nothing is left behind but the result.
Ends with 1 if any of that failed. The same seed draws the same kills.
"""
import argparse
import collections
import dataclasses
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import processes
from checks import Watcher, differences, export, left_behind, results
from launchers import Cluster, Mpirun, Sbatch, Srun

# Small enough to be over in seconds, with four jobs to be killed in or between. One GPU is slow enough to
# be measured again beside a peer, and not so slow that it fails.
OPTIONS = ["--backend", "sim:gtx980,gtx980+low_bandwidth=0.96,gtx980", "--suite", "quick",
           "--jobs", "clock,shared,cache.l1,global.throughput", "--seed", "7",
           "--job-timeout-s", "30", "--rendezvous-timeout-s", "10"]
STAGES = ("start-up", "measuring", "rendezvous", "again", "writing", "analysis", "finalize")
MOST_RESUMES = 4
MAY_END = (0, 4)  # all pass; some GPU failed its verdict
GIVE_UP_S = 240  # when what does not end is ended from outside


@dataclasses.dataclass
class Kill:
    """What was drawn: `after_s` counts from the first process, or from the first sight of `stage`."""
    kind: str
    stage: str
    after_s: float


@dataclasses.dataclass
class Outcome:
    hit: str = "nothing"
    stage: str = "over"
    at_s: float = 0
    status: object = None
    gone_s: float = 0
    resumes: int = 0
    faults: list = dataclasses.field(default_factory=list)


def read_states(parts):
    """What the ranks' progress files say, as far as they can be read."""
    states = []
    for path in parts.glob("*.progress.json"):
        try:
            states.append(json.loads(path.read_text())["state"])
        except (OSError, ValueError, KeyError):
            pass
    return states


def find_stage(output, watcher):
    parts = Path(f"{output}.parts")
    if output.exists():
        return "finalize" if len(watcher.inodes) > 1 else "analysis"
    if Path(f"{output}.part").exists():
        return "writing"
    if not parts.is_dir():
        return "start-up"
    states = read_states(parts)
    if "measuring again" in states:
        return "again"
    done = len(states) >= 3 and all(state == "done" for state in states)
    return "rendezvous" if done else "measuring"


def last_sign(output):
    """When a rank last wrote anything."""
    newest = 0
    for path in (output, Path(f"{output}.parts"), *Path(f"{output}.parts").glob("*")):
        try:
            newest = max(newest, path.stat().st_mtime)
        except OSError:
            pass
    return newest


class Attempt:
    """One start of a run, followed until no process of it is left."""

    def __init__(self, launcher, folder, token, resume):
        self.launcher = launcher
        self.token = token
        keep = folder.parent / f"{folder.name}.seen"
        keep.mkdir(exist_ok=True)
        self.watcher = Watcher(launcher.output, keep / ("resume" if resume else "first"))
        self.watcher.keep.mkdir(exist_ok=True)
        launcher.start(folder, token, resume)
        self.watcher.start()
        self.begin = time.time()
        while not processes.find_processes(token) and launcher.status() is None:
            if time.time() - self.begin > GIVE_UP_S:
                sys.exit(f"kill_runs.py: {launcher.name} started nothing in {GIVE_UP_S} s (no run, "
                         f"no test) see {folder}")
            time.sleep(0.005)
        self.begin = time.time()
        self.node_lost = False

    def over(self):
        """No process is left. Slurm itself may take a job whose first node died for running until the
        node is back: that is no process."""
        ended = self.node_lost or self.launcher.status() is not None
        return ended and not processes.find_processes(self.token)

    def wait(self, limit_s):
        """Seconds from the last sign of life until all were gone; nothing if they had to be ended."""
        last = time.time()
        while not self.over():
            last = max(last, last_sign(self.launcher.output()))
            if time.time() - last > limit_s:
                processes.end_all(self.token)
                self.finish()
                return None
            time.sleep(0.05)
        self.finish()
        return max(0, time.time() - last)

    def finish(self):
        self.launcher.clean_up()
        self.watcher.stop()
        self.status = self.launcher.status()


def wait_for(attempt, kill):
    """Until the instant of the kill, or until there is nothing left to kill."""
    if kill.stage:
        wanted = STAGES.index(kill.stage)
        while STAGES.index(find_stage(attempt.launcher.output(), attempt.watcher)) < wanted:
            if attempt.launcher.status() is not None:
                return
            time.sleep(0.002)
        time.sleep(kill.after_s)
    else:
        time.sleep(max(0, attempt.begin + kill.after_s - time.time()))


def strike(attempt, kind, draw):
    """Kills, and says what: a process that is not there yet stands for the one that will start it."""
    found = processes.find_processes(attempt.token)
    role = "rank" if kind in ("stop", "node") else kind
    for role in (role, "rank", "launcher"):
        victims = sorted(processes.targets(found, role), key=lambda victim: victim.pid)
        if victims:
            victim = draw.choice(victims)
            break
    else:
        return "nothing"
    if kind == "node" and role == "rank":
        attempt.node_lost = True
        processes.send(processes.pids_of_node(victim.node), signal.SIGKILL)
        return kind
    is_stop = kind == "stop" and role == "rank"
    processes.send([victim.pid], signal.SIGSTOP if is_stop else signal.SIGKILL)
    return kind if is_stop else role


def check_seen(sonde, attempt, faults):
    for link in attempt.watcher.kept:
        if export(sonde, link) is None:
            faults.append(f"unreadable under the result's name: {link.name}")


def run_killed(launcher, folder, kill, draw, reference, arguments):
    outcome = Outcome()
    attempt = Attempt(launcher, folder, folder.name, resume=False)
    wait_for(attempt, kill)
    outcome.stage = find_stage(launcher.output(), attempt.watcher)
    outcome.at_s = time.time() - attempt.begin
    outcome.hit = strike(attempt, kill.kind, draw)
    gone_s = attempt.wait(60 * arguments.factor)
    outcome.gone_s = 60 * arguments.factor if gone_s is None else gone_s
    if gone_s is None:
        outcome.faults.append("not gone in time")
    outcome.status = attempt.status
    check_seen(arguments.sonde, attempt, outcome.faults)

    status = None
    while status not in MAY_END and outcome.resumes < MOST_RESUMES:
        outcome.resumes += 1
        attempt = Attempt(launcher, folder, folder.name, resume=True)
        if attempt.wait(60 * arguments.factor) is None:
            outcome.faults.append("a resumed run did not end")
        status = attempt.status
        check_seen(arguments.sonde, attempt, outcome.faults)
    if status not in MAY_END:
        outcome.faults.append(f"resumed {MOST_RESUMES} times, status {status}")
    run = export(arguments.sonde, launcher.output())
    if run is None:
        outcome.faults.append("no result that can be read")
    else:
        different = differences(reference, results(run))
        if different:
            outcome.faults.append(f"{len(different)} values differ, such as {different[0]}")
    outcome.faults += [f"left behind: {name}" for name in left_behind(folder)]
    return outcome


def measure_undisturbed(launcher, folder, sonde):
    """Its results, and the seconds from its first process to its last."""
    folder.mkdir()
    attempt = Attempt(launcher, folder, folder.name, resume=False)
    if attempt.wait(GIVE_UP_S) is None or attempt.status not in MAY_END:
        sys.exit(f"kill_runs.py: the undisturbed run under {launcher.name} ended with "
                 f"{attempt.status} (all is compared with it) see {folder}/log.txt")
    length_s = time.time() - attempt.begin
    return results(export(sonde, launcher.output())), length_s


def draw_kill(draw, launcher, length_s):
    """Half of the kills at any instant, half soon after a stage began: most stages are short."""
    kind = draw.choice(launcher.kinds)
    if draw.random() < 0.5:
        return Kill(kind, "", draw.uniform(0, length_s))
    stage = draw.choice(STAGES)
    return Kill(kind, stage, draw.uniform(0, 0.5 if stage == "start-up" else 0.05))


def make_launchers(names, sonde, work):
    recovery = ["--enable-recovery", "--mca", "orte_abort_on_non_zero_status", "0"]
    cluster = None
    if {"srun", "sbatch"} & set(names):
        cluster = Cluster(work / "cluster")
    make = {"mpirun": lambda name: Mpirun(name, sonde, OPTIONS),
            "mpirun-recovery": lambda name: Mpirun(name, sonde, OPTIONS, recovery),
            "srun": lambda name: Srun(name, sonde, OPTIONS, cluster),
            "sbatch": lambda name: Sbatch(name, sonde, OPTIONS, cluster)}
    return [make[name](name) for name in names], cluster


def has_slurm():
    return os.geteuid() == 0 and all(shutil.which(name) for name in ("slurmctld", "slurmd", "munged"))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sonde", required=True, type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--launchers", default="all", help="of mpirun, mpirun-recovery, srun, "
                        "sbatch, by comma; all: the last two if Slurm is installed")
    parser.add_argument("--factor", type=float, default=1, help="of the 60 s, on a slow machine")
    parser.add_argument("--keep", type=Path, help="a folder for what failed")
    return parser.parse_args()


def print_log(path):
    """What the run itself said at last: where nothing is kept, it is all that is left of it."""
    if path.exists():
        for line in path.read_text(errors="replace").splitlines()[-40:]:
            print(f"     | {line}", flush=True)


def run_kills(arguments, work):
    names = ["mpirun", "mpirun-recovery", *(["srun", "sbatch"] if has_slurm() else [])]
    if arguments.launchers != "all":
        names = arguments.launchers.split(",")
    launchers, cluster = make_launchers(names, arguments.sonde, work)
    count = collections.Counter()
    try:
        first = {type(launcher): launcher for launcher in reversed(launchers)}  # of each kind
        undisturbed = {kind: measure_undisturbed(launcher, work / launcher.name, arguments.sonde)
                       for kind, launcher in first.items()}
        for number in range(arguments.count):
            draw = random.Random(f"{arguments.seed} {number}")
            launcher = launchers[number % len(launchers)]
            reference, length_s = undisturbed[type(launcher)]
            kill = draw_kill(draw, launcher, length_s)
            folder = work / f"kill-{arguments.seed}-{number}"
            folder.mkdir()
            outcome = run_killed(launcher, folder, kill, draw, reference, arguments)
            print(f"{number:4} {launcher.name:16} {outcome.hit:9} {outcome.at_s:6.2f} s  "
                  f"{outcome.stage:10} status {outcome.status!s:5} gone {outcome.gone_s:5.1f} s  "
                  f"resumes {outcome.resumes}  {'; '.join(outcome.faults) or 'equal'}", flush=True)
            count["failed"] += bool(outcome.faults)
            count["missed"] += outcome.hit == "nothing"
            if outcome.faults:
                print_log(folder / "log.txt")
            if outcome.faults and arguments.keep:
                shutil.copytree(folder, arguments.keep / folder.name, dirs_exist_ok=True)
            shutil.rmtree(folder)
            shutil.rmtree(work / f"{folder.name}.seen")
    finally:
        if cluster:
            cluster.down()
    print(f"{arguments.count - count['failed']} of {arguments.count} kills did no harm; "
          f"{count['missed']} came when all was over")
    return 1 if count["failed"] else 0


def main():
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("kill_runs.py: told to end"))  # cleans up
    work = Path(tempfile.mkdtemp(prefix="sonde-kill-"))
    work.chmod(0o755)  # munged runs as its own user
    try:
        return run_kills(arguments, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
