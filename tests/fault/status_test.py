#!/usr/bin/env python3
"""`sonde status` of a run whose node has another time of day than the viewer: a run is alive if its
counters grow, whatever the time stamps of its files say."""
import contextlib
import json
import os
import threading
import time
import unittest

from fault_run import INCOMPLETE, OK, FaultTest

SHIFT_S = 600  # of the node's clock against the viewer's
BEAT_S = 2


class StatusTest(FaultTest):
    def setUp(self):
        super().setUp()
        self.parts = self.folder / "run.h5.parts"
        self.parts.mkdir()

    def write(self, rank, beat, shift_s, state="measuring"):
        path = self.parts / f"{rank}.progress.json"
        progress = {"rank": rank, "ranks": 2, "node": "n1", "uuid": f"GPU-{rank}", "job": "clock",
                    "state": state, "jobs_done": 1, "jobs_total": 4, "probes_done": 7,
                    "elapsed_s": 5, "beat": beat}
        new = path.with_suffix(".new")
        new.write_text(json.dumps(progress))
        os.utime(new, (time.time() + shift_s,) * 2)
        new.rename(path)

    @contextlib.contextmanager
    def at_work(self, rank, shift_s):
        """A rank that writes as long as this lasts."""
        ended = threading.Event()

        def write():
            beat = 5
            while not ended.wait(BEAT_S):
                beat += 1
                self.write(rank, beat, shift_s)

        self.write(rank, 5, shift_s)
        writer = threading.Thread(target=write)
        writer.start()
        try:
            yield
        finally:
            ended.set()
            writer.join()

    def status(self):
        """Exit status, seconds and text."""
        begin = time.monotonic()
        status, text = self.said_by("status", "run.h5")
        return status, time.monotonic() - begin, text

    def test_a_run_whose_counters_grow_is_alive_though_its_files_look_old(self):
        with self.at_work(0, -SHIFT_S), self.at_work(1, -SHIFT_S):
            status, took_s, text = self.status()
        self.assertEqual(status, OK, text)
        self.assertNotIn("silent", text)
        self.assertLess(took_s, 3 * BEAT_S)  # until all were heard, and no longer

    def test_a_dead_rank_is_named_beside_one_that_lives_though_its_file_looks_new(self):
        self.write(1, 5, SHIFT_S)
        with self.at_work(0, SHIFT_S):
            status, _, text = self.status()
        self.assertEqual(status, INCOMPLETE, text)
        alive, dead = text.splitlines()[:2]
        self.assertIn("measuring", alive)
        self.assertIn("silent", dead)
        self.assertIn("is dead, or hangs", text)


if __name__ == "__main__":
    unittest.main()
