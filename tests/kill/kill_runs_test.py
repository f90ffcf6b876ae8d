"""That the checks of kill_runs.py can fail."""
import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import checks
import processes


class ChecksTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def test_a_difference_is_named(self):
        before = {"GPU-1": {"findings": {"a": {"value": 1}, "b": {"value": 2}}}}
        after = {"GPU-1": {"findings": {"a": {"value": 1}, "b": {"value": 3}}}}
        self.assertEqual(checks.differences(before, before), [])
        self.assertEqual(checks.differences(before, after),
                         ["/GPU-1/findings/b/value: 2 before, 3 now"])

    def test_a_lost_device_is_a_difference(self):
        self.assertEqual(len(checks.differences({"GPU-1": {}, "GPU-2": {}}, {"GPU-1": {}})), 1)

    def test_parts_are_left_behind(self):
        for name in ("run.h5", "run.h5.part.data.1", "sonde-1.html"):
            (self.path / name).touch()
        (self.path / "run.h5.parts").mkdir()
        self.assertEqual(checks.left_behind(self.path), ["run.h5.part.data.1", "run.h5.parts"])

    def test_every_file_under_the_name_is_seen(self):
        result = self.path / "run.h5"
        watcher = checks.Watcher(lambda: result, self.path)
        watcher.start()
        for text in ("first", "second"):
            (self.path / "new").write_text(text)
            os.replace(self.path / "new", result)
            time.sleep(0.1)
        watcher.stop()
        self.assertEqual([link.read_text() for link in watcher.kept], ["first", "second"])


class ProcessesTest(unittest.TestCase):
    def test_the_mark_finds_children_of_children(self):
        child = subprocess.Popen(["sh", "-c", "sleep 60 & wait"],
                                 env=os.environ | {processes.MARK: "test"})
        try:
            while len(processes.find_processes("test")) < 2:
                time.sleep(0.01)
            self.assertEqual(processes.find_processes("tes"), {})
        finally:
            processes.end_all("test")
            child.wait()

    def test_a_zombie_is_not_alive(self):
        child = subprocess.Popen(["sleep", "60"])
        self.assertTrue(processes.is_alive(child.pid))
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        self.assertTrue(Path(f"/proc/{child.pid}").exists())
        self.assertFalse(processes.is_alive(child.pid))
        child.wait()
        self.assertFalse(processes.is_alive(child.pid))


if __name__ == "__main__":
    unittest.main()
