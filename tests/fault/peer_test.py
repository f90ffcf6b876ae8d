#!/usr/bin/env python3
"""GPUs of a node measure the links between them after everything else, in one worker of its first rank:
the matrix, and what is left of it when a GPU, that worker or a rank fails. Nobody waits for ever.
peer_test.py <sonde> [unittest's arguments]

Launches of h200 in jobs clock and peer: 5 to 9 in clock, in a process of its own; in the one that
measures the links one for each peer, then 18 for the shapes of streams: launch 12 lies in the turn."""
import json
import os
import signal
import time
import unittest
from pathlib import Path

from fault_run import FAILED, INCOMPLETE, OK, RESUMABLE, SONDE, FaultTest, left_behind
from fault_run import processes

JOBS = "clock,peer"
IN_TURN = 19  # a launch of the job peer: the clock takes the first 12
DIRECTION, LATENCY = 18 * 20.8e9, 1650  # as h200.json declares
RATES = {"peer.read_bytes_per_s": DIRECTION, "peer.write_bytes_per_s": DIRECTION,
         "peer.both_ways_bytes_per_s": 2 * DIRECTION}


class PeerTest(FaultTest):
    def run_peers(self, backend, ranks, *more):
        return self.run_sonde(backend, *more, jobs=JOBS, ranks=ranks)

    def findings(self):
        return [device["findings"] for device in self.devices()]

    def start_and_wait_for_hang(self, backend, ranks, *more, recovery=False):
        """Until the GPU with hang=IN_TURN stands still, for 2 s, and with it all of the node."""
        command = self.command(backend, *more, jobs=JOBS, ranks=ranks)
        if recovery:
            command[1:1] = ["--enable-recovery", "--mca", "orte_abort_on_non_zero_status", "0"]
        child = self.start(command)
        self.wait_until(self.is_measuring_links, child)
        time.sleep(0.8)
        return child

    def is_measuring_links(self):
        try:
            text = (self.folder / "run.h5.parts" / "0.progress.json").read_text()
            return json.loads(text)["job"] == "peer"
        except (OSError, ValueError):
            return False

    def send_rank(self, number, rank):
        found = processes.targets(processes.find_processes(self.folder.name), "rank")
        processes.send([one.pid for one in found if self.rank_of(one.pid) == rank], number)

    @staticmethod
    def rank_of(pid):
        items = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return int(dict(item.partition(b"=")[::2] for item in items)[b"OMPI_COMM_WORLD_RANK"])

    def check_row(self, findings, own, others):
        """`others` have a link as declared, all else has none."""
        for metric, declared in [("peer.latency_cycles", LATENCY), *RATES.items()]:
            self.assertEqual(findings[metric]["status"], "ok", findings[metric]["reason"])
            values = findings[metric]["value"]
            for rank, value in enumerate(values):
                if rank in others and rank != own:
                    self.assertAlmostEqual(value / declared, 1, delta=0.01)
                else:
                    self.assertIsNone(value)

    def check_no_row(self, device, status, reason):
        self.assertEqual(device["jobs"]["peer"]["status"], status)
        self.assertIn(reason, device["findings"]["peer.read_bytes_per_s"]["reason"])
        self.assertIsNone(device["findings"]["peer.read_bytes_per_s"]["value"])

    def check_not_together(self, findings, reason, status="not_resolvable"):
        finding = findings["peer.all_at_once_bytes_per_s"]
        self.assertEqual(finding["status"], status)
        self.assertIn(reason, finding["reason"])


class MatrixTest(PeerTest):
    def test_four_gpus(self):
        self.assertEqual(self.run_peers("sim:h200,h200,h200,h200+peer_lanes=1:0.5", 4), FAILED,
                         self.said)
        verdicts = [(device["verdict"], device["likely"]) for device in self.devices()]
        self.assertEqual(verdicts[0::2], [("pass", "unknown")] * 2)
        self.assertEqual(verdicts[1::2], [("fail", "link")] * 2)  # both ends of the slow link
        self.assertEqual(left_behind(self.folder), [], self.said)
        for rank, findings in enumerate(self.findings()):
            self.assertEqual(findings["peer.ranks"]["value"], [0, 1, 2, 3])
            self.assertEqual(findings["peer.link"]["value"], "nvlink")
            for metric, declared in RATES.items():
                for other, value in enumerate(findings[metric]["value"]):
                    if other == rank:
                        self.assertIsNone(value)
                        continue
                    share = 0.5 if {rank, other} == {1, 3} else 1
                    self.assertAlmostEqual(value / declared, share, delta=0.01)
            slowest = findings["peer.slowest"]
            self.assertEqual((slowest["status"], slowest["value"]),
                             {1: ("ok", 3), 3: ("ok", 1)}.get(rank, ("not_present", None)))
            together = findings["peer.all_at_once_bytes_per_s"]
            self.assertEqual(together["status"], "ok", together["reason"])
            self.assertAlmostEqual(together["value"][(rank + 1) % 4] / DIRECTION, 1, delta=0.01)

    def test_two_gpus_and_their_reports(self):
        self.assertEqual(self.run_peers("sim:h200", 2), OK, self.said)
        for rank, findings in enumerate(self.findings()):
            self.check_row(findings, rank, {0, 1})
            self.assertEqual(findings["peer.slowest"]["status"], "not_resolvable")
        _, text = self.said_by("export", "run.h5", "--format", "table")
        self.assertIn("GPU TO GPU", text)
        self.assertRegex(text, r"peer.read_bytes_per_s, GB/s \(nvlink\)\n +from rank +rank 0 +rank 1"
                               r"\n +0 +- +3\d\d")
        page = self.folder / "report.html"
        self.said_by("report", "run.h5", "-o", str(page))
        self.assertIn("GPU to GPU", page.read_text())


class FailureTest(PeerTest):
    def check_others_of_three(self):
        """Rank 1 of three failed: the others have their rows, its memory is still there."""
        devices = self.devices()
        for rank in (0, 2):
            self.check_row(devices[rank]["findings"], rank, {0, 1, 2})
            self.check_not_together(devices[rank]["findings"], "rank 1")
        return devices[1]

    def test_a_hang_in_its_turn(self):
        backend = f"sim:h200,h200+hang={IN_TURN},h200"
        self.assertEqual(self.run_peers(backend, 3), FAILED, self.said)
        self.check_no_row(self.check_others_of_three(), "failed", "the GPU hangs")

    def check_no_links(self, devices, reason):
        """The worker was lost: no GPU of the node has links, and all keep what they had."""
        self.assertIn("the links of this node were not measured: the worker process", self.said)
        for device in devices:
            self.check_no_row(device, "failed", reason)
            self.assertEqual(device["status"], "incomplete")
            self.assertEqual(device["jobs"]["clock"]["status"], "ok")

    def test_a_killed_worker_is_made_up_for_by_resume(self):
        backend = f"sim:h200,h200+hang={IN_TURN},h200"
        child = self.start_and_wait_for_hang(backend, 3)
        self.send(signal.SIGKILL, "worker")
        self.assertEqual(self.finish(child), INCOMPLETE, self.said)
        self.check_no_links(self.devices(), "signal 9")
        self.assertEqual(self.run_peers(backend, 3, "--resume"), FAILED, self.said)
        self.check_no_row(self.check_others_of_three(), "failed", "the GPU hangs")

    def lose_rank(self, rank, number):
        """While the links are measured."""
        child = self.start_and_wait_for_hang(f"sim:h200,h200+hang={IN_TURN},h200", 3,
                                             "--rendezvous-timeout-s", "5", recovery=True)
        begin = time.time()
        self.send_rank(number, rank)
        self.finish(child)
        self.assertLess(time.time() - begin, 40)
        return self.devices()

    def test_a_killed_rank_that_measures_costs_the_links_of_the_node(self):
        for device in self.lose_rank(0, signal.SIGKILL):
            self.assertEqual(device["jobs"]["clock"]["status"], "ok")
            self.assertEqual(device["status"], "incomplete")
            self.assertIn("job peer: the run ended before it", device["reason"])

    def test_a_stopped_rank_holds_up_neither_its_worker_nor_the_others(self):
        self.lose_rank(0, signal.SIGSTOP)
        self.check_no_row(self.check_others_of_three(), "failed", "the GPU hangs")

    def test_a_killed_rank_that_waits_costs_no_links(self):
        devices = self.lose_rank(2, signal.SIGKILL)
        self.check_no_row(self.check_others_of_three(), "failed", "the GPU hangs")
        self.assertEqual(devices[2]["jobs"]["peer"]["status"], "ok")

    def test_a_signal_ends_the_waiting(self):
        child = self.start_and_wait_for_hang(f"sim:h200,h200+hang={IN_TURN},h200", 3)
        self.send_rank(signal.SIGUSR1, 0)
        self.assertIn(self.finish(child), (FAILED, RESUMABLE), self.said)
        devices = self.devices()
        self.check_row(devices[0]["findings"], 0, {0, 1, 2})
        self.check_not_together(devices[0]["findings"], "stopped by a signal", "failed")
        self.check_no_row(devices[2], "failed", "stopped by a signal")


@unittest.skipUnless(os.environ.get("SONDE_TEST_SLOW"), "takes minutes")
class SlowTest(PeerTest):
    def test_a_worker_that_stands_still_is_killed(self):
        child = self.start_and_wait_for_hang(f"sim:h200,h200+hang={IN_TURN},h200", 3)
        self.send(signal.SIGSTOP, "worker")
        begin = time.time()
        self.assertEqual(self.finish(child, 400), INCOMPLETE, self.said)
        self.assertLess(time.time() - begin, 300)
        for device in self.devices():
            self.check_no_row(device, "failed", "gave no sign of life for 180 s")


if __name__ == "__main__":
    unittest.main()
