"""Runs of sonde on GPUs, disks and processes that fail, for the tests of this folder, which are called
<test>.py <sonde> [unittest's arguments].

Launches of gtx980 in the quick suite: 12 in clock, 129 in cache.l1, 92 in control. A fault at launch
133 of a process so hits cache.l1 alone: neither the next worker, which goes on with control, nor
--resume, which measures cache.l1, comes that far."""
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "kill"))
import processes  # noqa: E402
from checks import differences, export, left_behind, results  # noqa: E402
from launchers import MPI_ENVIRONMENT  # noqa: E402

SONDE = str(Path(sys.argv.pop(1)).resolve())
OK, ERROR, INCOMPLETE, FAILED, RESUMABLE = 0, 1, 3, 4, 75
JOBS = "clock,cache.l1,control"
BAD_JOB, LATER_JOB = "cache.l1", "control"
LONGEST_S = 60


def no_core_files():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def findings_of(device):
    return {name: (one["status"], one["value"]) for name, one in device["findings"].items()}


class FaultTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="sonde-fault-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = os.environ | MPI_ENVIRONMENT | {processes.MARK: self.folder.name}
        self.addCleanup(processes.end_all, self.folder.name)

    def command(self, backend, *more, jobs=JOBS, ranks=1, output="run.h5", suite="quick"):
        launcher = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
        return [*launcher, SONDE, "run", "--backend", backend, "--suite", suite, "--jobs", jobs,
                "--seed", "7", "-o", str(output), *more]

    def start(self, command):
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, preexec_fn=no_core_files)

    def finish(self, child, limit_s=LONGEST_S):
        """The status; what it said is kept, and no process of it is left."""
        _, self.said = child.communicate(timeout=limit_s)
        deadline = time.time() + 5
        while processes.find_processes(self.folder.name) and time.time() < deadline:
            time.sleep(0.01)
        self.assertEqual(processes.find_processes(self.folder.name), {}, "processes left behind")
        return child.returncode

    def run_sonde(self, backend, *more, **how):
        return self.finish(self.start(self.command(backend, *more, **how)))

    def wait_until(self, condition, child):
        deadline = time.time() + LONGEST_S
        while not condition():
            self.assertIsNone(child.poll(), "it ended before")
            self.assertLess(time.time(), deadline)
            time.sleep(0.001)

    def is_measuring(self):
        return any((self.folder / "run.h5.parts").glob("*.h5.part"))

    def wait_for_hang(self, child):
        """Until launch 133 of a run with hang=133 has begun; it takes 2 s from there."""
        self.wait_until(self.is_measuring, child)
        time.sleep(1)

    def send(self, number, role):
        """The signal to all processes that play a role."""
        found = processes.targets(processes.find_processes(self.folder.name), role)
        processes.send([process.pid for process in found], number)

    def said_by(self, *arguments):
        """The status and stdout of another command."""
        done = subprocess.run([SONDE, *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=60, check=False)
        self.said = done.stderr
        return done.returncode, done.stdout

    def read(self, name="run.h5"):
        run = export(SONDE, self.folder / name)
        self.assertIsNotNone(run, f"{name} cannot be read")
        return run

    def devices(self):
        return sorted(self.read()["devices"], key=lambda device: device["rank"])

    def verdicts(self):
        return [device["verdict"] for device in self.devices()]

    def statuses(self, device):
        return {name: job["status"] for name, job in device["jobs"].items()}

    def check_whole(self, reference=None):
        """The run file is whole, nothing else is left; its findings are those of `reference`."""
        self.assertEqual(left_behind(self.folder), [])
        for device in self.devices():
            self.assertEqual(device["status"], "complete")
            self.assertEqual(set(self.statuses(device).values()), {"ok"})
        if reference:
            now = results(self.read())
            self.assertEqual(differences(reference, now), [])

    calm = {}

    def undisturbed(self, backend="sim:gtx980", **how):
        """The results of a run without faults, measured once for all tests."""
        key = f"{backend} {how}"
        if key not in FaultTest.calm:
            self.assertEqual(self.run_sonde(backend, output="calm.h5", **how), OK, self.said)
            FaultTest.calm[key] = results(self.read("calm.h5"))
            (self.folder / "calm.h5").unlink()
        return FaultTest.calm[key]
