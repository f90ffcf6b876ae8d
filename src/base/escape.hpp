// Makes text of any origin (names of files, arguments, texts of drivers) safe to print. Unless a
// function says otherwise, bytes that are not UTF-8 become U+FFFD, and characters that control
// terminals or reorder text (C0, C1, bidirectional controls) are shown as \x1b or \u202e.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

/// Replaces each `from`, which is not empty; what it puts there is not searched again.
std::string replace_all(std::string text, std::string_view from, std::string_view to);

/// Valid UTF-8: each invalid byte is written as \xf6. Valid text is returned unchanged.
std::string repair_utf8(std::string_view text);

/// One line for a terminal: repair_utf8, with control characters (C0, DEL, C1) as \n, \t, \x1b.
std::string visible_line(std::string_view text);

/// For terminals and logs: the result is one line.
std::string escape_terminal(std::string_view text);

/// A cell of CSV (RFC 4180), with quotes if needed. A cell that a spreadsheet would take for a
/// formula gets an apostrophe in front (OWASP, "CSV Injection"); numbers do not.
std::string escape_csv(std::string_view cell);

/// Text within a line of Markdown: no code, bold, HTML, table border or link (_ and ~ stay).
std::string escape_markdown(std::string_view text);

/// Text, or the value of an attribute, of HTML and XML 1.0.
std::string escape_markup(std::string_view text);

/// Value of a label in Prometheus' text format, without the quotes.
std::string escape_label(std::string_view text);

/// One word for a POSIX shell, with quotes if needed.
std::string quote_shell(std::string_view text);

/// For complete JSON, which is UTF-8: escapes controls that JSON allows (DEL, C1, bidirectional).
std::string escape_json_controls(std::string_view json);

}  // namespace sonde
