#!/usr/bin/env python3
"""`sonde status` of a run whose node has another time of day than the viewer: a run is alive if its
counters grow, whatever the time stamps of its files say."""
import contextlib
import json
import os
import subprocess
import threading
import time
import unittest

from fault_run import INCOMPLETE, OK, SONDE, FaultTest

SHIFTS_S = (-600, 600)  # of the node's clock against the viewer's
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
                    "elapsed_s": 5, "budget_s": 0, "beat": beat}
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
        done = subprocess.run([SONDE, "status", self.folder / "run.h5"], text=True,
                              stdout=subprocess.PIPE, timeout=60, check=False)
        return done.returncode, time.monotonic() - begin, done.stdout

    def test_a_run_whose_counters_grow_is_alive(self):
        for shift_s in SHIFTS_S:
            with self.subTest(shift_s=shift_s):
                with self.at_work(0, shift_s), self.at_work(1, shift_s):
                    status, took_s, text = self.status()
                self.assertEqual(status, OK, text)
                self.assertNotIn("silent", text)
                self.assertLess(took_s, 3 * BEAT_S)  # until all were heard, and no longer

    def test_a_run_whose_counters_stand_still_is_dead(self):
        self.write(0, 5, max(SHIFTS_S))
        status, _, text = self.status()
        self.assertEqual(status, INCOMPLETE, text)
        self.assertIn("is dead, or hangs", text)

    def test_one_dead_rank_is_named_beside_one_that_lives(self):
        self.write(1, 5, 600)
        with self.at_work(0, 600):
            status, _, text = self.status()
        self.assertEqual(status, INCOMPLETE, text)
        alive, dead = text.splitlines()[:2]
        self.assertIn("measuring", alive)
        self.assertIn("silent", dead)

    def test_nobody_waits_for_a_run_of_which_no_rank_is_at_work(self):
        for rank in range(2):
            self.write(rank, 5, -600, state="done")
        status, took_s, text = self.status()
        self.assertEqual(status, OK, text)
        self.assertLess(took_s, 1)


if __name__ == "__main__":
    unittest.main()
