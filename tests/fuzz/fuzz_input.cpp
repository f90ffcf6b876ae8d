#include "fuzz/fuzz_input.hpp"

#include "base/error.hpp"
#include "support/run_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace sonde::test {

void InputFile::replace(Bytes content) const {
  std::ofstream file(path(), std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(content.data()),
             static_cast<std::streamsize>(content.size()));
  file.close();
  require(!file.fail(), "cannot write " + path().string());
}

DeviceResult good_device() {
  DeviceResult device = random_device(11, 0);
  device.jobs = {random_job(3, "cache.l1")};
  device.jobs[0].findings = {found("cache.l1.line_bytes", 128.0, 1, 9),
                             found("cache.l1.replacement", "lru", 0.5, 7),
                             found("cache.l1.way_probability", std::vector{0.25, 0.75}, 1, 8),
                             not_present("cache.l1.sets", "no sets")};
  return device;
}

const std::vector<std::uint8_t>& good_run_file() {
  static const std::vector<std::uint8_t> content = [] {
    const TemporaryFolder folder;
    write_run_file(folder / "good", {good_device()});
    std::ifstream stream(folder / "good", std::ios::binary);
    return std::vector<std::uint8_t>{std::istreambuf_iterator<char>(stream), {}};
  }();
  return content;
}

std::vector<std::uint8_t> to_run_file(Bytes input) {
  constexpr std::uint8_t signature[] = {0x89, 'H', 'D', 'F'};
  if (input.size() >= std::size(signature) && std::ranges::equal(input.first(4), signature)) {
    return {input.begin(), input.end()};
  }
  std::vector<std::uint8_t> content = good_run_file();
  while (input.size() >= 5 && !content.empty()) {
    std::uint32_t offset = 0;
    std::memcpy(&offset, input.data(), sizeof offset);
    offset %= static_cast<std::uint32_t>(content.size());
    const std::size_t length =
        std::min({std::size_t{input[4]}, input.size() - 5, content.size() - offset});
    if (input[4] == 0) content.resize(offset);
    std::ranges::copy(input.subspan(5, length), content.begin() + offset);
    input = input.subspan(5 + length);
  }
  return content;
}

void check_printable(const std::string& text) {
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
  };
  const bool valid_utf8 = nlohmann::json::accept(
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::strict));
  if (!valid_utf8 || std::ranges::any_of(text, is_control)) std::abort();
}

}  // namespace sonde::test
