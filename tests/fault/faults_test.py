#!/usr/bin/env python3
"""Each fault of a simulated GPU, and signals, in `sonde run`: the status, what the run file says of
the sick GPU, that the healthy one is whole, that --resume comes to the findings of an undisturbed
run, that nothing is left behind. faults_test.py <sonde> [unittest's arguments]"""
import json
import os
import signal
import time
import unittest
from pathlib import Path

from fault_run import BAD_JOB, FAILED, INCOMPLETE, LATER_JOB, OK, RESUMABLE
from fault_run import FaultTest, findings_of, left_behind


class SickGpuTest(FaultTest):
    """What is in the file for a GPU with a fault, and what --resume makes of it."""

    def check_one_job_lost(self, fault, cause, status):
        backend = f"sim:gtx980+{fault}"
        self.assertEqual(self.run_sonde(backend, "--force"), status, self.said)
        [device] = self.devices()
        self.assertEqual(self.statuses(device),
                         {"clock": "ok", BAD_JOB: "failed", LATER_JOB: "ok"})
        self.assertIn(cause, device["jobs"][BAD_JOB]["reason"])
        self.assertEqual(device["status"], "incomplete")
        self.assertIn(BAD_JOB, device["reason"])
        lost = [one for name, one in device["findings"].items()
                if name.startswith(BAD_JOB + ".") and one["status"] == "failed"]
        self.assertTrue(lost)
        for finding in lost:
            self.assertIn(cause, finding["reason"])
        self.assertEqual(left_behind(self.folder), [])

        self.assertEqual(self.run_sonde(backend, "--resume"), OK, self.said)
        self.check_whole(self.undisturbed())

    def test_one_job_is_lost(self):
        for fault, cause, status in (("crash=133", "signal 11", INCOMPLETE),
                                     ("sticky=133", "illegal state", FAILED),
                                     ("hang=133", "did not end in time", FAILED),
                                     ("launch_failure=133", "launching", INCOMPLETE)):
            with self.subTest(fault):
                self.check_one_job_lost(fault, cause, status)

    def test_gone(self):
        """Each resumed run gets as far as the first launch 133 of its process."""
        for fault, cause in (("gone=133", "is gone"), ("gone=133+crash=133", "signal 11")):
            with self.subTest(fault):
                backend = f"sim:gtx980+{fault}"
                self.assertEqual(self.run_sonde(backend), INCOMPLETE, self.said)
                [device] = self.devices()
                self.assertEqual(self.statuses(device),
                                 {"clock": "ok", BAD_JOB: "failed", LATER_JOB: "not_run"})
                self.assertIn(cause, device["jobs"][BAD_JOB]["reason"])
                self.assertIn("is gone", device["jobs"][LATER_JOB]["reason"])
                self.assertEqual(device["name"], "GeForce GTX 980")  # from before it was gone

                self.assertEqual(self.run_sonde(backend, "--resume"), INCOMPLETE, self.said)
                [device] = self.devices()
                self.assertEqual(self.statuses(device),
                                 {"clock": "ok", BAD_JOB: "ok", LATER_JOB: "failed"})

                self.assertEqual(self.run_sonde(backend, "--resume"), OK, self.said)
                self.check_whole(self.undisturbed())
                (self.folder / "run.h5").unlink()

    def test_nan(self):
        """Wall times of streams are the numbers of a trace that may be NaN."""
        jobs = "clock,global.throughput,shared"
        self.assertEqual(self.run_sonde("sim:gtx980+nan=1", jobs=jobs), INCOMPLETE, self.said)
        [device] = self.devices()
        self.assertEqual(self.statuses(device),
                         {"clock": "ok", "shared": "ok", "global.throughput": "failed"})
        self.assertEqual({one["status"] for name, one in device["findings"].items()
                          if name.startswith("global.")}, {"failed"})

    def test_clock_drop_and_rising_ecc_are_flagged(self):
        for fault, metric in (("clock_drop=20", "health.throttle_reasons"),
                              ("ecc_rising=20", "health.ecc_corrected")):
            with self.subTest(fault):
                self.assertIn(self.run_sonde(f"sim:gtx980+{fault}", "--force"), (0, 4), self.said)
                [device] = self.devices()
                self.assertEqual(set(self.statuses(device).values()), {"ok"})
                self.assertIn(metric, [flag["metric"] for flag in self.read()["flags"]])


class BaselineTest(FaultTest):
    def test_a_gpu_that_is_slower_than_its_baseline_fails_everywhere(self):
        jobs = "clock,global.throughput"
        self.assertEqual(self.run_sonde("sim:gtx980", jobs=jobs), OK, self.said)
        (self.folder / "run.h5").rename(self.folder / "before.h5")
        self.assertEqual(self.run_sonde("sim:gtx980+low_bandwidth=0.9", jobs=jobs), OK, self.said)
        baseline = ("run.h5", "--baseline", "before.h5")
        status, said = self.said_by("analyze", *baseline)
        self.assertEqual(status, FAILED)
        self.assertIn("changed since the baseline: global.", said)
        self.assertIn('"likely": "memory"', self.said_by("export", *baseline)[1])
        exported = self.said_by("export", *baseline, "--format", "prometheus")[1]
        self.assertRegex(exported, r"sonde_device_verdict{.*} 3\n")
        status, said = self.said_by("compare", "before.h5", "run.h5", "--format", "json")
        changes = json.loads(said)["changes"]
        self.assertEqual((status, {change["severity"] for change in changes}), (FAILED, {"fail"}))
        wide = [word for change in changes for word in ("--tolerance", change["metric"] + "=0.5")]
        self.assertEqual(self.said_by("analyze", *baseline, *wide)[0], OK)
        self.assertEqual(self.said_by("compare", "before.h5", "run.h5")[0], FAILED)
        self.assertEqual(self.said_by("compare", "before.h5", "before.h5")[0], OK)
        self.assertEqual(self.said_by("analyze", "run.h5")[0], OK)


class NeighbourTest(FaultTest):
    """Two ranks, the GPU of one of them sick: the other one's is whole."""

    def test_neighbours_of_sick_gpus_are_whole(self):
        reference = self.undisturbed("sim:gtx980,gtx980", ranks=2)
        for fault in ("crash=133", "gone=133"):
            with self.subTest(fault):
                backend = f"sim:gtx980+{fault},gtx980"
                self.assertEqual(self.run_sonde(backend, "--force", ranks=2), INCOMPLETE, self.said)
                sick, well = self.devices()
                self.assertEqual(sick["status"], "incomplete")
                self.assertEqual(well["status"], "complete")
                self.assertEqual(findings_of(well), {
                    name: (one["status"], one["value"])
                    for name, one in reference[well["uuid"]]["findings"].items()})
                self.assertEqual(left_behind(self.folder), [])


class SignalTest(FaultTest):
    def has_handler(self, pid):
        status = Path(f"/proc/{pid}/status").read_text()
        caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
        return int(caught.split()[1], 16) >> (signal.SIGUSR1 - 1) & 1

    def status_of_run(self):
        status, said = self.said_by("status", "run.h5")
        return status, next((one for one in ("was stopped", "is over") if one in said), said)

    def test_what_was_measured_with_other_options_outlives_the_run(self):
        child = self.start(self.command("sim:gtx980"))
        self.wait_until(self.is_measuring, child)
        child.send_signal(signal.SIGUSR1)
        self.assertEqual(self.finish(child), RESUMABLE, self.said)
        self.assertEqual(self.run_sonde("sim:gtx980", "--memory-percent", "50", "--resume"), OK, self.said)
        self.assertIn("results of another configuration", self.said)
        [kept] = (self.folder / "run.h5.parts").iterdir()
        self.assertTrue(kept.name.endswith(".old"), kept)

    def test_stop_signals(self):
        reference = self.undisturbed()
        for number, stage in ((signal.SIGUSR1, "start-up"), (signal.SIGUSR1, "measuring"),
                              (signal.SIGTERM, "measuring"), (signal.SIGINT, "start-up")):
            with self.subTest(f"{number.name} at {stage}"):
                child = self.start(self.command("sim:gtx980"))
                self.wait_until(self.is_measuring if stage == "measuring"
                                else lambda: self.has_handler(child.pid), child)
                child.send_signal(number)
                self.assertEqual(self.finish(child), RESUMABLE, self.said)
                self.assertFalse((self.folder / "run.h5").exists())
                self.assertEqual(self.status_of_run(), (RESUMABLE, "was stopped"))
                self.assertEqual(self.run_sonde("sim:gtx980", "--resume"), OK, self.said)
                self.assertEqual(self.status_of_run(), (OK, "is over"))
                self.check_whole(reference)
                (self.folder / "run.h5").unlink()

    def test_a_job_that_goes_on_after_sigterm_is_left_for_resume(self):
        """Its worker stands still, as one in a long soak seems to; SIGKILL would come after 30 s."""
        reference = self.undisturbed()
        child = self.start(self.command("sim:gtx980"))
        self.wait_until(self.is_measuring, child)
        self.send(signal.SIGSTOP, "worker")
        child.send_signal(signal.SIGTERM)
        begin = time.time()
        self.assertEqual(self.finish(child), RESUMABLE, self.said)
        self.assertLess(time.time() - begin, 20)
        self.assertIn("did not end soon after the signal", self.said)
        self.assertEqual(self.run_sonde("sim:gtx980", "--resume"), OK, self.said)
        self.check_whole(reference)

    def test_a_killed_worker_costs_one_job(self):
        """It is killed while a launch of BAD_JOB hangs, within the 2 s of the watchdog."""
        reference = self.undisturbed()
        backend = "sim:gtx980+hang=133"
        child = self.start(self.command(backend))
        self.wait_for_hang(child)
        self.send(signal.SIGKILL, "worker")
        self.assertEqual(self.finish(child), INCOMPLETE, self.said)
        [device] = self.devices()
        self.assertEqual(self.statuses(device),
                         {"clock": "ok", BAD_JOB: "failed", LATER_JOB: "ok"})
        self.assertIn("signal 9", device["reason"])
        self.assertEqual(self.run_sonde(backend, "--resume"), OK, self.said)
        self.check_whole(reference)


@unittest.skipUnless(os.environ.get("SONDE_TEST_SLOW"), "takes more than a minute")
class SlowSignalTest(FaultTest):
    def test_a_worker_that_stands_still_is_killed(self):
        """After --job-timeout-s and a minute."""
        child = self.start(self.command("sim:gtx980+hang=133", "--job-timeout-s", "1"))
        self.wait_for_hang(child)
        self.send(signal.SIGSTOP, "worker")
        self.assertEqual(self.finish(child, 120), INCOMPLETE, self.said)
        [device] = self.devices()
        self.assertEqual(device["jobs"][BAD_JOB]["status"], "failed")
        self.assertIn("was still at work after 61 s", device["jobs"][BAD_JOB]["reason"])


if __name__ == "__main__":
    unittest.main()
