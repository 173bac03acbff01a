#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "control/settings.h"

/// Access tokens that are worth something only in this installation, one per attempt, and how the metadata
/// server knows which replica asks: each has a host name of its own for it, which nobody else can guess.
/// Functions of the installation's secret: the same after a restart. Pure: any thread.
namespace trainyard::control {

/// "ATTEMPT.MAC" and wire::kMetadataSuffix.
[[nodiscard]] std::string MetadataHostName(const Settings& settings, const std::string& attempt_id);
/// The attempt whose name a Host field has (a port is ignored); nothing for every other text.
[[nodiscard]] std::optional<std::string> AttemptOfHost(const Settings& settings, std::string_view host);

/// "ya29.trainyard.OWNER.MAC": the attempt's token, or with kAnyReplica that of replicas which could not be
/// told apart (they asked under Google's own name for the metadata server).
[[nodiscard]] std::string AccessToken(const Settings& settings, const std::string& owner);
inline constexpr const char* kAnyReplica = "any-replica";
/// Whose token it is; nothing for a text that AccessToken does not make.
[[nodiscard]] std::optional<std::string> OwnerOfToken(const Settings& settings, std::string_view token);

}  // namespace trainyard::control
