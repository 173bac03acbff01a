#pragma once

#include <cstdint>

#include "rules/tuning/encoding.h"

namespace trainyard::tuning {

/// The index-th point of a sequence that fills the space evenly, starting in the middle: a Halton sequence
/// whose digits are permuted and shifted by the seed (random numbers beyond 24 parameters). Pure: any thread.
[[nodiscard]] Encoding::Place DesignPlace(std::uint64_t seed, const Encoding& encoding, std::uint64_t index);

}  // namespace trainyard::tuning
