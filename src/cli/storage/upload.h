#pragma once

#include <cstdint>
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

/// The bar's text: "Uploading a.tar.gz [=====>    ] 52%", in `columns` characters at most. Pure.
[[nodiscard]] std::string PrintProgress(const std::string& title, std::uint64_t done, std::uint64_t total,
                                        std::size_t columns);

/// A line on the terminal that is redrawn while bytes are transferred; the destructor erases it. Nothing is
/// printed if stderr is not a terminal, or for small transfers.
class ProgressBar {
 public:
  ProgressBar(const Console& console, std::string title, std::uint64_t total);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void Show(std::uint64_t done);

 private:
  const Console& console_;
  std::string title_;
  std::uint64_t total_;
  std::string shown_;
};

}  // namespace trainyard::cli
