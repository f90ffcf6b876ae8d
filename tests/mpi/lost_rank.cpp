// A run whose rank 1 is lost, in the steps of `sonde run`: lost_rank <run file> hang|die. Rank 0
// must write the file from the shards and end everybody with status 3, in bounded time.
#include "base/error.hpp"
#include "fleet/rendezvous.hpp"
#include "mpi/collectives.hpp"
#include "mpi/session.hpp"
#include "store/merge.hpp"
#include "store/output.hpp"
#include "store/shard.hpp"
#include "support/random_run.hpp"

#include <unistd.h>

#include <csignal>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  using namespace sonde;
  if (argc != 3) return 2;
  prepare_store();
  MpiSession mpi(argc, argv);
  try {
    const std::filesystem::path parts = parts_folder(argv[1]);
    agree(mpi.world(), Outcome::ok, "");
    const DeviceResult device = test::random_device(1, mpi.rank());
    std::filesystem::create_directories(parts);
    Shard shard = Shard::create(parts, device, test::some_provenance());
    shard.append(test::random_job(1, "clock"));
    if (mpi.rank() == 1) {
      if (argv[2] == std::string("die")) raise(SIGKILL);
      while (true) pause();  // SIGTERM only sets a flag: as deaf as a rank whose GPU hangs
    }
    shard.finish(device);
    const Attendance attendance = rendezvous(mpi.world(), {2, 20});
    if (attendance.complete()) return 5;
    if (mpi.rank() == 0) {
      sleep(1);  // a merge takes its time; the others must not end it
      write_run_from_shards(argv[1], test::some_provenance(), list_shards(parts), {}, {});
    }
    mpi.leave_after_loss(ExitStatus::incomplete);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    mpi.abort(ExitStatus::error);
  }
}
