#!/usr/bin/env python3
"""Names of nodes, where the host name is not what Slurm calls the node: in the run file, in the lists
for Slurm, in progress files. Each rank gets a host name of its own (unshare --uts)."""
import shutil
import sys
import unittest

from fault_run import FAILED, INCOMPLETE, FaultTest
from planted import SKIPPED, UNSHARE


class NamesTest(FaultTest):
    def run_on(self, hosts, backend, jobs="clock"):
        """A rank on each host, which Slurm calls n1, n2. @returns the status"""
        cases = " ".join(f"{rank}) hostname {host}; export SLURMD_NODENAME=n{rank + 1} ;;"
                         for rank, host in enumerate(hosts))
        script = f'case ${{OMPI_COMM_WORLD_RANK:-0}} in {cases} esac; exec "$@"'
        return self.finish(self.start(
            ["mpirun", "-n", str(len(hosts)), *UNSHARE, "sh", "-c", script,
             "sh", *self.command(backend, jobs=jobs)]))

    def test_what_is_pasted_to_slurm_has_its_names(self):
        status = self.run_on(["ip-10-0-3-17", "ip-10-0-3-18"], "sim:gtx980,gtx980+wrong_data", "clock,cache.l1")
        self.assertEqual(status, FAILED, self.said)
        _, said = self.said_by("analyze", "run.h5")
        self.assertIn("--exclude=n2", said)
        self.assertIn("nodename=n2", said)
        self.assertNotIn("ip-10", said)

    def test_messages_and_the_run_file_have_them_too(self):
        status = self.run_on(["4f1c7a09be21", "d2870cc1a6f3"], "sim:gtx980,gtx980+gone=5")
        self.assertEqual(status, INCOMPLETE, self.said)
        self.assertIn("n2", self.said)
        self.assertNotIn("d2870cc1a6f3", self.said)
        self.assertEqual([device["node"] for device in self.devices()], ["n1", "n2"])


if __name__ == "__main__":
    if UNSHARE is None or shutil.which("mpirun") is None:
        print("skipped: no mpirun, or no host names of their own for ranks (unshare --uts)")
        sys.exit(SKIPPED)
    unittest.main()
