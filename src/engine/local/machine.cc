#include "engine/local/machine.h"

#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <utility>

#include "base/async/diagnostics.h"
#include "engine/local/keeper_starter.h"
#include "programs/node/inventory.h"
#include "programs/sandbox/build_isolation.h"
#include "programs/sandbox/namespaces/id_map.h"
#include "programs/sandbox/namespaces/namespace_check.h"
#include "programs/sandbox/network/replica_network.h"
#include "programs/sandbox/required_isolation.h"

namespace trainyard::engine {

namespace {

Status CheckCapacity(placement::Capacity::Mode capacity, const MachineLimits& limits) {
  if (capacity != placement::Capacity::Mode::kStrict || limits.lacking.empty()) return {};
  return std::unexpected(
      FailedPrecondition("--capacity strict promises every replica its machine type's memory "
                         "and CPUs, but " +
                         limits.lacking + ", or use --capacity share"));
}

/// Server and keeper may start in any order: a server whose keeper does not answer yet accepts jobs.
MachineLimits AskKeeper(const std::string& socket, const std::string& attempts_dir) {
  auto limits = LimitsOfKeeper(socket, attempts_dir);
  if (limits) return *std::move(limits);
  Diagnose(DiagnosticLevel::kWarning,
           limits.error().message + " Jobs are accepted, and start when it answers");
  return {};
}

}  // namespace

Result<MachineLimits> MachineLimitsFor(const std::string& keeper, placement::Capacity::Mode capacity,
                                       const std::string& attempts_dir) {
  MachineLimits limits = keeper.empty() ? PrepareLimits(attempts_dir) : AskKeeper(keeper, attempts_dir);
  if (!limits.logout.empty()) {
    Diagnose(limits.logout_ends_jobs ? DiagnosticLevel::kWarning : DiagnosticLevel::kInfo, limits.logout);
  }
  TY_RETURN_IF_ERROR(CheckCapacity(capacity, limits));
  if (!limits.lacking.empty()) Diagnose(DiagnosticLevel::kWarning, limits.lacking);
  if (capacity == placement::Capacity::Mode::kShare)
    Diagnose(DiagnosticLevel::kInfo, DescribeReplicaMemory(limits, MachineCapacity(capacity).memory_bytes));
  return limits;
}

std::unique_ptr<SupervisorStarter> MakeStarter(const std::string& keeper, placement::Capacity::Mode capacity,
                                               const std::string& attempts_dir, MachineLimits limits) {
  if (keeper.empty()) return std::make_unique<ForkingStarter>(std::move(limits));
  auto check = [capacity](const MachineLimits& found) { return CheckCapacity(capacity, found); };
  return std::make_unique<KeeperStarter>(keeper, attempts_dir, std::move(limits), std::move(check));
}

placement::Capacity MachineCapacity(placement::Capacity::Mode mode) {
  cpu_set_t set;
  int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  struct sysinfo memory{};
  std::int64_t bytes =
      sysinfo(&memory) == 0 ? static_cast<std::int64_t>(memory.totalram) * memory.mem_unit : 0;
  return {.mode = mode, .cpus = std::max(cpus, 1), .memory_bytes = bytes};
}

placement::DevicePool MachineDevices(const std::optional<std::vector<placement::Device>>& declared,
                                     placement::AcceleratorMap map) {
  for (const std::string& path : node::MakeDeviceNodes())
    Diagnose(DiagnosticLevel::kInfo, "made " + path + ", which CUDA needs");
  node::Inventory found;
  if (declared) {
    found.devices = *declared;
  } else {
    found = node::FindDevices();
  }
  for (const std::string& detail : found.details) Diagnose(DiagnosticLevel::kDebug, detail);
  Diagnose(DiagnosticLevel::kInfo, "this machine has " + placement::DescribeDevices(found.devices) +
                                       (declared ? ", as declared" : ""));
  return {std::move(found.devices), std::move(map)};
}

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
