// The words of the enums.
#include "analysis/fleet/fleet.hpp"

#include "base/enum_text.hpp"

namespace sonde {
namespace {

constexpr EnumName<Verdict> verdict_names[] = {{Verdict::pass, "pass"},
                                               {Verdict::warn, "warn"},
                                               {Verdict::incomplete, "incomplete"},
                                               {Verdict::fail, "fail"},
                                               {Verdict::lost, "lost"}};
constexpr EnumName<Severity> severity_names[] = {
    {Severity::info, "info"}, {Severity::warn, "warn"}, {Severity::fail, "fail"}};
constexpr EnumName<FaultClass> fault_names[] = {{FaultClass::unknown, "unknown"},
                                                {FaultClass::clock, "clock"},
                                                {FaultClass::thermal, "thermal"},
                                                {FaultClass::power, "power"},
                                                {FaultClass::ecc, "ECC"},
                                                {FaultClass::structure, "structure"},
                                                {FaultClass::contention, "contention"},
                                                {FaultClass::memory, "memory"},
                                                {FaultClass::sm, "SM"},
                                                {FaultClass::link, "link"},
                                                {FaultClass::wrong_data, "wrong data"},
                                                {FaultClass::hang, "hang"},
                                                {FaultClass::sticky_error, "sticky error"}};

}  // namespace

std::string_view to_text(Verdict verdict) { return name_of(verdict_names, verdict); }
std::string_view to_text(Severity severity) { return name_of(severity_names, severity); }
std::string_view to_text(FaultClass fault) { return name_of(fault_names, fault); }

}  // namespace sonde
