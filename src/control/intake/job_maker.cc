#include "control/intake/job_maker.h"

#include <algorithm>
#include <utility>

#include "base/async/on_pool.h"
#include "control/intake/account_rights.h"
#include "control/intake/image_choice.h"
#include "control/intake/package_lookups.h"
#include "control/run/manifest.h"
#include "rules/cluster/machine_type.h"
#include "rules/cluster/project_number.h"
#include "rules/cluster/role.h"
#include "rules/iam/principal.h"
#include "rules/jobs/prepare.h"
#include "rules/jobs/trial.h"
#include "rules/validation/validate.h"
#include "stores/storage/buckets.h"

namespace trainyard::control {

namespace {

bool HasGpus(const placement::DevicePool& devices) {
  return std::ranges::any_of(devices.devices(), [](const placement::Device& device) {
    return device.kind == placement::Device::Kind::kGpu;
  });
}

}  // namespace

JobMaker::JobMaker(storage::Buckets& buckets, const environment::Catalogue& catalogue, const Clock& clock,
                   Policy policy)
    : buckets_(buckets),
      catalogue_(catalogue),
      clock_(clock),
      policy_(std::move(policy)),
      job_dirs_({.buckets = buckets,
                 .owners = policy_.bucket_owners,
                 .accounts = policy_.accounts,
                 .number_of = policy_.number_of}),
      kept_look_ups_(std::make_shared<KeptLookUps>(clock)) {
  policy_.images = ImageRuntimes(catalogue_, std::move(policy_.images));
  for (const auto& [image, version] : policy_.images) context_.runtime_images.push_back(image);
  LookAtDevices();
  UseContainers(std::move(policy_.containers));
  context_.tuning = true;
  context_.mapped_images = policy_.mapped_images;
  context_.runtime_default = policy_.runtime_default;
  const auto& versions = catalogue_.versions();
  for (const environment::RuntimeVersion& version : versions) {
    const bool is_variant = std::ranges::find(versions, version.version,
                                              &environment::RuntimeVersion::gpu_variant) != versions.end();
    context_.runtimes.push_back({.version = version.version,
                                 .python_versions = catalogue_.PythonsOf(version),
                                 .is_variant = is_variant});
  }
}

void JobMaker::LookAtDevices() {
  const bool waits =
      policy_.capacity.mode != placement::Capacity::Mode::kStrict || policy_.engine_of != nullptr;
  context_.gpus = waits || policy_.devices.Serves(placement::Device::Kind::kGpu);
  context_.tpus = waits || policy_.devices.Serves(placement::Device::Kind::kTpu);
}

void JobMaker::AddDevice(placement::Device device) {
  policy_.devices.Add(std::move(device));
  LookAtDevices();
}

void JobMaker::UseContainers(Containers containers) {
  policy_.containers = std::move(containers);
  context_.containers = policy_.containers.are_here;
  context_.no_containers = policy_.containers.lacking;
}

boost::asio::awaitable<void> JobMaker::LookForContainers() {
  const ImageRegistries* registries = policy_.registries;
  if (registries == nullptr) co_return;
  if (registries->resolve) co_return UseContainers({.are_here = true});  // found by another job
  if (!registries->look_for_containers) co_return;
  std::string lacking = co_await registries->look_for_containers();
  UseContainers({.are_here = registries->resolve != nullptr, .lacking = std::move(lacking)});
}

boost::asio::awaitable<void> JobMaker::LookForWhatRuns(const ml::v1::Job& job) {
  const auto* algorithm = jobs::AlgorithmOf(job.training_input(), policy_.mapped_images);
  if (!context_.containers && algorithm == nullptr && !jobs::NamedImages(job.training_input()).empty())
    co_await LookForContainers();
}

JobMaker::Start JobMaker::StartOf(const ml::v1::Job& validated) const {
  Start start{.algorithm = jobs::AlgorithmOf(validated.training_input(), policy_.mapped_images),
              .containers = {}};
  if (start.algorithm == nullptr)
    start.containers = ContainerImages(policy_.images, validated.training_input());
  return start;
}

boost::asio::awaitable<Result<JobMaker::NewJob>> JobMaker::Make(std::string project, ml::v1::Job job,
                                                                Creator creator) {
  co_await LookForWhatRuns(job);
  TY_CO_RETURN_IF_ERROR(jobs::Validate(job, context_));
  NewJob made{.record = {}, .secrets = jobs::TakeSecrets(job)};
  const Handling way{.found = [](Status status) { return status; },
                     .absent = JobDirs::Absent::kMake,
                     .registries = policy_.registries};
  TY_CO_RETURN_IF_ERROR(co_await LookUp(std::move(project), job, creator, way, made));
  TY_CO_RETURN_IF_ERROR(co_await creator.CheckStillMay());  // the look-ups may have taken minutes
  co_return made;
}

boost::asio::awaitable<Status> JobMaker::LookUp(std::string project, const ml::v1::Job& job,
                                                const Creator& creator, const Handling& way, NewJob& made) {
  const Start start = StartOf(job);
  Result<environment::Resolution> runtime = co_await ResolveRuntime(job.training_input(), start.containers);
  if (!runtime) {
    TY_CO_RETURN_IF_ERROR(way.found(std::unexpected(runtime.error())));
    runtime = environment::Resolution{};
  }
  TY_CO_RETURN_IF_ERROR(way.found(notices::CheckLabel(policy_.destinations, project, job)));
  v1::JobRecord& record = made.record;
  record = RecordOf(std::move(project), job, start, *runtime);
  record.set_creator(creator.principal);
  record.set_creator_account_id(policy_.accounts.IdOf(creator.principal));
  const placement::Gang gang = GangOf(record);
  if (policy_.engine_of) made.engine = policy_.engine_of(gang);
  const bool is_for_here = made.engine == placement::kLocalEngine;
  if (is_for_here) TY_CO_RETURN_IF_ERROR(way.found(CheckFits(record, gang)));
  made.demand = is_for_here ? policy_.devices.DemandOf(gang) : placement::AskedDemand(gang);
  TY_CO_RETURN_IF_ERROR(way.found(co_await CheckServiceAccount(record, creator)));
  const PackageSources packages{buckets_, policy_.accounts, policy_.number_of};
  TY_CO_RETURN_IF_ERROR(co_await LookUpPackages(packages, record, creator, way.found));
  if (policy_.containers.are_here && way.registries != nullptr) {
    const Status may = co_await CheckImages(record, creator);
    TY_CO_RETURN_IF_ERROR(way.found(may));
    if (may) TY_CO_RETURN_IF_ERROR(way.found(co_await LookUpImages(*way.registries, record)));
  }
  TY_CO_RETURN_IF_ERROR(way.found(co_await job_dirs_.Ensure(record, creator, way.absent)));
  co_await job_dirs_.WarnOfUploaded(record);
  if (job.training_input().has_hyperparameters()) jobs::MakeTuning(record);
  co_return Status{};
}

v1::JobRecord JobMaker::RecordOf(std::string project, const ml::v1::Job& job, const Start& start,
                                 const environment::Resolution& runtime) const {
  v1::JobRecord record =
      jobs::MakeRecord(std::move(project), job, runtime.version, clock_.Now(), start.containers);
  if (start.algorithm != nullptr)
    UseAlgorithm(*start.algorithm, record);
  else if (!runtime.note.empty())
    record.add_notes(runtime.note);
  if (HasGpus(policy_.devices) && !runtime.version.empty() && AsksForGpus(job.training_input()) &&
      !catalogue_.RunsOnGpus(runtime.version))
    record.add_notes("runtime version " + runtime.version +
                     " has no CUDA libraries that can be installed: TensorFlow will use the CPU of replicas "
                     "with GPUs");
  return record;
}

/// With strict capacity, a job that can never run is refused immediately; otherwise it waits and says for
/// what.
Status JobMaker::CheckFits(const v1::JobRecord& record, const placement::Gang& gang) const {
  const ml::v1::TrainingInput& input = record.job().training_input();
  if (Status fits = placement::CheckFits(policy_.capacity, gang); !fits) {
    if (input.scale_tier() != ml::v1::TrainingInput::CUSTOM) fits.error().field = "scale_tier";
    return fits;
  }
  if (policy_.capacity.mode != placement::Capacity::Mode::kStrict) return {};
  const std::optional<placement::DevicePool::Lack> lack = policy_.devices.LackOf(gang);
  if (!lack) return {};
  const auto& lacking = gang.replicas[lack->replica];
  const bool is_worker = cluster::IsTpu(lacking.accelerator) && input.worker_type() == "cloud_tpu";
  const auto field = cluster::AcceleratorField(input, is_worker ? replica::v1::WORKER : lacking.type);
  return std::unexpected(FailedPrecondition("The job can never run on this machine. " + lack->reason, field));
}

std::string JobMaker::RuntimeFor(const v1::JobRecord& job, const engine::Grant& grant) const {
  const bool gpus = std::ranges::any_of(
      grant.slots(), [](const engine::Slot& slot) { return !slot.devices().gpus().empty(); });
  if (!gpus || job.runtime_version().empty()) return {};
  const environment::Resolution now{job.runtime_version(), {}, {}};
  std::string variant = catalogue_.ForGpus(now, policy_.pythons).version;
  return variant == now.version ? std::string() : variant;
}

/// A job that names no runtime version gets the server's default: Google's service refused it since 2020, but
/// the commands of its documentation name none. If the master runs a container, all replicas do, and no
/// runtime version is needed.
boost::asio::awaitable<Result<environment::Resolution>> JobMaker::ResolveRuntime(
    const ml::v1::TrainingInput& input, const jobs::RoleImages& containers) {
  if (containers.contains(replica::v1::MASTER)) co_return environment::Resolution{};
  Result<environment::Resolution> resolution = ChooseFor(input);
  const bool lacks =
      resolution ? !resolution->note.empty() : resolution.error().code == Code::kFailedPrecondition;
  if (!lacks || !policy_.look_at_pythons) co_return resolution;
  co_await LookAtPythons();
  co_return ChooseFor(input);
}

boost::asio::awaitable<environment::AvailablePythons> JobMaker::LookAtPythons() {
  if (policy_.look_at_pythons) {
    auto look = policy_.look_at_pythons;
    policy_.pythons = co_await OnPool(*policy_.lookups, std::move(look));
  }
  co_return policy_.pythons;
}

Result<environment::Resolution> JobMaker::ChooseFor(const ml::v1::TrainingInput& input) const {
  return ChooseRuntime({.catalogue = catalogue_,
                        .images = policy_.images,
                        .version_default = policy_.runtime_default,
                        .fallback = policy_.runtime_fallback,
                        .pythons = policy_.pythons},
                       input);
}

/// The account as which the job's programs make requests. The project's own is available to all of its jobs.
boost::asio::awaitable<Status> JobMaker::CheckServiceAccount(v1::JobRecord& record,
                                                             const Creator& creator) const {
  const std::string& account = record.job().training_input().service_account();
  if (account.empty() || account == cluster::ServiceAccount(policy_.number_of(record.project())))
    co_return Status();
  if (!creator.require)
    record.add_notes("service_account " + account +
                     " is kept and shown, but gives no rights on this server.");
  record.set_service_account_id(policy_.accounts.IdOf(iam::ServiceAccountPrincipal(account)));
  iam::Resource resource = iam::Resource::ServiceAccount("-", account);
  TY_CO_RETURN_IF_ERROR(
      co_await creator.Require("iam.serviceAccounts.actAs", std::move(resource), "service_account"));
  co_return creator.require ? CheckAccountExists(policy_.accounts, account) : Status();
}

/// The permission needed for an image: one on this machine is a file of the server's, or was built in its
/// daemon by anybody; one of a registry may only be accessible with the server's credentials. Empty: none is
/// needed.
boost::asio::awaitable<std::string> JobMaker::PermissionFor(std::string image) const {
  const ImageRegistries& registries = *policy_.registries;
  if (registries.registry_of && registries.registry_of(image).ends_with(':'))
    co_return "trainyard.images.useLocal";
  if (!registries.uses_credentials) co_return std::string();
  auto ask = [uses_credentials = registries.uses_credentials, image = std::move(image)] {
    return uses_credentials(image);
  };
  const bool uses = co_await OnPool(*registries.at_create, std::move(ask));
  co_return uses ? "trainyard.images.useCredentials" : "";
}

boost::asio::awaitable<Status> JobMaker::CheckImages(const v1::JobRecord& record,
                                                     const Creator& creator) const {
  if (!creator.require) co_return Status();
  const ml::v1::TrainingInput& input = record.job().training_input();
  for (const auto& [role, image] : jobs::NamedImages(input)) {
    std::string permission = co_await PermissionFor(image);
    if (permission.empty()) continue;
    iam::Resource project = iam::Resource::Project(record.project());
    TY_CO_RETURN_IF_ERROR(
        co_await creator.Require(std::move(permission), std::move(project), ImageField(input, role)));
  }
  co_return Status();
}

}  // namespace trainyard::control
