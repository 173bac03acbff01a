#pragma once

#include <string_view>

#include "trainyard/iam/v1/policy.pb.h"

namespace trainyard::identity {

/// The policy of a bucket for which none was set: as Google gives a new bucket, the rights of its project's
/// basic roles. Owner and editor: everything in it; viewer: reading. With the etag of iam::NoPolicy. Pure:
/// any thread. Source: spec access.md section 9; the public page "IAM roles for Cloud Storage", section on
/// basic roles.
[[nodiscard]] iam::v1::Policy BucketDefault(std::string_view project);

}  // namespace trainyard::identity
