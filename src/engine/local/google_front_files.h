#pragma once

#include <string>

#include "base/result.h"

/// What replicas read of the front that has Google's names (docs/adr/0012-google-front.md), as files of their
/// node. Blocking.
namespace trainyard::engine {

struct GoogleFrontFiles {
  std::string authority;  ///< the installation's own, a PEM file
  std::string folder;     ///< where the files are made
  std::string bundle;     ///< the one of all authorities, also made
  std::string project;    ///< in gsutil's settings
};

/// The CA bundle, the own authority alone, and the settings of curl, Java and gsutil that name them. Files
/// that have the right contents are left as they are. What cannot be written keeps no server from starting,
/// which may have to make room first: it is said, and left to CompleteGoogleFrontFiles. An error: there is no
/// authority.
[[nodiscard]] Status WriteGoogleFrontFiles(const GoogleFrontFiles& files);

/// Before a replica starts: writes what the last WriteGoogleFrontFiles of this process could not. Any thread.
/// kUnavailable: it still cannot be written.
[[nodiscard]] Status CompleteGoogleFrontFiles();

/// Where a replica's bind mount of the buckets goes: an empty /gcs of the machine's, made if need be, or
/// where we may not, one of the replica's own root. One with something in it is somebody else's:
/// kFailedPrecondition. Before there are other threads.
[[nodiscard]] Status EnsureGcsFolder();

}  // namespace trainyard::engine
