#include "rules/vertex/pools.h"

#include <algorithm>
#include <ranges>
#include <string_view>

#include "rules/vertex/machine_spec.h"
#include "rules/vertex/runtime_images.h"

namespace trainyard::vertex {
namespace {

namespace aip = google::cloud::aiplatform::v1;
using ml::v1::AcceleratorConfig;
using ml::v1::ReplicaConfig;
using ml::v1::TrainingInput;

using Variables = google::protobuf::RepeatedPtrField<aip::EnvVar>;
using Texts = google::protobuf::RepeatedPtrField<std::string>;

constexpr int kPoolsMax = 4;
constexpr int kVariablesMax = 100;
constexpr int kPackagesMax = 100;

/// A pool that is not empty.
struct Pool {
  int index = 0;
  const aip::WorkerPoolSpec* spec = nullptr;

  [[nodiscard]] std::string Path(std::string_view rest = {}) const {
    return ("job_spec.worker_pool_specs[" + std::to_string(index) + "]").append(rest);
  }
  [[nodiscard]] bool is_package() const { return spec->has_python_package_spec(); }
  [[nodiscard]] const aip::PythonPackageSpec& package() const { return spec->python_package_spec(); }
  [[nodiscard]] const aip::ContainerSpec& container() const { return spec->container_spec(); }
  [[nodiscard]] const Variables& env() const { return is_package() ? package().env() : container().env(); }
};

using Pools = std::vector<Pool>;

bool HasTexts(const Texts& left, const Texts& right) { return std::ranges::equal(left, right); }

bool HasVariables(const Variables& left, const Variables& right) {
  return std::ranges::equal(left, right, [](const aip::EnvVar& a, const aip::EnvVar& b) {
    return a.name() == b.name() && a.value() == b.value();
  });
}

void CheckReplicas(const Pool& pool, Findings& findings) {
  const std::int64_t count = pool.spec->replica_count();
  if (pool.index == 0 && count != 0 && count != 1) {
    findings.Add(pool.Path(".replica_count"), "The replica count of the first worker pool must be 1; it is " +
                                                  std::to_string(count) + ".");
  } else if (pool.index > 0 && count < 1) {
    findings.Add(pool.Path(".replica_count"),
                 "The replica count must be at least 1. To leave out a worker pool, make it empty: {}.");
  }
}

void CheckMounts(const Pool& pool, Findings& findings) {
  constexpr std::string_view kInstead =
      " are not supported by this server. Put the files into a bucket: programs find it as "
      "/gcs/BUCKET.";
  if (!pool.spec->nfs_mounts().empty())
    findings.Add(pool.Path(".nfs_mounts"), std::string("NFS mounts").append(kInstead));
  if (!pool.spec->lustre_mounts().empty())
    findings.Add(pool.Path(".lustre_mounts"), std::string("Lustre mounts").append(kInstead));
}

void CheckPackage(const Pool& pool, Findings& findings) {
  const aip::PythonPackageSpec& package = pool.package();
  const std::string path = pool.Path(".python_package_spec");
  if (package.executor_image_uri().empty())
    findings.Add(path + ".executor_image_uri", "This field is required.");
  if (package.package_uris().empty()) findings.Add(path + ".package_uris", "This field is required.");
  if (package.package_uris_size() > kPackagesMax)
    findings.Add(path + ".package_uris",
                 "The maximum number of package URIs is " + std::to_string(kPackagesMax) + ".");
  if (package.python_module().empty()) findings.Add(path + ".python_module", "This field is required.");
}

void CheckProgram(const Pool& pool, Findings& findings) {
  if (pool.is_package()) {
    CheckPackage(pool, findings);
  } else if (!pool.spec->has_container_spec()) {
    findings.Add(pool.Path(), "Exactly one of container_spec and python_package_spec must be set.");
    return;
  } else if (pool.container().image_uri().empty()) {
    findings.Add(pool.Path(".container_spec.image_uri"), "This field is required.");
  }
  if (pool.env().size() > kVariablesMax)
    findings.Add(pool.Path(pool.is_package() ? ".python_package_spec.env" : ".container_spec.env"),
                 "The maximum number of environment variables is " + std::to_string(kVariablesMax) + ".");
}

/// What a custom job can say and a job of ml v1 cannot: the runtime version is the master's, and every
/// replica without a command runs the master's package.
void CheckTogether(const Pools& pools, Findings& findings) {
  const Pool& first = pools.front();
  for (const Pool& pool : pools) {
    if (pool.is_package() && !first.is_package() && RuntimeOf(pool.package().executor_image_uri())) {
      findings.Add(pool.Path(".python_package_spec.executor_image_uri"),
                   "Beside a container in the first worker pool, this server needs an executor image that it "
                   "can pull: in place of this one it uses a runtime version, which only the first pool can "
                   "have. Use another image with Python, container_spec in this pool, or "
                   "python_package_spec in the first one.");
    } else if (first.is_package() && !pool.is_package() && pool.container().command().empty() &&
               pool.container().args().empty()) {
      findings.Add(
          pool.Path(".container_spec.command"),
          "Beside a Python package in the first worker pool, this server needs the command or args of "
          "a container.");
    }
  }
}

/// The pools that are not empty, without a reduction server's.
Pools PoolsOf(const aip::CustomJobSpec& spec, Findings& findings, std::vector<std::string>& remarks) {
  Pools pools;
  if (spec.worker_pool_specs_size() > kPoolsMax)
    findings.Add("job_spec.worker_pool_specs", "The maximum number of worker pools is " +
                                                   std::to_string(kPoolsMax) + "; there are " +
                                                   std::to_string(spec.worker_pool_specs_size()) + ".");
  for (int i = 0; i < std::min(spec.worker_pool_specs_size(), kPoolsMax); ++i) {
    const Pool pool{.index = i, .spec = &spec.worker_pool_specs(i)};
    if (pool.spec->ByteSizeLong() == 0) continue;
    if (i == 2 && IsReductionServer(pool.container().image_uri())) {
      remarks.push_back(pool.Path() +
                        " is left out: reduction servers are not available on this server, and the "
                        "workers exchange gradients with each other.");
      continue;
    }
    pools.push_back(pool);
  }
  if (pools.empty()) {
    findings.Add("job_spec.worker_pool_specs", "At least one worker pool is required.");
  } else if (pools.front().index != 0) {
    findings.Add("job_spec.worker_pool_specs[0]", "The first worker pool must not be empty.");
  }
  return pools;
}

ReplicaConfig& ConfigOf(int index, TrainingInput& input) {
  switch (index) {
    case 0: return *input.mutable_master_config();
    case 1: return *input.mutable_worker_config();
    case 2: return *input.mutable_parameter_server_config();
    default: return *input.mutable_evaluator_config();
  }
}

void SetMachine(const Pool& pool, TrainingInput& input) {
  const std::string& type = pool.spec->machine_spec().machine_type();
  const std::int64_t count = pool.spec->replica_count();
  switch (pool.index) {
    case 0: input.set_master_type(type); break;
    case 1:
      input.set_worker_type(type);
      input.set_worker_count(count);
      break;
    case 2:
      input.set_parameter_server_type(type);
      input.set_parameter_server_count(count);
      break;
    default: input.set_evaluator_type(type); input.set_evaluator_count(count);
  }
}

void SetDevices(const Pool& pool, TrainingInput& input, std::vector<std::string>& remarks) {
  const aip::MachineSpec& machine = pool.spec->machine_spec();
  if (machine.accelerator_count() > 0) {
    AcceleratorConfig& accelerators = *ConfigOf(pool.index, input).mutable_accelerator_config();
    accelerators.set_type(AcceleratorOf(machine.accelerator_type()));
    accelerators.set_count(machine.accelerator_count());
  }
  const auto unused = [&](std::string_view field) {
    remarks.push_back(pool.Path(field) + " has no effect on this server.");
  };
  if (machine.has_reservation_affinity()) unused(".machine_spec.reservation_affinity");
  if (!machine.gpu_partition_size().empty()) unused(".machine_spec.gpu_partition_size");
  if (!machine.tpu_topology().empty() && !HasTopology(machine)) unused(".machine_spec.tpu_topology");
  if (!pool.spec->has_disk_spec()) return;
  const aip::DiskSpec& disk = pool.spec->disk_spec();
  ml::v1::DiskConfig& config = *ConfigOf(pool.index, input).mutable_disk_config();
  config.set_boot_disk_size_gb(disk.boot_disk_size_gb());
  if (disk.boot_disk_type() == "hyperdisk-balanced")
    unused(".disk_spec.boot_disk_type");
  else
    config.set_boot_disk_type(disk.boot_disk_type());
}

/// The runtime version that runs the job's packages; nullopt if an image does.
std::optional<Runtime> JobRuntime(const Pools& pools) {
  const Pool& first = pools.front();
  return first.is_package() ? RuntimeOf(first.package().executor_image_uri()) : std::nullopt;
}

void SetPackage(const Pool& pool, const std::optional<Runtime>& job_runtime, TrainingInput& input) {
  const aip::PythonPackageSpec& package = pool.package();
  const auto runtime = RuntimeOf(package.executor_image_uri());
  if (pool.index == 0) {
    *input.mutable_package_uris() = package.package_uris();
    input.set_python_module(package.python_module());
    if (runtime) {
      input.set_runtime_version(runtime->version);
      input.set_python_version(runtime->python);
    }
  } else {
    if (package.python_module() != input.python_module())
      ConfigOf(pool.index, input).set_python_module(package.python_module());
    if (!HasTexts(package.package_uris(), input.package_uris()))
      *ConfigOf(pool.index, input).mutable_package_uris() = package.package_uris();
  }
  if (!runtime || runtime != job_runtime)
    ConfigOf(pool.index, input).set_image_uri(package.executor_image_uri());
}

void SetContainer(const Pool& pool, TrainingInput& input) {
  ReplicaConfig& config = ConfigOf(pool.index, input);
  config.set_image_uri(pool.container().image_uri());
  *config.mutable_container_command() = pool.container().command();
  *config.mutable_container_args() = pool.container().args();
}

/// The job's own arguments if all pools run a package with the same ones; else those of each role.
void SetArguments(const Pools& pools, TrainingInput& input) {
  const bool same = std::ranges::all_of(pools, [&](const Pool& pool) {
    return pool.is_package() && HasTexts(pool.package().args(), pools.front().package().args());
  });
  if (same) {
    *input.mutable_args() = pools.front().package().args();
    return;
  }
  for (const Pool& pool : pools)
    if (pool.is_package() && !pool.package().args().empty())
      *ConfigOf(pool.index, input).mutable_args() = pool.package().args();
}

void CopyVariables(const Variables& from, google::protobuf::RepeatedPtrField<ml::v1::EnvVar>& to) {
  for (const aip::EnvVar& variable : from) {
    ml::v1::EnvVar& copy = *to.Add();
    copy.set_name(variable.name());
    copy.set_value(variable.value());
  }
}

/// The job's own variables if all pools have the same ones; else those of each role.
void SetVariables(const Pools& pools, TrainingInput& input) {
  const bool same = std::ranges::all_of(
      pools, [&](const Pool& pool) { return HasVariables(pool.env(), pools.front().env()); });
  if (same) {
    CopyVariables(pools.front().env(), *input.mutable_env());
    return;
  }
  for (const Pool& pool : pools)
    if (!pool.env().empty()) CopyVariables(pool.env(), *ConfigOf(pool.index, input).mutable_env());
}

}  // namespace

void AddPools(const aip::CustomJobSpec& spec, TrainingInput& input, Findings& findings,
              std::vector<std::string>& remarks) {
  const Pools pools = PoolsOf(spec, findings, remarks);
  for (const Pool& pool : pools) {
    CheckReplicas(pool, findings);
    CheckMachine(pool.spec->machine_spec(), pool.Path(".machine_spec"), findings);
    CheckMounts(pool, findings);
    CheckProgram(pool, findings);
  }
  if (!findings.empty()) return;
  CheckTogether(pools, findings);
  input.set_scale_tier(TrainingInput::CUSTOM);
  const auto runtime = JobRuntime(pools);
  for (const Pool& pool : pools) {
    SetMachine(pool, input);
    SetDevices(pool, input, remarks);
    if (pool.is_package())
      SetPackage(pool, runtime, input);
    else
      SetContainer(pool, input);
  }
  SetArguments(pools, input);
  SetVariables(pools, input);
}

}  // namespace trainyard::vertex
