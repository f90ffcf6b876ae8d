// Text that may come from anywhere (names of files, arguments, what drivers say), made harmless for
// the medium that it goes to. Where an escape says nothing else, bytes that are not UTF-8 become
// U+FFFD, and characters that steer terminals or reorder text (C0, C1, bidirectional controls) are
// shown as \x1b or \u202e.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

/// Valid UTF-8: each byte that is not part of a character is written as \xf6. A text that is valid
/// comes back as it is.
std::string repair_utf8(std::string_view text);

/// One line that a terminal only shows: repair_utf8, and control characters (C0, DEL, C1) are
/// written as \n, \t and \x1b.
std::string visible_line(std::string_view text);

/// For terminals and logs: one line of it stays one line.
std::string escape_terminal(std::string_view text);

/// A cell of CSV (RFC 4180), quoted where it must be. One that a spreadsheet would take for a
/// formula gets an apostrophe before it (OWASP, "CSV Injection"); numbers do not.
std::string escape_csv(std::string_view cell);

/// Text within a line of Markdown: no markup, HTML, table borders or links come about.
std::string escape_markdown(std::string_view text);

/// Text or attribute of HTML and XML 1.0.
std::string escape_markup(std::string_view text);

/// Value of a label in Prometheus' text format, without the quotes.
std::string escape_label(std::string_view text);

/// One word for a POSIX shell, quoted where it must be.
std::string quote_shell(std::string_view text);

/// JSON that is complete and escaped already: adds the controls that JSON lets pass (DEL, C1,
/// bidirectional ones).
std::string escape_json_controls(std::string_view json);

}  // namespace sonde
