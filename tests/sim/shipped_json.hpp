// The JSON of a shipped model, to be changed by a test, and files of such models.
#pragma once

#include "device/sim/model/model_files.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <fstream>
#include <string>
#include <string_view>

namespace sonde::test {

inline constexpr std::array shipped_models{"gtx280", "c2070",       "gtx560ti", "gtx780",
                                           "gtx980", "fermi_dac16", "h200"};

inline nlohmann::json json_of(std::string_view name) {
  return sim::read_whole(nlohmann::json{{"base", name}}.dump(), "test");
}

/// @returns the path of a file with this model
inline std::string write_model(const nlohmann::json& model, const std::string& name) {
  const std::string path = testing::TempDir() + name + ".json";
  std::ofstream(path) << model;
  return path;
}

}  // namespace sonde::test
