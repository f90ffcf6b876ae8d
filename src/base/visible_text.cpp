#include "base/visible_text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace sonde {
namespace {

/// A character of UTF-8 text, or one byte that belongs to none.
struct Piece {
  std::string_view bytes;
  bool valid = true;
  std::uint32_t code_point = 0;
};

/// Of which length and least value a sequence is, by its first byte (RFC 3629).
struct Lead {
  std::size_t length = 0;  // 0: no sequence starts so
  std::uint32_t bits = 0;
  std::uint32_t least = 0;  // smaller ones are overlong
};

Lead read_lead(unsigned char byte) {
  if (byte < 0x80) return {.length = 1, .bits = byte, .least = 0};
  if (byte >= 0xc2 && byte < 0xe0) return {.length = 2, .bits = byte & 0x1fu, .least = 0x80};
  if (byte >= 0xe0 && byte < 0xf0) return {.length = 3, .bits = byte & 0x0fu, .least = 0x800};
  if (byte >= 0xf0 && byte < 0xf5) return {.length = 4, .bits = byte & 0x07u, .least = 0x10000};
  return {};
}

/// @pre text is not empty
Piece first_piece(std::string_view text) {
  const Piece broken{.bytes = text.substr(0, 1), .valid = false};
  const Lead lead = read_lead(static_cast<unsigned char>(text.front()));
  if (lead.length == 0 || lead.length > text.size()) return broken;
  std::uint32_t code_point = lead.bits;
  for (std::size_t i = 1; i < lead.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0u) != 0x80) return broken;
    code_point = code_point << 6 | (byte & 0x3fu);
  }
  const bool surrogate = code_point >= 0xd800 && code_point < 0xe000;
  if (code_point < lead.least || code_point > 0x10ffff || surrogate) return broken;
  return {.bytes = text.substr(0, lead.length), .code_point = code_point};
}

bool is_control(std::uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0);
}

std::string escape(const Piece& piece) {
  if (piece.bytes == "\n") return "\\n";
  if (piece.bytes == "\t") return "\\t";
  std::string text;
  for (const char byte : piece.bytes) {
    text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
  return text;
}

template <class MustEscape>
std::string escape_where(std::string_view text, MustEscape must_escape) {
  std::string visible;
  visible.reserve(text.size());
  while (!text.empty()) {
    const Piece piece = first_piece(text);
    if (must_escape(piece)) {
      visible += escape(piece);
    } else {
      visible += piece.bytes;
    }
    text.remove_prefix(piece.bytes.size());
  }
  return visible;
}

}  // namespace

std::string repair_utf8(std::string_view text) {
  return escape_where(text, [](const Piece& piece) { return !piece.valid; });
}

std::string visible_line(std::string_view text) {
  return escape_where(
      text, [](const Piece& piece) { return !piece.valid || is_control(piece.code_point); });
}

}  // namespace sonde
