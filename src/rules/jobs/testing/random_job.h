#pragma once

#include <random>

#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::jobs {

/// A random job for property tests: one of a few valid jobs with up to four fields changed. Any field of any
/// message may change, to meaningful words, extremes or garbage (bytes that are not text, unknown
/// enumerators, NaN). Equal generators give equal jobs.
[[nodiscard]] ml::v1::Job RandomJob(std::mt19937& random);

}  // namespace trainyard::jobs
