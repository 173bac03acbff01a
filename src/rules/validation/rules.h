#pragma once

#include <string>
#include <string_view>

#include "rules/validation/validate.h"

/// The rules in the table of validate.cc. A rule may only rely on the rule that the table lists as needed. A
/// rule that can find several mistakes returns all of them.
namespace trainyard::jobs::rules {

using ml::v1::Job;

// rules_job.cc: the job itself
Status JobIdForm(const Job& job, const ValidationContext& context);
Status IsTrainingJob(const Job& job, const ValidationContext& context);
Status Labels(const Job& job, const ValidationContext& context);
Status DisplayName(const Job& job, const ValidationContext& context);

// rules_machines.cc: tiers, machine types, accelerators, regions, disks
Status TpuRoles(const Job& job, const ValidationContext& context);
Status Replicas(const Job& job, const ValidationContext& context);
Status MachineCategories(const Job& job, const ValidationContext& context);
Violations Accelerators(const Job& job, const ValidationContext& context);
Status RegionKnown(const Job& job, const ValidationContext& context);
Status RegionAccelerators(const Job& job, const ValidationContext& context);
Status AcceleratorZone(const Job& job, const ValidationContext& context);
Violations Disks(const Job& job, const ValidationContext& context);

// rules_tpu.cc
Status TpuCluster(const Job& job, const ValidationContext& context);
Status TpuAccelerator(const Job& job, const ValidationContext& context);
Status TpuRuntime(const Job& job, const ValidationContext& context);
Status TpuTfVersion(const Job& job, const ValidationContext& context);

// rules_program.cc: what runs
Violations Image(const Job& job, const ValidationContext& context);
Status RuntimeOrImage(const Job& job, const ValidationContext& context);
Status ContainerFields(const Job& job, const ValidationContext& context);
Status Arguments(const Job& job, const ValidationContext& context);
Violations Packages(const Job& job, const ValidationContext& context);
Status Module(const Job& job, const ValidationContext& context);
Status RuntimeVersion(const Job& job, const ValidationContext& context);
Status JobDir(const Job& job, const ValidationContext& context);
Status ProgramVariables(const Job& job, const ValidationContext& context);

// rules_algorithm.cc
Status Algorithm(const Job& job, const ValidationContext& context);
Status AlgorithmTuning(const Job& job, const ValidationContext& context);

// rules_variables.cc
Violations Variables(const Job& job, const ValidationContext& context);

// rules_job.cc
Status Size(const Job& job, const ValidationContext& context);

// rules_settings.cc
Violations Scheduling(const Job& job, const ValidationContext& context);
Status Network(const Job& job, const ValidationContext& context);
Status ServiceAccount(const Job& job, const ValidationContext& context);
Status EncryptionKey(const Job& job, const ValidationContext& context);

// rules_tuning.cc
Violations TuningSpec(const Job& job, const ValidationContext& context);
Violations TuningParameters(const Job& job, const ValidationContext& context);

// rules_settings.cc: valid jobs that this installation cannot run
Status Containers(const Job& job, const ValidationContext& context);
Status Tuning(const Job& job, const ValidationContext& context);
Status AcceleratorsHere(const Job& job, const ValidationContext& context);

/// Adds the error, if there is one.
void Add(Status status, Violations& found);

/// std::unexpected(InvalidArgument(...)).
[[nodiscard]] std::unexpected<Error> Invalid(std::string_view field, std::string text);

/// Whether the job has a cloud_tpu worker: BASIC_TPU, or CUSTOM with that worker type.
[[nodiscard]] bool IsTpuJob(const ml::v1::TrainingInput& input);

}  // namespace trainyard::jobs::rules
