// A run file of two devices, to be spoiled; each lie must end in a StoreError.
#pragma once

#include "base/error.hpp"
#include "store/hdf5/hdf5.hpp"
#include "store/run_reader.hpp"
#include "support/run_file.hpp"
#include "support/thrown.hpp"

#include <gmock/gmock.h>

#include <functional>

namespace sonde::test {

class HostileFileTest : public testing::Test {
 protected:
  HostileFileTest() {
    std::vector<DeviceResult> devices;
    for (const int rank : {0, 1}) {
      DeviceResult& device = devices.emplace_back(random_device(1, rank));
      device.jobs = {random_job(1 + static_cast<std::uint64_t>(rank), "clock")};
      device.again.clear();
    }
    write_run_file(path_, devices);
  }

  void change(const std::function<void(hid_t)>& work) {
    hdf5::File file = hdf5::File::open_to_write(path_);
    work(file);
    file.close();
  }

  /// Puts another dataset in the place of a column.
  void replace(const std::string& name, hid_t type, const std::vector<hsize_t>& extents,
               hid_t creation = H5P_DEFAULT) {
    change([&](hid_t file) {
      hdf5::check(H5Ldelete(file, name.c_str(), H5P_DEFAULT), "delete");
      const hdf5::Handle space(
          H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose,
          "space");
      hdf5::Handle(H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                   H5Dclose, "create");
    });
  }

  template <class T>
  void overwrite(const std::string& name, hid_t type, const std::vector<T>& values) {
    change([&](hid_t file) {
      const hdf5::Handle data(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, "open");
      hdf5::check(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "write");
    });
  }

  std::uint32_t row_of_name(std::string_view name) const {
    const hdf5::Handle file = hdf5::open_to_read(path_);
    const StoredTables tables(file);
    std::uint32_t row = 0;
    while (tables.names().at(row) != name) ++row;
    return row;
  }

  std::string error_of_reading() const {
    return thrown<StoreError>([this] {
      check_readable(path_, Depth::traces);
      read_run(path_, Depth::traces);
    });
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "run.h5";
};

}  // namespace sonde::test
