#pragma once

#include <string>
#include <string_view>

namespace trainyard::iam {

/// The service of our own methods.
inline constexpr std::string_view kOwnService = "trainyard";

/// The Google service of a method, for audit entries and error messages: "ml.googleapis.com"; kOwnService for
/// our own methods. It is derived from the permission, whose first part is the service's, or else from the
/// method's name. Pure. Source: the public page "Services that produce audit logs".
[[nodiscard]] std::string ServiceName(std::string_view permission, std::string_view method_name);

}  // namespace trainyard::iam
