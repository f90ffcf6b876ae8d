"""The tables of a run file as DataFrames: devices, findings, probes, accesses."""
import fnmatch
import json
import re

import numpy as np
import pandas as pd

from .tables import opened, owners_of_rows, ragged_rows, read_table, rows_of, text_attributes, units_of

# A number in a probe's label with the word before it: "tlb span 33554432 step 2097152".
LABEL_NUMBER = re.compile(r"\b([a-z]+) (\d+)\b")
# Words before sizes; their columns get the ending "_bytes".
SIZES = {"span", "step", "granularity", "staircase", "footprint", "stride"}
VERDICTS = ["pass", "warn", "incomplete", "fail", "lost"]  # the worst last
LONG_WINDOW = 65535  # stands for a window of this length or more; long_cycles has its length


def provenance(run):
    """How the file was made, as a dict: command line, options, versions, seed, start."""
    with opened(run) as file:
        return text_attributes(file["provenance"])


def _frame(group, dimension):
    frame = pd.DataFrame(read_table(group, dimension))
    frame.attrs["units"] = units_of(group, dimension)
    frame.index.name = dimension
    return frame


def devices(run):
    """One row per GPU, as in /devices. Analysed runs have `verdict` and `likely_class`: of a GPU that was measured
    at several settings, those of its worst setting."""
    with opened(run) as file:
        frame = _frame(file["devices"], "device")
        if "analysis/verdicts" in file:
            verdicts = pd.DataFrame(read_table(file["analysis/verdicts"], "verdict_row"))
            worst_last = verdicts.sort_values("verdict", key=lambda texts: texts.map(VERDICTS.index), kind="stable")
            worst = worst_last.drop_duplicates("uuid", keep="last").set_index("uuid")
            for name in ("verdict", "likely_class"):
                frame[name] = frame["uuid"].map(worst[name])
        return frame


def points(run):
    """One row per point of a sweep: seed, repeat, a column per axis. Other runs have one point."""
    with opened(run) as file:
        if "points" in file:
            return _frame(file["points"], "point")
        attributes = text_attributes(file["provenance"])
        return pd.DataFrame({"seed": [attributes["seed"]], "repeat_index": [0],
                             "config_json": [attributes["config_json"]]})


def flags(run):
    """The deviations that the comparison of devices found, worst first, as in /analysis/flags.

    Raises ValueError if the run was not analysed.
    """
    with opened(run) as file:
        if "analysis" not in file:
            raise ValueError(f"{file.filename}: not analysed yet; run: sonde analyze {file.filename}")
        analysis = file["analysis"]
        if "flags" not in analysis:
            raise ValueError(f"{file.filename}: analysed by an earlier sonde; run: sonde analyze {file.filename}")
        return pd.DataFrame(read_table(analysis["flags"], "flag"))


def _values(group, table):
    vectors = ragged_rows(group, table, np.arange(len(table["metric"])), "vector", "vector_values")
    value_of = {"number": lambda row: float(table["number"][row]),
                "text": lambda row: str(table["text"][row]),
                "vector": lambda row: vectors[row]}
    return [value_of.get(kind, lambda row: None)(row) for row, kind in enumerate(table["value_kind"])]


def findings(run, metric="*", uuid=None):
    """One row per metric and GPU, in the order of jobs.

    `metric` is a name or a pattern ("cache.l1.*"), `uuid` one GPU. `value` is a float, a str, an
    array or None; `row` is the row in /findings, `point` the row in `points`. Jobs named
    `again.<job>` are second tries.
    """
    columns = ["unit", "status", "reason", "confidence", "samples", "repeatability",
               "reproducibility", "replicates", "interval_low", "interval_high"]
    with opened(run) as file:
        owners = read_table(file["devices"], "device")
        outcomes = read_table(file["outcomes"], "outcome")
        table = read_table(file["findings"], "finding")
        values = _values(file["findings"], table)
    index = table["device_index"].astype(np.int64)
    frame = pd.DataFrame({
        "uuid": owners["uuid"][index], "node": owners["node"][index], "rank": owners["rank"][index],
        "point": owners["point_index"][index],
        "job": outcomes["job"][owners_of_rows(outcomes, "finding", len(index))],
        "metric": table["metric"], "value": pd.Series(values, dtype=object),
        **{name: table[name] for name in columns}, "row": np.arange(len(index))})
    chosen = [fnmatch.fnmatchcase(name, metric) for name in frame["metric"]]
    chosen = np.array(chosen, bool) & (uuid is None or frame["uuid"] == uuid)
    return frame[chosen].reset_index(drop=True)


def _probe_rows(file, job, uuid=None, point=None):
    """The rows of a job in /probes, device after device; optionally only of one GPU or point."""
    outcomes = read_table(file["outcomes"], "outcome")
    own = (outcomes["job"] == job) & (outcomes["probe_length"] > 0)
    if not own.any():
        jobs = sorted(set(outcomes["job"][outcomes["probe_length"] > 0]))
        raise KeyError(f"{file.filename} has no job {job} with probes (it has {', '.join(jobs)})")
    owners = read_table(file["devices"], "device")
    for column, wanted in (("uuid", uuid), ("point_index", point)):
        own &= wanted is None or owners[column][outcomes["device_index"].astype(np.int64)] == wanted
    return rows_of(outcomes["probe_offset"][own], outcomes["probe_length"][own])


def _label_numbers(label):
    return {f"{word}_bytes" if word in SIZES else word: int(number)
            for word, number in LABEL_NUMBER.findall(label)}


def probes(run, job, uuid=None, point=None):
    """One row per probe of a job (all GPUs and points, or one), indexed by its row in the file.

    The parameters of the probe and the numbers in its label have columns of their own (`path`,
    `buffer_bytes`, `span_bytes` ...); `start` is a time in UTC. Raises KeyError if the file has no
    probes of the job.
    """
    with opened(run) as file:
        rows = _probe_rows(file, job, uuid, point)
        frame = _frame(file["probes"], "probe").loc[rows]
        units = frame.attrs["units"]
        owners = read_table(file["devices"], "device")
    index = frame.pop("device_index").astype(np.int64)
    frame.insert(0, "uuid", owners["uuid"][index])
    frame.insert(1, "point", owners["point_index"][index])
    frame["start"] = pd.to_datetime(frame.pop("start_unix_ns").astype("int64"), utc=True)
    said = pd.DataFrame([{**_label_numbers(label), **json.loads(text)} for label, text
                         in zip(frame["label"], frame.pop("parameters_json"))], index=frame.index)
    frame = frame.join(said[[name for name in said if name not in frame]])
    frame.attrs["units"] = units
    return frame


def _lanes(file, job, chosen):
    """The group /traces, and the lanes of the chosen probes of a job with ranges of values."""
    probes, group = file["probes"], file["traces"]
    rows = _probe_rows(file, job)
    if chosen is not None:
        rows = rows[np.isin(rows, chosen)]

    def of_probes(name):
        return probes[name][()][rows].astype(np.int64)

    counts = of_probes("lane_length")
    lane = rows_of(of_probes("lane_offset"), counts)
    first, end = (int(lane[0]), int(lane[-1]) + 1) if len(lane) else (0, 0)
    lanes = {name: column[lane - first] for name, column in read_table(group, "lane", slice(first, end)).items()}
    lanes |= {"probe": np.repeat(rows, counts), "lane": lane,
              "long_cycles": group["long_cycles"][()][rows_of(of_probes("long_offset"), of_probes("long_length"))]}
    first_lanes = np.cumsum(counts) - counts
    for kind in ("window", "bin"):
        before = np.concatenate([[0], np.cumsum(lanes[f"{kind}_length"].astype(np.int64))])
        lanes[f"{kind}_offset"] = before[:-1] + np.repeat(of_probes(f"{kind}_offset") - before[first_lanes], counts)
    for name in ("visit_offset", "visit_length", "visit_step_bytes"):
        lanes[name] = group[name][()][lanes["list_index"]]
    return group, lanes


def _recorded(group, lanes, name, column):
    return ragged_rows(group, lanes, np.arange(len(lanes["lane"])), name, column)


def _windows(group, lanes):
    windows = _recorded(group, lanes, "window", "window_cycles")
    joined = _joined(windows)
    joined[joined == LONG_WINDOW] = lanes["long_cycles"]
    return np.split(joined, np.cumsum([len(part) for part in windows])[:-1]) if windows else []


def _lane_columns(lanes, lengths):
    return {name: np.repeat(lanes[name], lengths) for name in ("probe", "lane", "sm", "warp")}


def _joined(parts):
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def traces(run, job, probe=None):
    """One row per recorded access of a job: probe, lane, SM, warp, index, address, cycles.

    `probe` is a row of `probes` or several (for example its index); None means all. `address_bytes`
    is the offset in the probe's buffer, or -1 if the probe kept no addresses. `cycles` is the raw
    clock window: subtract clock.window_cycles for the latency. Some probes of a search have only
    histograms.
    """
    with opened(run) as file:
        group, lanes = _lanes(file, job, probe)
        cycles = _windows(group, lanes)
        steps = _recorded(group, lanes, "visit", "visit_steps")
    lengths = np.array([len(part) for part in cycles], np.int64)
    addresses = [np.resize(part * int(unit), n) if len(part) else np.full(n, -1, np.int64)
                 for part, unit, n in zip(steps, lanes["visit_step_bytes"], lengths)]
    return pd.DataFrame({**_lane_columns(lanes, lengths),
                         "access": _joined([np.arange(n) for n in lengths]),
                         "address_bytes": _joined(addresses), "cycles": _joined(cycles)})


def histograms(run, job, probe=None):
    """Timed accesses by clock window: probe, lane, SM, warp, cycles, accesses; without empty bins.

    Lanes that kept their windows one by one are counted, too. Bin 2047 holds all longer windows.
    """
    with opened(run) as file:
        group, lanes = _lanes(file, job, probe)
        windows = _windows(group, lanes)
        bins = _recorded(group, lanes, "bin", "bin_cycles")
        counts = _recorded(group, lanes, "bin", "bin_accesses")
    for at, whole in enumerate(windows):
        if len(bins[at]) == 0 and len(whole):
            bins[at], counts[at] = np.unique(np.minimum(whole, 2047), return_counts=True)
    lengths = np.array([len(part) for part in bins], np.int64)
    return pd.DataFrame({**_lane_columns(lanes, lengths),
                         "cycles": _joined(bins), "accesses": _joined(counts)})


def _median_cycles(counted):
    """Median clock window of each probe, from its counts."""
    summed = counted.groupby(["probe", "cycles"])["accesses"].sum().reset_index()
    so_far = summed.groupby("probe")["accesses"].cumsum()
    total = summed.groupby("probe")["accesses"].transform("sum")
    return summed[2 * so_far >= total].groupby("probe")["cycles"].first()


def _asked_for(file, finding, uuid):
    """Metric, job, GPU and point of a row of `findings`. For a metric's name: at all points."""
    if not isinstance(finding, str):
        return finding
    found = findings(file, finding, uuid)
    found = found[~found["job"].str.startswith("again.")] if len(found) else found
    if len(found) == 0:
        raise KeyError(f"{file.filename} has no finding {finding}" + (f" of {uuid}" if uuid else ""))
    return {"metric": finding, "job": found["job"].iloc[0], "uuid": uuid, "point": None}


def evidence(run, finding, uuid=None):
    """The probes behind a finding, as in `probes`, with `accesses`, `mean_cycles` and
    `median_cycles` of their clock windows.

    `finding` is a row of `findings`, or the name of a metric. A name gives the probes of all GPUs
    (or of the one with this `uuid`) at all points. The probes are those of the metric's job whose
    label begins with a part of the metric's name: "tlb" and "tlb.l1" for tlb.l1.reach_bytes, but
    not "tlb.l2". If no label does, they are all probes of the job. Raises KeyError if there is no
    such finding.
    """
    with opened(run) as file:
        asked = _asked_for(file, finding, uuid)
        metric, job = asked["metric"], asked["job"]
        rows = probes(file, job, asked["uuid"], asked["point"])
        named = [metric == word or metric.startswith(word + ".")
                 for word in (label.split(" ")[0].rstrip(".") or " " for label in rows["label"])]
        rows = rows[named] if any(named) else rows
        counted = histograms(file, job, rows.index)
    sums = counted.assign(cycles=counted["cycles"] * counted["accesses"]).groupby("probe").sum()
    rows = rows.assign(job=job, accesses=sums["accesses"], mean_cycles=sums["cycles"] / sums["accesses"])
    return rows.assign(median_cycles=_median_cycles(counted))


def trace_of(run, finding, uuid=None):
    """One row per recorded access of the probes behind a finding: the columns of `traces` and the
    probe's `uuid`, `point` and `label`. `finding` is as in `evidence`.
    """
    with opened(run) as file:
        asked = _asked_for(file, finding, uuid)
        rows = evidence(file, asked)
        return traces(file, asked["job"], rows.index).join(rows[["uuid", "point", "label"]], on="probe")
