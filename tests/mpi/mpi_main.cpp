// main of tests that run on several ranks: rank 0 reports, the others speak only of failures, and
// all end with the worst result.
#include "mpi/session.hpp"
#include "store/output.hpp"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  sonde::prepare_store();
  sonde::MpiSession mpi(argc, argv);
  if (mpi.rank() != 0) GTEST_FLAG_SET(brief, true);
  int result = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_MAX, mpi.world());
  return result;
}
