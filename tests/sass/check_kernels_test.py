"""Whatever has no kernels is wrong."""

import unittest

import check_kernels
import sass_windows


class CheckListingTest(unittest.TestCase):
    def test_a_library_without_kernels_has_none_of_either_kind(self):
        self.assertEqual([kernels for _, kernels, _ in check_kernels.check_listing("")], [0, 0])

    def test_names_of_a_second_target_do_not_replace_those_of_the_first(self):
        listing = "\t\tFunction : other\n        /*0000*/                   EXIT ;\n"
        self.assertEqual(len(sass_windows.parse(listing + listing)), 2)


if __name__ == "__main__":
    unittest.main()
