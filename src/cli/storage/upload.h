#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/api_client.h"
#include "cli/console.h"
#include "cli/jobs/staging.h"

namespace trainyard::cli {

/// Files of this size or more are uploaded as a stream instead of one request with the metadata; an
/// interrupted upload is resumed where it stopped. Source: apitools, which gcloud uses.
inline constexpr std::uint64_t kResumableBytesMin = std::uint64_t{5} << 20;

/// Uploads one file, with a progress bar on a terminal. Returns "gs://BUCKET/OBJECT" as the server names it.
/// Errors in gcloud's words: unreadable file, missing bucket, refusal, wrong size on the server.
[[nodiscard]] Result<std::string> UploadFile(ApiClient& client, const Console& console,
                                             const std::string& path, const std::string& bucket,
                                             const std::string& object);

/// Uploads packages to the staging location, below the SHA-256 of all of them, in order. Returns their gs://
/// names.
[[nodiscard]] Result<std::vector<std::string>> UploadPackages(ApiClient& client, const Console& console,
                                                              const std::vector<std::string>& paths,
                                                              const StagingLocation& staging);

}  // namespace trainyard::cli
