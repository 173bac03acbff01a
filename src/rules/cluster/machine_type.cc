#include "rules/cluster/machine_type.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/text/number.h"
#include "base/wire/runs_bucket.h"

namespace trainyard::cluster {
namespace {

constexpr MachineType kMachineTypes[] = {
#include "rules/cluster/machine_types.inc"
#include "rules/cluster/vertex_machine_types.inc"
};

struct GpuCell {
  std::string_view machine_type;
  Accelerators gpus;
};
constexpr GpuCell kGpuMatrix[] = {
#include "rules/cluster/gpu_matrix.inc"
#include "rules/cluster/vertex_gpu_matrix.inc"
};

struct AcceleratorUnits {
  AcceleratorConfig::Type type;
  double units_per_hour;
};
constexpr AcceleratorUnits kAcceleratorUnits[] = {
#include "rules/cluster/accelerator_units.inc"
#include "rules/cluster/vertex_accelerator_units.inc"
};

constexpr double kBytesPerGb = 1024.0 * 1024.0 * 1024.0;

}  // namespace

std::int64_t MachineType::memory_bytes() const { return std::llround(memory_gb * kBytesPerGb); }

std::span<const MachineType> MachineTypes() { return kMachineTypes; }

const MachineType* FindMachineType(std::string_view name) {
  for (const MachineType& type : kMachineTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

bool GpusAllowed(std::string_view machine_type, const Accelerators& gpus) {
  for (const GpuCell& cell : kGpuMatrix) {
    if (cell.gpus.type == gpus.type && cell.gpus.count == gpus.count && cell.machine_type == machine_type)
      return true;
  }
  return false;
}

bool IsGpu(AcceleratorConfig::Type type) { return AcceleratorConfig::Type_Name(type).starts_with("NVIDIA_"); }

bool IsTpu(AcceleratorConfig::Type type) { return AcceleratorConfig::Type_Name(type).starts_with("TPU_"); }

bool IsOfVertex(AcceleratorConfig::Type type) { return type > AcceleratorConfig::TPU_V4_POD; }

double UnitsPerHour(const MachineType& machine, const Accelerators& accelerators) {
  if (machine.category != MachineType::Category::kComputeEngine) return machine.units_per_hour;
  const auto* units = std::ranges::find(kAcceleratorUnits, accelerators.type, &AcceleratorUnits::type);
  if (units == std::end(kAcceleratorUnits)) return machine.units_per_hour;
  return machine.units_per_hour + units->units_per_hour * static_cast<double>(accelerators.count);
}

bool MeansAnyGpu(const ml::v1::TrainingInput& input) {
  const bool is_run =
      input.job_dir_as_variable() && input.program_variables() != ml::v1::TrainingInput::VERTEX_AI;
  return is_run || input.python_module() == wire::kProgramModule;
}

std::string AcceleratorText(std::int64_t count, AcceleratorConfig::Type type, bool is_any_gpu) {
  if (is_any_gpu && IsGpu(type)) return text::Counted(count, "GPU");
  return std::to_string(count) + " " + AcceleratorConfig::Type_Name(type);
}

}  // namespace trainyard::cluster
