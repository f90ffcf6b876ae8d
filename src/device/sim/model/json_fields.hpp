// Strict reading of a model file: every key must be known, every required key there, every number
// in range; errors name file, key and why.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <initializer_list>
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
    return fallback && !has(key) ? *fallback : static_cast<Whole>(whole(key, range));
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
    return object(key, [](Fields& fields) { return Part(fields); });
  }
  template <class Part>
  std::optional<Part> object_or_none(const std::string& key) {
    return has(key) ? std::optional<Part>(object<Part>(key)) : std::nullopt;
  }
  template <class Part>
  std::vector<Part> objects_or_none(const std::string& key) {
    if (!has(key)) return {};
    return objects(key, [](Fields& fields) { return Part(fields); });
  }

  /// One of the names of the enumerators, in their order.
  template <class Enum>
  Enum one_of(const std::string& key, std::initializer_list<const char*> names,
              std::optional<Enum> fallback = {}) {
    return fallback && !has(key) ? *fallback : static_cast<Enum>(place_among(key, names));
  }

  /// @throws ConfigError if the object holds a key that nobody asked for
  void finish() const;

  [[noreturn]] void fail(const std::string& key, const std::string& why) const;

 private:
  std::string checked(const std::string& key, std::string text) const;
  const nlohmann::json& need(const std::string& key);
  std::uint32_t whole(const std::string& key, Range range);
  std::size_t place_among(const std::string& key, std::initializer_list<const char*> names);
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

/// A struct whose members read themselves: each has its key, its range and, where it may be
/// missing, its fallback as initialiser. Made of nothing they have their fallbacks, or 0.
class Section {
 public:
  Section() = default;
  explicit Section(Fields& fields) : fields_(&fields) {}

 protected:
  double number(const char* key, Range range, std::optional<double> fallback = {}) const {
    return fields_ == nullptr ? fallback.value_or(0) : fields_->number(key, range, fallback);
  }
  template <class Whole = std::uint32_t>
  Whole count(const char* key, Range range, std::optional<Whole> fallback = {}) const {
    return fields_ == nullptr ? fallback.value_or(0) : fields_->count<Whole>(key, range, fallback);
  }
  std::uint64_t bytes(const char* key, double most_bytes) const {
    return fields_ == nullptr ? 0 : fields_->bytes(key, most_bytes);
  }
  bool flag(const char* key) const { return fields_ != nullptr && fields_->flag(key); }
  std::string text(const char* key) const { return fields_ == nullptr ? "" : fields_->text(key); }
  template <class Enum>
  Enum one_of(const char* key, std::initializer_list<const char*> names,
              std::optional<Enum> fallback = {}) const {
    return fields_ == nullptr ? fallback.value_or(Enum{}) : fields_->one_of(key, names, fallback);
  }
  template <class Part>
  Part object(const char* key) const {
    return fields_ == nullptr ? Part{} : fields_->object<Part>(key);
  }
  template <class Part>
  Part object_or_default(const char* key) const {
    return object_or_none<Part>(key).value_or(Part{});
  }
  template <class Part>
  std::optional<Part> object_or_none(const char* key) const {
    return fields_ == nullptr ? std::nullopt : fields_->object_or_none<Part>(key);
  }
  template <class Part>
  std::vector<Part> objects_or_none(const char* key) const {
    return fields_ == nullptr ? std::vector<Part>{} : fields_->objects_or_none<Part>(key);
  }

 private:
  Fields* fields_ = nullptr;  // while it is read
};

}  // namespace sonde::sim
