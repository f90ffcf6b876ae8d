"""Every rule of the house can fail: each test makes a small tree, breaks one rule, and is told."""
import tempfile
import unittest
from pathlib import Path

import house_rules
from cpp_text import CppText


class RulesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path, *lines):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n")

    def faults(self, rule):
        """[file:line] of what a rule finds in the tree."""
        return [f"{fault.path}:{fault.line}" for fault in house_rules.check(self.root, [rule])]

    def check_include(self, path, target, faulty):
        self.write(target, "#pragma once")
        self.write(path, "// A comment.", f'#include "{target.removeprefix("src/")}"')
        self.assertEqual(self.faults("layers"), [f"{path}:2"] if faulty else [], (path, target))
        (self.root / target).unlink()
        (self.root / path).unlink()

    def test_layers(self):
        for path, target in (("src/base/a.cpp", "src/trace/b.hpp"), ("src/mpi/a.cpp", "src/fleet/b.hpp"),
                             ("src/device/sim/a.cpp", "src/device/cuda/b.hpp"),
                             ("kernels/a.cu", "src/base/b.hpp"), ("analysis/a.cpp", "src/device/b.hpp"),
                             ("analysis/structure/sets/a.cpp", "analysis/fleet/b.hpp"),
                             ("jobs/chase/a.cpp", "jobs/cache/b.hpp"), ("jobs/a.cpp", "src/store/b.hpp")):
            self.check_include(path, target, faulty=True)
        for path, target in (("src/main.cpp", "src/commands/b.hpp"), ("src/store/a.cpp", "analysis/fleet/b.hpp"),
                             ("src/device/backends/open_device.cpp", "src/device/cuda/b.hpp"),
                             ("jobs/cache/a.cpp", "jobs/sets/b.hpp"), ("jobs/cache_l1.cpp", "jobs/cache/b.hpp")):
            self.check_include(path, target, faulty=False)
        self.write("jobs/attic/a.cpp", "int a;")
        self.assertEqual(self.faults("layers"), ["jobs/attic/a.cpp:1"])

    def test_circles(self):
        self.write("jobs/run/a.hpp")
        self.write("jobs/run/a.cpp", '#include "jobs/run/a.hpp"', '#include "jobs/run/b.hpp"')
        self.write("jobs/run/b.hpp")
        self.write("jobs/run/b.cpp", '#include "jobs/run/b.hpp"', '#include "jobs/run/c.hpp"')
        self.write("jobs/run/c.hpp", '#include "jobs/run/a.hpp"')
        self.assertEqual(self.faults("circles"), ["jobs/run/c.hpp:1"])
        self.assertEqual(self.faults("folder_circles"), [])
        self.write("jobs/cache/a.hpp", '#include "jobs/sets/b.hpp"')
        self.write("jobs/cache/d.hpp")
        self.write("jobs/sets/b.hpp")
        self.write("jobs/sets/c.hpp", "", '#include "jobs/cache/d.hpp"')
        self.assertEqual(self.faults("folder_circles"), ["jobs/sets/c.hpp:2"])

    def test_libraries(self):
        for path, header in (("src/fleet/a.cpp", "hdf5.h"), ("src/commands/a.cpp", "mpi.h"),
                             ("jobs/a.cpp", "cuda_runtime.h"), ("src/device/a.cpp", "nvml.h")):
            self.write(path, "", f"#include <{header}>")
            self.assertEqual(self.faults("libraries"), [f"{path}:2"], header)
            (self.root / path).unlink()
        self.write("src/store/a.cpp", "#include <hdf5.h>", "#include <mpi.h>")
        self.assertEqual(self.faults("libraries"), [])

    def test_lengths(self):
        self.write("jobs/a.cpp", *["int a;"] * 351)
        self.assertEqual(self.faults("lengths"), ["jobs/a.cpp:351"])
        for lines, faults in ((58, []), (59, ["jobs/a.cpp:3"])):
            self.write("jobs/a.cpp", "namespace sonde {", "// What it does.", "int one() {",
                       *["  count();"] * lines, "}", "}")
            self.assertEqual(self.faults("lengths"), faults)

    def test_headers(self):
        self.write("src/base/a.cpp", "int a;")
        self.assertIn("src/base/a.cpp:1", self.faults("headers"))
        self.write("src/base/a.hpp", "extern int a;")
        self.assertNotIn("src/base/a.cpp:1", self.faults("headers"))

    def test_words(self):
        self.write("jobs/a.cpp", "int slow_hits;", "int countSlowHits();", "// Few slow",
                   "// hits.", 'auto text = "a slow hit";', "int slow, hits;", 'derive_seed("scrub");')
        self.assertEqual(self.faults("words"), [f"jobs/a.cpp:{n}" for n in (1, 2, 3, 5)])
        self.write(house_rules.WORDS_ALLOWED, "jobs/*.cpp : slow hits? : a plain sense")
        self.assertEqual(self.faults("words"), [])

    def test_braces_that_are_no_code(self):
        text = 'int one() {  // {\n  f("{", \'{\', R"(}{{)");  /* { */\n}\n#define TWO() \\\n  { {\nint three() { return 1\'000; }\n'
        self.assertEqual([(one.line, one.end_line) for one in CppText(text).functions()], [(1, 3), (6, 6)])


if __name__ == "__main__":
    unittest.main()
