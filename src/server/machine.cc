#include "server/machine.h"

#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <utility>

#include "base/async/diagnostics.h"
#include "engine/local/keeper_starter.h"
#include "engine/local/supervisor_starter.h"
#include "programs/node/inventory.h"

namespace trainyard::server {

namespace {

Status CheckCapacity(placement::Capacity::Mode capacity, const engine::MachineLimits& limits) {
  if (capacity != placement::Capacity::Mode::kStrict || limits.lacking.empty()) return {};
  return std::unexpected(
      FailedPrecondition("--capacity strict promises every replica its machine type's memory "
                         "and CPUs, but " +
                         limits.lacking + ", or use --capacity share"));
}

/// Who starts first does not matter: a server whose keeper is not there yet takes jobs.
engine::MachineLimits AskKeeper(const std::string& socket, const std::string& attempts_dir) {
  auto limits = engine::LimitsOfKeeper(socket, attempts_dir);
  if (limits) return *std::move(limits);
  Diagnose(DiagnosticLevel::kWarning, limits.error().message + " Jobs are taken, and start when it does");
  return {};
}

}  // namespace

Result<engine::MachineLimits> MachineLimitsFor(const ServeOptions& options, const std::string& attempts_dir) {
  engine::MachineLimits limits =
      options.keeper.empty() ? engine::PrepareLimits(attempts_dir) : AskKeeper(options.keeper, attempts_dir);
  if (!limits.logout.empty()) {
    Diagnose(limits.logout_ends_jobs ? DiagnosticLevel::kWarning : DiagnosticLevel::kInfo, limits.logout);
  }
  TY_RETURN_IF_ERROR(CheckCapacity(options.capacity, limits));
  if (!limits.lacking.empty()) Diagnose(DiagnosticLevel::kWarning, limits.lacking);
  return limits;
}

std::unique_ptr<engine::SupervisorStarter> MakeStarter(const ServeOptions& options,
                                                       const std::string& attempts_dir,
                                                       engine::MachineLimits limits) {
  if (options.keeper.empty()) return std::make_unique<engine::ForkingStarter>(std::move(limits));
  auto check = [capacity = options.capacity](const engine::MachineLimits& found) {
    return CheckCapacity(capacity, found);
  };
  return std::make_unique<engine::KeeperStarter>(options.keeper, attempts_dir, std::move(limits),
                                                 std::move(check));
}

placement::Capacity MachineCapacity(placement::Capacity::Mode mode) {
  cpu_set_t set;
  int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  struct sysinfo memory{};
  std::int64_t bytes =
      sysinfo(&memory) == 0 ? static_cast<std::int64_t>(memory.totalram) * memory.mem_unit : 0;
  return {.mode = mode, .cpus = std::max(cpus, 1), .memory_bytes = bytes};
}

placement::DevicePool MachineDevices(const ServeOptions& options) {
  node::Inventory found;
  if (options.accelerators) {
    found.devices = *options.accelerators;
  } else {
    found = node::FindDevices();
  }
  for (const std::string& note : found.notes) Diagnose(DiagnosticLevel::kWarning, note);
  for (const std::string& detail : found.details) Diagnose(DiagnosticLevel::kDebug, detail);
  Diagnose(DiagnosticLevel::kInfo, "this machine has " + placement::DescribeDevices(found.devices) +
                                       (options.accelerators ? ", as declared" : ""));
  return {std::move(found.devices), options.accelerator_map};
}

}  // namespace trainyard::server
