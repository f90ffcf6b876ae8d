#!/usr/bin/env python3
"""Sweeps and repeats: every GPU is measured at every point; a run that is stopped, killed or out of
time goes on at the point where it was, and ends in the file of an undisturbed one.
sweep_test.py <sonde> [unittest's arguments]"""
import shutil
import signal
import unittest
from pathlib import Path

from fault_run import INCOMPLETE, OK, RESUMABLE, SONDE, FaultTest, differences, left_behind

USAGE = 2
JOBS = "clock,shared"
SWEEP = ["--sweep", "seed=7,8", "--sweep", "memory-percent=50,100", "--repeat", "2"]
POINTS = 8
BACKEND = "sim:gtx980,gtx780"


def by_setting(run):
    """What each device found with each setting, without what another day changes."""
    return {f"{device['uuid']} {device['setting']}":
            {"status": device["status"], "repeats": device["repeats"],
             "findings": device["findings"]}
            for device in run["devices"]}


class SweepTest(FaultTest):
    def run_sweep(self, *more, ranks=2, sweep=tuple(SWEEP), **how):
        return self.run_sonde(BACKEND, *sweep, *more, jobs=JOBS, ranks=ranks, **how)

    def undisturbed_sweep(self):
        """What it found; measured once for all tests."""
        if not hasattr(SweepTest, "calm_sweep"):
            self.assertEqual(self.run_sweep(output="calm.h5"), OK, self.said)
            SweepTest.calm_sweep = by_setting(self.read("calm.h5"))
            (self.folder / "calm.h5").unlink()
        return SweepTest.calm_sweep

    def check_equal(self, expected):
        self.assertEqual(differences(expected, by_setting(self.read())), [])
        self.assertEqual(left_behind(self.folder), [])
        self.assertFalse((self.folder / "run.h5.parts").exists())

    def merge(self, *sources):
        return self.said_by("merge", *sources, "-o", "merged.h5")[0], self.said

    def shards(self):
        return sorted(str(path.relative_to(self.folder / "run.h5.parts"))
                      for path in (self.folder / "run.h5.parts").rglob("*.h5"))

    def kill_once_measured(self, count, *more):
        """All ranks, when so many points of devices are whole."""
        child = self.start(self.command(BACKEND, *SWEEP, *more, jobs=JOBS, ranks=2))
        self.wait_until(lambda: len(self.shards()) >= count, child)
        self.send(signal.SIGKILL, "rank")
        self.finish(child)


class WholeTest(SweepTest):
    def test_each_gpu_has_a_centre_of_all_seeds_and_repeats_for_each_setting(self):
        self.assertEqual(self.run_sweep(), OK, self.said)
        run = self.read()
        self.assertEqual(len(run["points"]), POINTS)
        self.assertEqual({(point["seed"], point["repeat_index"]) for point in run["points"]},
                         {(7, 0), (7, 1), (8, 0), (8, 1)})
        self.assertEqual(len(run["devices"]), 4)  # two GPUs, two settings
        self.assertEqual({device["setting"]["memory-percent"] for device in run["devices"]},
                         {50, 100})
        self.assertEqual({device["repeats"] for device in run["devices"]}, {4})
        self.assertEqual(run["counts"]["passed"], 2)
        finding = run["devices"][0]["findings"]["shared.latency_cycles"]
        self.assertEqual(finding["replicates"] % 4, 0)

    def test_a_plain_run_is_the_first_repeat(self):
        self.assertEqual(self.run_sweep(sweep=(), output="plain.h5"), OK, self.said)
        self.assertEqual(self.run_sweep(sweep=["--repeat", "1"]), OK, self.said)
        self.assertEqual(by_setting(self.read()), by_setting(self.read("plain.h5")))
        self.assertEqual(self.read()["points"][0]["config_hash"],
                         self.read("plain.h5")["provenance"]["config_hash"])


class DisturbedTest(SweepTest):
    def test_out_of_time_and_killed_it_ends_as_if_undisturbed(self):
        expected = self.undisturbed_sweep()
        self.assertEqual(self.run_sweep("--time-budget", "0.001s"), RESUMABLE, self.said)
        self.assertIn("the time budget is over", self.said)
        self.assertEqual(self.shards(), [])
        self.kill_once_measured(3, "--resume")
        times = {name: (self.folder / "run.h5.parts" / name).stat().st_mtime_ns
                 for name in self.shards()}
        self.assertIn(self.run_sweep("--resume", "--time-budget", "0.6s"), (RESUMABLE, OK),
                      self.said)
        for name, time_ns in times.items():  # what is whole is not written again
            path = self.folder / "run.h5.parts" / name
            if path.exists():
                self.assertEqual(path.stat().st_mtime_ns, time_ns)
        self.assertEqual(self.run_sweep("--resume"), OK, self.said)
        self.check_equal(expected)

    def test_a_longer_sweep_keeps_what_a_shorter_one_measured(self):
        self.assertEqual(self.run_sweep(sweep=["--sweep", "seed=7,8"], ranks=1), OK, self.said)
        seeds = ["--sweep", "seed=7,8,9"]
        self.assertEqual(self.run_sweep("--resume", sweep=seeds, ranks=1), OK, self.said)
        self.assertEqual(self.run_sweep(sweep=seeds, output="calm.h5", ranks=1), OK, self.said)
        self.check_equal(by_setting(self.read("calm.h5")))
        self.assertNotEqual(self.run_sweep("--resume", sweep=["--sweep", "seed=7"], ranks=1), OK)
        self.assertIn("another configuration", self.said)

    def test_a_gpu_that_fails_at_one_point_is_incomplete(self):
        backend = "sim:gtx980+launch_failure=90,gtx980"
        self.assertEqual(self.run_sonde(backend, "--repeat", "2", ranks=2), INCOMPLETE, self.said)
        run = self.read()
        self.assertEqual([device["status"] for device in run["devices"]],
                         ["incomplete", "complete"])


class SharedTest(SweepTest):
    """Points share jobs whose options, and those of what they build on, are the same."""
    SWEEP = ["--sweep", "latency.carveout_bytes=16384,32768,49152"]

    def run_latency(self, *more, **how):
        return self.run_sonde("sim:gtx780", *more, jobs="latency", **how)

    def points_of(self, job, name="run.h5"):
        """The carve-outs at which the file has results of the job."""
        return [device["setting"].get("latency.carveout_bytes")
                for device in self.read(name)["devices"] if job in device["jobs"]]

    def test_a_job_that_does_not_depend_on_what_is_swept_is_measured_once(self):
        self.assertEqual(self.run_latency(*self.SWEEP), OK, self.said)
        self.assertEqual(self.points_of("cache.l1"), [16384])
        self.assertEqual(self.points_of("latency"), [16384, 32768, 49152])
        single = ["--set", "latency.carveout_bytes=32768"]
        self.assertEqual(self.run_latency(*single, output="single.h5"), OK, self.said)
        swept = self.read()["devices"][1]["findings"]
        alone = self.read("single.h5")["devices"][0]["findings"]
        self.assertEqual({name: one["value"] for name, one in swept.items()},
                         {name: one["value"] for name, one in alone.items() if name in swept})

    def test_what_failed_at_one_point_is_tried_at_the_next(self):
        backend = "sim:gtx780+launch_failure=30"  # in cache.readonly
        self.assertEqual(self.run_sonde(backend, *self.SWEEP, jobs="latency"), INCOMPLETE, self.said)
        self.assertEqual(self.points_of("cache.readonly"), [16384, 32768])


class MergeTest(SweepTest):
    def test_parts_with_other_seeds_become_one_file(self):
        for seed in ("7", "8"):
            sweep = ["--sweep", f"seed={seed}", "--sweep", "memory-percent=50,100"]
            self.assertEqual(self.run_sweep(sweep=sweep, output=f"{seed}.h5", ranks=1), OK, self.said)
        self.assertEqual(self.merge("7.h5", "8.h5"), (OK, "sonde: wrote merged.h5\n"))
        self.assertEqual(self.run_sweep(sweep=SWEEP[:4], ranks=1), OK, self.said)
        self.assertEqual(differences(by_setting(self.read()), by_setting(self.read("merged.h5"))),
                         [])

    def test_shards_of_a_run_that_did_not_end_are_merged(self):
        expected = self.undisturbed_sweep()
        self.kill_once_measured(3)
        shutil.copytree(self.folder / "run.h5.parts", self.folder / "kept.parts")
        status, said = self.merge("kept.parts")
        self.assertIn(status, (OK, INCOMPLETE), said)  # most likely some point is half measured
        run = self.read("merged.h5")
        left_out = POINTS - len(run["points"])
        self.assertGreater(left_out, 0)
        self.assertIn(f"{left_out} points of 'kept.parts' were measured on no GPU", said)
        self.assertEqual(set(by_setting(run)) - set(expected), set())


class JobOptionTest(SweepTest):
    EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

    def latencies(self, *more, backend="sim:h200"):
        command = [SONDE, "run", "--backend", backend, "--suite", "quick", "--jobs", "chase", *more,
                   "-o", "run.h5", "--force"]
        status = self.finish(self.start(command))
        run = self.read()
        return status, [device["findings"]["chase.latency_cycles"] for device in run["devices"]]

    def test_what_no_gpu_has_is_refused_before_anything_is_measured(self):
        for ranks, item, has in (
                (1, "chase.carveout_bytes=64KiB,65KiB",
                 "no GPU of this run has a carve-out of 66560 bytes (they have: 0, 8192, 16384, "),
                (2, "sms=130;131;132;133", "has the SM 132, 133 (their SMs are 0 to 131)")):
            for more in ([], ["--dry-run"]):
                status = self.run_sonde("sim:h200", "--sweep", item, *more, jobs="chase", ranks=ranks)
                self.assertEqual(status, USAGE, item)
                self.assertIn(has, self.said)
                self.assertEqual(left_behind(self.folder), [])

    def test_a_carve_out_of_another_gpu_of_the_run_is_not_present(self):
        self.assertEqual(self.run_sonde("sim:h200,gtx780", "--sweep", "chase.carveout_bytes=32KiB,64KiB",
                                        jobs="chase", ranks=2), OK, self.said)
        found = {(device["name"], device["setting"]["chase.carveout_bytes"]):
                 device["findings"]["chase.latency_cycles"] for device in self.read()["devices"]}
        self.assertEqual([one["status"] for one in found.values()].count("ok"), 3)
        lacking = next(one for (name, _), one in found.items() if one["status"] != "ok")
        self.assertEqual(lacking["status"], "not_present")
        self.assertIn("no carve-out of 65536 bytes", lacking["reason"])

    def test_each_sm_and_each_pair_of_them_is_a_point(self):
        for named, points in (("each", list(range(16))),
                              ("pairs", [f"{sm}-{sm + 1}" for sm in range(0, 16, 2)])):
            self.assertEqual(self.run_sonde("sim:gtx980,gtx780", "--sweep", f"sms={named}", "--force",
                                            jobs="chase", ranks=2), OK, self.said)
            for sm_count, model in ((16, "980"), (12, "780")):
                answered = [device["setting"]["sms"] for device in self.read()["devices"]
                            if model in device["name"]
                            and device["findings"]["chase.latency_cycles"]["status"] == "ok"]
                self.assertEqual(answered, points[:sm_count * len(points) // 16])

    def test_more_warps_and_more_operations_under_way_reach_more(self):
        for job, axes, metric in (
                ("shared", ("block_threads=32,256", "ilp=1,4"), "shared.bytes_per_cycle_per_sm"),
                ("arithmetic", ("warps=1,8", "ilp=1,4"), "arithmetic.float_fma.throughput_per_cycle_per_sm"),
                ("global.throughput", ("block_threads=32,512", "ilp=1,4"), "global.loaded_latency_ns")):
            sweep = [word for axis in axes for word in ("--sweep", f"{job}.{axis}")]
            self.assertEqual(self.run_sonde("sim:gtx980", *sweep, "--force", jobs=job,
                                            suite="standard"), OK, self.said)
            values = [device["findings"][metric]["value"] for device in self.read()["devices"]]
            self.assertEqual(len(values), 4, metric)
            self.assertLess(1.1 * values[0], values[1], metric)
            self.assertLess(1.1 * values[0], values[2], metric)
            self.assertLessEqual(max(values[1:3]), 1.001 * values[3], metric)

    def test_the_example_of_a_night_measures_every_carve_out(self):
        status, found = self.latencies("--config", str(self.EXAMPLES / "overnight.toml"), "--repeat", "1")
        self.assertEqual(status, OK, self.said)
        self.assertEqual(len(found), 9)
        for one in found:
            self.assertEqual(one["status"], "ok")
            self.assertLess(abs(one["value"] - 31), 2)  # of the model

    def test_all_examples_can_be_run(self):
        for example in self.EXAMPLES.glob("*.toml"):
            status, plan = self.said_by("run", "--backend", "sim:h200", "--config", str(example),
                                        "--dry-run")
            self.assertEqual(status, OK, example)
            self.assertIn("s on NVIDIA H200", plan, "what it would take")

    def test_the_example_of_staircases_has_a_step_where_the_l1_ends(self):
        example = self.folder / "short.toml"
        text = (self.EXAMPLES / "staircases.toml").read_text()
        text = text.replace("4KiB:384KiB:4KiB", "4KiB:36KiB:4KiB")
        example.write_text(text.replace("=32,128,512", "=32").replace("=ca,cg", "=ca"))
        status, found = self.latencies("--config", str(example), backend="sim:gtx980")
        self.assertEqual(status, OK, self.said)
        values = [one["value"] for one in found]
        self.assertEqual([value > 150 for value in values], [False] * 6 + [True] * 3)  # 24 KiB

    def test_the_example_of_paths_has_the_stairs_of_the_paper(self):
        """Wong et al. 2010, table III and Figs. 10, 12 to 14, 22: GTX 280."""
        example = self.folder / "short.toml"
        text = (self.EXAMPLES / "paths.toml").read_text()
        whole = "1KiB:64KiB:1KiB"
        self.assertIn(whole, text)
        example.write_text(text.replace(whole, "2KiB,8KiB,32KiB,48KiB,128KiB"))
        status, found = self.latencies("--config", str(example), backend="sim:gtx280")
        self.assertEqual(status, OK, self.said)
        texture, constant, code = found[:5], found[5:10], found[10:]
        for values, stairs in ((texture, (261, 371, 371, 371)), (constant, (8, 81, 220, 476)),
                               (code, (72, 145, 284, 540))):
            for one, stair in zip(values, stairs):
                self.assertLess(abs(one["value"] - stair), 2, stair)
        self.assertEqual([one[4]["status"] for one in (texture, constant, code)],
                         ["ok", "not_present", "ok"])
        self.assertIn("at most 64 KiB can be chased through constant", constant[4]["reason"])

    def test_what_the_other_sms_chase_must_fit_too(self):
        for others, status, reason in (("8KiB", "not_present", "at most 64 KiB can be chased"),
                                       ("384", "not_resolvable", "whole strides")):
            _, found = self.latencies("--sms", "0-1", "--set", "chase.path=constant", "--set",
                                      "chase.footprint_bytes=60KiB", "--set", "chase.stride_bytes=256",
                                      "--set", f"chase.others_bytes={others}", backend="sim:gtx280")
            self.assertEqual(found[0]["status"], status)
            self.assertIn(reason, found[0]["reason"])

    def test_options_of_jobs_that_do_not_run_are_bad_usage(self):
        for item in ("tlb.carveout_bytes=1", "latency.carveout_bytes=64KiB", "chase.path=west",
                     "chase.stride_bytes=0.5"):
            self.assertEqual(self.run_sonde("sim:h200", "--set", item, jobs="chase"), USAGE, item)


if __name__ == "__main__":
    unittest.main()
