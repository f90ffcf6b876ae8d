#include "commands/completion.hpp"

#include <algorithm>
#include <string_view>

namespace sonde {
namespace {

using Words = std::vector<std::string>;

const OptionSyntax* find_option(const CommandSyntax& command, std::string_view name) {
  const auto found = std::ranges::find_if(command.options, [name](const OptionSyntax& option) {
    return std::ranges::find(option.names, name) != option.names.end();
  });
  return found == command.options.end() ? nullptr : &*found;
}

/// The choices, each behind what stands before it in the word: an option's name, other values.
Words values_of(const OptionSyntax& option, std::string_view before, std::string_view value) {
  if (option.is_list) {
    const std::size_t comma = value.rfind(',');
    const std::size_t kept = comma == std::string_view::npos ? 0 : comma + 1;
    return values_of({.choices = option.choices}, std::string(before).append(value.substr(0, kept)),
                     "");
  }
  Words values;
  for (const std::string& choice : option.choices) {
    values.push_back(std::string(before).append(choice));
  }
  return values;
}

Words names_of(const std::vector<CommandSyntax>& commands) {
  Words names;
  for (const CommandSyntax& command : commands) names.push_back(command.name);
  return names;
}

Words options_of(const CommandSyntax& command) {
  Words names;
  for (const OptionSyntax& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

/// For the last of the words behind a command's name.
Words words_for(const CommandSyntax& command, const Words& words) {
  const std::string_view begun = words.back();
  const OptionSyntax* asked =
      words.size() < 3 ? nullptr : find_option(command, words[words.size() - 2]);
  if (asked != nullptr && asked->takes_value) return values_of(*asked, "", begun);
  if (const std::size_t equals = begun.find('='); equals != std::string_view::npos) {
    const OptionSyntax* option = find_option(command, begun.substr(0, equals));
    if (option == nullptr) return {};
    return values_of(*option, begun.substr(0, equals + 1), begun.substr(equals + 1));
  }
  if (begun.starts_with('-')) return options_of(command);
  const auto unnamed = std::ranges::find_if(
      command.options, [](const OptionSyntax& option) { return option.names.empty(); });
  return unnamed == command.options.end() ? Words{} : unnamed->choices;
}

Words possible_words(const std::vector<CommandSyntax>& commands, const Words& words) {
  if (words.size() == 1) {
    Words first = names_of(commands);
    first.insert(first.end(), {"help", "--help", "--version"});
    return first;
  }
  if (words.front() == "help") return names_of(commands);
  const auto command = std::ranges::find(commands, words.front(), &CommandSyntax::name);
  return command == commands.end() ? Words{} : words_for(*command, words);
}

}  // namespace

std::vector<std::string> complete_words(const std::vector<CommandSyntax>& commands,
                                        const std::vector<std::string>& words) {
  if (words.empty()) return {};
  Words fitting = possible_words(commands, words);
  std::erase_if(fitting, [&](const std::string& word) { return !word.starts_with(words.back()); });
  std::ranges::sort(fitting);
  return fitting;
}

}  // namespace sonde
