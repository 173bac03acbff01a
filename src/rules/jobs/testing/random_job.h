#pragma once

#include <random>

#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::jobs {

/// A job for tests of what must hold for every job: one of a few valid ones with up to four fields changed,
/// any field of any message, to words that mean something, extremes and garbage (bytes that are no text,
/// unknown enumerators, NaN). Equal generators give equal jobs.
[[nodiscard]] ml::v1::Job RandomJob(std::mt19937& random);

}  // namespace trainyard::jobs
