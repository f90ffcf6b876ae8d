// Chooses one of many instances of a kernel.
#pragma once

#include <type_traits>

namespace sonde::kernels {

/// Turns a number known at run time into a template argument.
/// @param make called with the element of `values` that equals `asked`, as a std::integral_constant
/// @return the result of `make`; null if no element is equal
template <class Kernel, int... values, class Make>
Kernel select_kernel(int asked, const Make& make) {
  Kernel kernel = nullptr;
  ((asked == values ? void(kernel = make(std::integral_constant<int, values>{})) : void()), ...);
  return kernel;
}

}  // namespace sonde::kernels
