#pragma once

#include <string>

#include "base/result.h"

/// The files that replicas read about the front that answers to Google's host names
/// (docs/adr/0012-google-front.md). Each node has them. Blocking.
namespace trainyard::engine {

struct GoogleFrontFiles {
  std::string authority;  ///< a PEM file: the installation's certificate authority
  std::string folder;     ///< the directory in which the files are written
  std::string bundle;     ///< the file with all authorities, also written
  std::string project;    ///< in gsutil's settings
};

/// Writes the CA bundle, a file with the installation's authority alone, and the settings of curl, Java and
/// gsutil that name them. Files that already have the right contents are left alone. A file that cannot be
/// written does not keep the server from starting, since the server may have to free disk space first: a
/// message says so, and CompleteGoogleFrontFiles tries again. An error: there is no authority.
[[nodiscard]] Status WriteGoogleFrontFiles(const GoogleFrontFiles& files);

/// Writes the files that the last WriteGoogleFrontFiles of this process could not write. Call it before a
/// replica starts. Any thread. kUnavailable: they still cannot be written.
[[nodiscard]] Status CompleteGoogleFrontFiles();

/// Makes sure that there is a directory /gcs on which replicas can mount the buckets: an empty one of this
/// machine, created if needed, or, if we may not create it, one in the replica's own root.
/// kFailedPrecondition: /gcs is not empty and so is used for something else. Call it before there are other
/// threads.
[[nodiscard]] Status EnsureGcsFolder();

}  // namespace trainyard::engine
