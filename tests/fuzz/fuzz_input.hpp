// What every fuzz target is made of: the bytes as a file that the product opens by its name, and
// for run files a good one that the bytes spoil.
#pragma once

#include "analysis/results.hpp"
#include "support/random_run.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

/// libFuzzer's entry, which every target defines. Returns 0; anything wrong crashes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace sonde::test {

using Bytes = std::span<const std::uint8_t>;

/// The bytes as a file, overwritten by each input; in TMPDIR, which should lie in memory.
class InputFile {
 public:
  void replace(Bytes content) const;
  std::filesystem::path path() const { return folder_ / "input"; }

 private:
  TemporaryFolder folder_;
};

/// One device, some jobs: what good_run_file() holds.
DeviceResult good_device();

/// A small run file, the same bytes in each process.
const std::vector<std::uint8_t>& good_run_file();

/// Input to the bytes of a run file. What starts with HDF5's signature is a whole file. All else is
/// a list of edits of good_run_file(), which keeps inputs small and most of the file readable: 4
/// bytes of offset (modulo the size), 1 byte of length, and so many bytes to put there. A length of
/// 0 cuts the file off at the offset.
std::vector<std::uint8_t> to_run_file(Bytes input);

/// Crashes unless the text is valid UTF-8 without control characters but line feeds and tabs.
void check_printable(const std::string& text);

}  // namespace sonde::test
