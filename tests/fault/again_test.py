#!/usr/bin/env python3
"""Devices that deviate are measured again within the run: what comes back stays, what does not is a
note, and a second try that is disturbed costs nothing of the first.
again_test.py <sonde> [unittest's arguments]"""
import signal
import unittest

from fault_run import OK, FaultTest, left_behind
from kill_runs import read_states

VERDICT = 4
JOBS = "clock,global.throughput"
METRIC = "global.read_bytes_per_s"
REAL = "sim:gtx980+low_bandwidth=0.8,gtx980,gtx980"
GONE = "sim:gtx980+bandwidth_dip=0.8,gtx980,gtx980"
AGAIN = "measuring again"


class AgainTest(FaultTest):
    def run_three(self, backend, *more):
        status = self.run_sonde(backend, *more, jobs=JOBS, ranks=3)
        self.assertEqual(left_behind(self.folder), [], self.said)
        return status

    def flags(self):
        return [flag for flag in self.read()["flags"] if flag["metric"] == METRIC]

    def start_until_again(self, backend=REAL, *more):
        child = self.start(self.command(backend, *more, jobs=JOBS, ranks=3))
        self.wait_until(lambda: AGAIN in read_states(self.folder / "run.h5.parts"), child)
        return child


class OutcomeTest(AgainTest):
    def test_what_comes_back_fails(self):
        self.assertEqual(self.run_three(REAL), VERDICT, self.said)
        self.assertIn("2 GPU(s) are measured again", self.said)  # with one peer of two
        self.assertEqual(self.verdicts(), ["fail", "pass", "pass"])
        self.assertIn("measured again", self.flags()[0]["evidence"])
        verdicts = self.verdicts()
        self.assertEqual(self.said_by("analyze", "run.h5")[0], VERDICT)  # on the file alone
        self.assertEqual(self.verdicts(), verdicts)

    def test_what_does_not_come_back_is_a_note_and_is_not_measured_a_third_time(self):
        self.assertEqual(self.run_three(GONE), OK, self.said)
        self.assertEqual(self.verdicts(), ["pass", "pass", "pass"])
        [flag] = self.flags()
        self.assertEqual(flag["severity"], "info")
        self.assertIn("did not come back", flag["reason"])
        self.assertEqual(self.said_by("analyze", "run.h5")[0], OK)
        self.assertEqual(self.run_three(GONE, "--resume"), OK, self.said)
        self.assertNotIn("are measured again", self.said)
        self.assertEqual(self.verdicts(), ["pass", "pass", "pass"])


class DisturbedTest(AgainTest):
    def check_resumes_to(self, backend, status):
        self.assertEqual(self.run_three(backend, "--resume"), status, self.said)
        self.assertIn("are measured again", self.said)

    def test_a_killed_worker_costs_the_second_try(self):
        for attempt in range(5):  # the second try is short: on a busy machine it may be over
            child = self.start_until_again(REAL, *(["--force"] if attempt else []))
            self.send(signal.SIGKILL, "worker")
            self.assertEqual(self.finish(child), VERDICT, self.said)
            if "measured again" not in self.flags()[0]["evidence"]:
                break
        self.assertEqual(self.verdicts(), ["fail", "pass", "pass"])
        self.assertNotIn("measured again", self.flags()[0]["evidence"])
        self.check_resumes_to(REAL, VERDICT)
        self.assertIn("measured again", self.flags()[0]["evidence"])

    def test_a_signal_ends_the_second_try_and_the_run_goes_on(self):
        child = self.start_until_again()
        self.send(signal.SIGUSR1, "rank")
        self.assertEqual(self.finish(child), VERDICT, self.said)
        self.assertEqual(self.verdicts(), ["fail", "pass", "pass"])
        self.check_resumes_to(REAL, VERDICT)


if __name__ == "__main__":
    unittest.main()
