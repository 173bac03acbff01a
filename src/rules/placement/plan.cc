#include "rules/placement/plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "base/check.h"
#include "rules/placement/gang.h"

namespace trainyard::placement {
namespace {

/// The resources of the machine that one or more gangs use.
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
  constexpr double kBytesPerGib = 1024.0 * 1024.0 * 1024.0;
  return Number(static_cast<double>(bytes) / kBytesPerGib) + " GiB";
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
  if (load.replicas > Places(capacity)) note += " No other job runs at the same time.";
  return {std::move(note)};
}

/// The jobs that a gang waits for, and how they are named.
struct Users {
  const std::vector<JobLabel>& jobs;
  const std::string& viewer;
  const Naming& naming;
  [[nodiscard]] bool empty() const { return jobs.empty(); }
  [[nodiscard]] std::string Names() const { return naming.Jobs(jobs, viewer); }
  [[nodiscard]] std::string End() const { return WhenTheyEnd(jobs, viewer, naming); }
};

/// Why the next gang waits for CPUs or memory, and for which jobs.
Shortage RoomShortage(const Capacity& capacity, const Load& used, const Load& more, const Users& users) {
  if (users.empty()) {
    return {"The job asks for " + Asked(more) + "; this machine has " + Offered(capacity) + ".",
            "It can start when the server runs on a bigger machine or with --capacity share. Until then it "
            "waits; you can cancel it."};
  }
  if (capacity.mode == Capacity::Mode::kShare) {
    return {"Waiting for a free place for " + Counted(more.replicas, "replica") + ": " +
                std::to_string(used.replicas) + " of " + std::to_string(Places(capacity)) +
                " places are in use by " + users.Names() + ".",
            users.End()};
  }
  return {"Waiting for " + Asked(more) + ": " + Asked(used) + " of " + Offered(capacity) + " are in use by " +
              users.Names() + ".",
          users.End()};
}

Shortage DeviceShortage(const DevicePool& devices, const Gang& gang, const std::set<std::size_t>& wanted,
                        const Naming& naming) {
  const std::set<JobLabel> holders = devices.HoldersOf(wanted);
  const std::vector<JobLabel> jobs(holders.begin(), holders.end());
  const Users users{.jobs = jobs, .viewer = gang.project, .naming = naming};
  // Counted as jobs count them: TPUs by cores. One request is for GPUs or for TPUs, never both.
  const bool tpus = !wanted.empty() && devices.devices().at(*wanted.begin()).kind == Device::Kind::kTpu;
  const std::size_t each = tpus ? kTpuCoresPerBoard : 1;
  const std::size_t held = wanted.size() - devices.FreeOf(wanted);
  Shortage shortage{"Waiting for " + AskedAccelerators(gang) + ": " + std::to_string(held * each) + " of " +
                        std::to_string(wanted.size() * each) + " are in use by " + users.Names() + ".",
                    users.End()};
  if (devices.FreeOf(wanted) >= devices.CountOf(gang)) shortage.reason += std::string(" ").append(kOneModel);
  return shortage;
}

bool Meet(const std::set<std::size_t>& a, const std::set<std::size_t>& b) {
  return std::ranges::any_of(a, [&b](std::size_t device) { return b.contains(device); });
}

/// The request's field that makes the gang too big: that of the first replica that does not fit.
std::string_view FieldOf(const Gang::Replica& replica) {
  switch (replica.type) {
    case replica::v1::WORKER: return "worker_count";
    case replica::v1::PARAMETER_SERVER: return "parameter_server_count";
    case replica::v1::EVALUATOR: return "evaluator_count";
    default: return "master_type";
  }
}

}  // namespace

std::int64_t ReplicaMemoryMax(std::int64_t machine_bytes) {
  constexpr std::int64_t kReserveShare = 8;
  const std::int64_t reserve = std::clamp(machine_bytes / kReserveShare, kReserveBytesMin, kReserveBytesMax);
  return machine_bytes >= 2 * reserve ? machine_bytes - reserve : 0;
}

Plan PlanAdmissions(const Capacity& capacity, const std::vector<Gang>& running,
                    std::span<const Gang* const> waiting, DevicePool devices) {
  const auto next = [&waiting]() -> const Gang* {
    if (waiting.empty()) return nullptr;
    const Gang* gang = waiting.front();
    waiting = waiting.subspan(1);
    return gang;
  };
  return PlanAdmissions(capacity, running, next, std::move(devices), {});
}

Plan PlanAdmissions(const Capacity& capacity, const std::vector<Gang>& running, const NextGang& next,
                    DevicePool devices, PlanRules rules) {
  Load used;
  std::vector<JobLabel> users;
  for (const Gang& gang : running) {
    used.Add(LoadOf(gang));
    users.push_back(LabelOf(gang));
  }
  Plan plan;
  std::set<std::size_t> kept;  // devices that earlier gangs wait for
  QuotaTurns quotas(rules.quotas);
  while (const Gang* gang = next()) {
    const QuotaDemand demand = quotas.is_open() ? QuotaDemand() : devices.DemandOf(*gang);
    if (quotas.Before(*gang, demand) != nullptr) continue;
    const std::set<std::size_t> wanted = devices.Wanted(*gang);
    if (Meet(wanted, kept) || devices.LackOf(*gang)) continue;
    if (auto shortage = quotas.Ask(*gang, demand)) {
      plan.blocked.push_back({.uid = gang->uid, .shortage = *std::move(shortage)});
      continue;
    }
    std::optional<DevicePool::Gift> gift = devices.Choose(*gang);
    if (!gift) {
      plan.blocked.push_back(
          {.uid = gang->uid, .shortage = DeviceShortage(devices, *gang, wanted, rules.naming)});
      kept.insert(wanted.begin(), wanted.end());
      continue;
    }
    const Load load = LoadOf(*gang);
    if (!Fits(capacity, used, load)) {
      const Users those{.jobs = users, .viewer = gang->project, .naming = rules.naming};
      plan.blocked.push_back(
          {.uid = gang->uid, .shortage = RoomShortage(capacity, used, load, those), .blocks_all = true});
      break;
    }
    std::vector<std::string> notes = Notes(capacity, load);
    for (std::string& note : devices.Notes(*gang)) notes.push_back(std::move(note));
    devices.Take(std::to_string(gang->uid), LabelOf(*gang), *gift);
    quotas.Take(*gang, demand);
    plan.admitted.push_back({.uid = gang->uid, .notes = std::move(notes), .devices = *std::move(gift)});
    used.Add(load);
    users.push_back(LabelOf(*gang));
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
  // 127.1.0.0 to 127.255.255.255 in blocks of 1024; 127.0.x.y is not used: it belongs to the machine itself.
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
