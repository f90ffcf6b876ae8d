#!/usr/bin/env python3
"""Says what two builds of sonde find differently on simulated GPUs.

Both programs measure every model with every seed; their exported findings are compared one by one.
A seed fixes the simulated die and all random choices, so a change that is meant to measure the
same must find the same: structure exactly, continuous values within their spread.

    compare_builds.py OLD_SONDE NEW_SONDE [--models h200 gtx980] [--exact]

Exit status: 0 nothing differs, 1 something differs or nothing was compared, 2 bad usage.
"""
import argparse
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Exit statuses of `sonde run` with a whole run file: all well, findings missing, verdict fail.
FINISHED = (0, 3, 4)

# What continuous values may differ by where their spread is 0, as it is for medians of whole clock
# steps. Taken from seeds 1 and 2 of the shipped models, which are other dies of one make:
# - cycles: one step of the GPU's clock (2 on a GTX 280), by which a median moves when one sample
#   more or less is drawn; nearly all latencies of two dies differ by no more;
STEP_METRIC = "clock.granularity_cycles"
# - chances and fits (unit 1): chances of ways, from some thousand evictions, differ by up to 0.011;
LEAST_SPREAD_CHANCE = 0.015
# - rates and times: they differ by up to 0.43 % of their value.
LEAST_SPREAD_RELATIVE = 0.005

MISSING = "(missing)"


@dataclasses.dataclass(frozen=True)
class Difference:
    what: str  # name of a metric, "job NAME", "device" or "registry NAME"
    old: object
    new: object


@dataclasses.dataclass
class Comparison:
    values: int = 0  # statuses, values and numbers that were held against each other
    differences: list = dataclasses.field(default_factory=list)


def compare(old, new, kinds, exact):
    """Compares two exported run files (parsed JSON). `kinds`: metric -> kind, from the registry; `exact`: values,
    confidences, samples and spreads must be equal to the last bit."""
    result = Comparison()
    old_devices, new_devices = old["devices"], new["devices"]
    if len(old_devices) != len(new_devices):
        result.differences.append(Difference("devices", len(old_devices), len(new_devices)))
    for before, after in zip(old_devices, new_devices):
        _compare_fields(result, "device", before, after, ("uuid", "name", "status", "verdict"))
        _compare_jobs(result, before["jobs"], after["jobs"])
        _compare_findings(result, before["findings"], after["findings"], kinds, exact)
    return result


def _compare_fields(result, what, old, new, names):
    for name in names:
        result.values += 1
        before, after = old.get(name, MISSING), new.get(name, MISSING)
        if before != after:
            result.differences.append(Difference(f"{what} {name}", before, after))


def _compare_jobs(result, old, new):
    for job in {**old, **new}:
        _compare_fields(result, f"job {job}", old.get(job, {}), new.get(job, {}), ("status",))


def _compare_findings(result, old, new, kinds, exact):
    step_cycles = old.get(STEP_METRIC, {}).get("value") or 1
    for metric in {**old, **new}:
        if metric not in old or metric not in new:
            present = old.get(metric) or new[metric]
            text = f"{present['status']} {shorten(present['value'])}"
            pair = (text, MISSING) if metric in old else (MISSING, text)
            result.differences.append(Difference(metric, *pair))
            continue
        allowance = 0.0
        if not exact:
            allowance = spread_allowance(old[metric], new[metric], kinds.get(metric), step_cycles)
        if metric not in kinds:
            result.differences.append(Difference(f"{metric} kind", "not in the registry", ""))
        _compare_finding(result, metric, old[metric], new[metric], allowance, exact)


def _compare_finding(result, metric, old, new, allowance, exact):
    result.values += 1
    if old["status"] != new["status"]:
        result.differences.append(Difference(f"{metric} status", old["status"], new["status"]))
        return
    names = ["unit"] + ["confidence", "samples", "repeatability"] * exact
    _compare_fields(result, metric, old, new, names)
    _compare_values(result, metric, old["value"], new["value"], allowance)


def _compare_values(result, metric, before, after, allowance):
    before_list = before if isinstance(before, list) else [before]
    after_list = after if isinstance(after, list) else [after]
    if isinstance(before, list) != isinstance(after, list) or len(before_list) != len(after_list):
        result.differences.append(Difference(metric, before, after))
        return
    result.values += len(before_list)
    unequal = [i for i, (one, other) in enumerate(zip(before_list, after_list))
               if not _values_agree(one, other, allowance)]
    if not unequal:
        return
    if not isinstance(before, list):
        result.differences.append(Difference(metric, before, after))
        return
    first = unequal[0]
    what = f"{metric} [{first}]" + (f" and {len(unequal) - 1} more" if len(unequal) > 1 else "")
    result.differences.append(Difference(what, before_list[first], after_list[first]))


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _values_agree(old, new, allowance):
    """@param allowance as spread_allowance returns it"""
    if old == new or not allowance:
        return old == new
    if not (_is_number(old) and _is_number(new)):
        return False
    absolute, relative = allowance
    return abs(old - new) <= max(absolute, relative * max(abs(old), abs(new)))


def spread_allowance(old, new, kind, step_cycles):
    """How far two values of a metric may lie apart: 0 for structure, inventory and text.

    Continuous values, and fingerprints that have a physical unit, may differ by the larger of the
    two spreads, and by no less than the least spread of their unit.
    @returns 0, or (absolute, relative to the larger value)
    """
    unit = old["unit"]
    if kind != "continuous" and (kind != "fingerprint" or unit in ("", "1")):
        return 0.0
    spread = max(old.get("repeatability") or 0.0, new.get("repeatability") or 0.0)
    if unit == "cycle":
        return (max(spread, step_cycles), 0.0)
    if unit == "1":
        return (max(spread, LEAST_SPREAD_CHANCE), 0.0)
    return (spread, LEAST_SPREAD_RELATIVE)


def read_kinds(markdown):
    """{metric: kind} from `sonde list metrics --format markdown`."""
    kinds = {}
    for line in markdown.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        if len(cells) >= 8 and "." in cells[1]:
            kinds[cells[1]] = cells[3]
    return kinds


def shorten(value, width=40):
    text = json.dumps(value) if isinstance(value, (list, dict)) else str(value)
    return text if len(text) <= width else text[: width - 3] + "..."


# --- running the programs ------------------------------------------------------------------------


def call(program, *arguments, expected=(0,)):
    """@returns what the program prints; @throws SystemExit when it ends otherwise than expected."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, env=environment)
    if done.returncode not in expected:
        tail = (done.stderr or done.stdout).strip().splitlines()[-3:]
        raise SystemExit(f"compare_builds: {program} {' '.join(arguments)} ended with "
                         f"{done.returncode}: {' | '.join(tail)}")
    return done.stdout


@dataclasses.dataclass(frozen=True)
class Case:
    model: str
    seed: int
    suite: str

    def __str__(self):
        return f"{self.model}.{self.suite}.seed{self.seed}"


def measure(program, case, scratch):
    """One run of one program. @returns the exported run as text, and the seconds it took."""
    run_file = str(Path(scratch) / f"{case}.h5")
    start_s = time.monotonic()
    call(program, "run", "--backend", f"sim:{case.model}", "--suite", case.suite, "--seed",
         str(case.seed), "-o", run_file, "--force", expected=FINISHED)
    elapsed_s = time.monotonic() - start_s
    text = call(program, "export", run_file, "--format", "json")
    Path(run_file).unlink()
    return text, elapsed_s


def compare_case(case, options, kinds):
    with tempfile.TemporaryDirectory(prefix="compare_builds.") as scratch:
        old_text, old_s = measure(options.old, case, scratch)
        new_text, new_s = measure(options.new, case, scratch)
    result = compare(json.loads(old_text), json.loads(new_text), kinds, options.exact)
    print(f"{case}: {result.values} values, {len(result.differences)} differ "
          f"(old {old_s:.1f} s, new {new_s:.1f} s)", file=sys.stderr, flush=True)
    return case, result


def print_table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def report(results):
    """Prints what differs. @returns the exit status."""
    rows = [("model", "seed", "metric", "old", "new")]
    for case, result in results:
        rows += [(case.model, str(case.seed), one.what, shorten(one.old), shorten(one.new))
                 for one in result.differences]
    values = sum(result.values for _, result in results)
    if len(rows) > 1:
        print_table(rows)
    print(f"{values} values compared, {len(rows) - 1} differences")
    if values == 0:
        print("nothing was compared (no finding on either side) check the models and suite")
    return 0 if values and len(rows) == 1 else 1


def read_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD_SONDE")
    parser.add_argument("new", metavar="NEW_SONDE")
    parser.add_argument("--models", nargs="+", help="default: every model the new program ships")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--suite", default="standard")
    parser.add_argument("--jobs-parallel", type=int, default=2, help="runs at one time")
    parser.add_argument("--exact", action="store_true",
                        help="nothing for spread; confidence, samples and spread are equal too")
    options = parser.parse_args()
    for program in (options.old, options.new):
        if not os.access(program, os.X_OK):
            parser.error(f"{program} (no program that can be run) give two builds of sonde")
    return options


def main():
    options = read_options()
    kinds = {}
    for program in (options.old, options.new):
        kinds |= read_kinds(call(program, "list", "metrics", "--format", "markdown"))
    models = options.models or call(options.new, "list", "models").split()
    cases = [Case(model, seed, options.suite) for model in models for seed in options.seeds]
    with ThreadPoolExecutor(options.jobs_parallel) as pool:
        return report(list(pool.map(lambda case: compare_case(case, options, kinds), cases)))


if __name__ == "__main__":
    sys.exit(main())
