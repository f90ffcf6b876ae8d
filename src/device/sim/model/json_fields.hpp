// Strict reading of a model file: every key must be known, every required key there, every number
// in range; errors name file, key and why.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sonde::sim {

/// What a number may be.
struct Range {
  double least = 0;
  double most = 0;
};

/// One JSON object on its way into a struct.
class Fields {
 public:
  /// @param where file and path of the object, for errors
  /// @throws ConfigError if `value` is no object
  Fields(const nlohmann::json& value, std::string where);

  bool has(const std::string& key) const;

  /// Text without control characters, which would reach terminals and reports.
  std::string text(const std::string& key);
  std::string text_or(const std::string& key, const std::string& fallback) {
    return has(key) ? text(key) : fallback;
  }
  /// One such text, or a list of them.
  std::vector<std::string> texts(const std::string& key);
  bool flag_or(const std::string& key, bool fallback);
  double number(const std::string& key, Range range);
  double number_or(const std::string& key, Range range, double fallback) {
    return has(key) ? number(key, range) : fallback;
  }
  /// Whole number, in any case at most 2^31 - 1.
  template <class Whole = std::uint32_t>
  Whole count(const std::string& key, Range range) {
    return static_cast<Whole>(whole(key, range));
  }
  template <class Whole = std::uint32_t>
  Whole count_or(const std::string& key, Range range, Whole fallback) {
    return has(key) ? count<Whole>(key, range) : fallback;
  }
  /// Positive size: a number of bytes, or text such as "48 KiB".
  std::uint64_t bytes(const std::string& key, double most_bytes);
  std::uint64_t bytes_or(const std::string& key, double most_bytes, std::uint64_t fallback) {
    return has(key) ? bytes(key, most_bytes) : fallback;
  }
  /// Sizes, also 0.
  std::vector<std::uint64_t> byte_list(const std::string& key, double most_bytes);
  /// Bits of an address as text in hexadecimal: "0x0AB000".
  std::uint64_t mask(const std::string& key);
  std::vector<std::uint64_t> mask_list(const std::string& key);

  /// Names (std::string) or numbers (double; std::uint32_t, which are whole).
  template <class Item>
  std::vector<Item> list(const std::string& key);
  bool is_number(const std::string& key);

  /// What `read` makes of the Fields of the object below `key`; it must ask for every key there.
  template <class Read>
  auto object(const std::string& key, Read read) {
    Fields fields = below(key);
    return read_all(fields, read);
  }
  template <class Read>
  auto object_or_none(const std::string& key, Read read) -> std::optional<decltype(read(*this))> {
    if (!has(key)) return std::nullopt;
    return object(key, read);
  }
  /// The same for each object of the array below `key`, in order.
  template <class Read>
  auto objects(const std::string& key, Read read) {
    std::vector<decltype(read(*this))> made;
    for (Fields& item : items_below(key)) made.push_back(read_all(item, read));
    return made;
  }
  template <class Read>
  auto objects_or_none(const std::string& key, Read read) -> std::vector<decltype(read(*this))> {
    if (!has(key)) return {};
    return objects(key, read);
  }

  /// One of the names in `choices`; gives its place.
  template <class Enum>
  Enum one_of(const std::string& key, const std::vector<std::pair<const char*, Enum>>& choices) {
    const std::string given = text(key);
    std::string known;
    for (const auto& [name, value] : choices) {
      if (given == name) return value;
      known += known.empty() ? name : std::string(", ") + name;
    }
    fail(key, "is '" + given + "', which is none of " + known);
  }

  /// @throws ConfigError if the object holds a key that nobody asked for
  void finish() const;

  [[noreturn]] void fail(const std::string& key, const std::string& why) const;

 private:
  std::string checked(const std::string& key, std::string text) const;
  const nlohmann::json& need(const std::string& key);
  std::uint32_t whole(const std::string& key, Range range);
  Fields below(const std::string& key);
  std::vector<Fields> items_below(const std::string& key);
  template <class Read>
  static auto read_all(Fields& fields, Read read) {
    auto made = read(fields);
    fields.finish();
    return made;
  }

  const nlohmann::json& object_;
  std::string where_;
  std::set<std::string> asked_;
};

}  // namespace sonde::sim
