// Strict reading of a model file: every key must be known, every required key there, every number
// in range; errors name file, key and why.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <initializer_list>
#include <memory>
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

/// One JSON object on its way into a struct; copies are of the same object. Without one
/// everything has its fallback, or is 0 or empty.
class Fields {
 public:
  Fields() = default;
  /// @param where file and path of the object, for errors
  /// @throws ConfigError if `value` is no object
  Fields(const nlohmann::json& value, std::string where);

  bool has(const std::string& key) const;

  // A value with a fallback may be missing.

  /// Text without control characters, which would reach terminals and reports.
  std::string text(const std::string& key, const char* fallback = nullptr);
  /// One such text, or a list of them.
  std::vector<std::string> texts(const std::string& key);
  bool flag(const std::string& key, bool fallback = false);
  double number(const std::string& key, Range range, std::optional<double> fallback = {});
  /// Whole number, in any case at most 2^31 - 1.
  template <class Whole = std::uint32_t>
  Whole count(const std::string& key, Range range, std::optional<Whole> fallback = {}) {
    return is_left_out(key, fallback) ? fallback.value_or(Whole{})
                                      : static_cast<Whole>(whole(key, range));
  }
  /// Positive size: a number of bytes, or text such as "48 KiB".
  std::uint64_t bytes(const std::string& key, double most_bytes,
                      std::optional<std::uint64_t> fallback = {});
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
  /// The same for each object of the array below `key`, in order.
  template <class Read>
  auto objects(const std::string& key, Read read) {
    std::vector<decltype(read(*this))> made;
    for (Fields& item : items_below(key)) made.push_back(read_all(item, read));
    return made;
  }
  /// A Section; those that may be missing.
  template <class Part>
  Part object(const std::string& key) {
    return object_ == nullptr ? Part{} : object(key, make<Part>);
  }
  template <class Part>
  std::optional<Part> object_or_none(const std::string& key) {
    return has(key) ? std::optional<Part>(object(key, make<Part>)) : std::nullopt;
  }
  template <class Part>
  Part object_or_default(const std::string& key) {
    return has(key) ? object(key, make<Part>) : Part{};
  }
  template <class Part>
  std::vector<Part> objects_or_none(const std::string& key) {
    return has(key) ? objects(key, make<Part>) : std::vector<Part>{};
  }

  /// One of the names of the enumerators, in their order.
  template <class Enum>
  Enum one_of(const std::string& key, std::initializer_list<const char*> names,
              std::optional<Enum> fallback = {}) {
    return is_left_out(key, fallback) ? fallback.value_or(Enum{})
                                      : static_cast<Enum>(place_among(key, names));
  }

  /// @throws ConfigError if the object holds a key that nobody asked for
  void finish() const;

  [[noreturn]] void fail(const std::string& key, const std::string& why) const;

 private:
  /// @param fallback converts to true if there is one
  template <class Fallback>
  bool is_left_out(const std::string& key, const Fallback& fallback) const {
    return !has(key) && (fallback || object_ == nullptr);
  }
  std::string checked(const std::string& key, std::string text) const;
  const nlohmann::json& need(const std::string& key);
  std::uint32_t whole(const std::string& key, Range range);
  std::size_t place_among(const std::string& key, std::initializer_list<const char*> names);
  Fields below(const std::string& key);
  std::vector<Fields> items_below(const std::string& key);
  template <class Part>
  static Part make(Fields& fields) {
    return Part(fields);
  }
  template <class Read>
  static auto read_all(Fields& fields, Read read) {
    auto made = read(fields);
    fields.finish();
    return made;
  }

  const nlohmann::json* object_ = nullptr;
  std::string where_;
  std::shared_ptr<std::set<std::string>> asked_;  // keys, by any of the copies
};

/// A struct whose members read themselves: each has its key, its range and, where it may be
/// missing, its fallback as initialiser.
class Section : protected Fields {
 public:
  Section() = default;
  explicit Section(const Fields& fields) : Fields(fields) {}
};

}  // namespace sonde::sim
