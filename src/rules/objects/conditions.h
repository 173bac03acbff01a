#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace trainyard::storage {

/// Preconditions of a call about an object (or its absence). Checked in the same step as
/// the change.
struct Conditions {
  std::optional<std::int64_t> generation;  ///< only this version: kNotFound if it is not the present one
  std::optional<std::int64_t> if_generation_match;  ///< 0: there must be no such object
  std::optional<std::int64_t> if_generation_not_match;
  std::optional<std::int64_t> if_metageneration_match;
  std::optional<std::int64_t> if_metageneration_not_match;
  std::string if_etag_match;  ///< an If-Match field: a list of quoted or bare etags, or '*'. Empty: none
  std::string if_etag_not_match;
  friend bool operator==(const Conditions&, const Conditions&) = default;
};

/// The version that exists now.
struct Version {
  std::int64_t generation = 0;
  std::int64_t metageneration = 0;
  std::string etag;
};

/// @param present  absent if there is no such object.
/// @return kNotFound: `generation` names another version; kFailedPrecondition: a condition does not hold; its
/// name is the error's field, as IsNotModified reads it. ifGenerationNotMatch fails, too, if there is no
/// object. Pure: any thread. Source: discovery, the parameters of storage.objects.*; Cloud Storage's page
/// "Request preconditions"; RFC 9110 section 13.1.
[[nodiscard]] Status CheckConditions(const Conditions& conditions, const std::optional<Version>& present);

/// Whether a "...NotMatch" failed: 304 in the API, where other failed conditions are 412.
[[nodiscard]] bool IsNotModified(const Error& error);

/// Removes the conditions whose failure is a 304 from `conditions` and returns them.
[[nodiscard]] Conditions TakeNotMatch(Conditions& conditions);

}  // namespace trainyard::storage
