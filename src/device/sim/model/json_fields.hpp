// Strict reading of a model file: every key must be known, every required key there, every number
// in range; errors name file, key and why.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace sonde::sim {

/// One JSON object on its way into a struct. Call finish() when all keys have been asked for.
class Fields {
 public:
  /// @param where file and path of the object, for errors
  /// @throws ConfigError if `value` is no object
  Fields(const nlohmann::json& value, std::string where);

  bool has(const std::string& key) const { return object_.contains(key); }

  std::string text(const std::string& key);
  std::string text_or(const std::string& key, const std::string& fallback);
  bool flag_or(const std::string& key, bool fallback);
  /// Finite number, at least `least`.
  double number(const std::string& key, double least);
  double number_or(const std::string& key, double least, double fallback);
  /// Whole number, at least `least`, at most 2^32 - 1.
  std::uint32_t count(const std::string& key, std::uint32_t least);
  std::uint32_t count_or(const std::string& key, std::uint32_t least, std::uint32_t fallback);
  /// Positive size: a number of bytes, or text such as "48 KiB".
  std::uint64_t bytes(const std::string& key);
  std::uint64_t bytes_or(const std::string& key, std::uint64_t fallback);
  std::vector<std::uint64_t> byte_list(const std::string& key);
  /// Bits of an address as text in hexadecimal: "0x0AB000".
  std::uint64_t mask(const std::string& key);
  std::vector<std::uint64_t> mask_list(const std::string& key);

  /// The object below `key`; its finish() is the caller's.
  Fields object(const std::string& key);
  /// Each object of the array below `key`, in order.
  std::vector<Fields> objects(const std::string& key);
  const nlohmann::json& raw(const std::string& key);

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
  const std::string& where() const { return where_; }

 private:
  const nlohmann::json& need(const std::string& key);

  const nlohmann::json& object_;
  std::string where_;
  std::set<std::string> asked_;
};

}  // namespace sonde::sim
