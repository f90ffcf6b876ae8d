"""The processes of one run, wherever its launcher started them: all inherit a mark in their
environment. Which is a rank, its keeper, a worker, the launcher, is read from /proc."""
import dataclasses
import os
import signal
from pathlib import Path

MARK = "SONDE_KILL_TEST"


@dataclasses.dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    name: str  # at most 15 characters, as the kernel keeps it
    is_sonde_run: bool
    node: str  # its UTS namespace: ranks of two simulated nodes differ in it


def read_process(pid, mark):
    """Nothing if it has ended or does not bear the mark."""
    folder = Path("/proc") / str(pid)
    try:
        if mark not in (folder / "environ").read_bytes().split(b"\0"):
            return None
        arguments = (folder / "cmdline").read_bytes().split(b"\0")
        before, _, after = (folder / "stat").read_text().rpartition(")")
        is_run = os.path.basename(arguments[0]) == b"sonde" and arguments[1:2] == [b"run"]
        return Process(pid, int(after.split()[1]), before.partition("(")[2], is_run,
                       os.readlink(folder / "ns/uts"))
    except (OSError, ValueError, IndexError):
        return None


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def is_alive(pid):
    """Not gone, and not a zombie that nobody has waited for yet."""
    try:
        state = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
        return state not in "ZX"
    except OSError:
        return False


def find_processes(token):
    mark = f"{MARK}={token}".encode()
    found = (read_process(pid, mark) for pid in all_pids())
    return {process.pid: process for process in found if process}


def depth(process, processes):
    """0: a rank; 1: its keeper; 2: a worker."""
    above = processes.get(process.parent)
    return 1 + depth(above, processes) if above and above.is_sonde_run else 0


def targets(processes, role):
    """Those that play a role: "rank", "keeper", "worker" or "launcher"."""
    if role == "launcher":
        return [process for process in processes.values()
                if process.name in ("mpirun", "orterun", "srun")
                and getattr(processes.get(process.parent), "name", "") != process.name]
    wanted = ("rank", "keeper", "worker").index(role)
    return [process for process in processes.values()
            if process.is_sonde_run and depth(process, processes) == wanted]


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def pids_of_node(node):
    """All processes in a UTS namespace, with the daemon that serves it."""
    pids = []
    for pid in all_pids():
        try:
            if os.readlink(f"/proc/{pid}/ns/uts") == node:
                pids.append(pid)
        except OSError:
            pass
    return pids


def end_all(token):
    send(find_processes(token), signal.SIGKILL)
