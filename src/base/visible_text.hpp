// Text that came from outside (names of files, arguments, what drivers say) made fit for a JSON
// file and for a terminal.
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

}  // namespace sonde
