#include "storage/conditions.h"

#include <string>

namespace trainyard::storage {
namespace {

std::unexpected<Error> Unmet(std::string_view condition, std::int64_t wanted, std::int64_t present) {
  return std::unexpected(FailedPrecondition(
      "At least one of the pre-conditions you specified did not hold: " + std::string(condition) + " " +
      std::to_string(wanted) + ", but the object's is " + std::to_string(present)));
}

}  // namespace

Status CheckConditions(const Conditions& conditions, const std::optional<Version>& present) {
  // An object that is not there counts as generation 0.
  const Version version = present.value_or(Version{});
  if (conditions.generation && (!present || *conditions.generation != version.generation)) {
    return std::unexpected(NotFound("no version " + std::to_string(*conditions.generation)));
  }
  if (conditions.if_generation_match && *conditions.if_generation_match != version.generation) {
    return Unmet("ifGenerationMatch", *conditions.if_generation_match, version.generation);
  }
  if (conditions.if_generation_not_match && *conditions.if_generation_not_match == version.generation) {
    return Unmet("ifGenerationNotMatch", *conditions.if_generation_not_match, version.generation);
  }
  if (conditions.if_metageneration_match && *conditions.if_metageneration_match != version.metageneration) {
    return Unmet("ifMetagenerationMatch", *conditions.if_metageneration_match, version.metageneration);
  }
  if (conditions.if_metageneration_not_match &&
      *conditions.if_metageneration_not_match == version.metageneration) {
    return Unmet("ifMetagenerationNotMatch", *conditions.if_metageneration_not_match, version.metageneration);
  }
  return {};
}

}  // namespace trainyard::storage
