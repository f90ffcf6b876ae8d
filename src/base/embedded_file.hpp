// A text file that is built into the program (cmake/SondeEmbed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace sonde {

struct EmbeddedFile {
  std::string_view name;  // without its folder
  std::string_view text;
};

}  // namespace sonde
