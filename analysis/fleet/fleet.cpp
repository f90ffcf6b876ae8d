// The words of verdicts.
#include "analysis/fleet/fleet.hpp"

#include "base/enum_text.hpp"

namespace sonde {
namespace {

constexpr EnumName<Verdict> verdict_names[] = {{Verdict::pass, "pass"},
                                               {Verdict::warn, "warn"},
                                               {Verdict::incomplete, "incomplete"},
                                               {Verdict::fail, "fail"},
                                               {Verdict::lost, "lost"}};

}  // namespace

std::string_view to_text(Verdict verdict) { return name_of(verdict_names, verdict); }

}  // namespace sonde
