#include "rules/objects/conditions.h"

#include <string>
#include <string_view>
#include <utility>

namespace trainyard::storage {
namespace {

constexpr std::string_view kIfGenerationNotMatch = "ifGenerationNotMatch";
constexpr std::string_view kIfMetagenerationNotMatch = "ifMetagenerationNotMatch";
constexpr std::string_view kIfNoneMatch = "If-None-Match";

std::unexpected<Error> Unmet(std::string_view condition, std::string_view wanted, std::string_view present) {
  std::string message = "At least one of the pre-conditions you specified did not hold: ";
  message.append(condition).append(" ").append(wanted).append(", but the object's is ").append(present);
  return std::unexpected(FailedPrecondition(std::move(message), condition));
}

std::unexpected<Error> Unmet(std::string_view condition, std::int64_t wanted, std::int64_t present) {
  return Unmet(condition, std::to_string(wanted), std::to_string(present));
}

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Our etags contain no comma, and weak ones compare as strong ones: versions are never merely equivalent.
bool ListsEtag(std::string_view list, const std::optional<Version>& present) {
  if (!present) return false;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view element = Trimmed(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    if (element == "*") return true;
    if (element.starts_with("W/")) element.remove_prefix(2);
    if (element.size() >= 2 && element.starts_with('"') && element.ends_with('"'))
      element = element.substr(1, element.size() - 2);
    if (!element.empty() && element == present->etag) return true;
  }
  return false;
}

Status CheckMatch(const Conditions& when, const std::optional<Version>& present) {
  // An object that does not exist counts as generation 0.
  const Version version = present.value_or(Version{});
  if (when.if_generation_match && *when.if_generation_match != version.generation) {
    return Unmet("ifGenerationMatch", *when.if_generation_match, version.generation);
  }
  if (when.if_metageneration_match && *when.if_metageneration_match != version.metageneration) {
    return Unmet("ifMetagenerationMatch", *when.if_metageneration_match, version.metageneration);
  }
  if (!when.if_etag_match.empty() && !ListsEtag(when.if_etag_match, present)) {
    return Unmet("If-Match", when.if_etag_match, version.etag);
  }
  return {};
}

Status CheckNotMatch(const Conditions& when, const std::optional<Version>& present) {
  const Version version = present.value_or(Version{});
  if (when.if_generation_not_match && (!present || *when.if_generation_not_match == version.generation)) {
    return Unmet(kIfGenerationNotMatch, *when.if_generation_not_match, version.generation);
  }
  if (when.if_metageneration_not_match && *when.if_metageneration_not_match == version.metageneration) {
    return Unmet(kIfMetagenerationNotMatch, *when.if_metageneration_not_match, version.metageneration);
  }
  if (!when.if_etag_not_match.empty() && ListsEtag(when.if_etag_not_match, present)) {
    return Unmet(kIfNoneMatch, when.if_etag_not_match, version.etag);
  }
  return {};
}

}  // namespace

Status CheckConditions(const Conditions& conditions, const std::optional<Version>& present) {
  if (conditions.generation && (!present || *conditions.generation != present->generation)) {
    return std::unexpected(NotFound("no version " + std::to_string(*conditions.generation)));
  }
  TY_RETURN_IF_ERROR(CheckMatch(conditions, present));
  return CheckNotMatch(conditions, present);
}

bool IsNotModified(const Error& error) {
  return error.code == Code::kFailedPrecondition &&
         (error.field == kIfGenerationNotMatch || error.field == kIfMetagenerationNotMatch ||
          error.field == kIfNoneMatch);
}

Conditions TakeNotMatch(Conditions& conditions) {
  Conditions taken;
  taken.if_generation_not_match = std::exchange(conditions.if_generation_not_match, std::nullopt);
  taken.if_metageneration_not_match = std::exchange(conditions.if_metageneration_not_match, std::nullopt);
  taken.if_etag_not_match = std::exchange(conditions.if_etag_not_match, {});
  return taken;
}

}  // namespace trainyard::storage
