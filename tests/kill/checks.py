"""What must hold of a run that was killed: nothing unreadable under the result's name at any time,
nothing left behind, and in the end the findings of an undisturbed run."""
import json
import os
import re
import subprocess
import threading

LEFT_BEHIND = re.compile(r"\.part|\.metadata\.|\.new$|\.write-test")


class Watcher(threading.Thread):
    """Keeps, by a hard link, every file that comes to stand under a name."""

    def __init__(self, path, keep):
        super().__init__(daemon=True)
        self.path = path
        self.keep = keep
        self.kept = []
        self.inodes = set()
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(0.005):
            self.look()

    def look(self):
        try:
            inode = self.path().stat().st_ino
            if inode not in self.inodes:
                link = self.keep / f"seen.{len(self.kept)}"
                os.link(self.path(), link)
                self.inodes.add(inode)
                self.kept.append(link)
        except OSError:
            pass

    def stop(self):
        self.ended.set()
        self.join()
        self.look()


def export(sonde, path):
    """The run as JSON; nothing if it cannot be read."""
    done = subprocess.run([sonde, "export", str(path)], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL, timeout=60)
    return json.loads(done.stdout) if done.returncode == 0 else None


def results(run):
    """By device, without what another day, rank or node may change."""
    return {device["uuid"]: {"status": device["status"], "verdict": device["verdict"],
                             "reason": device["reason"], "findings": device["findings"],
                             "jobs": {name: job["status"] for name, job in device["jobs"].items()}}
            for device in run["devices"]}


def differences(expected, got, path=""):
    """Where two values differ, as texts."""
    if isinstance(expected, dict) and isinstance(got, dict):
        found = []
        for key in sorted(expected.keys() | got.keys()):
            found += differences(expected.get(key), got.get(key), f"{path}/{key}")
        return found
    return [] if expected == got else [f"{path}: {expected} before, {got} now"]


def left_behind(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")
                  if LEFT_BEHIND.search(path.name))
