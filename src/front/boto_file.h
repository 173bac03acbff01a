#pragma once

#include <string>

namespace trainyard::front {

/// gsutil's settings (a boto file) inside a replica: its httplib2 trusts no other file than the one named
/// here, its credentials are the metadata server's, and its temporary files while it copies are in the
/// replica's own /tmp. Pure: any thread. Source: spec environment.md section 11.
///
/// @param ca_bundle  path of the authorities, as the replica sees it.
/// @param project  of `gsutil mb` and `gsutil ls`.
[[nodiscard]] std::string BotoFile(const std::string& ca_bundle, const std::string& project);

}  // namespace trainyard::front
