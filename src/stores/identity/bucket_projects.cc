#include "stores/identity/bucket_projects.h"

#include <array>
#include <initializer_list>
#include <string>

#include "rules/iam/policy_form.h"

namespace trainyard::identity {

std::string BucketProjects::Of(std::string_view bucket) const {
  return projects_.With([&](const auto& projects) {
    const auto found = projects.find(bucket);
    return found == projects.end() ? default_project_ : found->second;
  });
}

std::set<std::string, std::less<>> BucketProjects::Recorded() const {
  return projects_.With([](const auto& projects) {
    std::set<std::string, std::less<>> all;
    for (const auto& [bucket, project] : projects) all.insert(project);
    return all;
  });
}

void BucketProjects::Set(const std::string& bucket, std::optional<std::string> project) {
  projects_.With([&](auto& projects) {
    if (project)
      projects.insert_or_assign(bucket, *std::move(project));
    else
      projects.erase(bucket);
  });
}

iam::v1::Policy BucketDefault(std::string_view project) {
  iam::v1::Policy policy = iam::NoPolicy();
  policy.set_version(1);
  const auto bind = [&](const char* role, std::initializer_list<const char*> kinds) {
    iam::v1::Binding& binding = *policy.add_bindings();
    binding.set_role(role);
    for (const char* kind : kinds) binding.add_members(std::string(kind).append(project));
  };
  bind("roles/storage.legacyBucketOwner", {"projectEditor:", "projectOwner:"});
  bind("roles/storage.legacyBucketReader", {"projectViewer:"});
  bind("roles/storage.legacyObjectOwner", {"projectEditor:", "projectOwner:"});
  bind("roles/storage.legacyObjectReader", {"projectViewer:"});
  return policy;
}

}  // namespace trainyard::identity
