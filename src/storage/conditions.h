#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"

namespace trainyard::storage {

/// What must hold of an object (or of its absence) for a call to be carried out. Checked in the same step as
/// the change.
struct Conditions {
  std::optional<std::int64_t>
      generation;  ///< this version and no other: kNotFound if it is not the present one
  std::optional<std::int64_t> if_generation_match;  ///< 0: there must be no such object
  std::optional<std::int64_t> if_generation_not_match;
  std::optional<std::int64_t> if_metageneration_match;
  std::optional<std::int64_t> if_metageneration_not_match;
  friend bool operator==(const Conditions&, const Conditions&) = default;
};

/// The version that is there now.
struct Version {
  std::int64_t generation = 0;
  std::int64_t metageneration = 0;
};

/// @param present  nothing if there is no such object.
/// @return kNotFound: `generation` names another version; kFailedPrecondition (412): a condition does not
/// hold. Pure: any
///         thread. Source: discovery, the parameters of storage.objects.*.
[[nodiscard]] Status CheckConditions(const Conditions& conditions, const std::optional<Version>& present);

}  // namespace trainyard::storage
