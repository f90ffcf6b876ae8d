// Strict reading of a model file.
#include "device/sim/model/json_fields.hpp"

#include "base/error.hpp"
#include "base/escape.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace sonde::sim {

void Value::fail(const std::string& why) const { throw ConfigError(where_ + " " + why); }

std::string Value::text() const {
  if (!json_->is_string()) fail("must be text");
  const auto text = json_->get<std::string>();
  if (static_cast<double>(text.size()) > limits::texts) fail("is too long a text");
  if (visible_line(text) != text) fail("must not hold control characters");
  return text;
}

bool Value::flag() const {
  if (!json_->is_boolean()) fail("must be true or false");
  return json_->get<bool>();
}

double Value::number(Range range) const {
  const double given = json_->is_number() ? json_->get<double>() : std::nan("");
  if (!(given >= range.least && given <= range.most)) {
    fail(fmt::format("must be a number of at least {:.10g} and at most {:.10g}", range.least,
                     range.most));
  }
  return given;
}

std::uint32_t Value::whole(Range range) const {
  const double most = std::min<double>(range.most, std::numeric_limits<std::int32_t>::max());
  const double given = json_->is_number_unsigned() ? json_->get<double>() : -1;
  if (!(given >= range.least && given <= most)) {
    fail(fmt::format("must be a whole number of at least {:.10g} and at most {:.10g}", range.least,
                     most));
  }
  return json_->get<std::uint32_t>();
}

std::uint64_t Value::bytes(double most_bytes, std::uint64_t least_bytes) const {
  std::optional<std::uint64_t> size_bytes;
  if (json_->is_number_unsigned()) size_bytes = json_->get<std::uint64_t>();
  if (json_->is_string()) {
    try {
      size_bytes = parse_bytes(json_->get<std::string>());
    } catch (const ConfigError& error) {
      fail(error.what());
    }
  }
  if (!size_bytes || *size_bytes < least_bytes || static_cast<double>(*size_bytes) > most_bytes) {
    fail(fmt::format("must be a {}size of at most {}, in bytes or as text such as \"48 KiB\"",
                     least_bytes > 0 ? "positive " : "", format_bytes(most_bytes)));
  }
  return *size_bytes;
}

std::uint64_t Value::mask() const {
  const std::string text = json_->is_string() ? json_->get<std::string>() : "";
  std::uint64_t mask = 0;
  const char* end = text.data() + text.size();
  const bool prefixed = text.starts_with("0x") || text.starts_with("0X");
  if (!prefixed || std::from_chars(text.data() + 2, end, mask, 16).ptr != end || mask == 0) {
    fail("must be a mask of address bits such as \"0x0AB000\"");
  }
  return mask;
}

std::size_t Value::place_among(std::initializer_list<const char*> names) const {
  const std::string given = text();
  const auto found = std::ranges::find(names, given);
  if (found == names.end()) {
    fail(fmt::format("is '{}', which is none of {}", given, fmt::join(names, ", ")));
  }
  return static_cast<std::size_t>(found - names.begin());
}

std::vector<Value> Value::items(double most) const {
  if (!json_->is_array()) fail("must be a list");
  if (static_cast<double>(json_->size()) > most) fail(fmt::format("must hold at most {}", most));
  std::vector<Value> items;
  for (const auto& item : *json_) {
    items.emplace_back(item, fmt::format("{}[{}]", where_, items.size()));
  }
  return items;
}

Fields::Fields(const Value& value)
    : object_(&value.json()),
      where_(value.where()),
      asked_(std::make_shared<std::set<std::string>>()) {
  if (!object_->is_object()) value.fail("must be an object (it groups named values)");
}

void Fields::fail(const std::string& key, const std::string& why) const {
  throw ConfigError(where_ + "." + key + " " + why);
}

bool Fields::has(const std::string& key) const {
  return object_ != nullptr && object_->contains(key);
}

Value Fields::at(const std::string& key) {
  asked_->insert(key);
  const auto found = object_->find(key);
  if (found == object_->end()) {
    fail(key, "is missing (the simulated GPU would not be defined without it)");
  }
  return Value(*found, where_ + "." + key);
}

std::vector<std::string> Fields::texts(const std::string& key) {
  return at(key).json().is_array() ? list(key, &Value::text) : std::vector{text(key)};
}

void Fields::finish() const {
  for (const auto& [key, value] : object_->items()) {
    if (asked_->contains(key)) continue;
    fail(key, fmt::format("is not a known key (a typo would go unseen) known here: {}",
                          fmt::join(*asked_, ", ")));
  }
}

}  // namespace sonde::sim
