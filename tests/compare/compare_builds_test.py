"""The comparison of two builds sees what it must: each test spoils one thing of a made-up run."""
import contextlib
import copy
import io
import tempfile
import unittest
from pathlib import Path

from compare_builds import (Case, Rules, compare, compare_registries, open_cache,
                            read_allowed, read_registry, report)

KINDS = {"cache.sets": "structural", "cache.index": "structural", "cache.hit_cycles": "continuous",
         "cache.rate": "continuous", "sm.latency_cycles": "fingerprint", "sm.group": "fingerprint",
         "cache.absent_bytes": "structural", "cache.chance": "continuous",
         "clock.granularity_cycles": "structural"}


def finding(value, unit, status="ok", spread=0.0):
    return {"value": value, "unit": unit, "status": status, "confidence": 1, "samples": 5,
            "repeatability": spread, "reason": "as measured"}


def made_up_run():
    findings = {
        "cache.sets": finding([4, 4, 8], "1"),
        "cache.index": finding("bits 7..9", ""),
        "cache.hit_cycles": finding(200, "cycle", spread=2.0),
        "cache.rate": finding(1e9, "byte/s"),
        "sm.latency_cycles": finding([30, 31], "cycle"),
        "cache.chance": finding([0.5, 0.5], "1"),
        "clock.granularity_cycles": finding(2, "cycle"),
        "sm.group": finding([0, 0], "1"),
        "cache.absent_bytes": finding(None, "byte", status="not_present"),
    }
    return {"devices": [{"uuid": "GPU-1", "name": "H", "status": "complete", "verdict": "pass",
                         "jobs": {"cache": {"status": "ok"}}, "findings": findings}]}


class CompareTest(unittest.TestCase):
    def differences(self, spoil, rules=Rules()):
        """What is seen after spoil(device) has changed the new run."""
        old, new = made_up_run(), made_up_run()
        spoil(new["devices"][0])
        return [one.what for one in compare(old, new, KINDS, rules).differences]

    def change(self, metric, field, value):
        return lambda device: device["findings"][metric].update({field: value})

    def test_equal_runs_do_not_differ_and_are_counted(self):
        result = compare(made_up_run(), copy.deepcopy(made_up_run()), KINDS)
        self.assertEqual(result.differences, [])
        self.assertGreater(result.values, 20)

    def test_one_set_of_structure_differs(self):
        self.assertEqual(self.differences(self.change("cache.sets", "value", [4, 4, 9])),
                         ["cache.sets [2]"])

    def test_a_shorter_list_differs(self):
        self.assertEqual(self.differences(self.change("cache.sets", "value", [4, 4])),
                         ["cache.sets"])

    def test_text_differs(self):
        self.assertEqual(self.differences(self.change("cache.index", "value", "bits 7..8")),
                         ["cache.index"])

    def test_structure_has_no_spread(self):
        def spoil(device):
            device["findings"]["cache.sets"].update(value=[4, 4, 9], repeatability=5.0)
        self.assertEqual(self.differences(spoil), ["cache.sets [2]"])

    def test_a_continuous_value_may_move_by_its_spread_and_no_more(self):
        self.assertEqual(self.differences(self.change("cache.hit_cycles", "value", 202)), [])
        self.assertEqual(self.differences(self.change("cache.hit_cycles", "value", 202.5)),
                         ["cache.hit_cycles"])

    def test_the_larger_spread_of_the_two_counts(self):
        def spoil(device):
            device["findings"]["cache.hit_cycles"].update(value=203, repeatability=3.0)
        self.assertEqual(self.differences(spoil), [])

    def test_a_spread_of_nothing_leaves_one_step_of_the_clock(self):
        self.assertEqual(self.differences(self.change("sm.latency_cycles", "value", [30, 33])), [])
        self.assertEqual(self.differences(self.change("sm.latency_cycles", "value", [27, 34])),
                         ["sm.latency_cycles [0] and 1 more"])

    def test_a_clock_that_does_not_tell_its_step_counts_cycles(self):
        old, new = made_up_run(), made_up_run()
        for run in (old, new):
            run["devices"][0]["findings"].pop("clock.granularity_cycles")
        new["devices"][0]["findings"]["sm.latency_cycles"]["value"] = [30, 33]
        self.assertEqual([one.what for one in compare(old, new, KINDS).differences],
                         ["sm.latency_cycles [1]"])

    def test_a_chance_may_move_by_what_its_draws_leave_open(self):
        self.assertEqual(self.differences(self.change("cache.chance", "value", [0.51, 0.49])), [])
        self.assertEqual(self.differences(self.change("cache.chance", "value", [0.52, 0.48])),
                         ["cache.chance [0] and 1 more"])

    def test_a_rate_without_spread_may_move_by_half_a_percent(self):
        self.assertEqual(self.differences(self.change("cache.rate", "value", 1.004e9)), [])
        self.assertEqual(self.differences(self.change("cache.rate", "value", 1.006e9)),
                         ["cache.rate"])

    def test_fingerprints_that_are_labels_are_equal(self):
        self.assertEqual(self.differences(self.change("sm.group", "value", [0, 1])),
                         ["sm.group [1]"])

    def test_a_value_where_there_was_none_differs(self):
        self.assertEqual(self.differences(self.change("cache.hit_cycles", "value", None)),
                         ["cache.hit_cycles"])

    def test_the_unit_differs(self):
        self.assertEqual(self.differences(self.change("cache.hit_cycles", "unit", "ns")),
                         ["cache.hit_cycles unit"])

    def test_a_metric_missing_on_either_side_differs(self):
        remove = lambda device: device["findings"].pop("cache.index")
        self.assertEqual(self.differences(remove), ["cache.index"])
        add = lambda device: device["findings"].update({"cache.more": finding(1, "1")})
        self.assertEqual(self.differences(add), ["cache.more"])

    def test_a_metric_without_a_kind_differs(self):
        old, new = made_up_run(), made_up_run()
        kinds = {name: kind for name, kind in KINDS.items() if name != "cache.sets"}
        seen = compare(old, new, kinds).differences
        self.assertEqual([one.what for one in seen], ["cache.sets kind"])

    def test_a_status_differs_unless_its_change_is_allowed(self):
        skip = self.change("cache.absent_bytes", "status", "skipped")
        self.assertEqual(self.differences(skip), ["cache.absent_bytes status"])
        for words in (["not_present:skipped"], ["cache.absent_bytes:not_present:skipped"]):
            self.assertEqual(self.differences(skip, Rules(read_allowed(words))), [])
        for words in (["skipped:not_present"], ["cache.sets:not_present:skipped"]):
            self.assertEqual(self.differences(skip, Rules(read_allowed(words))),
                             ["cache.absent_bytes status"])

    def test_reasons_count_when_asked_for(self):
        other = self.change("cache.sets", "reason", "other words")
        self.assertEqual(self.differences(other), [])
        self.assertEqual(self.differences(other, Rules(reasons=True)), ["cache.sets reason"])

    def test_exact_takes_no_spread_and_sees_samples(self):
        self.assertEqual(self.differences(self.change("cache.hit_cycles", "value", 200.25),
                                          Rules(exact=True)), ["cache.hit_cycles"])
        self.assertEqual(self.differences(self.change("cache.hit_cycles", "samples", 6),
                                          Rules(exact=True)), ["cache.hit_cycles samples"])

    def test_jobs_and_devices_differ(self):
        fail = lambda device: device["jobs"]["cache"].update(status="failed")
        self.assertEqual(self.differences(fail), ["job cache status"])
        lose = lambda device: device["jobs"].clear()
        self.assertEqual(self.differences(lose), ["job cache status"])
        warn = lambda device: device.update(verdict="warn")
        self.assertEqual(self.differences(warn), ["device verdict"])

    def test_a_lost_device_differs(self):
        old, new = made_up_run(), made_up_run()
        new["devices"].clear()
        result = compare(old, new, KINDS)
        self.assertEqual([one.what for one in result.differences], ["devices"])


class ReportTest(unittest.TestCase):
    def exit_status(self, old, new):
        with contextlib.redirect_stdout(io.StringIO()):
            return report([(Case("h200", 1, "standard"), compare(old, new, KINDS))])

    def test_the_exit_status_tells(self):
        spoilt = made_up_run()
        spoilt["devices"][0]["findings"]["cache.sets"]["value"] = [4, 4, 9]
        self.assertEqual(self.exit_status(made_up_run(), made_up_run()), 0)
        self.assertEqual(self.exit_status(made_up_run(), spoilt), 1)

    def test_nothing_compared_is_a_failure(self):
        self.assertEqual(self.exit_status({"devices": []}, {"devices": []}), 1)

    def test_the_registry_is_read_and_compared(self):
        row = "| cache.sets | 1 | structural |  | number of \\| sets | Wong |\n"
        registry = read_registry("# Metrics\n| metric | unit | kind | better | meaning | source |\n"
                                 "|---|---|---|---|---|---|\n" + row)
        self.assertEqual(registry, {"cache.sets": ("1", "structural", "")})
        self.assertEqual(compare_registries(registry, registry).differences, [])
        other = {"cache.sets": ("1", "continuous", "")}
        self.assertEqual(len(compare_registries(registry, other).differences), 1)
        self.assertEqual(len(compare_registries(registry, {}).differences), 1)


class CacheTest(unittest.TestCase):
    def test_a_cache_belongs_to_one_program(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program"
            program.write_text("one")
            open_cache(Path(folder) / "cache", program)
            open_cache(Path(folder) / "cache", program)
            program.write_text("other")
            with self.assertRaises(SystemExit):
                open_cache(Path(folder) / "cache", program)

    def test_allowed_changes_come_from_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "allowed"
            file.write_text("# meant\nnot_present:skipped  # quick suite\n\na.b:ok:failed\n")
            self.assertEqual(read_allowed([str(file)]),
                             {("*", "not_present", "skipped"), ("a.b", "ok", "failed")})


if __name__ == "__main__":
    unittest.main()
