#pragma once

#include <string_view>

/// Names of the metadata server inside a replica. Pure: any thread.
namespace trainyard::wire {

/// Google's own, for programs that do not look at GCE_METADATA_HOST.
inline constexpr std::string_view kGoogleMetadataHost = "metadata.google.internal";
/// The end of the name that one replica has for it: "ATTEMPT.MAC.metadata.trainyard".
inline constexpr std::string_view kMetadataSuffix = ".metadata.trainyard";

}  // namespace trainyard::wire
