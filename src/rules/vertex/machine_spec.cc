#include "rules/vertex/machine_spec.h"

#include <cstdint>
#include <string_view>

#include "base/number.h"
#include "rules/cluster/machine_fit.h"
#include "rules/cluster/machine_type.h"

namespace trainyard::vertex {
namespace {

namespace aip = google::cloud::aiplatform::v1;
using cluster::MachineType;
using ml::v1::AcceleratorConfig;

constexpr std::int64_t kChipsOfCloudTpu = 4;  // with two cores each
constexpr std::size_t kTopologyShown = 32;    // of a text in an error
constexpr std::string_view kNoPods = " A pod is many machines; on this server a job gets the TPU of one.";

std::string Quoted(std::string_view text) { return std::string("\"").append(text).append("\""); }

/// Null: Vertex AI has no such machine type.
const MachineType* TypeOf(const aip::MachineSpec& machine) {
  const MachineType* type = cluster::FindMachineType(machine.machine_type());
  return type != nullptr && type->category == MachineType::Category::kComputeEngine ? type : nullptr;
}

std::string UnknownTypeHint(const std::string& name) {
  if (const MachineType* of_ml = cluster::FindMachineType(name))
    return "It is a type of ml v1; use " +
           std::string(of_ml->equivalent.empty() ? "cloud-tpu" : of_ml->equivalent) + ".";
  const std::string hint = cluster::MachineTypeHint(name);
  return hint.empty() ? "Use one such as n1-standard-4." : hint;
}

void CheckFit(const aip::MachineSpec& machine, const std::string& path, Findings& findings) {
  const std::string name = aip::AcceleratorType_Name(machine.accelerator_type());
  const cluster::Accelerators wanted{.type = AcceleratorOf(machine.accelerator_type()),
                                     .count = machine.accelerator_count()};
  if (cluster::GpusAllowed(machine.machine_type(), wanted)) return;
  const std::string count = std::to_string(wanted.count);
  const std::string types = cluster::MachineTypesWith(wanted);
  const std::string others =
      types == "none" ? "" : " Machine types with " + count + " of them: " + types + ".";
  const std::string counts = cluster::AllowedCounts(machine.machine_type(), wanted.type);
  if (counts.empty()) {
    findings.Add(
        path + ".accelerator_type",
        "Accelerator " + Quoted(name) + " is not supported for machine type " +
            Quoted(machine.machine_type()) + "." +
            (others.empty()
                 ? " Machine types that may have it, and how many: " + cluster::FitsOf(wanted.type) + "."
                 : others));
    return;
  }
  const bool is_pod = cluster::IsTpu(wanted.type) && others.empty();
  findings.Add(path + ".accelerator_count", "Machine type " + Quoted(machine.machine_type()) +
                                                " cannot have " + count + " accelerators " + Quoted(name) +
                                                ". Allowed numbers: " + counts + "." + others +
                                                std::string(is_pod ? kNoPods : ""));
}

void CheckAccelerators(const aip::MachineSpec& machine, const std::string& path, Findings& findings) {
  const std::string field = path + ".accelerator_type";
  const bool has_type = machine.accelerator_type() != aip::ACCELERATOR_TYPE_UNSPECIFIED;
  if (has_type != (machine.accelerator_count() != 0)) {
    findings.Add(field, "Both `accelerator_type` and `accelerator_count` should be specified or none.");
  } else if (!has_type) {
    return;
  } else if (machine.accelerator_count() < 0) {
    findings.Add(path + ".accelerator_count", "The count must not be negative.");
  } else if (AcceleratorOf(machine.accelerator_type()) == AcceleratorConfig::ACCELERATOR_TYPE_UNSPECIFIED) {
    findings.Add(field, "There is no accelerator type with the number " +
                            std::to_string(static_cast<int>(machine.accelerator_type())) + ".");
  } else if (TypeOf(machine) != nullptr) {
    CheckFit(machine, path, findings);
  }
}

/// The chips of a topology such as "2x4" or "2x2x1"; 0: it is none.
std::int64_t ChipsOf(std::string_view topology) {
  constexpr int kSidesMax = 3;
  constexpr int kSideMax = 1024;
  std::int64_t chips = 1;
  for (int sides = 1; sides <= kSidesMax; ++sides) {
    const std::size_t end = topology.find('x');
    const int side = WholeNumber<int>(topology.substr(0, end)).value_or(0);
    if (side < 1 || side > kSideMax) return 0;
    chips *= side;
    if (end == std::string_view::npos) return chips;
    topology.remove_prefix(end + 1);
  }
  return 0;
}

void CheckTopology(const aip::MachineSpec& machine, const std::string& path, Findings& findings) {
  const MachineType* type = TypeOf(machine);
  const std::string& topology = machine.tpu_topology();
  if (type == nullptr || topology.empty() || !cluster::IsTpu(type->accelerators.type)) return;
  const std::int64_t chips = HasTopology(machine) ? type->accelerators.count : kChipsOfCloudTpu;
  const std::string_view own = chips == 1 ? "1x1" : chips == 4 ? "2x2" : "2x4";
  const bool fits = HasTopology(machine) ? topology == own : ChipsOf(topology) == chips;
  if (fits) return;
  findings.Add(path + ".tpu_topology",
               "The topology of machine type " + Quoted(type->name) + " is " + std::string(own) + ", not " +
                   Quoted(std::string_view(topology).substr(0, kTopologyShown)) + "." + std::string(kNoPods));
}

}  // namespace

AcceleratorConfig::Type AcceleratorOf(aip::AcceleratorType type) {
  AcceleratorConfig::Type found = AcceleratorConfig::ACCELERATOR_TYPE_UNSPECIFIED;
  AcceleratorConfig::Type_Parse(aip::AcceleratorType_Name(type), &found);
  return found;
}

bool HasTopology(const aip::MachineSpec& machine) { return machine.machine_type().starts_with("ct5lp-"); }

void CheckMachine(const aip::MachineSpec& machine, const std::string& path, Findings& findings) {
  if (machine.machine_type().empty()) {
    findings.Add(path + ".machine_type", "This field is required, for example n1-standard-4.");
  } else if (TypeOf(machine) == nullptr) {
    findings.Add(path + ".machine_type", "Machine type " + Quoted(machine.machine_type()) +
                                             " is not supported. " + UnknownTypeHint(machine.machine_type()));
  }
  CheckAccelerators(machine, path, findings);
  CheckTopology(machine, path, findings);
}

}  // namespace trainyard::vertex
