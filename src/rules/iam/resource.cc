#include "rules/iam/resource.h"

namespace trainyard::iam {

std::string NameOf(const Resource& resource) {
  switch (resource.kind) {
    case Resource::Kind::kInstallation: return "trainyard";
    case Resource::Kind::kProject: return "projects/" + resource.project;
    case Resource::Kind::kJob: return "projects/" + resource.project + "/jobs/" + resource.name;
    case Resource::Kind::kBucket: return "projects/_/buckets/" + resource.name;
    case Resource::Kind::kServiceAccount:
      return "projects/" + resource.project + "/serviceAccounts/" + resource.name;
  }
  return {};
}

}  // namespace trainyard::iam
