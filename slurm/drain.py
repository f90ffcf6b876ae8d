#!/usr/bin/env python3
"""Asks for each node with failed, lost or missing GPUs whether to drain it.

    drain.py fleet.h5                  asks; y drains, n does not, q ends
    drain.py fleet.h5 --dry-run        prints the commands alone
    drain.py fleet.h5 --baseline /shared/baselines/baseline.h5    what became worse since then counts, too

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
    """{node: what is wrong there}, from the output of `sonde export --format json`: pairs of a short text and a line."""
    nodes = {}
    for device in report["devices"]:
        if device["verdict"] in BAD:
            short = f"{device['uuid']} {device['verdict']} {device['likely']}"
            line = (f"{device['verdict']:5} {device['uuid']}  {device['pci_bus_id']}  {device['likely']}: "
                    f"{device['reason']}")
            nodes.setdefault(device["node"], []).append((short, line))
    for flag in report["flags"]:  # of a node, not of one of its GPUs
        if flag["uuid"] is None and flag["node"] and flag["severity"] == "fail" and not flag["undecided"]:
            nodes.setdefault(flag["node"], []).append((flag["reason"], flag["reason"]))
    return nodes


def reason_of(problems):
    text = "sonde: " + ", ".join(short for short, _ in problems)
    if len(text) <= REASON_LONGEST:
        return text
    return f"sonde: {len(problems)} problems, {problems[0][0]}"[:REASON_LONGEST]


def state_of(node):
    answer = subprocess.run(["sinfo", "--noheader", "--nodes", node, "--format", "%T"], text=True,
                            capture_output=True, timeout=60)
    return answer.stdout.split("\n")[0].strip() or "unknown to Slurm"


def ask(node, problems):
    print(f"\n{node}  (now {state_of(node)})")
    for _, line in problems:
        print("  " + line)
    return input(f"drain {node}? [y/n/q] ").strip().lower()[:1]


def drain(node, problems):
    command = ["scontrol", "update", f"nodename={node}", "state=drain", f"reason={reason_of(problems)}"]
    print("+ " + shlex.join(command))
    return subprocess.run(command, timeout=60).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--baseline", help="an earlier run")
    parser.add_argument("--most", type=int, default=8, help="nodes to ask for at most (8)")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--sonde", default="sonde", help="the program, if it is not on PATH")
    arguments = parser.parse_args()
    export = [arguments.sonde, "export", arguments.run, "--format", "json", "--verdicts-only"]
    if arguments.baseline:
        export += ["--baseline", arguments.baseline]
    exported = subprocess.run(export, stdout=subprocess.PIPE)
    if exported.returncode != 0:
        return 1
    nodes = bad_nodes(json.loads(exported.stdout))
    if not nodes:
        print("no GPU failed or is missing: nothing to drain")
        return 0
    if len(nodes) > arguments.most:
        print(f"drain.py: {len(nodes)} nodes have failed GPUs, more than --most {arguments.most} (a driver, a baseline "
              f"or an option is more likely than so many GPUs) look at: sonde analyze {arguments.run}", file=sys.stderr)
        return 1
    failed = 0
    for node, problems in sorted(nodes.items()):
        if arguments.dry_run:
            print(shlex.join(["scontrol", "update", f"nodename={node}", "state=drain",
                              f"reason={reason_of(problems)}"]))
            continue
        if "drain" in state_of(node):
            print(f"{node} is drained already")
            continue
        try:
            answer = ask(node, problems)
        except EOFError:
            print("\nnobody answers: nothing more is drained")
            return 1
        if answer == "q":
            break
        if answer == "y" and not drain(node, problems):
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
