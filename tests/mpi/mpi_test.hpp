// A communicator of its own for each test, so that a message left over by one cannot reach another.
#pragma once

#include "mpi/collectives.hpp"
#include "support/random_run.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <filesystem>
#include <optional>
#include <string>

namespace sonde::test {

class MpiTest : public testing::Test {
 protected:
  MpiTest() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    if (rank_ == 0) folder_.emplace();
    shared_ = broadcast_text(comm_, folder_ ? folder_->path().string() : "");
  }
  ~MpiTest() override {
    MPI_Barrier(comm_);
    MPI_Comm_free(&comm_);
  }
  /// In one folder for all ranks.
  std::filesystem::path at(const std::string& name) const {
    return std::filesystem::path(shared_) / name;
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;

 private:
  std::optional<TemporaryFolder> folder_;
  std::string shared_;
};

}  // namespace sonde::test
