#!/usr/bin/env python3
"""Names of nodes, where the host name is not what Slurm calls the node: in the run file, in the lists
for Slurm, in progress files. Each rank gets a host name of its own (unshare --uts)."""
import shutil
import subprocess
import sys
import unittest

from fault_run import FAILED, INCOMPLETE, OK, SONDE, FaultTest
from planted import SKIPPED, UNSHARE


class NamesTest(FaultTest):
    def run_on(self, hosts, slurm_names, backend="sim:gtx980", jobs="clock", more=()):
        """A rank on each host; Slurm's name is left out where it is None.
        @returns the status"""
        cases = ""
        for rank, (host, name) in enumerate(zip(hosts, slurm_names)):
            slurm = "unset SLURMD_NODENAME" if name is None else f"export SLURMD_NODENAME='{name}'"
            cases += f"{rank}) hostname {host}; {slurm} ;; "
        script = f'case ${{OMPI_COMM_WORLD_RANK:-0}} in {cases} esac; exec "$@"'
        return self.finish(self.start(
            ["mpirun", "-n", str(len(hosts)), *UNSHARE, "sh", "-c", script,
             "sh", *self.command(backend, *more, jobs=jobs)]))

    def nodes(self):
        return [device["node"] for device in self.devices()]

    def said_of(self, *command):
        return subprocess.run([SONDE, *command], cwd=self.folder, stdout=subprocess.PIPE, text=True,
                              check=False).stdout

    def test_a_node_is_called_as_slurm_calls_it_else_by_its_host_name(self):
        """Machines with full host names, two containers on one node, no Slurm: an empty variable is none."""
        full, containers = ["node838.site.edu", "node839.site.edu"], ["4f1c7a09be21", "d2870cc1a6f3"]
        for hosts, slurm_names, nodes in ((full, ["node838", "node839"], ["node838", "node839"]),
                                          (containers, ["n1", "n1"], ["n1", "n1"]),
                                          (full, [None, ""], full)):
            with self.subTest(hosts=hosts, slurm=slurm_names):
                self.assertEqual(self.run_on(hosts, slurm_names, more=["--force"]), OK, self.said)
                self.assertEqual(self.nodes(), nodes)

    def test_what_is_pasted_to_slurm_has_its_names(self):
        status = self.run_on(["ip-10-0-3-17", "ip-10-0-3-18"], ["n1", "n2"],
                             backend="sim:gtx980,gtx980+wrong_data", jobs="clock,cache.l1")
        self.assertEqual(status, FAILED, self.said)
        said = self.said_of("analyze", "run.h5")
        self.assertIn("--exclude=n2", said)
        self.assertIn("nodename=n2", said)
        self.assertNotIn("ip-10", said)

    def test_messages_have_them_too(self):
        status = self.run_on(["4f1c7a09be21", "d2870cc1a6f3"], ["n1", "n2"],
                             backend="sim:gtx980,gtx980+gone=5")
        self.assertEqual(status, INCOMPLETE, self.said)
        self.assertIn("n2", self.said)
        self.assertNotIn("d2870cc1a6f3", self.said)
        self.assertEqual(self.nodes(), ["n1", "n2"])


if __name__ == "__main__":
    if UNSHARE is None or shutil.which("mpirun") is None:
        print("skipped: no mpirun, or no host names of their own for ranks (unshare --uts)")
        sys.exit(SKIPPED)
    unittest.main()
