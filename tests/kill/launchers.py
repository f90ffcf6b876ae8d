"""How a run of three ranks is started, followed and started again: by mpirun, by srun, by sbatch."""
import os
import re
import subprocess
import time
from pathlib import Path

from processes import MARK, find_processes, is_alive

RANKS = 3
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
SLURM = Path(__file__).resolve().parents[2] / "slurm"


class Mpirun:
    kinds = ("rank", "worker", "keeper", "launcher", "stop")

    def __init__(self, name, sonde, options, more=()):
        self.name = name
        self.command = ["mpirun", "--oversubscribe", *more, "-n", str(RANKS), sonde, "run", *options]
        self.environment = os.environ | MPI_ENVIRONMENT

    def start(self, folder, token, resume):
        self.folder = folder
        command = [*self.command, "-o", "run.h5", *(["--resume"] if resume else [])]
        with open(folder / "log.txt", "ab") as log:
            self.child = subprocess.Popen(command, cwd=folder, env=self.environment | {MARK: token},
                                          stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def output(self):
        return self.folder / "run.h5"

    def status(self):
        """None while the launcher runs."""
        return self.child.poll()

    def clean_up(self):
        self.child.wait()


class Srun(Mpirun):
    kinds = ("rank", "worker", "keeper", "launcher", "stop", "node")

    def __init__(self, name, sonde, options, cluster):
        super().__init__(name, sonde, options)
        self.cluster = cluster
        self.command = ["srun", "--nodes=2", f"--ntasks={RANKS}", "--mpi=pmix",
                        "--kill-on-bad-exit=0", "--wait=0", "--no-kill", "--cpu-bind=none",
                        sonde, "run", *options]
        self.environment = os.environ | cluster.environment

    def clean_up(self):
        self.child.wait()
        self.cluster.repair()


class Sbatch:
    """Goes on by putting the same job back into the queue, as audit.sbatch does by itself."""
    kinds = ("rank", "worker", "keeper", "launcher", "stop", "node")
    ended = re.compile("COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL")

    def __init__(self, name, sonde, options, cluster):
        self.name = name
        self.options = options
        self.cluster = cluster
        self.environment = os.environ | cluster.environment
        self.environment["PATH"] = f"{Path(sonde).parent}:{os.environ['PATH']}"

    def start(self, folder, token, resume):
        self.folder = folder
        self.token = token
        self.seen = False
        if resume:
            if self.state() != "PENDING":
                self.slurm("scontrol", "requeue", self.job)
            # Not at once: slurmd takes a credential of the last second for a replay.
            self.slurm("scontrol", "update", f"JobId={self.job}", "StartTime=now+4")
            return
        self.environment[MARK] = token
        self.job = self.slurm("sbatch", "--parsable", "--nodes=2", f"--ntasks={RANKS}",
                              str(SLURM / "audit.sbatch"), *self.options).strip()

    def slurm(self, *command):
        return subprocess.run(command, cwd=self.folder, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def show(self, key):
        found = re.search(rf"\b{key}=(\w+)", self.slurm("scontrol", "show", "job", self.job))
        return found[1] if found else ""

    def state(self):
        return self.show("JobState")

    def output(self):
        return self.folder / f"sonde-{self.job}.h5"

    def status(self):
        """None while the job runs or has not begun; -1 if it waits for its next start."""
        self.seen = self.seen or bool(find_processes(self.token))
        state = self.state()
        if self.ended.fullmatch(state):
            return int(self.show("ExitCode") or 0)
        return -1 if state == "PENDING" and self.seen else None

    def clean_up(self):
        self.cluster.repair(keep_jobs=True)


class Cluster:
    """A Slurm of two nodes on this machine."""

    def __init__(self, folder):
        self.folder = folder
        subprocess.run([SLURM / "onehost.sh", "up", folder], check=True)
        text = subprocess.run([SLURM / "onehost.sh", "env", folder], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        self.environment = dict(re.findall(r"(\w+)=(\S+)", text)) | MPI_ENVIRONMENT

    def down(self):
        subprocess.run([SLURM / "onehost.sh", "down", self.folder], check=False)

    def repair(self, keep_jobs=False):
        """Starts nodes that were killed, ends what is left of jobs or lets them go on, and waits until
        all nodes are there."""
        environment = os.environ | self.environment
        if not keep_jobs:
            subprocess.run(["scancel", "--user=root"], env=environment, check=False)
        for node in ("n1", "n2"):
            pid = int((self.folder / f"run/slurmd.{node}.pid").read_text())
            if not is_alive(pid):
                subprocess.run([SLURM / "onehost.sh", "start", self.folder, node], check=True)
        there = "idle,alloc,mix" if keep_jobs else "idle"
        for _ in range(240):
            nodes = subprocess.run(["sinfo", "-h", "-N", "-t", there], env=environment, text=True,
                                   stdout=subprocess.PIPE).stdout
            if len(nodes.splitlines()) == 2:
                return
            time.sleep(0.25)
        raise RuntimeError("the nodes of the test's Slurm do not come back")
