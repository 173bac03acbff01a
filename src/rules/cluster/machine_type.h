#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "trainyard/ml/v1/ml.pb.h"

/// The machines that a job can ask for: those of the original, and those that only Vertex AI has. Tables:
/// data/cluster/machine_types.json, accelerators.json, vertex_machine_types.json. Pure: any thread.
namespace trainyard::cluster {

using ml::v1::AcceleratorConfig;

/// A number of accelerators of one type; count 0 (type unspecified) means none.
struct Accelerators {
  AcceleratorConfig::Type type = AcceleratorConfig::ACCELERATOR_TYPE_UNSPECIFIED;
  std::int64_t count = 0;
  friend bool operator==(const Accelerators&, const Accelerators&) = default;
};

/// A machine type that masterType, workerType, parameterServerType or evaluatorType may name.
struct MachineType {
  enum class Category {
    kComputeEngine,
    kLegacy,
    kCloudTpu,  ///< "cloud_tpu": workers only, allowed with masters of both other categories
  };
  std::string_view name;
  Category category = Category::kComputeEngine;
  std::string_view equivalent;  ///< the equivalent Compute Engine machine; empty for cloud_tpu
  double vcpus = 0;
  double memory_gb = 0;       ///< units of 2^30 bytes, as Compute Engine counts
  Accelerators accelerators;  ///< included in the type (legacy GPU types, a2, cloud_tpu, g2, a3, ...)
  double units_per_hour = 0;  ///< training units, with the accelerators that legacy types include
  bool is_of_vertex = false;  ///< Vertex AI has it and the original did not

  [[nodiscard]] std::int64_t memory_bytes() const;
};

/// All machine types, in the tables' order: first the original's.
[[nodiscard]] std::span<const MachineType> MachineTypes();

/// Null for a name that is not in the table. The pointer is to static storage.
[[nodiscard]] const MachineType* FindMachineType(std::string_view name);

/// Whether this number of accelerators may be attached to the machine type: a cell of the GPU matrix (spec
/// cluster.md section 4), or what a type of Vertex AI brings, TPUs too. False for legacy types and cloud_tpu.
[[nodiscard]] bool GpusAllowed(std::string_view machine_type, const Accelerators& gpus);

/// Whether its name begins with NVIDIA_.
[[nodiscard]] bool IsGpu(AcceleratorConfig::Type type);
/// Whether its name begins with TPU_.
[[nodiscard]] bool IsTpu(AcceleratorConfig::Type type);
/// Whether Vertex AI has it and the original's API did not.
[[nodiscard]] bool IsOfVertex(AcceleratorConfig::Type type);

/// Training units per hour of one machine with the accelerators it uses (spec cluster.md section 8).
[[nodiscard]] double UnitsPerHour(const MachineType& machine, const Accelerators& accelerators);

/// Whether any GPU suits the job, whatever type it names: `trainyard run --gpus` and the Python client name
/// one only because the API needs a type.
[[nodiscard]] bool MeansAnyGpu(const ml::v1::TrainingInput& input);
/// "4 NVIDIA_TESLA_T4"; "1 GPU" or "2 GPUs" if any is meant.
[[nodiscard]] std::string AcceleratorText(std::int64_t count, AcceleratorConfig::Type type, bool is_any_gpu);

}  // namespace trainyard::cluster
