#include "engine/local/machine_checks.h"

#include <utility>

#include "programs/sandbox/build_isolation.h"
#include "programs/sandbox/namespaces/namespace_check.h"
#include "programs/sandbox/namespaces/user_namespace.h"
#include "programs/sandbox/network/replica_network.h"
#include "programs/sandbox/required_isolation.h"

namespace trainyard::engine {

Status CheckIsolatedNetworks() { return replica::CheckIsolatedNetworks(); }

Status CheckUserNamespaces() { return replica::CheckUserNamespaces(); }

Status CheckOwnRoot() { return replica::CheckOwnRoot(); }

Status CheckConnectDoors() { return replica::CheckConnectDoors(); }

Status CheckJobUsers(const JobUsers& users, const std::string& directory) {
  return replica::CheckMappedMounts({users.first, kJobBlockIds}, directory);
}

Isolations FindIsolations() {
  return {.program = replica::PrintIsolation(replica::FindIsolation(false)),
          .build = replica::PrintIsolation(replica::FindIsolation(true))};
}

BuildTools FindBuildTools(std::vector<std::string> hidden) {
  auto isolation = std::make_unique<replica::BuildIsolation>(replica::FindIsolation(true), std::move(hidden));
  std::string missing = isolation->Lacks();
  return {.isolation = std::move(isolation), .missing = std::move(missing)};
}

}  // namespace trainyard::engine
