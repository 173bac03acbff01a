#include "stores/identity/bucket_projects.h"

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

}  // namespace trainyard::identity
