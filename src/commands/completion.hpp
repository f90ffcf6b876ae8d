// What a shell offers for a word that has begun (packaging/completion asks with
// `sonde complete-words`, which --help does not list).
#pragma once

#include <string>
#include <vector>

namespace sonde {

struct OptionSyntax {
  std::vector<std::string> names{};  // "--output", "-o"; none: an argument that needs no name
  bool takes_value = false;
  bool is_list = false;                // of values with commas between
  std::vector<std::string> choices{};  // its values; none: a path, a number, a text
};

struct CommandSyntax {
  std::string name;
  std::vector<OptionSyntax> options{};
};

/// @param words those after the program's name; the last one has begun, or is ""
/// @returns whole words that may stand for the last one, sorted; of a list with all its values so
///   far. None where anything may stand: a shell then offers files.
std::vector<std::string> complete_words(const std::vector<CommandSyntax>& commands,
                                        const std::vector<std::string>& words);

}  // namespace sonde
