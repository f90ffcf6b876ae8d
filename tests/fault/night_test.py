#!/usr/bin/env python3
"""A night: the suite full is repeated until its time budget is over, and what drifts is found.
night_test.py <sonde> [unittest's arguments]"""
import re
import shutil
import signal
import unittest
from collections import Counter

from fault_run import INCOMPLETE, OK, RESUMABLE, FaultTest, left_behind

BACKEND = "sim:gtx980,gtx780"


class NightTest(FaultTest):
    def repeats_done(self):
        """Of each GPU that has any."""
        return Counter(path.name for path in (self.folder / "run.h5.parts").rglob("*.h5"))


class FillTest(NightTest):
    """The suite full with a time budget: repeats until it is over."""
    def run_night(self, budget, *more, **how):
        how = {"backend": BACKEND, "jobs": "clock", "ranks": 2, "suite": "full"} | how
        return self.run_sonde(how.pop("backend"), "--time-budget", budget, *more, **how)

    def measure_night(self, *more, least=1, **how):
        """With a budget in which so many repeats are whole, however slow this machine is."""
        budget_s = 2
        status = self.run_night(f"{budget_s}s", *more, **how)
        while status == RESUMABLE or self.stand() < least:
            budget_s *= 2
            self.assertLess(budget_s, 100, self.said)
            status = self.run_night(f"{budget_s}s", "--resume", **how)
        return status

    def stand(self):
        """How many repeats the run says it has."""
        said = re.search(r"the time budget is over: (\d+) complete repeat\(s\) are kept", self.said)
        self.assertIsNotNone(said, self.said)
        return int(said.group(1))

    def check_night(self, run, repeats):
        self.assertEqual(len(run["points"]), repeats)
        self.assertEqual({device["repeats"] for device in run["devices"]}, {repeats})
        self.assertEqual({device["status"] for device in run["devices"]}, {"complete"})
        self.assertEqual(left_behind(self.folder), [])
        self.assertFalse((self.folder / "run.h5.parts").exists())

    def test_it_ends_with_the_repeats_that_are_whole_and_resumes_with_more(self):
        self.assertEqual(self.measure_night(least=2), OK, self.said)
        repeats = self.stand()
        first = self.read()
        self.check_night(first, repeats)
        self.assertEqual(self.measure_night("--resume", least=repeats + 1), OK, self.said)
        second = self.read()
        self.check_night(second, self.stand())
        self.assertEqual(second["points"][:repeats], first["points"])

    def test_without_one_whole_repeat_it_waits_for_resume(self):
        self.assertEqual(self.run_night("0.001s"), RESUMABLE, self.said)
        self.assertEqual(self.measure_night("--resume"), OK, self.said)
        self.check_night(self.read(), self.stand())

    def test_killed_it_goes_on_and_its_shards_can_be_merged(self):
        child = self.start(self.command(BACKEND, "--time-budget", "60s", jobs="clock",
                                        ranks=2, suite="full"))
        self.wait_until(lambda: sorted(self.repeats_done().values())[-2:-1] >= [2], child)
        self.send(signal.SIGKILL, "rank")
        self.finish(child)
        folders = [path for path in (self.folder / "run.h5.parts").iterdir() if path.is_dir()]
        self.assertLessEqual(len(folders), max(self.repeats_done().values()) + 1)  # one is begun
        shutil.copytree(self.folder / "run.h5.parts", self.folder / "kept.parts")
        status, _ = self.said_by("merge", "kept.parts", "-o", "merged.h5")
        self.assertIn(status, (OK, INCOMPLETE), self.said)
        merged = self.read("merged.h5")
        self.assertGreaterEqual(len(merged["points"]), 2)
        self.assertLess(len(merged["points"]), 500)  # those that were begun, of 1000
        self.assertEqual(len(merged["devices"]), 2)
        shutil.rmtree(self.folder / "kept.parts")
        (self.folder / "merged.h5").unlink()
        self.assertEqual(self.measure_night("--resume", least=2), OK, self.said)
        self.check_night(self.read(), self.stand())

    def test_a_gpu_that_cannot_be_measured_holds_up_nobody(self):
        self.measure_night(least=2, backend="sim:gtx980,gtx980+sticky=2")
        run = self.read()
        self.assertEqual({device["repeats"] for device in run["devices"]}, {self.stand()})
        self.assertEqual(self.verdicts(), ["pass", "fail"])

    def test_a_night_whose_only_gpu_is_given_up_ends_with_what_it_came_to(self):
        """Its fourth lost worker is the last one."""
        status = self.run_night("60s", ranks=1, backend="sim:gtx980+crash=13",
                                jobs="clock,cache.l1,cache.readonly,cache.l2,shared")
        self.assertEqual(status, INCOMPLETE, self.said)
        self.assertIn("no GPU is left to be measured: 1 complete repeat(s) are kept", self.said)
        run = self.read()
        self.assertEqual(len(run["points"]), 1)
        self.assertEqual(self.verdicts(), ["incomplete"])


class DriftTest(NightTest):
    def test_a_clock_that_sinks_over_the_repeats_is_named_and_others_are_well(self):
        backend = "sim:gtx980+clock_sink=0.99,gtx980,gtx980"
        self.assertEqual(self.run_sonde(backend, "--repeat", "8", ranks=3, jobs="clock,shared"),
                         OK, self.said)
        run = self.read()
        sinking = run["devices"][0]
        self.assertEqual(self.verdicts(),
                         ["warn", "pass", "pass"])
        self.assertEqual(sinking["likely"], "thermal")
        drifts = [flag for flag in run["flags"] if flag["metric"].endswith(" (drift)")]
        self.assertLessEqual({"conditions.sm_clock_hz (drift)", "clock.sm_hz (drift)"},
                             {drift["metric"] for drift in drifts})
        for drift in drifts:
            self.assertEqual(drift["uuid"], sinking["uuid"])
            self.assertIn("a line fitted to 8 repeats", drift["reason"])
        clock = next(drift for drift in drifts if drift["metric"] == "clock.sm_hz (drift)")
        self.assertAlmostEqual(1 + clock["deviation_fraction"], 0.99 ** 7, delta=0.01)
        text, wide = (self.said_by("analyze", "run.h5", *more)[1]
                      for more in ([], ["--tolerance", "clock.sm_hz=0.5"]))
        self.assertRegex(text, r"what +SM clock fell [67].. % in .* \(fitted\), read 1.* GHz, 4. to 7. C")
        self.assertRegex(text, r"clock\.sm_hz\s+\(drift\)")
        self.assertNotRegex(wide, r"clock\.sm_hz\s+\(drift\)")


if __name__ == "__main__":
    unittest.main()
