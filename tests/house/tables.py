"""What house_rules.py wants: layers, libraries, lengths, shared headers, words."""
import dataclasses

PRODUCT = ("src", "jobs", "analysis", "kernels")
SUFFIXES = (".cpp", ".hpp", ".cu", ".cuh")
LONGEST_FILE_LINES = 350
LONGEST_FUNCTION_LINES = 60

# --- layers --------------------------------------------------------------------------------------

JOB_PARTS = ("jobs/bypass", "jobs/cache", "jobs/tlb", "jobs/latency", "jobs/control", "jobs/cores", "jobs/sharing", "jobs/slices",
             "jobs/host", "jobs/peer")
BELOW_PARTS = ("jobs/sets", "jobs/chase", "jobs/run")
BELOW_JOBS = ("src/device", "analysis", "analysis/structure", "src/trace", "src/base")
# From the top floor down: a layer, and the layers whose files it may include. A file belongs to the
# longest prefix; "folder/*" are the files of that folder itself. A layer may include itself.
LAYERS = {
    "src/main.cpp": ("src/commands", "src/doctor", "src/store", "src/worker", "src/fleet", "src/mpi",
                     "src/config", "src/base"),
    "src/commands": ("jobs/*", "src/doctor", "src/store", "src/worker", "src/fleet", "src/mpi", "src/device",
                     "src/device/backends", "analysis", "analysis/fleet",
                     "analysis/report", "src/config", "src/trace", "src/base"),
    "jobs/*": (*JOB_PARTS, *BELOW_PARTS, *BELOW_JOBS),
    **{part: (*JOB_PARTS, *BELOW_PARTS, *BELOW_JOBS) for part in JOB_PARTS},
    "jobs/sets": ("jobs/chase", "jobs/run", *BELOW_JOBS),
    "jobs/chase": ("jobs/run", *BELOW_JOBS),
    "jobs/run": BELOW_JOBS,
    "src/store": ("src/mpi", "analysis", "analysis/fleet", "src/config", "src/trace", "src/base"),
    "src/doctor": ("analysis/fleet", "src/trace", "src/base"),
    "src/fleet": ("src/mpi", "src/config", "src/device", "src/trace", "src/base"),
    "src/mpi": ("src/base",),
    "src/worker": ("src/base",),
    "src/device/backends": ("src/device", "src/device/cuda", "src/device/sim", "src/trace",
                                   "src/base"),
    "src/device/cuda": ("src/device", "kernels", "src/trace", "src/base"),
    "src/device/sim": ("src/device", "src/trace", "src/base"),
    "src/device": ("src/trace", "src/base"),
    "kernels": (),
    "analysis/report": ("analysis/fleet", "analysis", "src/trace", "src/base"),
    "analysis/fleet": ("analysis", "src/trace", "src/base"),
    "analysis/structure": ("analysis", "src/trace", "src/base"),
    "analysis": ("src/trace", "src/base"),
    "src/config": ("src/trace", "src/base"),
    "src/trace": ("src/base",),
    "src/base": (),
}
# Trees whose folders may not include each other in a circle.
TREES_WITHOUT_FOLDER_CIRCLES = PRODUCT

# Libraries that only these folders know: pattern of the header, who may include it, what for.
LIBRARIES = (
    (r"hdf5.*\.h", ("src/store",), "HDF5"),
    (r"mpi\.h", ("src/mpi", "src/fleet", "src/store"), "MPI"),
    (r"(cuda|nvml|cooperative_groups|curand|cupti|nvrtc)[\w/]*(\.h(pp)?)?",
     ("src/device/cuda", "kernels"), "CUDA"),
    (r"toml\+\+/.*", ("src/config",), "TOML"),
)

# --- files that share a header -------------------------------------------------------------------

# Sources without a header of their name, and the header that declares what they define. They
# include it, and something needs the row: a row without a file is a fault.
SHARED_HEADERS = {
    "src/main.cpp": None,
    "jobs/tlb/tlb_record.cpp": "jobs/tlb/tlb_probe.hpp",
    "jobs/tlb/*.cpp": "jobs/tlb/parts.hpp",
    "jobs/*.cpp": None,  # jobs/suite.cpp declares the jobs and lists them
    "jobs/*/job.cpp": None,
    "jobs/bypass/polybench.cpp": "jobs/bypass/programs.hpp",
    "jobs/bypass/rodinia.cpp": "jobs/bypass/programs.hpp",
    "jobs/bypass/samples.cpp": "jobs/bypass/programs.hpp",
    "jobs/control/*.cpp": "jobs/control/parts.hpp",
    "jobs/cores/*.cpp": "jobs/cores/parts.hpp",
    "jobs/latency/*.cpp": "jobs/latency/parts.hpp",
    "jobs/sets/*.cpp": "jobs/sets/search.hpp",
    "src/commands/*.cpp": "src/commands/commands.hpp",
    "src/device/cuda/lanes/*_lanes.cpp": "src/device/cuda/lanes/path_lanes.hpp",
    "src/device/cuda/play/*.cpp": "src/device/cuda/play/play.hpp",
    "src/device/sim/play/*.cpp": "src/device/sim/play/play.hpp",
    "src/device/sim/**_reader.cpp": "model_files.hpp",
    "analysis/fleet/grounds/*.cpp": "analysis/fleet/grounds/grounds.hpp",
    "analysis/fleet/verdict/*.cpp": "analysis/fleet/verdict/reduce.hpp",
    "analysis/structure/replacement/random_policies.cpp": "analysis/structure/replacement/match.hpp",
    "analysis/report/*.cpp": "analysis/report/report.hpp",
    "analysis/report/charts/*.cpp": "analysis/report/charts/charts.hpp",
    "analysis/report/drawing/*.cpp": "analysis/report/drawing/drawing.hpp",
    "analysis/report/export/*.cpp": "analysis/report/report.hpp",
    "analysis/report/page/*.cpp": "analysis/report/report.hpp",
    "analysis/report/page/*_section.cpp": "analysis/report/page/sections.hpp",
    "kernels/arithmetic/*.cu": "kernels/arithmetic/arithmetic_kernel.cuh",
    "kernels/chase/*.cu": "kernels/chase/chase.hpp",
    "kernels/shared/*.cu": "kernels/shared/shared.hpp",
    "kernels/control/*.cu": "kernels/control/control.hpp",
    "kernels/program/*.cu": "kernels/program/program_kernel.cuh",
    "kernels/stream/*.cu": "kernels/stream/stream_kernel.cuh",
}

# --- words ---------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Word:
    pattern: str  # of lower-case words; slow_hits, SlowHits and "slow hits" are all "slow hits"
    instead: str
    under: tuple = ("",)  # prefixes of paths
    lanes: tuple = ("identifier", "comment", "text")


WORDS = (
    Word(r"page walk\w*", "page-stride chase (a page walk is what the hardware does)"),
    Word(r"walk\w*", "chase", ("jobs", "analysis", "kernels", "src/device")),
    Word(r"visit\w*", "access", ("jobs", "analysis/structure", "kernels", "src/device")),
    Word(r"scrub\w*|rins(e|es|ed|ing)", "inner-level eviction list (per pass, per access)"),
    Word(r"slow hits?", "outlier"),
    Word(r"by lot|lots|lottery|drawn victims?|victims? drawn", "random replacement, at random"),
    Word(r"nearer|farther", "inner, outer level", ("jobs", "analysis/structure", "src/device")),
    Word(r"beside|hidden", "co-resident, excluded", ("jobs", "analysis/structure"),
         ("identifier",)),
    Word(r"hidden lines?|lines? beside", "excluded line, co-resident line"),
    Word(r"fading|fades", "gradual decay of the hit rate"),
    Word(r"soft edges?|knees?", "gradual capacity transition"),
    Word(r"edges?", "capacity bound", ("jobs/cache", "jobs/tlb", "analysis/structure/capacity"),
         ("identifier",)),
    Word(r"way back", "return pass"),
    Word(r"granules?", "translation granularity"),
    Word(r"outlines?|subjects?|cache subject", "geometry, cache under test", ("jobs", "analysis"),
         ("identifier",)),
    Word(r"l2 (sides?|halves)|(sides?|halves) of the l2", "L2 partition"),
    Word(r"told apart|tell apart", "distinguished", ("jobs", "analysis/structure")),
    Word(r"stops?", "level", ("src/device/sim",), ("identifier",)),
)
# What these words may still mean, and where: `glob : words : why`, one a line.
WORDS_ALLOWED = "tests/house/words_allowed.txt"
# Texts inside these calls seed random numbers: another word would measure other addresses.
SEED_CALL = "derive_seed"
# Documents that follow the words too; results and metrics.md are generated, the glossary explains.
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "docs/methods/*.md",
             "docs/decisions/*.md")
DOCUMENTS_LEFT_OUT = ("docs/metrics.md", "docs/glossary.md")
