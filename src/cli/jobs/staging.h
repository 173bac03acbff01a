#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// The folder to which packages are uploaded, and their names in it. Pure: any thread. Source: gcloud's
/// jobs_prep and uploads; docs/spec "Packaging".
namespace trainyard::cli {

/// A bucket and the prefix of staged files, without slashes at its ends.
struct StagingLocation {
  std::string bucket;
  std::string prefix;
  friend bool operator==(const StagingLocation&, const StagingLocation&) = default;
};

/// gs://STAGING/JOB, or JOBDIR/packages without a staging bucket, or nothing. The flags are valid.
[[nodiscard]] std::optional<StagingLocation> FindStaging(const std::optional<std::string>& staging_bucket,
                                                         const std::optional<std::string>& job_dir,
                                                         std::string_view job_id);

/// --packages: gs:// objects are used as they are; everything else is a local file.
struct PackageList {
  std::vector<std::string> remote;
  std::vector<std::string> local;
};
[[nodiscard]] PackageList SortPackages(const std::vector<std::string>& packages);

/// kInvalidArgument: "Cannot upload multiple packages with the same filename: [...]".
[[nodiscard]] Status CheckFileNames(const std::vector<std::string>& paths);

/// The last part of a path.
[[nodiscard]] std::string BaseName(std::string_view path);

/// "PREFIX/CHECKSUM/FILE"
[[nodiscard]] std::string StagedName(const StagingLocation& staging, std::string_view checksum,
                                     std::string_view path);

/// --job-dir as it is sent: "gs://bucket" becomes "gs://bucket/".
[[nodiscard]] std::string NormalJobDir(std::string_view job_dir);

/// The media type by file name: "application/x-tar" for .tar.gz.
[[nodiscard]] std::string_view MediaType(std::string_view path);

/// The setup.py for a package without one, identical to gcloud's.
[[nodiscard]] std::string GeneratedSetupPy(std::string_view package_name);

/// The full name of a key from --kms-key and its parts; nothing without --kms-key. kInvalidArgument if the
/// key is not fully specified.
struct KmsFlags {
  std::optional<std::string> key;
  std::optional<std::string> keyring;
  std::optional<std::string> location;
  std::string project;
};
[[nodiscard]] Result<std::optional<std::string>> KmsKeyName(const KmsFlags& flags);

}  // namespace trainyard::cli
