#!/usr/bin/env python3
"""Asks for each node with failed GPUs whether to drain it.

    drain.py fleet.h5                  asks; y drains, n does not, q ends
    drain.py fleet.h5 --dry-run        prints the commands alone

Nodes that are drained already are passed over. Without a terminal nothing is drained. If more nodes than --most have
failed GPUs, it does nothing: a driver or a baseline is then more likely than the GPUs.
"""
import argparse
import json
import shlex
import subprocess
import sys

REASON_LONGEST = 200  # a longer reason makes lines of sinfo unreadable
BAD = ("fail", "lost")


def bad_nodes(report):
    """{node: its bad devices}, from the output of `sonde export --format json`."""
    nodes = {}
    for device in report["devices"]:
        if device["verdict"] in BAD:
            nodes.setdefault(device["node"], []).append(device)
    return nodes


def reason_of(devices):
    parts = [f"{device['uuid']} {device['verdict']} {device['likely']}" for device in devices]
    text = "sonde: " + ", ".join(parts)
    if len(text) <= REASON_LONGEST:
        return text
    return f"sonde: {len(devices)} GPUs, {parts[0]}"[:REASON_LONGEST]


def state_of(node):
    answer = subprocess.run(["sinfo", "--noheader", "--nodes", node, "--format", "%T"], text=True,
                            capture_output=True, timeout=60)
    return answer.stdout.split("\n")[0].strip() or "unknown to Slurm"


def ask(node, devices):
    print(f"\n{node}  (now {state_of(node)})")
    for device in devices:
        print(f"  {device['verdict']:5} {device['uuid']}  {device['pci_bus_id']}  {device['likely']}: {device['reason']}")
    return input(f"drain {node}? [y/n/q] ").strip().lower()[:1]


def drain(node, devices):
    command = ["scontrol", "update", f"nodename={node}", "state=drain", f"reason={reason_of(devices)}"]
    print("+ " + shlex.join(command))
    return subprocess.run(command, timeout=60).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--most", type=int, default=8, help="nodes to ask for at most (8)")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--sonde", default="sonde", help="the program, if it is not on PATH")
    arguments = parser.parse_args()
    exported = subprocess.run([arguments.sonde, "export", arguments.run, "--format", "json", "--verdicts-only"],
                              stdout=subprocess.PIPE)
    if exported.returncode != 0:
        return 1
    nodes = bad_nodes(json.loads(exported.stdout))
    if not nodes:
        print("no GPU failed: nothing to drain")
        return 0
    if len(nodes) > arguments.most:
        print(f"drain.py: {len(nodes)} nodes have failed GPUs, more than --most {arguments.most} (a driver, a baseline "
              f"or an option is more likely than so many GPUs) look at: sonde analyze {arguments.run}", file=sys.stderr)
        return 1
    failed = 0
    for node, devices in sorted(nodes.items()):
        if arguments.dry_run:
            print(shlex.join(["scontrol", "update", f"nodename={node}", "state=drain",
                              f"reason={reason_of(devices)}"]))
            continue
        if "drain" in state_of(node):
            print(f"{node} is drained already")
            continue
        try:
            answer = ask(node, devices)
        except EOFError:
            print("\nnobody answers: nothing more is drained")
            return 1
        if answer == "q":
            break
        if answer == "y" and not drain(node, devices):
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
