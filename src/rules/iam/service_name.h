#pragma once

#include <string>
#include <string_view>

namespace trainyard::iam {

/// Of methods of our own.
inline constexpr std::string_view kOwnService = "trainyard";

/// Which service of Google's a method is of, as audit entries and refusals name it: "ml.googleapis.com";
/// kOwnService: one of our own. By the permission, whose first part is the service's, else by the method's
/// name. Pure. Source: the public page "Services that produce audit logs".
[[nodiscard]] std::string ServiceName(std::string_view permission, std::string_view method_name);

}  // namespace trainyard::iam
