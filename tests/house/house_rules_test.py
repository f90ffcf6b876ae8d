"""Every rule of the house can fail: each test makes a small tree, breaks one rule, and is told."""
import tempfile
import textwrap
import unittest
from pathlib import Path
from unittest import mock

import house_rules
from cpp_text import CppText


class TreeTest(unittest.TestCase):
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


class LayersTest(TreeTest):
    def check_include(self, path, target, faulty):
        self.write(target, "#pragma once")
        name = target.removeprefix("src/")
        self.write(path, "// A comment.", f'#include "{name}"')
        self.assertEqual(self.faults("layers"), [f"{path}:2"] if faulty else [], (path, target))
        (self.root / target).unlink()
        (self.root / path).unlink()

    def test_upwards_is_a_fault(self):
        for path, target in (("src/base/a.cpp", "src/trace/b.hpp"),
                             ("src/mpi/a.cpp", "src/fleet/b.hpp"),
                             ("src/store/a.cpp", "src/fleet/b.hpp"),
                             ("src/store/a.cpp", "analysis/structure/b.hpp"),
                             ("src/store/a.cpp", "analysis/report/b.hpp"),
                             ("src/fleet/a.cpp", "analysis/b.hpp"),
                             ("src/device/a.cpp", "analysis/b.hpp"),
                             ("src/device/a.cpp", "src/device/cuda/b.hpp"),
                             ("src/device/play/a.cpp", "src/device/sim/b.hpp"),
                             ("src/device/sim/a.cpp", "src/device/cuda/b.hpp"),
                             ("src/device/cuda/a.cpp", "src/device/sim/b.hpp"),
                             ("src/device/sim/a.cpp", "kernels/b.hpp"),
                             ("kernels/a.cu", "src/base/b.hpp"),
                             ("analysis/a.cpp", "src/device/b.hpp"),
                             ("analysis/a.cpp", "analysis/structure/b.hpp"),
                             ("analysis/structure/sets/a.cpp", "analysis/fleet/b.hpp"),
                             ("analysis/structure/sets/a.cpp", "analysis/report/b.hpp"),
                             ("analysis/fleet/a.cpp", "analysis/report/b.hpp"),
                             ("jobs/run/a.cpp", "jobs/chase/b.hpp"),
                             ("jobs/chase/a.cpp", "jobs/cache/b.hpp"),
                             ("jobs/sets/a.cpp", "jobs/tlb/b.hpp"),
                             ("jobs/cache/a.cpp", "jobs/suite.hpp"),
                             ("jobs/a.cpp", "src/store/b.hpp"),
                             ("jobs/a.cpp", "src/device/sim/b.hpp"),
                             ("jobs/a.cpp", "src/commands/b.hpp"),
                             ("src/commands/a.cpp", "src/device/cuda/b.hpp")):
            self.check_include(path, target, faulty=True)

    def test_downwards_is_none(self):
        for path, target in (("src/main.cpp", "src/commands/b.hpp"),
                             ("src/commands/a.cpp", "jobs/suite.hpp"),
                             ("src/store/a.cpp", "analysis/fleet/b.hpp"),
                             ("src/device/open_device.cpp", "src/device/sim/b.hpp"),
                             ("src/device/open_device.cpp", "src/device/cuda/b.hpp"),
                             ("src/device/cuda/a.cpp", "kernels/b.hpp"),
                             ("src/device/cuda/a.cpp", "src/device/play/b.hpp"),
                             ("analysis/report/a.cpp", "analysis/fleet/b.hpp"),
                             ("jobs/cache/a.cpp", "jobs/sets/b.hpp"),
                             ("jobs/cache/a.cpp", "jobs/run/b.hpp"),
                             ("jobs/suite.cpp", "jobs/suite.hpp"),
                             ("jobs/cache_l1.cpp", "jobs/cache/b.hpp")):
            self.check_include(path, target, faulty=False)

    def test_a_folder_without_a_layer_is_a_fault(self):
        self.write("jobs/attic/a.cpp", "int a;")
        self.assertEqual(self.faults("layers"), ["jobs/attic/a.cpp:1"])

    def test_an_include_in_a_comment_is_none(self):
        self.write("src/trace/b.hpp")
        self.write("src/base/a.cpp", '// #include "trace/b.hpp"', '/*', '#include "trace/b.hpp"',
                   "*/")
        self.assertEqual(self.faults("layers"), [])

    def test_a_tree_without_sources_is_an_error(self):
        with self.assertRaises(SystemExit):
            house_rules.check(self.root)


class LinksTest(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("src/base/error.cpp")
        self.write("src/fleet/assign.cpp")
        self.write("src/fleet/CMakeLists.txt", "sonde_library(sonde_fleet SOURCES assign.cpp",
                   "              LINK sonde_base fmt::fmt)")

    def test_a_library_that_links_upwards(self):
        self.write("src/base/CMakeLists.txt", "# sonde_library(sonde_base LINK sonde_fleet)",
                   "sonde_library(sonde_base SOURCES error.cpp", "  LINK sonde_fleet)")
        self.assertEqual(self.faults("links"), ["src/base/CMakeLists.txt:3"])
        self.write("src/base/CMakeLists.txt", "sonde_library(sonde_base SOURCES error.cpp)",
                   "target_link_libraries(sonde_base PUBLIC sonde_fleet)")
        self.assertEqual(self.faults("links"), ["src/base/CMakeLists.txt:2"])

    def test_downwards_is_none(self):
        self.write("src/base/CMakeLists.txt", "sonde_library(sonde_base SOURCES error.cpp)")
        self.assertEqual(self.faults("links"), [])


class CirclesTest(TreeTest):
    def test_headers_that_include_each_other(self):
        self.write("src/base/a.hpp", '#include "base/b.hpp"')
        self.write("src/base/b.hpp", "", '#include "base/a.hpp"')
        self.assertEqual(self.faults("circles"), ["src/base/b.hpp:2"])

    def test_a_source_counts_as_its_header(self):
        self.write("jobs/run/a.hpp")
        self.write("jobs/run/a.cpp", '#include "jobs/run/a.hpp"', '#include "jobs/run/b.hpp"')
        self.write("jobs/run/b.hpp")
        self.write("jobs/run/b.cpp", '#include "jobs/run/b.hpp"', '#include "jobs/run/c.hpp"')
        self.write("jobs/run/c.hpp", '#include "jobs/run/a.hpp"')
        self.assertEqual(self.faults("circles"), ["jobs/run/c.hpp:1"])

    def test_two_ways_to_one_file_are_no_circle(self):
        self.write("src/base/a.hpp", '#include "base/b.hpp"', '#include "base/c.hpp"')
        self.write("src/base/b.hpp", '#include "base/c.hpp"')
        self.write("src/base/c.hpp")
        self.assertEqual(self.faults("circles"), [])

    def test_folders_of_jobs_and_of_structure(self):
        for top in ("jobs", "analysis/structure"):
            self.write(f"{top}/cache/a.hpp", f'#include "{top}/sets/b.hpp"')
            self.write(f"{top}/cache/d.hpp")
            self.write(f"{top}/sets/b.hpp")
            self.write(f"{top}/sets/c.hpp", "", f'#include "{top}/cache/d.hpp"')
        self.assertEqual(self.faults("circles"), [])
        self.assertEqual(self.faults("folder_circles"),
                         ["analysis/structure/sets/c.hpp:2", "jobs/sets/c.hpp:2"])

    def test_folders_one_above_the_other_are_no_circle(self):
        self.write("jobs/cache/a.hpp", '#include "jobs/sets/b.hpp"')
        self.write("jobs/sets/b.hpp", '#include "jobs/run/c.hpp"')
        self.write("jobs/run/c.hpp")
        self.assertEqual(self.faults("folder_circles"), [])


class LibrariesTest(TreeTest):
    def test_each_library_outside_its_folders(self):
        for path, header in (("src/fleet/a.cpp", "hdf5.h"), ("src/fleet/a.cpp", "hdf5_hl.h"),
                             ("src/commands/a.cpp", "mpi.h"), ("jobs/a.cpp", "cuda_runtime.h"),
                             ("analysis/a.cpp", "cuda_runtime_api.h"),
                             ("src/device/a.cpp", "nvml.h"), ("jobs/a.cpp", "cuda/atomic")):
            self.write(path, "", f"#include <{header}>")
            self.assertEqual(self.faults("libraries"), [f"{path}:2"], header)
            self.write(path, "", f'#include "{header}"')
            self.assertEqual(self.faults("libraries"), [f"{path}:2"], header)
            (self.root / path).unlink()

    def test_each_library_where_it_belongs(self):
        self.write("src/store/a.cpp", "#include <hdf5.h>", "#include <mpi.h>")
        self.write("src/device/cuda/a.cpp", "#include <cuda_runtime_api.h>")
        self.write("src/device/cuda/nvml.hpp")
        self.write("src/device/cuda/b.cpp", '#include "device/cuda/nvml.hpp"')
        self.assertEqual(self.faults("libraries"), [])


class LengthsTest(TreeTest):
    def test_a_file_of_one_line_too_many(self):
        self.write("jobs/a.cpp", *["int a;"] * 350)
        self.assertEqual(self.faults("lengths"), [])
        self.write("jobs/a.cpp", *["int a;"] * 351)
        self.assertEqual(self.faults("lengths"), ["jobs/a.cpp:351"])

    def test_a_function_of_one_line_too_many(self):
        for lines, faults in ((58, []), (59, ["jobs/a.cpp:3"])):
            self.write("jobs/a.cpp", "namespace sonde {", "// What it does.", "int one() {",
                       *["  count();"] * lines, "}", "}")
            self.assertEqual(self.faults("lengths"), faults)


class HeadersTest(TreeTest):
    def faults(self, rule):
        """Without the rows that this small tree does not need."""
        return [fault for fault in super().faults(rule) if not fault.startswith("tests/")]

    def test_a_source_without_header(self):
        self.write("src/base/a.cpp", "int a;")
        self.assertEqual(self.faults("headers"), ["src/base/a.cpp:1"])
        self.write("src/base/a.hpp", "extern int a;")
        self.assertEqual(self.faults("headers"), [])

    def test_a_shared_header_is_included(self):
        self.write("src/commands/commands.hpp", "void run();")
        self.write("src/commands/run.cpp", "void run() {}")
        self.assertEqual(self.faults("headers"), ["src/commands/run.cpp:1"])
        self.write("src/commands/run.cpp", '#include "src/commands/commands.hpp"', "void run() {}")
        self.assertEqual(self.faults("headers"), [])

    def test_a_row_that_nothing_needs(self):
        self.write("src/base/a.hpp")
        with mock.patch.object(house_rules, "SHARED_HEADERS", {"src/old/*.cpp": "src/old/all.hpp"}):
            faults = house_rules.check(self.root, ["headers"])
        self.assertEqual([fault.path for fault in faults], ["tests/house/tables.py"])


class WordsTest(TreeTest):
    def test_in_every_spelling(self):
        self.write("jobs/a.cpp", "int slow_hits;", "int countSlowHits();", "// Few slow",
                   "// hits.", 'auto text = "a slow hit";', "struct SlowHit;", "int SLOW_HIT;")
        self.assertEqual(self.faults("words"), [f"jobs/a.cpp:{n}" for n in (1, 2, 3, 5, 6, 7)])

    def test_other_words_are_left_alone(self):
        self.write("jobs/a.cpp", "int slow;", "int hits;", "int f(int slow, int hits);",
                   "auto x = std::visit(f, g);", "int slots, ledge;", "// slow; hits")
        self.assertEqual(self.faults("words"), [])

    def test_seeds_of_random_numbers_keep_their_words(self):
        self.write("jobs/a.cpp", 'Random a(derive_seed(run(1), name + " scrub"));',
                   'auto b = "scrub";')
        self.assertEqual(self.faults("words"), ["jobs/a.cpp:2"])

    def test_each_word_is_found(self):
        for text in ("page walk", "walks", "visited", "scrub", "rinsed", "slow hit", "by lot",
                     "lottery", "nearer", "hidden lines", "fading", "knee", "way back", "granule",
                     "l2 sides", "told apart", "soft edge"):
            self.write("jobs/a.cpp", f"// {text}")
            self.assertEqual(set(self.faults("words")), {"jobs/a.cpp:1"}, text)
        for name in ("beside_lines", "CacheSubject", "outline", "hidden"):
            self.write("jobs/a.cpp", f"int {name};")
            self.assertEqual(set(self.faults("words")), {"jobs/a.cpp:1"}, name)

    def test_documents_use_the_words_too(self):
        self.write("src/base/a.hpp")
        self.write("docs/methods/sets.md", "# Sets", "A slow hit.")
        self.write("docs/glossary.md", "slow hit: outlier")
        self.assertEqual(self.faults("words"), ["docs/methods/sets.md:2"])

    def test_a_plain_sense_is_allowed_where_it_is_said(self):
        self.write("src/device/sim/page_tables.hpp", "// A page walk.")
        self.write(house_rules.WORDS_ALLOWED, "# glob : words : why",
                   "src/device/sim/*.hpp : (page )?walk|visit : what the hardware does")
        self.assertEqual(self.faults("words"), [])
        self.write("src/device/sim/page_tables.hpp", "// Nothing.")
        self.assertEqual(self.faults("words"), [f"{house_rules.WORDS_ALLOWED}:2"])


class CppTextTest(unittest.TestCase):
    def functions(self, text):
        return [(one.line, one.end_line) for one in CppText(textwrap.dedent(text)).functions()]

    def test_braces_that_are_no_code(self):
        self.assertEqual(self.functions("""\
            int one() {  // {
              f("{", '{', R"(}{{)");  /* { */
            }
            #define TWO() \\
              { {
            int three() { return 1'000; }
            """), [(1, 3), (6, 6)])

    def test_what_braces_open(self):
        self.assertEqual(self.functions("""\
            namespace a {
            constexpr int table[] = {1, 2};
            enum class Kind { one, two };
            struct One : Base<int> {
              explicit One(int a) : a_{a},
                                    b_{a, {1}} {
                f();
              }
              int a_{3};
              bool operator()(int) const { return true; }
             private:
              template <class T>
              T get() const noexcept {
                return {};
              }
            };
            const auto lambda = [](int a) {
              return a;
            };
            auto two(std::vector<int> a = {}) -> One {
              struct Inner { int f() { return 1; } };
              for (;;) {}
            }
            }  // namespace a
            extern "C" {
            void three() {}
            }
            """), [(5, 8), (10, 10), (12, 15), (17, 19), (20, 23), (26, 26)])


if __name__ == "__main__":
    unittest.main()
