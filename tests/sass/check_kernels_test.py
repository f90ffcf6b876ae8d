"""Whatever has no kernels, or not those that are meant, is wrong."""

import unittest

import check_kernels


class CheckListingsTest(unittest.TestCase):
    def test_a_library_without_kernels_fails_every_check(self):
        results = check_kernels.check_listings([""])
        self.assertEqual(len(results), len(check_kernels.CHECKS) + 1)
        for name, kernels, faults in results:
            self.assertEqual(kernels, 0, name)

    def test_kernels_that_no_check_finds_are_faults(self):
        results = check_kernels.check_listings(["\t\tFunction : other\n"])
        for name, _, faults in results[:-1]:
            self.assertTrue(faults, name)

    def test_names_of_a_second_target_do_not_replace_those_of_the_first(self):
        listing = "\t\tFunction : other\n        /*0000*/                   EXIT ;\n"
        self.assertEqual(len(check_kernels.parse_all([listing, listing])), 2)


if __name__ == "__main__":
    unittest.main()
