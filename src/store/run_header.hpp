// What stands at the top of every file of sonde: the schema version and the provenance.
#pragma once

#include "analysis/results.hpp"
#include "store/hdf5.hpp"

#include <string>
#include <vector>

namespace sonde {

void write_header(hid_t file, const Provenance& provenance);

/// @throws StoreError if the file is not of sonde, or of another schema version
Provenance read_header(hid_t file);

/// Provenance and unaudited devices, as rank 0 sends them to the others.
std::string header_to_json(const Provenance& provenance,
                           const std::vector<UnauditedDevice>& unaudited);
void header_from_json(const std::string& text, Provenance& provenance,
                      std::vector<UnauditedDevice>& unaudited);

}  // namespace sonde
