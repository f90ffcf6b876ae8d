// What a toy cache answers to chases.
#pragma once

#include "analysis/structure/sets/miss_oracle.hpp"

#include <utility>

namespace sonde {

/// Each list of lines has the answer that `answer` gives of it.
template <class Answer>
MissOracle oracle_of(Answer answer) {
  return [answer = std::move(answer)](std::span<const Lines> lists) mutable {
    std::vector<MissCounts> answers;
    for (const Lines& lines : lists) answers.push_back(answer(lines));
    return answers;
  };
}

}  // namespace sonde
