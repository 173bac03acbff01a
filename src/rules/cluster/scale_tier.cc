#include "rules/cluster/scale_tier.h"

#include <string_view>
#include <vector>

#include "base/check.h"
#include "rules/cluster/machine_fit.h"
#include "rules/cluster/role.h"

namespace trainyard::cluster {
namespace {

using ml::v1::TrainingInput;

struct TierRow {
  TrainingInput::ScaleTier tier;
  replica::v1::TaskType task;
  std::string_view machine_type;
  std::int32_t count;
};
constexpr TierRow kTiers[] = {
#include "rules/cluster/scale_tiers.inc"
};

ReplicaGroup MakeGroup(replica::v1::TaskType type, std::int64_t count, const MachineType& machine,
                       const Accelerators& attached) {
  return {.type = type,
          .count = count,
          .machine = &machine,
          .accelerators = attached.count > 0 ? attached : machine.accelerators};
}

Status CheckNoCounts(const TrainingInput& input) {
  for (const Role& role : Roles(input)) {
    if (role.type == replica::v1::MASTER || role.count == 0) continue;
    const std::string field = std::string(role.field) + "_count";
    return std::unexpected(
        InvalidArgument(field, "This value can only be used when scale_tier is set to CUSTOM."));
  }
  return {};
}

Status CheckRole(const Role& role) {
  const std::string prefix(role.field);
  if (role.count < 0) {
    return std::unexpected(InvalidArgument(prefix + "_count", "The count must not be negative."));
  }
  if (role.count > 0 && role.machine_type.empty()) {
    return std::unexpected(InvalidArgument(
        prefix + "_type", role.type == replica::v1::MASTER
                              ? "This value must be present when scale_tier is set to CUSTOM."
                              : "This value must be present when scale_tier is set to CUSTOM and " + prefix +
                                    "_count is greater than zero."));
  }
  if (role.count == 0 && !role.machine_type.empty()) {
    return std::unexpected(InvalidArgument(
        prefix + "_count", "This value must be greater than zero when " + prefix + "_type is set."));
  }
  if (role.count > 0 && FindMachineType(role.machine_type) == nullptr) {
    const std::string hint = MachineTypeHint(role.machine_type);
    return std::unexpected(InvalidArgument(prefix + "_type", "The specified machine type for " + prefix +
                                                                 " is not supported: " + role.machine_type +
                                                                 (hint.empty() ? "" : ". " + hint)));
  }
  return {};
}

Result<std::vector<ReplicaGroup>> CustomGroups(const TrainingInput& input) {
  std::vector<ReplicaGroup> groups;
  std::int64_t replicas = 0;
  for (const Role& role : Roles(input)) {
    TY_RETURN_IF_ERROR(CheckRole(role));
    if (role.count == 0) continue;
    if (role.count > kReplicasMax - replicas) {
      return std::unexpected(
          InvalidArgument(std::string(role.field) + "_count",
                          "A job cannot have more than " + std::to_string(kReplicasMax) + " replicas."));
    }
    replicas += role.count;
    const AcceleratorConfig& accelerators = role.config.accelerator_config();
    groups.push_back(MakeGroup(role.type, role.count, *FindMachineType(role.machine_type),
                               {accelerators.type(), accelerators.count()}));
  }
  return groups;
}

}  // namespace

replica::v1::ReplicaId ReplicaPlan::id() const {
  replica::v1::ReplicaId id;
  id.set_type(type);
  id.set_index(index);
  return id;
}

Result<std::vector<ReplicaGroup>> Groups(const TrainingInput& input) {
  if (input.scale_tier() == TrainingInput::CUSTOM) return CustomGroups(input);
  TY_RETURN_IF_ERROR(CheckNoCounts(input));
  std::vector<ReplicaGroup> groups;
  for (const TierRow& row : kTiers) {
    if (row.tier != input.scale_tier()) continue;
    const MachineType* machine = FindMachineType(row.machine_type);
    TY_CHECK(machine != nullptr);
    groups.push_back(MakeGroup(row.task, row.count, *machine, {}));
  }
  if (groups.empty()) {
    return std::unexpected(InvalidArgument("scale_tier", "The specified scale tier is not supported."));
  }
  return groups;
}

Result<std::vector<ReplicaPlan>> Expand(const TrainingInput& input) {
  TY_TRY(const std::vector<ReplicaGroup> groups, Groups(input));
  std::vector<ReplicaPlan> replicas;
  for (const ReplicaGroup& group : groups) {
    ReplicaPlan plan{.type = group.type,
                     .index = 0,
                     .machine_type = std::string(group.machine->name),
                     .vcpus = group.machine->vcpus,
                     .memory_bytes = group.machine->memory_bytes(),
                     .accelerators = group.accelerators};
    for (; plan.index < group.count; ++plan.index) replicas.push_back(plan);
  }
  return replicas;
}

double UnitsPerHour(const std::vector<ReplicaPlan>& replicas) {
  double units = 0;
  for (const ReplicaPlan& replica : replicas) {
    const MachineType* machine = FindMachineType(replica.machine_type);
    TY_CHECK(machine != nullptr);
    units += UnitsPerHour(*machine, replica.accelerators);
  }
  return units;
}

}  // namespace trainyard::cluster
