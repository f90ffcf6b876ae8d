#!/usr/bin/env python3
"""Disks that are full and folders that vanish or take no more under `sonde run`: the status, what is
kept, and that the way on that the documentation tells leads to the findings of an undisturbed run.
disks_test.py <sonde> [unittest's arguments]"""
import shutil
import subprocess
import unittest

from fault_run import ERROR, FAILED, OK, SONDE, FaultTest, results

# In a mount namespace of its own: $1 bytes for a folder that the run writes to, through to its end
# or its error; then more room, and the way on that the documentation tells.
IN_SMALL_FOLDER = """
set -u
mkdir small && mount -t tmpfs -o size=$1 none small && cd small || exit 99
shift
"$@" -o run.h5 2>../said.txt
echo $? >../status.txt
"""


def can_mount():
    return subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"],
                          stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipUnless(can_mount(), "may not mount a small file system")
class DiskTest(FaultTest):
    """A shard of the run takes 1.7 times the room of the run file, the analysis a copy of that more."""

    def setUp(self):
        super().setUp()
        if not hasattr(DiskTest, "healthy"):
            self.assertEqual(self.run_sonde("sim:gtx980"), OK, self.said)
            DiskTest.file_bytes = (self.folder / "run.h5").stat().st_size
            DiskTest.healthy = results(self.read())
            (self.folder / "run.h5").unlink()

    def fill(self, share, way_on):
        """A run with room for `share` run files, then `way_on`, a line of shell. What the first one
        left and said, and then what is there, is found in the folder."""
        room = int(DiskTest.file_bytes * share)
        script = (IN_SMALL_FOLDER + "ls run.h5.parts >../parts.txt\n"
                  "ls | grep -v parts >../outputs.txt\n"
                  "mount -o remount,size=1g . && " + way_on + " 2>../said_after.txt\n"
                  "echo $? >../status_after.txt\ncp -r run.h5* ..\n")
        command = self.command("sim:gtx980", output="run.h5")
        at = command.index("-o")
        del command[at:at + 2]
        child = self.start(["unshare", "-m", "sh", "-c", script, "sh", str(room), *command])
        self.assertEqual(self.finish(child), 0, self.said)
        self.first = int(self.text("status.txt"))
        self.assertEqual(self.first, ERROR, self.text("said.txt"))
        self.assertNotIn("MPI_", self.text("said.txt"))
        self.assertEqual(int(self.text("status_after.txt")), OK, self.text("said_after.txt"))

    def text(self, name):
        return (self.folder / name).read_text()

    def test_full_while_measuring(self):
        self.fill(0.6, '"$@" --resume -o run.h5')
        self.assertIn("--resume", self.text("said.txt"))
        self.assertIn("h5.part", self.text("parts.txt"))
        self.assertEqual(self.text("outputs.txt"), "")
        self.check_whole(DiskTest.healthy)

    def test_full_while_writing(self):
        self.fill(1.5, f"{SONDE} merge run.h5.parts -o run.h5 && rm -r run.h5.parts")
        self.assertIn("sonde merge run.h5.parts -o run.h5", self.text("said.txt"))
        self.assertNotIn("h5.part", self.text("parts.txt"))  # the shard is whole
        self.assertEqual(self.text("outputs.txt"), "")  # no part of a run file
        self.check_whole(DiskTest.healthy)

    def test_full_while_writing_and_resumed(self):
        self.fill(1.5, '"$@" --resume -o run.h5')
        self.check_whole(DiskTest.healthy)

    def test_full_while_analysing(self):
        self.fill(3.0, '"$@" --resume -o run.h5')
        self.assertIn("sonde analyze", self.text("said.txt"))
        self.assertEqual(self.text("outputs.txt").split(), ["run.h5"])
        self.check_whole(DiskTest.healthy)

    def interrupt_while_measuring(self, harm):
        """`harm` befalls the .parts folder while launch 133 hangs."""
        child = self.start(self.command("sim:gtx980+hang=133"))
        self.wait_for_hang(child)
        harm(self.folder / "run.h5.parts")
        return self.finish(child)

    def test_a_folder_that_vanishes_while_measuring(self):
        self.assertEqual(self.interrupt_while_measuring(shutil.rmtree), ERROR, self.said)
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertEqual(self.run_sonde("sim:gtx980", "--resume"), OK, self.said)
        self.check_whole(DiskTest.healthy)

    def test_a_folder_that_becomes_read_only_while_measuring(self):
        def lock(parts):
            if subprocess.run(["chattr", "+i", parts], stderr=subprocess.DEVNULL).returncode != 0:
                self.skipTest("no chattr here")
            self.addCleanup(subprocess.run, ["chattr", "-i", parts], stderr=subprocess.DEVNULL)

        self.assertEqual(self.interrupt_while_measuring(lock), ERROR, self.said)
        self.assertFalse((self.folder / "run.h5").exists())
        subprocess.run(["chattr", "-i", self.folder / "run.h5.parts"], check=True)
        # What was lost and what follows is measured by one process: it meets launch 133, too.
        self.assertEqual(self.run_sonde("sim:gtx980+hang=133", "--resume"), FAILED, self.said)
        self.assertEqual(self.run_sonde("sim:gtx980+hang=133", "--resume"), OK, self.said)
        self.check_whole(DiskTest.healthy)


if __name__ == "__main__":
    unittest.main()
