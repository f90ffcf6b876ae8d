// What stands at the top of every file of sonde: the schema version and the provenance.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5.hpp"

#include <string>
#include <vector>

namespace sonde {

/// Grows with every change that a reader of an older version would misread.
inline constexpr int schema_version = 2;

void write_header(hid_t file, const Provenance& provenance);

/// @throws StoreError if the file is not of sonde, or of another schema version
Provenance read_header(hid_t file);

/// What rank 0 knows for all.
struct RunHeader {
  Provenance provenance;
  std::vector<UnauditedDevice> unaudited;
};
std::string to_json(const RunHeader& header);
RunHeader header_from_json(const std::string& text);

}  // namespace sonde
