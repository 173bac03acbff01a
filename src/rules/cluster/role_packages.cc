#include "rules/cluster/role_packages.h"

#include <algorithm>

namespace trainyard::cluster {

const std::string& ModuleOf(const ml::v1::TrainingInput& input, const ml::v1::ReplicaConfig& config) {
  return config.python_module().empty() ? input.python_module() : config.python_module();
}

const Packages& PackagesOf(const control::v1::JobRecord& job, replica::v1::TaskType role) {
  const auto own = std::ranges::find(job.role_packages(), role, &control::v1::RolePackages::type);
  return own == job.role_packages().end() ? job.packages() : own->packages();
}

std::vector<const Packages*> PackageLists(const control::v1::JobRecord& job) {
  std::vector<const Packages*> lists = {&job.packages()};
  for (const control::v1::RolePackages& own : job.role_packages()) lists.push_back(&own.packages());
  return lists;
}

}  // namespace trainyard::cluster
