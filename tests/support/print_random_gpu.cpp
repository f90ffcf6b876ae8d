// Prints the model file of a random GPU, to be looked into: print_random_gpu 17 > gpu.json, then
// sonde run --backend sim:./gpu.json --seed 17.
#include "support/random_gpu.hpp"

#include <iostream>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: print_random_gpu <seed>\n";
    return 2;
  }
  std::cout << sonde::test::draw_gpu(std::stoull(argv[1])) << '\n';
}
