#include "placement/plan.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "placement/counted.h"

namespace trainyard::placement {
namespace {

constexpr int kNamesMax = 3;  ///< jobs that a reason names

/// What one or several gangs take of the machine.
struct Load {
  std::int64_t replicas = 0;
  double cpus = 0;
  std::int64_t memory_bytes = 0;

  void Add(const Load& more) {
    replicas += more.replicas;
    cpus += more.cpus;
    memory_bytes += more.memory_bytes;
  }
};

Load LoadOf(const Gang& gang) {
  Load load;
  for (const Gang::Replica& replica : gang.replicas) load.Add({1, replica.cpus, replica.memory_bytes});
  return load;
}

std::int64_t Places(const Capacity& capacity) {
  return std::int64_t{kReplicasPerCpuMax} * std::max(capacity.cpus, 1);
}

bool Fits(const Capacity& capacity, const Load& used, const Load& more) {
  switch (capacity.mode) {
    case Capacity::Mode::kShare:
      return used.replicas == 0 || used.replicas + more.replicas <= Places(capacity);
    case Capacity::Mode::kStrict:
      return used.cpus + more.cpus <= capacity.cpus &&
             used.memory_bytes + more.memory_bytes <= capacity.memory_bytes;
  }
  return false;
}

/// "7.2", "16": at most one decimal.
std::string Number(double value) {
  constexpr int kTenths = 10;
  const auto tenths = std::llround(value * kTenths);
  std::string text = std::to_string(tenths / kTenths);
  if (tenths % kTenths != 0) text += "." + std::to_string(tenths % kTenths);
  return text;
}

std::string Gigabytes(std::int64_t bytes) {
  constexpr double kBytesPerGb = 1024.0 * 1024.0 * 1024.0;
  return Number(static_cast<double>(bytes) / kBytesPerGb) + " GB";
}

std::string Asked(const Load& load) {
  return Number(load.cpus) + " vCPUs and " + Gigabytes(load.memory_bytes);
}

std::string Offered(const Capacity& capacity) {
  return Counted(capacity.cpus, "CPU") + " and " + Gigabytes(capacity.memory_bytes);
}

std::vector<std::string> Notes(const Capacity& capacity, const Load& load) {
  const bool enough = load.cpus <= capacity.cpus && load.memory_bytes <= capacity.memory_bytes;
  if (capacity.mode == Capacity::Mode::kStrict || enough) return {};
  std::string note =
      "The job asks for " + Counted(load.replicas, "machine") + " with " + Asked(load) + " in all; ";
  note += load.replicas == 1 ? "it gets a share" : "they share";
  note += (load.replicas == 1 ? " of this machine's " : " this machine's ") + Offered(capacity) + ".";
  if (load.replicas > Places(capacity)) note += " No other job runs beside it.";
  return {std::move(note)};
}

/// "job_a, job_b and 3 more".
std::string Names(const std::vector<const Gang*>& gangs) {
  std::string text;
  const auto named = std::min<std::size_t>(gangs.size(), kNamesMax);
  for (std::size_t i = 0; i < named; ++i) text += (i == 0 ? "" : ", ") + gangs[i]->job_id;
  if (gangs.size() > named) text += " and " + std::to_string(gangs.size() - named) + " more";
  return text;
}

/// Why the next gang in line waits, and for whom.
std::string Shortage(const Capacity& capacity, const Load& used, const Load& more,
                     const std::vector<const Gang*>& running) {
  if (running.empty())
    return "The job asks for " + Asked(more) + "; this machine has " + Offered(capacity) + ".";
  if (capacity.mode == Capacity::Mode::kShare) {
    return "Waiting for room for " + Counted(more.replicas, "replica") + ": " +
           std::to_string(used.replicas) + " of " + std::to_string(Places(capacity)) +
           " places are in use by " + Names(running) + ".";
  }
  return "Waiting for " + Asked(more) + ": " + Asked(used) + " of " + Offered(capacity) + " are in use by " +
         Names(running) + ".";
}

/// The field that makes the gang too big: the role of the replica that no longer fits.
std::string_view FieldOf(const Gang::Replica& replica) {
  switch (replica.type) {
    case replica::v1::WORKER: return "worker_count";
    case replica::v1::PARAMETER_SERVER: return "parameter_server_count";
    case replica::v1::EVALUATOR: return "evaluator_count";
    default: return "master_type";
  }
}

}  // namespace

Plan PlanAdmissions(const Capacity& capacity, const std::vector<Gang>& running,
                    std::span<const Gang* const> waiting) {
  Load used;
  std::vector<const Gang*> users;
  for (const Gang& gang : running) {
    used.Add(LoadOf(gang));
    users.push_back(&gang);
  }
  Plan plan;
  for (const Gang* gang : waiting) {
    const Load load = LoadOf(*gang);
    if (!Fits(capacity, used, load)) {
      plan.shortage = Shortage(capacity, used, load, users);
      break;
    }
    plan.admitted.push_back({.uid = gang->uid, .notes = Notes(capacity, load)});
    used.Add(load);
    users.push_back(gang);
  }
  return plan;
}

Status CheckFits(const Capacity& capacity, const Gang& gang) {
  if (capacity.mode == Capacity::Mode::kShare) return {};
  Load load;
  for (const Gang::Replica& replica : gang.replicas) {
    load.Add({1, replica.cpus, replica.memory_bytes});
    if (Fits(capacity, {}, load)) continue;
    return std::unexpected(FailedPrecondition("The job can never run on this machine: it asks for " +
                                                  Asked(LoadOf(gang)) + " in all, the machine has " +
                                                  Offered(capacity) + ".",
                                              FieldOf(replica)));
  }
  return {};
}

std::string ReplicaAddress(std::int64_t job_uid, int replica) {
  // 127.1.0.0 to 127.255.255.255 in blocks of 1024; 127.0.x.y is left to the machine itself.
  constexpr std::uint32_t kFirst = (127U << 24) | (1U << 16);
  constexpr std::int64_t kBlock = 1024;
  constexpr std::int64_t kBlocks = 255 * 65536 / kBlock;
  TY_CHECK(job_uid >= 0 && replica >= 0 && replica < kBlock - 2);
  const auto offset = static_cast<std::uint32_t>((job_uid % kBlocks) * kBlock + replica + 1);
  const std::uint32_t address = kFirst + offset;
  const std::array<std::uint32_t, 4> parts = {address >> 24, (address >> 16) & 255, (address >> 8) & 255,
                                              address & 255};
  return std::to_string(parts[0]) + "." + std::to_string(parts[1]) + "." + std::to_string(parts[2]) + "." +
         std::to_string(parts[3]);
}

}  // namespace trainyard::placement
