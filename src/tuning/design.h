#pragma once

#include <cstdint>

#include "tuning/encoding.h"

namespace trainyard::tuning {

/// The index-th point of a sequence that fills the space evenly, the middle first: a Halton sequence with its
/// digits permuted and shifted by the seed (plain random numbers beyond 24 parameters). Pure: any thread.
[[nodiscard]] Encoding::Place DesignPlace(std::uint64_t seed, const Encoding& encoding, std::uint64_t index);

}  // namespace trainyard::tuning
