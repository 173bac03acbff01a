#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rules/tuning/acquisition.h"
#include "rules/tuning/encoding.h"
#include "rules/tuning/evidence.h"
#include "rules/tuning/space.h"

namespace trainyard::tuning {

/// The default algorithm, described in docs/tuner.md. Its proposals depend only on the arguments; models are
/// cached while the evidence is the same. One thread at a time.
class Bandit {
 public:
  Bandit(const StudySpec& spec, const Encoding& encoding);  // both outlive this
  ~Bandit();

  struct Proposal {
    std::vector<Scored> places;   ///< best first, at least one
    bool repeats_useful = false;  ///< results are so noisy that trying a known point again is useful
  };

  /// Places for the `index`-th suggestion of the study, from 0.
  [[nodiscard]] Proposal Propose(const Evidence& evidence, std::uint64_t index);

 private:
  struct Models;
  const StudySpec& spec_;
  const Encoding& encoding_;
  std::unique_ptr<Models> models_;
};

}  // namespace trainyard::tuning
