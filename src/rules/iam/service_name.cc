#include "rules/iam/service_name.h"

#include <array>
#include <utility>

namespace trainyard::iam {
namespace {

/// Methods without their own permission.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kMethods{
    {{"google.iam.admin.", "iam.googleapis.com"},
     {"google.iam.v1.", "ml.googleapis.com"},  // on jobs
     {"google.longrunning.", "serviceusage.googleapis.com"},
     {"storage.", "storage.googleapis.com"},
     {"TestIamPermissions", "cloudresourcemanager.googleapis.com"}}};

}  // namespace

std::string ServiceName(std::string_view permission, std::string_view method_name) {
  const std::string_view prefix = permission.substr(0, permission.find('.'));
  if (prefix == "resourcemanager") return "cloudresourcemanager.googleapis.com";
  if (!prefix.empty() && prefix != kOwnService) return std::string(prefix) + ".googleapis.com";
  if (prefix.empty()) {
    for (const auto& [begin, service] : kMethods)
      if (method_name.starts_with(begin)) return std::string(service);
  }
  return std::string(kOwnService);
}

}  // namespace trainyard::iam
