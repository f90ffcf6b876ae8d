#!/usr/bin/env python3
"""What an operator reads over the troubles of real sites, from whole runs on simulated GPUs: no faulty GPU acquits
another one, alarms end in a verdict, a neighbour's process blames nobody.

    verdicts_test.py <sonde> [unittest's arguments]
"""
import unittest

from fault_run import FAILED, INCOMPLETE, OK, FaultTest


class VerdictsTest(FaultTest):
    def judge(self, model, *faults, jobs, more=()):
        """One GPU for each text of faults ("" is a healthy one). @returns status, devices by rank"""
        backend = "sim:" + ",".join(model + fault for fault in faults)
        status = self.run_sonde(backend, *more, jobs=jobs, ranks=len(faults))
        return status, self.devices()

    def test_two_slow_sms_do_not_acquit_each_other(self):
        status, devices = self.judge("fermi_dac16", "+slow_sm=3:20", "+slow_sm=5:20", "", jobs="clock,placement")
        self.assertEqual((status, self.verdicts()), (FAILED, ["fail", "fail", "pass"]))
        self.assertIn("SM 3 is", devices[0]["reason"])
        self.assertIn("SM 5 is", devices[1]["reason"])
        for device, sm in zip(devices, ("3", "5")):
            again = [flag["evidence"] for flag in self.read()["flags"]
                     if flag["uuid"] == device["uuid"] and flag["unit"] == f"SM {sm}"]
            self.assertTrue(any(f"measured again, SM {sm}: " in text for text in again), again)

    def test_what_a_gpu_and_its_links_show_by_themselves_is_judged_by_what_it_costs(self):
        for fault, verdict, likely, words in (("xid=79", "fail", "Xid", "Xid 79"),
                                              ("xid=63", "warn", "Xid", "Xid 63"),
                                              ("xid=13", "pass", "unknown", ""),
                                              ("nvlink_errors=3", "warn", "link", "NVLink 3 has new errors"),
                                              ("nvlink_down=5", "fail", "link", "NVLink 5 is down"),
                                              ("host_copies=0.25", "fail", "link", "of what the link carries")):
            with self.subTest(fault=fault):
                status, devices = self.judge("h200", f"+{fault}", "", jobs="device,host", more=["--force"])
                self.assertEqual((devices[0]["verdict"], devices[0]["likely"]), (verdict, likely), devices[0]["reason"])
                self.assertEqual(status, FAILED if verdict == "fail" else OK)
                self.assertIn(words, devices[0]["reason"])
                self.assertEqual(devices[1]["verdict"], "pass")

    def test_a_neighbour_blames_nobody(self):
        status, devices = self.judge("gtx980", "", "+neighbour", jobs="clock,cache.l1,global.throughput",
                                     more=["--allow-shared-gpu"])
        self.assertEqual((status, self.verdicts()), (INCOMPLETE, ["pass", "incomplete"]))
        self.assertEqual(devices[1]["likely"], "contention")
        self.assertTrue(devices[1]["reason"].startswith("another process was on this GPU"))
        text = self.said_by("analyze", "run.h5")[1]
        self.assertNotIn("scontrol", text)
        self.assertNotIn("--exclude", text)
        self.assertIn("Of 2 GPUs: 1 INCOMPLETE", text)

    def test_a_neighbour_that_comes_later_is_seen(self):
        status, devices = self.judge("gtx980", "", "+neighbour=0.5:40", jobs="clock,shared",
                                     more=["--allow-shared-gpu"])
        self.assertEqual((status, self.verdicts()), (INCOMPLETE, ["pass", "incomplete"]))

    def test_low_bandwidth_has_one_headline(self):
        _, devices = self.judge("gtx980", "+low_bandwidth=0.9", "", "", jobs="clock,global.throughput")
        self.assertEqual(self.verdicts(), ["fail", "pass", "pass"])
        self.assertRegex(devices[0]["reason"], r"^memory bandwidth \d+(\.\d)? % low; global\.\w+_bytes_per_s: ")

    def test_what_hung_is_not_audited(self):
        status, devices = self.judge("gtx980", "+hang=20", "", jobs="clock,cache.l1")
        self.assertEqual((status, devices[0]["verdict"]), (FAILED, "fail"))
        self.assertEqual(self.read()["counts"]["audited"], 1)


if __name__ == "__main__":
    unittest.main()
