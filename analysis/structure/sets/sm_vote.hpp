// Whether SMs answer the same questions alike: what most of them say counts, and an SM that says
// otherwise has another cache, or a broken one.
#pragma once

#include <cstddef>
#include <vector>

namespace sonde {

struct SmVote {
  std::size_t questions = 0;      // that nearly all SMs answered alike
  std::vector<int> odd_sms = {};  // ascending, by place among the answers
};

/// Questions on which the SMs are divided, as under random replacement, do not count. Odd is who
/// says otherwise than most far more often than others do; if more than one SM in ten would be,
/// nobody is: then it is chance.
/// @param answers of each SM to each question, as many for each; at least three SMs, or nobody is
///   odd
/// @param least_disagreements of an odd SM
SmVote vote(const std::vector<std::vector<bool>>& answers, std::size_t least_disagreements);

}  // namespace sonde
