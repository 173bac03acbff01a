#pragma once

#include <string>

#include "google/cloud/aiplatform/v1/custom_job.pb.h"
#include "rules/vertex/findings.h"
#include "trainyard/ml/v1/ml.pb.h"

/// The machine of a worker pool: which machine types Vertex AI has, and which of them may have which
/// accelerators (tables: rules/cluster/machine_type.h). Pure: any thread.
namespace trainyard::vertex {

/// Adds what is wrong with the machine, each with a hint what would be right.
///
/// @param path  that of the machine: "job_spec.worker_pool_specs[0].machine_spec"
/// Source: spec vertex.md section 3, "Accelerators", "Machine families", "Errors of create, as seen".
void CheckMachine(const google::cloud::aiplatform::v1::MachineSpec& machine, const std::string& path,
                  Findings& findings);

/// The type of ml v1; unspecified if there is none.
[[nodiscard]] ml::v1::AcceleratorConfig::Type AcceleratorOf(
    google::cloud::aiplatform::v1::AcceleratorType type);

/// Whether a TPU topology has a meaning for the machine. CheckMachine then checks that it is one machine's.
[[nodiscard]] bool HasTopology(const google::cloud::aiplatform::v1::MachineSpec& machine);

}  // namespace trainyard::vertex
