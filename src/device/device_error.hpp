// How a device says that a probe cannot run, and why.
#pragma once

#include "base/error.hpp"

#include <fmt/format.h>

namespace sonde {

/// A probe asks for more than the device has room for: a smaller one may run.
class ProbeTooLargeError : public DeviceError {
  using DeviceError::DeviceError;
};

/// @throws DeviceError with the formatted text: `<problem> (<why it matters>) <what to do>`
template <class... Arguments>
[[noreturn]] void throw_device_error(fmt::format_string<Arguments...> text,
                                     Arguments&&... arguments) {
  throw DeviceError(fmt::format(text, std::forward<Arguments>(arguments)...));
}

}  // namespace sonde
