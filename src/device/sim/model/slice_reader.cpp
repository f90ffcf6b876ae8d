// Reads partitions and slices of the L2 of a model file.
#include "device/sim/model/limits.hpp"
#include "device/sim/model/readers.hpp"

#include <algorithm>
#include <numeric>

namespace sonde::sim {

Partitions read_partitions(Fields& fields) {
  return {.count = 2,
          .home_mask = fields.mask("home_mask"),
          .replicate = fields.flag_or("replicate", false),
          .crossing_bytes_per_cycle =
              fields.number_or("crossing_bytes_per_cycle", {0, limits::bytes_per_cycle}, 0.0),
          .copy_cycles = fields.number_or("copy_cycles", {0, limits::cycles}, 0.0)};
}

namespace {

ReductionModel read_reductions(Fields& fields) {
  return {.served_sms = fields.number("served_sms", {0, limits::sms}),
          .wait_cycles = fields.number("wait_cycles", {0, limits::cycles}),
          .port_wait_cycles = fields.number("port_wait_cycles", {0, limits::cycles})};
}

SecondOrder read_second_order(Fields& fields, std::size_t slices) {
  SecondOrder order{.mask = fields.mask("mask"), .slices = fields.list<std::uint32_t>("slices")};
  std::vector<std::uint32_t> all(slices);
  std::iota(all.begin(), all.end(), 0u);
  if (!std::ranges::is_permutation(order.slices, all)) {
    fields.fail("slices", "must name every slice once");
  }
  return order;
}

SliceSides read_sides(Fields& fields, std::size_t slices) {
  SliceSides sides{.of_slice = fields.list<std::uint32_t>("of_slice"),
                   .far_cycles = fields.number("far_cycles", {0, limits::cycles})};
  const bool known =
      std::ranges::all_of(sides.of_slice, [](std::uint32_t side) { return side < 2; });
  if (!known || sides.of_slice.size() != slices) {
    fields.fail("of_slice", "must hold side 0 or 1 for each slice");
  }
  return sides;
}

}  // namespace

void check_sliced_sets(const Fields& fields, const CacheModel& cache,
                       const std::optional<Slices>& slices) {
  for (const Geometry& geometry : cache.geometries) {
    if (geometry.index.kind != DeclaredIndex::Kind::slices) continue;
    const std::size_t sets = geometry.ways_per_set.size();
    const auto count = slices ? static_cast<std::size_t>(slices->count) : 0;
    if (count == 0 || cache.name != "l2" || sets % count != 0) {
      fields.fail("caches",
                  "must have an index of kind slices in the l2 alone, where there are "
                  "`slices`, with as many sets in each");
    }
    check_index(fields, geometry.index.within.front(), sets / count);
  }
}

Slices read_slices(Fields& fields) {
  Slices slices;
  slices.count = fields.count<int>("count", {1, limits::slices});
  slices.index = fields.object("index", read_index);
  refuse_slices(fields, "index", slices.index);
  slices.spread_cycles = fields.number("spread_cycles", {0, limits::cycles});
  const auto count = static_cast<std::size_t>(slices.count);
  slices.second_order =
      fields
          .object_or_none("second_order",
                          [count](Fields& order) { return read_second_order(order, count); })
          .value_or(SecondOrder{});
  slices.sides =
      fields.object_or_none("sides", [count](Fields& sides) { return read_sides(sides, count); })
          .value_or(SliceSides{});
  slices.reductions =
      fields.object_or_none("reductions", read_reductions).value_or(ReductionModel{});
  check_index(fields, slices.index, count);
  return slices;
}

}  // namespace sonde::sim
