// Strict reading of a model file.
#include "device/sim/model/json_fields.hpp"

#include "base/error.hpp"
#include "base/escape.hpp"
#include "base/units.hpp"
#include "device/sim/model/limits.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

namespace sonde::sim {
namespace {

using nlohmann::json;

std::uint64_t to_mask(const Fields& fields, const std::string& key, const json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  std::uint64_t mask = 0;
  const char* end = text.data() + text.size();
  const bool prefixed = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (!prefixed || std::from_chars(text.data() + 2, end, mask, 16).ptr != end || mask == 0) {
    fields.fail(key, "must be a mask of address bits such as \"0x0AB000\"");
  }
  return mask;
}

std::uint64_t to_bytes(const Fields& fields, const std::string& key, const json& value,
                       double most_bytes) {
  std::uint64_t size_bytes = 0;
  if (value.is_number_unsigned()) size_bytes = value.get<std::uint64_t>();
  if (value.is_string()) {
    try {
      size_bytes = parse_bytes(value.get<std::string>());
    } catch (const ConfigError& error) {
      fields.fail(key, error.what());
    }
  }
  if (size_bytes == 0 || static_cast<double>(size_bytes) > most_bytes) {
    fields.fail(key, "must be a positive size of at most " + format_bytes(most_bytes) +
                         ", in bytes or as text such as \"48 KiB\"");
  }
  return size_bytes;
}

bool is_item(const json& value, const std::string&) { return value.is_string(); }
bool is_item(const json& value, double) { return value.is_number(); }
bool is_item(const json& value, std::uint32_t) {
  return value.is_number_unsigned() &&
         value.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
}

}  // namespace

Fields::Fields(const json& value, std::string where)
    : object_(&value), where_(std::move(where)), asked_(std::make_shared<std::set<std::string>>()) {
  if (!value.is_object()) {
    throw ConfigError(where_ + " must be an object (it groups named values)");
  }
}

void Fields::fail(const std::string& key, const std::string& why) const {
  throw ConfigError(where_ + "." + key + " " + why);
}

bool Fields::has(const std::string& key) const {
  return object_ != nullptr && object_->contains(key);
}

const json& Fields::need(const std::string& key) {
  asked_->insert(key);
  const auto found = object_->find(key);
  if (found == object_->end()) {
    fail(key, "is missing (the simulated GPU would not be defined without it)");
  }
  return *found;
}

bool Fields::is_number(const std::string& key) { return need(key).is_number(); }

std::string Fields::checked(const std::string& key, std::string text) const {
  if (static_cast<double>(text.size()) > limits::texts) fail(key, "is too long a text");
  if (visible_line(text) != text) fail(key, "must not hold control characters");
  return text;
}

std::string Fields::text(const std::string& key, const char* fallback) {
  if (is_left_out(key, fallback)) return fallback == nullptr ? "" : fallback;
  const json& value = need(key);
  if (!value.is_string()) fail(key, "must be text");
  return checked(key, value.get<std::string>());
}

std::vector<std::string> Fields::texts(const std::string& key) {
  if (!need(key).is_array()) return {text(key)};
  std::vector<std::string> texts = list<std::string>(key);
  for (const std::string& text : texts) checked(key, text);
  return texts;
}

bool Fields::flag(const std::string& key, bool fallback) {
  if (!has(key)) return fallback;
  const json& value = need(key);
  if (!value.is_boolean()) fail(key, "must be true or false");
  return value.get<bool>();
}

double Fields::number(const std::string& key, Range range, std::optional<double> fallback) {
  if (is_left_out(key, fallback)) return fallback.value_or(0);
  const json& value = need(key);
  const double given = value.is_number() ? value.get<double>() : std::nan("");
  if (!(given >= range.least && given <= range.most)) {
    fail(key, fmt::format("must be a number of at least {:.10g} and at most {:.10g}", range.least,
                          range.most));
  }
  return given;
}

std::uint32_t Fields::whole(const std::string& key, Range range) {
  const json& value = need(key);
  const double most = std::min<double>(range.most, std::numeric_limits<std::int32_t>::max());
  const double given = value.is_number_unsigned() ? value.get<double>() : -1;
  if (!(given >= range.least && given <= most)) {
    fail(key, fmt::format("must be a whole number of at least {:.10g} and at most {:.10g}",
                          range.least, most));
  }
  return value.get<std::uint32_t>();
}

std::size_t Fields::place_among(const std::string& key, std::initializer_list<const char*> names) {
  const std::string given = text(key);
  const auto found = std::ranges::find(names, given);
  if (found == names.end()) {
    fail(key, fmt::format("is '{}', which is none of {}", given, fmt::join(names, ", ")));
  }
  return static_cast<std::size_t>(found - names.begin());
}

std::uint64_t Fields::bytes(const std::string& key, double most_bytes,
                            std::optional<std::uint64_t> fallback) {
  return is_left_out(key, fallback) ? fallback.value_or(0)
                                    : to_bytes(*this, key, need(key), most_bytes);
}

std::vector<std::uint64_t> Fields::byte_list(const std::string& key, double most_bytes) {
  const json& value = need(key);
  if (!value.is_array()) fail(key, "must be a list of sizes");
  std::vector<std::uint64_t> sizes;
  for (const json& item : value) {
    const bool zero = item.is_number_unsigned() && item.get<std::uint64_t>() == 0;
    sizes.push_back(zero ? 0 : to_bytes(*this, key, item, most_bytes));
  }
  return sizes;
}

std::uint64_t Fields::mask(const std::string& key) {
  return object_ == nullptr ? 0 : to_mask(*this, key, need(key));
}

std::vector<std::uint64_t> Fields::mask_list(const std::string& key) {
  const json& value = need(key);
  if (!value.is_array() || value.empty()) fail(key, "must be a list of masks of address bits");
  std::vector<std::uint64_t> masks;
  for (const json& item : value) masks.push_back(to_mask(*this, key, item));
  return masks;
}

template <class Item>
std::vector<Item> Fields::list(const std::string& key) {
  if (object_ == nullptr) return {};
  const json& value = need(key);
  const auto fits = [](const json& item) { return is_item(item, Item{}); };
  if (!value.is_array() || !std::all_of(value.begin(), value.end(), fits)) {
    fail(key, std::is_same_v<Item, std::string>     ? "must be a list of names"
              : std::is_same_v<Item, std::uint32_t> ? "must be a list of whole numbers"
                                                    : "must be a list of numbers");
  }
  return value.get<std::vector<Item>>();
}
template std::vector<std::string> Fields::list(const std::string& key);
template std::vector<double> Fields::list(const std::string& key);
template std::vector<std::uint32_t> Fields::list(const std::string& key);

Fields Fields::below(const std::string& key) { return Fields(need(key), where_ + "." + key); }

std::vector<Fields> Fields::items_below(const std::string& key) {
  const json& value = need(key);
  if (!value.is_array()) fail(key, "must be a list of objects");
  if (static_cast<double>(value.size()) > limits::objects) {
    fail(key, fmt::format("must be a list of at most {} objects", limits::objects));
  }
  std::vector<Fields> items;
  for (std::size_t i = 0; i < value.size(); ++i) {
    items.emplace_back(value[i], where_ + "." + key + "[" + std::to_string(i) + "]");
  }
  return items;
}

void Fields::finish() const {
  for (const auto& [key, value] : object_->items()) {
    if (!asked_->contains(key)) {
      std::string known;
      for (const std::string& name : *asked_) known += (known.empty() ? "" : ", ") + name;
      fail(key, "is not a known key (a typo would go unseen) known here: " + known);
    }
  }
}

}  // namespace sonde::sim
