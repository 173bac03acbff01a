#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/api_client.h"
#include "cli/console.h"
#include "cli/jobs/staging.h"

namespace trainyard::cli {

/// From this size on a file is sent in one stream instead of one request with its metadata, and an upload
/// that breaks is taken up again where it broke. Source: apitools, which gcloud uses.
inline constexpr std::uint64_t kResumableBytesMin = std::uint64_t{5} << 20;

/// Sends one file to an object; a progress bar on a terminal. Returns "gs://BUCKET/OBJECT" as the server
/// names it. Errors in gcloud's words: unreadable file, missing bucket, refusal, a size that is not the
/// file's.
[[nodiscard]] Result<std::string> UploadFile(ApiClient& client, const Console& console,
                                             const std::string& path, const std::string& bucket,
                                             const std::string& object);

/// Sends packages to their staging place, below the SHA-256 of all of them together, in order. Returns their
/// gs:// names.
[[nodiscard]] Result<std::vector<std::string>> UploadPackages(ApiClient& client, const Console& console,
                                                              const std::vector<std::string>& paths,
                                                              const StagingLocation& staging);

}  // namespace trainyard::cli
