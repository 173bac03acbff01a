#include <algorithm>

#include "base/text/suggestion.h"
#include "rules/cluster/machine_fit.h"
#include "rules/cluster/machine_type.h"
#include "rules/cluster/region.h"
#include "rules/cluster/role.h"
#include "rules/cluster/scale_tier.h"
#include "rules/validation/rules.h"

namespace trainyard::jobs::rules {
namespace {

using cluster::FindMachineType;
using cluster::MachineType;
using cluster::Role;
using cluster::Roles;
using ml::v1::AcceleratorConfig;
using ml::v1::TrainingInput;

/// The limits of Compute Engine's persistent disks. The limits of Google's service are not known.
constexpr std::int32_t kDiskGbMax = 65536;

bool IsCustom(const TrainingInput& input) { return input.scale_tier() == TrainingInput::CUSTOM; }

std::string Field(const Role& role, std::string_view rest) { return std::string(role.field).append(rest); }

Status CheckFit(const Role& role, const AcceleratorConfig& config) {
  const std::string type_name = AcceleratorConfig::Type_Name(config.type());
  const std::string type_field = Field(role, "_config.accelerator_config.type");
  const MachineType& machine = *FindMachineType(role.machine_type);
  // A TPU is a machine's own on Vertex AI; in the original it is a worker.
  const bool is_of_vertex = machine.is_of_vertex || cluster::IsOfVertex(config.type());
  if (!cluster::IsGpu(config.type()) && !is_of_vertex) {
    return Invalid(type_field, "TPU accelerators can only be used with the worker type cloud_tpu.");
  }
  if (machine.category != MachineType::Category::kComputeEngine) {
    return Invalid(Field(role, "_config.accelerator_config"),
                   "Accelerators can only be attached to Compute Engine machine types, not to " +
                       role.machine_type + ".");
  }
  if (cluster::GpusAllowed(role.machine_type, {config.type(), config.count()})) return {};
  const std::string allowed = cluster::AllowedCounts(role.machine_type, config.type());
  if (allowed.empty()) {
    return Invalid(type_field,
                   type_name + " accelerators cannot be attached to the machine type " + role.machine_type +
                       ". Machine types with " + std::to_string(config.count()) +
                       " of them: " + cluster::MachineTypesWith({config.type(), config.count()}) + ".");
  }
  return Invalid(Field(role, "_config.accelerator_config.count"),
                 "The machine type " + role.machine_type + " cannot have " + std::to_string(config.count()) +
                     " " + type_name + " accelerators. Allowed numbers: " + allowed + ".");
}

Status CheckAccelerators(const Role& role, bool custom) {
  if (!role.config.has_accelerator_config()) return {};
  const AcceleratorConfig& config = role.config.accelerator_config();
  const std::string field = Field(role, "_config.accelerator_config");
  if (config.count() < 0) return Invalid(field + ".count", "The count must not be negative.");
  const bool has_type = config.type() != AcceleratorConfig::ACCELERATOR_TYPE_UNSPECIFIED;
  if (!has_type && config.count() == 0) return {};  // an empty config: no accelerators
  if (!has_type) return Invalid(field + ".type", "The type of the accelerators is missing.");
  if (config.count() == 0)
    return Invalid(field + ".count", "The count must be greater than zero when a type is set.");
  if (!custom) return Invalid(field, "This value can only be used when scale_tier is set to CUSTOM.");
  if (role.count == 0) {
    return Invalid(field,
                   "This value can only be used when " + Field(role, "_count") + " is greater than zero.");
  }
  if (FindMachineType(role.machine_type)->category == MachineType::Category::kCloudTpu)
    return {};  // rules::TpuAccelerator
  return CheckFit(role, config);
}

Status CheckDisk(const Role& role) {
  const ml::v1::DiskConfig& disk = role.config.disk_config();
  if (!disk.boot_disk_type().empty() && disk.boot_disk_type() != "pd-ssd" &&
      disk.boot_disk_type() != "pd-standard") {
    return Invalid(Field(role, "_config.disk_config.boot_disk_type"),
                   "The disk type must be pd-ssd or pd-standard.");
  }
  if (disk.boot_disk_size_gb() < 0) {
    return Invalid(Field(role, "_config.disk_config.boot_disk_size_gb"),
                   "The disk size must not be negative.");
  }
  if (disk.boot_disk_size_gb() > kDiskGbMax) {
    return Invalid(Field(role, "_config.disk_config.boot_disk_size_gb"),
                   "The disk size must not be greater than " + std::to_string(kDiskGbMax) + " GB.");
  }
  return {};
}

/// Whether the table of regions says where the group's accelerators are: it is the original's, and does not
/// know the machine types that only Vertex AI has.
bool IsOfRegions(const cluster::ReplicaGroup& group) {
  return group.accelerators.count > 0 && !group.machine->is_of_vertex;
}

/// Leaves out what the table of regions does not know. Bit number = AcceleratorConfig::Type.
std::uint32_t AcceleratorTypes(const std::vector<cluster::ReplicaGroup>& groups) {
  std::uint32_t types = 0;
  for (const cluster::ReplicaGroup& group : groups)
    if (IsOfRegions(group)) types |= 1U << static_cast<unsigned>(group.accelerators.type);
  return types;
}

/// A sentence with the regions that a job with these accelerators may name instead.
std::string RegionsFor(std::uint32_t types) {
  const std::string names = cluster::RegionsWith(types);
  return names.empty() ? " No region has all accelerators of the job."
                       : " Regions with all accelerators of the job: " + names + ".";
}

std::string RegionHint(const std::string& region) {
  std::vector<std::string_view> names;
  for (const cluster::Region& one : cluster::Regions()) names.push_back(one.name);
  std::string hint = text::DidYouMean(region, names);
  return hint.empty() ? "Regions: " + cluster::RegionsWith(0) + "." : hint;
}

}  // namespace

Status TpuRoles(const Job& job, const ValidationContext&) {
  for (const Role& role : Roles(job.training_input())) {
    if (role.type == replica::v1::WORKER || role.machine_type != "cloud_tpu") continue;
    // Google's text, which lacks a space.
    return Invalid(Field(role, "_type"), "The specified machine type for " + std::string(role.field) +
                                             "is not supported in TPU training jobs: cloud_tpu");
  }
  return {};
}

Status Replicas(const Job& job, const ValidationContext&) {
  TY_RETURN_IF_ERROR(cluster::Groups(job.training_input()));
  return {};
}

Status MachineCategories(const Job& job, const ValidationContext&) {
  const TrainingInput& input = job.training_input();
  if (!IsCustom(input)) return {};
  const auto master = FindMachineType(input.master_type())->category;
  for (const Role& role : Roles(input)) {
    if (role.count == 0) continue;
    const auto category = FindMachineType(role.machine_type)->category;
    if (category == master || category == MachineType::Category::kCloudTpu) continue;
    return Invalid(Field(role, "_type"), "The machine types must be of one category: master_type " +
                                             input.master_type() + " and " + Field(role, "_type") + " " +
                                             role.machine_type +
                                             " mix Compute Engine machine types and legacy machine types.");
  }
  return {};
}

Violations Accelerators(const Job& job, const ValidationContext&) {
  const TrainingInput& input = job.training_input();
  Violations found;
  for (const Role& role : Roles(input)) Add(CheckAccelerators(role, IsCustom(input)), found);
  return found;
}

Status RegionKnown(const Job& job, const ValidationContext&) {
  const std::string& region = job.training_input().region();
  if (region.empty()) return Invalid("region", "This field is required.");
  if (!cluster::IsRegion(region)) {
    return Invalid("region", "The specified region '" + region + "' is not supported. " + RegionHint(region));
  }
  return {};
}

Status RegionAccelerators(const Job& job, const ValidationContext&) {
  const cluster::Region* region = cluster::FindRegion(job.training_input().region());
  const auto groups = cluster::Groups(job.training_input());
  if (region == nullptr || !groups) return {};
  for (const cluster::ReplicaGroup& group : *groups) {
    if (!IsOfRegions(group) || region->Has(group.accelerators.type)) continue;
    return Invalid("region", AcceleratorConfig::Type_Name(group.accelerators.type) +
                                 " accelerators are not available in region " + std::string(region->name) +
                                 "." + RegionsFor(AcceleratorTypes(*groups)));
  }
  return {};
}

Status AcceleratorZone(const Job& job, const ValidationContext&) {
  const cluster::Region* region = cluster::FindRegion(job.training_input().region());
  const auto groups = cluster::Groups(job.training_input());
  if (region == nullptr || !groups) return {};
  const std::uint32_t types = AcceleratorTypes(*groups);
  if (region->OneZoneMayHave(types)) return {};
  std::string names;
  for (int type = 0; type < AcceleratorConfig::Type_ARRAYSIZE; ++type) {
    if ((types & region->apart & (1U << static_cast<unsigned>(type))) == 0) continue;
    names += (names.empty() ? "" : ", ") +
             AcceleratorConfig::Type_Name(static_cast<AcceleratorConfig::Type>(type));
  }
  return Invalid(
      "region",
      "All accelerators of a job must be available in a single zone of its region, and no zone of " +
          std::string(region->name) + " has " + names + " together." + RegionsFor(types));
}

Violations Disks(const Job& job, const ValidationContext&) {
  Violations found;
  for (const Role& role : Roles(job.training_input())) Add(CheckDisk(role), found);
  return found;
}

}  // namespace trainyard::jobs::rules
