// Strict reading of a model file: every key must be known, every required key present, every number
// in range; errors name file, key and why.
#pragma once

#include "device/sim/model/limits.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace sonde::sim {

/// The least and the largest value that a number may have.
struct Range {
  double least = 0;
  double most = 0;
};

/// One value of a model file, and its place there for errors. Each function throws ConfigError if
/// the value is of another kind, or out of range.
class Value {
 public:
  Value(const nlohmann::json& json, std::string where) : json_(&json), where_(std::move(where)) {}

  /// Text without control characters, which would reach terminals and reports.
  std::string text() const;
  bool flag() const;
  double number(Range range) const;
  /// A whole number, at most 2^31 - 1 whatever the range.
  std::uint32_t whole(Range range) const;
  /// A number of bytes, or text such as "48 KiB".
  std::uint64_t bytes(double most_bytes, std::uint64_t least_bytes = 1) const;
  /// Bits of an address as text in hexadecimal: "0x0AB000".
  std::uint64_t mask() const;
  /// The index of the text among the names.
  std::size_t place_among(std::initializer_list<const char*> names) const;
  /// The items of a list.
  std::vector<Value> items(double most = std::numeric_limits<double>::infinity()) const;

  const nlohmann::json& json() const { return *json_; }
  const std::string& where() const { return where_; }
  [[noreturn]] void fail(const std::string& why) const;

 private:
  const nlohmann::json* json_;
  std::string where_;
};

/// Reads one JSON object into a struct; copies read the same object. A value with a fallback may be
/// missing. If there is no object (default constructor), every value is its fallback, 0 or empty.
class Fields {
 public:
  Fields() = default;
  /// @throws ConfigError if `value` is no object
  explicit Fields(const Value& value);

  bool has(const std::string& key) const;
  /// @throws ConfigError if there is none
  Value at(const std::string& key);

  std::string text(const std::string& key, const std::optional<std::string>& fallback = {}) {
    return get(key, fallback, &Value::text);
  }
  /// One text, or a list of them.
  std::vector<std::string> texts(const std::string& key);
  bool flag(const std::string& key, bool fallback = false) {
    return get(key, std::optional(fallback), &Value::flag);
  }
  double number(const std::string& key, Range range, std::optional<double> fallback = {}) {
    return get(key, fallback, [&](const Value& value) { return value.number(range); });
  }
  template <class Whole = std::uint32_t>
  Whole count(const std::string& key, Range range, std::optional<Whole> fallback = {}) {
    return get(key, fallback,
               [&](const Value& value) { return static_cast<Whole>(value.whole(range)); });
  }
  std::uint64_t bytes(const std::string& key, double most_bytes,
                      std::optional<std::uint64_t> fallback = {}) {
    return get(key, fallback, [&](const Value& value) { return value.bytes(most_bytes); });
  }
  std::uint64_t mask(const std::string& key) {
    return get(key, std::optional<std::uint64_t>(), &Value::mask);
  }
  /// The enumerator of a name; the names stand in the order of the enumerators.
  template <class Enum>
  Enum one_of(const std::string& key, std::initializer_list<const char*> names,
              std::optional<Enum> fallback = {}) {
    return get(key, fallback,
               [&](const Value& value) { return static_cast<Enum>(value.place_among(names)); });
  }
  /// What `read` makes of each Value of the list below `key`, in order.
  template <class Read>
  auto list(const std::string& key, Read read) {
    using Items = std::vector<std::invoke_result_t<Read, const Value&>>;
    return get(key, std::optional<Items>(), [&](const Value& value) {
      Items items;
      for (const Value& item : value.items()) items.push_back(std::invoke(read, item));
      return items;
    });
  }

  std::vector<double> numbers(const std::string& key, Range range) {
    return list(key, [&](const Value& value) { return value.number(range); });
  }
  /// Whole numbers.
  std::vector<std::uint32_t> counts(const std::string& key, Range range) {
    return list(key, [&](const Value& value) { return value.whole(range); });
  }

  /// What `read` makes of the Fields of the object below `key`; it must ask for every key there.
  template <class Read>
  auto object(const std::string& key, Read read) {
    return read_all(at(key), read);
  }
  /// The same for each object of the list below `key`, in order.
  template <class Read>
  auto objects(const std::string& key, Read read) {
    std::vector<decltype(read(*this))> made;
    for (const Value& item : at(key).items(limits::objects)) made.push_back(read_all(item, read));
    return made;
  }
  /// Reads a Section; in the functions below it may be missing.
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

  /// @throws ConfigError if the object holds a key that nobody asked for
  void finish() const;

  [[noreturn]] void fail(const std::string& key, const std::string& why) const;

 private:
  template <class Item, class Read>
  Item get(const std::string& key, const std::optional<Item>& fallback, Read read) {
    if (!has(key) && (fallback || object_ == nullptr)) return fallback.value_or(Item{});
    return std::invoke(read, at(key));
  }
  template <class Part>
  static Part make(Fields& fields) {
    return Part(fields);
  }
  template <class Read>
  static auto read_all(const Value& value, Read read) {
    Fields fields(value);
    auto made = read(fields);
    fields.finish();
    return made;
  }

  const nlohmann::json* object_ = nullptr;
  std::string where_;
  std::shared_ptr<std::set<std::string>> asked_;  // keys asked for by any of the copies
};

/// Base of a struct whose members read themselves: the initialiser of a member names its key, its
/// range and, if it may be missing, its fallback.
class Section : protected Fields {
 public:
  Section() = default;
  explicit Section(const Fields& fields) : Fields(fields) {}
};

}  // namespace sonde::sim
