"""Sweeps of simulated GPUs as the Python package reads them: sweep_test.py <sonde>"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from statistics import median, stdev

import h5py
import numpy as np
import xarray  # noqa: F401

import sonde
from sonde.tables import read_table

SONDE = sys.argv[1]
LATENCY, DEVIATION = "chase.latency_cycles", "chase.latency_cycles_deviation"


class SweepTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def sonde(self, name, *arguments):
        path = Path(self.folder.name) / name
        subprocess.run([SONDE, *arguments, "-o", path], check=True, capture_output=True)
        return path

    def chase(self, name, *arguments):
        return self.sonde(name, "run", "--backend", "sim:c2070", "--jobs", "chase", *arguments)

    def two_gpus(self):
        """Two GPUs at four settings, twice; clock and all else do not depend on the order of a chase."""
        swept = ("--sweep", "chase.order=random,ascending", "--sweep", "memory-percent=50,100", "--repeat", "2")
        runs = [self.chase(f"{seed}.h5", *swept, "--seed", seed) for seed in ("1", "2")]
        return self.sonde("both.h5", "merge", *runs)

    def test_the_file_says_which_point_measured_what_several_share(self):
        run = self.chase("run.h5", "--sweep", "chase.order=random,ascending")
        with h5py.File(run) as file:
            shared = read_table(file["shared_jobs"], "shared_job")
        first, second = sonde.points(run)["config_hash"]
        self.assertEqual([shared[name].tolist() for name in ("config_hash", "job", "measured_at")],
                         [[second], ["clock"], [first]])

    def test_a_setting_has_the_centre_of_its_repeats_and_their_deviation(self):
        run = self.two_gpus()
        data = sonde.sweep(run)
        self.assertEqual(data[LATENCY].dims, ("uuid", "chase.order", "memory_percent"))
        self.assertEqual(data["chase.order"].values.tolist(), ["random", "ascending"])
        self.assertEqual(data["chase.order"].attrs, {})
        self.assertEqual(data["memory_percent"].values.tolist(), [50.0, 100.0])
        self.assertEqual(data["memory_percent"].attrs, {"units": "1"})
        self.assertEqual({data[name].attrs["units"] for name in (LATENCY, DEVIATION)}, {"cycle"})
        self.assertEqual(data["uuid"].values.tolist(), sonde.devices(run)["uuid"].unique().tolist())
        self.assertEqual(data.sizes["uuid"], 2)
        values = {}
        found = sonde.findings(run, LATENCY).join(sonde.points(run), on="point")
        for row in found.to_dict("records"):
            values.setdefault((row["uuid"], row["chase.order"], row["memory_percent"]), []).append(row["value"])
        self.assertEqual(len(values), 8)
        for (uuid, order, percent), repeats in values.items():
            at = data.sel({"uuid": uuid, "chase.order": order, "memory_percent": percent})
            self.assertEqual(len(set(repeats)), 2)
            self.assertAlmostEqual(float(at[LATENCY]), median(repeats))
            self.assertAlmostEqual(float(at[DEVIATION]), stdev(repeats))

    def test_a_metric_has_the_options_alone_that_it_depends_on(self):
        data = sonde.sweep(self.two_gpus())
        self.assertEqual(data["clock.load_hz"].dims, ("uuid", "memory_percent"))
        self.assertFalse(data["clock.load_hz"].isnull().any())
        self.assertNotIn("clock.scope", data)  # a text
        stride = sonde.sweep(self.chase("stride.h5", "--sweep", "chase.stride_bytes=256,128"), "c*_cycles")
        self.assertEqual(set(stride), {f"chase.{kind}_cycles{end}" for kind in ("latency", "amortised")
                                       for end in ("", "_deviation")})
        self.assertEqual(stride["chase.stride_bytes"].values.tolist(), [128.0, 256.0])
        self.assertEqual(stride["chase.stride_bytes"].attrs, {"units": "byte"})

    def test_a_setting_measured_once_has_the_deviation_of_its_replicates(self):
        run = self.chase("once.h5", "--sweep", "chase.stride_bytes=128,256,32KiB")
        data = sonde.sweep(run).isel(uuid=0)
        found = sonde.findings(run, LATENCY)
        self.assertEqual(found["value"].isna().tolist(), [False, False, True])  # more than the footprint
        missing = found["value"].isna()
        np.testing.assert_array_equal(data[LATENCY], found["value"].astype(float))
        np.testing.assert_array_equal(data[DEVIATION], found["reproducibility"].mask(missing))
        self.assertGreater(data[DEVIATION].max(), 0)

    def test_of_a_zip_the_settings_stand_in_a_row(self):
        run = self.chase("zip.h5", "--sweep", "chase.footprint_bytes=8KiB,64KiB,16KiB", "--sweep",
                         "chase.stride_bytes=256,128,512", "--sweep-mode", "zip", "--repeat", "2")
        data = sonde.sweep(run)
        self.assertEqual(data[LATENCY].dims, ("uuid", "setting"))
        self.assertEqual(data["chase.footprint_bytes"].values.tolist(), [8192.0, 65536.0, 16384.0])
        self.assertEqual(data["chase.stride_bytes"].values.tolist(), [256.0, 128.0, 512.0])
        self.assertEqual(data["chase.stride_bytes"].attrs, {"units": "byte"})
        found = sonde.findings(run, LATENCY).join(sonde.points(run), on="point")
        centres = found.astype({"value": float}).groupby("chase.footprint_bytes")["value"].median()
        np.testing.assert_allclose(data[LATENCY][0], centres[data["chase.footprint_bytes"].values])
        self.assertGreater(data[LATENCY][0, 1], data[LATENCY][0, 0] + 50)  # 64 KiB do not fit the L1

    def test_of_a_zip_a_setting_without_a_value_is_nan(self):
        run = self.chase("zip.h5", "--sweep", "chase.carveout_bytes=16KiB,48KiB", "--sweep",
                         "chase.stride_bytes=32KiB,128", "--sweep-mode", "zip")
        self.assertEqual(sonde.sweep(run)[LATENCY].isnull().values.tolist(), [[True, False]])

    def test_a_run_without_a_sweep_is_refused(self):
        with self.assertRaisesRegex(ValueError, "without a sweep"):
            sonde.sweep(self.chase("plain.h5", "--repeat", "2"))

    def test_a_finding_rests_on_the_probes_of_its_gpu_and_point(self):
        run = self.two_gpus()
        found = sonde.findings(run, LATENCY)
        row = found.iloc[-2]
        accesses = sonde.trace_of(run, row)
        self.assertEqual(set(accesses["uuid"]), {row["uuid"]})
        self.assertEqual(set(accesses["point"]), {row["point"]})
        behind = sonde.evidence(run, row)
        self.assertEqual(accesses["probe"].unique().tolist(), behind.dropna(subset=["accesses"]).index.tolist())
        self.assertEqual(len(accesses), row["samples"])
        overhead = sonde.findings(run, "clock.window_cycles")["value"].iloc[0]
        self.assertAlmostEqual(accesses["cycles"].mean() - overhead, row["value"], delta=2)
        everything = sonde.trace_of(run, LATENCY)
        self.assertEqual(len(everything), found["samples"].sum())
        own = everything[(everything["uuid"] == row["uuid"]) & (everything["point"] == row["point"])]
        np.testing.assert_array_equal(own["cycles"], accesses["cycles"])
        self.assertEqual(len(sonde.trace_of(run, LATENCY, row["uuid"])), found["samples"].sum() / 2)

    def test_a_finding_without_probes_has_no_accesses(self):
        run = self.chase("none.h5", "--sweep", "chase.stride_bytes=128,32KiB")
        none = sonde.findings(run, LATENCY).iloc[1]
        self.assertIsNone(none["value"])
        self.assertEqual(len(sonde.trace_of(run, none)), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
