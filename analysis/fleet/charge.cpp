// Texts of charges.
#include "analysis/fleet/charge.hpp"

#include "base/enum_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sonde {
namespace {

constexpr EnumName<Severity> severity_names[] = {
    {Severity::info, "info"}, {Severity::warn, "warn"}, {Severity::fail, "fail"}};
constexpr EnumName<Verdict> verdict_names[] = {{Verdict::pass, "pass"},
                                               {Verdict::warn, "warn"},
                                               {Verdict::incomplete, "incomplete"},
                                               {Verdict::fail, "fail"},
                                               {Verdict::lost, "lost"}};
constexpr EnumName<Ground> ground_names[] = {
    {Ground::itself, "by itself, whatever its peers do"},
    {Ground::past, "compared with its own past"},
    {Ground::peers, "compared with its peers"},
    {Ground::reference, "compared with reference values of its model"}};
struct TroubleName {
  Trouble trouble;
  std::string_view key;
  std::string_view text;
};
constexpr TroubleName trouble_names[] = {
    {Trouble::contention, "contention", "contention"},
    {Trouble::lost, "lost", "lost"},
    {Trouble::hang, "hang", "hang"},
    {Trouble::sticky_error, "sticky_error", "sticky error"},
    {Trouble::wrong_data, "wrong_data", "wrong data"},
    {Trouble::ecc_uncorrected, "ecc_uncorrected", "ECC"},
    {Trouble::remap_failure, "remap_failure", "ECC"},
    {Trouble::xid, "xid", "Xid"},
    {Trouble::thermal, "thermal", "thermal"},
    {Trouble::power, "power", "power"},
    {Trouble::clock, "clock", "clock"},
    {Trouble::pcie_link, "pcie_link", "link"},
    {Trouble::nvlink, "nvlink", "link"},
    {Trouble::host_rate, "host_rate", "link"},
    {Trouble::peer_rate, "peer_rate", "link"},
    {Trouble::ecc_corrected, "ecc_corrected", "ECC"},
    {Trouble::remap_pending, "remap_pending", "ECC"},
    {Trouble::memory_rate, "memory_rate", "memory"},
    {Trouble::slice, "slice", "memory"},
    {Trouble::sm, "sm", "SM"},
    {Trouble::structure, "structure", "structure"},
    {Trouble::fewer_gpus, "fewer_gpus", "structure"},
    {Trouble::unknown, "unknown", "unknown"},
};

const TroubleName& names_of(Trouble trouble) {
  return *std::ranges::find(trouble_names, trouble, &TroubleName::trouble);
}

constexpr EnumName<Unit::Kind> unit_names[] = {{Unit::Kind::gpu, "GPU"},
                                               {Unit::Kind::sm, "SM"},
                                               {Unit::Kind::slice, "slice"},
                                               {Unit::Kind::nvlink, "NVLink"}};

}  // namespace

std::string_view to_text(Severity severity) { return name_of(severity_names, severity); }
std::string_view to_text(Verdict verdict) { return name_of(verdict_names, verdict); }
std::string_view to_text(Ground ground) { return name_of(ground_names, ground); }
std::string_view to_text(Trouble trouble) { return names_of(trouble).text; }
std::string_view key_of(Trouble trouble) { return names_of(trouble).key; }

std::string to_text(const Unit& unit) {
  const std::string_view kind = name_of(unit_names, unit.kind);
  return unit.is_named() ? fmt::format("{} {}", kind, fmt::join(unit.numbers, ", "))
                         : std::string(kind);
}

}  // namespace sonde
