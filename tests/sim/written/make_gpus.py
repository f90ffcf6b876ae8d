#!/usr/bin/env python3
"""Writes the model files (docs/simulated-gpus.md) of the GPUs that gpus.py declares.

    make_gpus.py FOLDER

What a declaration leaves out (pipelines, control flow, shared memory, DRAM, the way to the host) is that of
the shipped model which it names. Declarations are texts:

    cache   "[SCOPE] LINE[/SECTOR[/FETCH]] SETSxWAYS[+...] [INDEX] [POLICY]"   "tpc 256 16x8 xor0x1100 nru"
    TLB     "SCOPE ENTRY[/SUBENTRIES] ..." likewise                                  "gpc 32M/16 64x8 xor0x82000000"
    index   none: the bits above the line; bitsN: from bit N on; xorMASK: parities of the address under the mask
            and its shifts by 1, 2, ...; mod: the remainder; slicesMASK, slices: within a slice by parities, by
            the remainder of the number of 4 KiB
"""
import json
import math
import pathlib
import sys

import gpus

SHIPPED = pathlib.Path(__file__).parents[3] / "src/device/sim/model/shipped"
UNITS = {"K": 10, "M": 20, "G": 30}
POLICIES = ("fifo", "tree_plru", "nru", "clock", "srrip", "brrip", "guarded_lru", "set_duelling", "random")
HASH_BITS = 10  # of a number whose remainder chooses the slice: so many that all come nearly equally often
STEPS_KIB = (0, 8, 16, 32, 64, 100, 132, 164, 196, 228)


def carveouts_kib(capability):
    """Sizes of shared memory that it can have (CUDA programming guide); before Volta it is apart from the L1."""
    if capability < 7:
        return (48,)
    if capability < 8:
        return (32, 64) if capability == 7.5 else (*STEPS_KIB[:5], 96)
    most = 228 if 9 <= capability < 12 else 164 if capability in (8.0, 8.7) else 100
    return STEPS_KIB[:STEPS_KIB.index(most) + 1]


def size(text):
    """Bytes of "32M"."""
    return int(text[:-1]) << UNITS[text[-1]] if text[-1] in UNITS else int(text)


def masks(first, count):
    return [hex(first << shift) for shift in range(count)]


def index_of(word, line_bytes, sets, slices):
    bits = sets.bit_length() - 1
    if word.startswith("slices"):
        of_slice = sets // slices
        within = index_of("xor" + word[6:] if word[6:] else "mod", line_bytes, of_slice, 1)
        if within["kind"] == "modulo":
            within["granularity_bytes"] = 4096
        return {"kind": "slices", "within": within}
    if word.startswith("xor"):
        if sets != 1 << bits:
            return {"kind": "xor_modulo", "masks": masks(int(word[3:], 16), bits + HASH_BITS)}
        return {"kind": "xor_masks", "masks": masks(int(word[3:], 16), bits)}
    if word == "mod":
        return {"kind": "modulo", "granularity_bytes": line_bytes}
    low_bit = int(word[4:]) if word.startswith("bits") else line_bytes.bit_length() - 1
    return {"kind": "bit_field", "low_bit": low_bit, "bits": bits}


def geometry_of(words, line_bytes, slices=1):
    counts = [run.replace("*", "0").split("x") for run in words[0].split("+")]
    runs = [{"sets": int(sets), "ways": int(ways)} for sets, ways in counts]
    sets = sum(run["sets"] for run in runs)
    policy = next((word for word in words[1:] if word in POLICIES), "lru")
    index = next((word for word in words[1:] if word not in POLICIES), "")
    shape = runs[0] if len(runs) == 1 else {"ways_per_set": runs}
    return {**shape, "index": index_of(index, line_bytes, sets, slices), "replacement": policy}


def cache_of(name, text, slices=1):
    """@param text as above; without a scope it belongs to an SM"""
    words = text.split()
    scope = words.pop(0) if words[0].isalpha() else "sm"
    line, sector, fetch = ([int(part) for part in words[0].split("/")] + [0, 0])[:3]
    is_l2 = name == "l2"
    return {"name": name, "scope": scope, "addressing": "physical" if is_l2 else "virtual",
            "line_bytes": line, "sector_bytes": sector or line, "fetch_bytes": fetch or sector or line,
            "write_policy": {"hit": "update", "miss": "allocate" if is_l2 else "no_allocate"},
            **geometry_of(words[1:], line, slices)}


def tlb_of(number, text):
    scope, entry, *words = text.split()
    entry_bytes, sub_entries = size(entry.split("/")[0]), int((entry + "/1").split("/")[1])
    return {"name": f"l{number}", "scope": scope, "entry_bytes": entry_bytes, "sub_entries": sub_entries,
            **geometry_of(words, entry_bytes)}


def divide_by_carveout(l1, array_kib, shared_kib):
    """Sets stay, ways are what shared memory leaves of the array; with tags for all of it only data shrinks."""
    shape = {key: l1.pop(key) for key in ("sets", "ways", "index", "replacement")}
    l1["by_carveout"] = parts = []
    for shared in shared_kib:
        lines = (array_kib - shared) * 1024 // l1["line_bytes"]
        part = {**shape, "shared_kib": shared}
        if shape["ways"]:
            part["data_lines"] = lines
        else:
            part["ways"] = lines // shape["sets"]
        parts.append(part)


class Paths:
    """Latencies of all paths: what a path's own first cache takes longer, all behind it take longer, too."""

    def __init__(self, gpu, tlb_count):
        names = [f"tlb_l{level + 1}_hit" for level in range(tlb_count)] + ["walk_cached", "walk_cold"]
        self.outcomes = names + ["window_switch"] * ("window" in gpu)
        self.added = (0, *gpu["translation"])
        self.behind = {"l2": gpu["l2_cycles"], "dram": gpu["dram_cycles"]}
        if "far" in gpu:
            self.behind["far"], self.behind["dram_far"] = gpu["far"]

    def translated(self, hits, more=0):
        row = {name: {outcome: cycles + more + added for outcome, added in zip(self.outcomes, self.added)}
               for name, cycles in self.behind.items()}
        return {"caches": [*hits, "l2"], "latency_cycles": {**hits, **row}}

    def plain(self, hits, more):
        row = {name: cycles + more for name, cycles in self.behind.items()}
        return {"caches": [*hits, "l2"], "latency_cycles": {**hits, **row}}


def levels_of(kind, levels, caches):
    """Hits of the levels of constants or code; a level that names another cache is that one.
    @param levels pairs of a cache and its cycles"""
    hits = {}
    for number, (text, cycles) in enumerate(levels, 1):
        name = text
        if " " in text:
            name = f"{kind}{number}"
            caches.append(cache_of(name, text))
        hits[name] = cycles
    return hits


def caches_and_paths(gpu, model):
    caches, paths = [], Paths(gpu, len(gpu["tlbs"]))
    first, texture = gpu.get("l1"), gpu.get("texture")
    first_hit = {"l1": gpu["l1_cycles"]} if first else {}
    texture_hit = {"texture": gpu["texture_cycles"]} if texture else {"l1": gpu["texture_cycles"]}
    if first:
        caches.append(cache_of("l1", first))
        if "array_kib" in gpu:
            shared_kib = gpu.get("carveouts_kib", carveouts_kib(float(gpu["capability"])))
            divide_by_carveout(caches[0], gpu["array_kib"], shared_kib)
            model["device"]["shared_carveouts_bytes"] = [kib << 10 for kib in shared_kib]
    if texture:
        caches.append(cache_of("texture", texture))
    more = gpu["texture_cycles"] - gpu.get("l1_cycles", gpu["texture_cycles"])
    model["paths"] = by_path = {"ca": paths.translated(first_hit), "cg": paths.translated({}), "cv": paths.translated({}),
                                "atomic": paths.translated({}, 35), "texture_1d": paths.translated(texture_hit, more)}
    by_path["texture_2d"] = {**by_path["texture_1d"], "tile": {"width_bytes": 16, "rows": 4}}
    if float(gpu["capability"]) >= 3.5:
        by_path["nc"] = by_path["texture_1d"] if texture else by_path["ca"]
    by_path["constant"] = paths.plain(levels_of("constant", gpu["constant"], caches), 60)
    by_path["instruction"] = paths.plain(levels_of("code", gpu["code"], caches), 80)
    slices = gpu.get("slices", (1,))
    caches.append({**cache_of("l2", gpu["l2"], slices[0]), "sm_spread_cycles": 4})
    if slices[0] > 1:
        count, mask, spread = slices
        is_power = count & (count - 1) == 0
        bits = int(math.log2(count)) if is_power else HASH_BITS
        kind = "xor_masks" if is_power else "xor_modulo"
        model["slices"] = {"count": count, "spread_cycles": spread, "index": {"kind": kind, "masks": masks(mask, bits)}}
    model["caches"] = caches


def device_of(gpu, base):
    major, minor = map(int, gpu["capability"].split("."))
    shared_kib = max(gpu.get("carveouts_kib", carveouts_kib(float(gpu["capability"]))))
    device = {"name": "sim " + gpu["name"], "compute_major": major, "compute_minor": minor,
              "memory_bytes": size(gpu["memory"]), "shared_bytes_per_sm": shared_kib << 10,
              "shared_bytes_per_block": (shared_kib - (major >= 8) << 10) if major >= 7 else 48 << 10,
              "sm_clock_hz": gpu["mhz"][0] * 1e6, "memory_clock_hz": gpu["mhz"][1] * 1e6,
              "memory_bus_bits": gpu["bus"], "memory_data_rate": 2,
              "sm_partition_instruction_caches": gpu.get("parts_have_code_caches", major >= 7)}
    for key in ("max_threads_per_block", "max_threads_per_sm"):
        device[key] = base["device"][key]
    if major >= 8:
        device["reserved_shared_bytes_per_block"] = 1024
    if major >= 9:
        device["max_cluster_blocks"] = gpu.get("cluster_blocks", 16 if major < 12 else 8)
    return device


def merged(base, change):
    """As in RFC 7396."""
    if not (isinstance(base, dict) and isinstance(change, dict)):
        return change
    whole = {**base, **{key: merged(base.get(key), value) for key, value in change.items()}}
    return {key: value for key, value in whole.items() if value is not None}


def shipped(name):
    model = json.loads((SHIPPED / (name + ".json")).read_text())
    return merged(shipped(model.pop("base")), model) if "base" in model else model


def model_of(gpu):
    base = shipped(gpu["like"])
    model = {key: value for key, value in base.items() if key not in ("partitions", "slices", "constants", "peer")}
    gpcs, tpcs, sms, enabled, least = gpu["chip"]
    sm_count = enabled * sms
    model["source"] = gpu["source"]
    model["device"] = device_of(gpu, base)
    model["chip"] = {"gpcs": gpcs, "tpcs_per_gpc": tpcs, "sms_per_tpc": sms, "enabled_tpcs": enabled, "min_tpcs_per_gpc": least,
                     "numbering": gpu.get("numbering", "round_robin")}
    model["clock"] = {**base["clock"], "scope": gpu.get("clock_scope", "sm")}
    block = gpu.get("block", "2M")
    model["pages"] = {"page_bytes": size(gpu["page"]), "mapping": "random", "block_bytes": size(block),
                      "tlbs": [tlb_of(number, text) for number, text in enumerate(gpu["tlbs"], 1)]}
    if "window" in gpu:
        model["pages"]["window_bytes"] = size(gpu["window"])
    caches_and_paths(gpu, model)
    l2 = model["caches"][-1]
    copies = 2 if "far" in gpu else 1
    runs = l2.get("ways_per_set", [l2])
    model["device"]["l2_bytes"] = copies * l2["line_bytes"] * sum(run["sets"] * run["ways"] for run in runs)
    if copies > 1:
        model["partitions"] = {"home_mask": gpu["home_mask"], "replicate": gpu.get("replicate", True)}
    model["throughput"]["l2_bytes_per_cycle"] = 40 * sm_count
    if model["device"]["compute_major"] < 9:
        model.pop("dsm", None)
        model["control"].pop("cluster_barrier_cycles", None)
    return model


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for gpu in gpus.GPUS:
        (folder / (gpu["name"] + ".json")).write_text(json.dumps(model_of(gpu), indent=1) + "\n")


if __name__ == "__main__":
    main()
