// Prints the model file of a drawn GPU, to be looked into: print_random_gpu plausible 17 >
// gpu.json, then sonde run --backend sim:./gpu.json --seed 17.
#include "support/random_gpu.hpp"

#include <iostream>
#include <string>

int main(int argc, char** argv) {
  const std::string population = argc == 3 ? argv[1] : "";
  if (population != "plausible" && population != "odd") {
    std::cerr << "usage: print_random_gpu plausible|odd <seed>\n";
    return 2;
  }
  const std::uint64_t seed = std::stoull(argv[2]);
  std::cout << (population == "odd" ? sonde::test::draw_gpu(seed)
                                    : sonde::test::draw_plausible_gpu(seed))
            << '\n';
}
