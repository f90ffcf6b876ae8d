#include "base/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>

namespace sonde {
namespace {

constexpr std::uint32_t replacement = 0xfffd;
constexpr std::string_view replacement_utf8 = "\xef\xbf\xbd";

struct Character {
  std::uint32_t code = replacement;
  std::size_t bytes = 1;
};

/// The first character of a non-empty text; `replacement` if the bytes are not UTF-8 (RFC 3629: no
/// overlong forms, no surrogates, nothing above U+10FFFF).
Character first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  if (lead < 0xc2 || lead > 0xf4) return {};
  std::uint32_t code = lead & (0x3fU >> more);
  for (std::size_t i = 1; i <= more; ++i) {
    if (i >= text.size() || (byte(i) & 0xc0U) != 0x80) return {replacement, i};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t least[]{0, 0x80, 0x800, 0x10000};
  const bool valid = code >= least[more] && (code < 0xd800 || code > 0xdfff) && code <= 0x10ffff;
  return valid ? Character{code, more + 1} : Character{};
}

/// True for characters that must be shown as an escape: C0 and C1 controls and DEL, line and
/// paragraph separators, marks that reorder text (Unicode UAX 9), and what XML forbids.
bool must_be_escaped(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x61c || code == 0x200e ||
         code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xfffe || code == 0xffff;
}

/// A character and the text that replaces it.
struct Escape {
  char plain;
  std::string_view escaped;
};

std::string replace_each(std::string_view text, std::span<const Escape> escapes) {
  std::string escaped;
  for (const char c : text) {
    const auto found = std::ranges::find(escapes, c, &Escape::plain);
    if (found == escapes.end()) {
      escaped += c;
    } else {
      escaped += found->escaped;
    }
  }
  return escaped;
}

bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

/// Each byte as \xf6.
std::string to_hex(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

bool is_broken(std::uint32_t code, std::string_view bytes) {
  return code == replacement && bytes != replacement_utf8;
}

/// Puts `show(code, bytes)` in the place of each character that is not printable ASCII.
template <class Show>
std::string replace_characters(std::string_view text, const Show& show) {
  std::string shown;
  while (!text.empty()) {
    const auto plain_end =
        std::ranges::find_if(text, [](char c) { return c < ' ' || c > '~'; });  // char is signed
    shown.append(text.begin(), plain_end);
    text.remove_prefix(static_cast<std::size_t>(plain_end - text.begin()));
    if (text.empty()) break;
    const Character next = first_character(text);
    shown += show(next.code, text.substr(0, next.bytes));
    text.remove_prefix(next.bytes);
  }
  return shown;
}

}  // namespace

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string repair_utf8(std::string_view text) {
  return replace_characters(text, [](std::uint32_t code, std::string_view bytes) {
    return is_broken(code, bytes) ? to_hex(bytes) : std::string(bytes);
  });
}

std::string visible_line(std::string_view text) {
  return replace_characters(text, [](std::uint32_t code, std::string_view bytes) -> std::string {
    if (code == '\n') return "\\n";
    if (code == '\t') return "\\t";
    const bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    return is_control || is_broken(code, bytes) ? to_hex(bytes) : std::string(bytes);
  });
}

std::string escape_terminal(std::string_view text) {
  return replace_characters(text, [](std::uint32_t code, std::string_view bytes) {
    if (must_be_escaped(code))
      return code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
    return std::string(code == replacement ? replacement_utf8 : bytes);
  });
}

std::string escape_csv(std::string_view cell) {
  std::string text = escape_terminal(cell);
  // A tab or a carriage return before a formula is already escaped as \x09 or \x0d.
  constexpr std::string_view formula_starts = "=+-@";
  const bool formula = !text.empty() && formula_starts.find(text.front()) != std::string_view::npos;
  if (formula && !is_number(text)) text.insert(0, "'");
  if (text.find_first_of(",\"") == std::string::npos) return text;
  constexpr Escape quotes[]{{'"', "\"\""}};
  return fmt::format("\"{}\"", replace_each(text, quotes));
}

std::string escape_markdown(std::string_view text) {
  constexpr Escape escapes[]{{'\\', "\\\\"}, {'`', "\\`"}, {'*', "\\*"}, {'|', "\\|"},
                             {'<', "\\<"},   {'[', "\\["}, {']', "\\]"}, {'&', "\\&"}};
  const std::string escaped = replace_each(escape_terminal(text), escapes);
  // Prevents the automatic links of Markdown (GitHub Flavored Markdown, "Autolinks").
  return replace_all(replace_all(escaped, "://", ":\\//"), "www.", "www\\.");
}

std::string escape_markup(std::string_view text) {
  constexpr Escape escapes[]{
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  return replace_each(escape_terminal(text), escapes);
}

std::string escape_label(std::string_view text) {
  constexpr Escape escapes[]{{'\\', "\\\\"}, {'"', "\\\""}};
  return replace_each(escape_terminal(text), escapes);
}

std::string quote_shell(std::string_view text) {
  const std::string shown = escape_terminal(text);
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("@%+=:,./_-").find(c) != std::string_view::npos;
  };
  if (!shown.empty() && std::ranges::all_of(shown, is_plain)) return shown;
  if (shown.find_first_of("\\\"$`!") == std::string::npos) return fmt::format("\"{}\"", shown);
  return "'" + replace_all(shown, "'", "'\\''") + "'";
}

std::string escape_json_controls(std::string_view json) {
  return replace_characters(json, [](std::uint32_t code, std::string_view bytes) {
    const bool hides = code >= 0x7f && must_be_escaped(code);
    return hides ? fmt::format("\\u{:04x}", code) : std::string(bytes);
  });
}

}  // namespace sonde
