#include "control/job_maker.h"

#include <algorithm>
#include <utility>

#include "async/on_pool.h"
#include "cluster/machine_type.h"
#include "cluster/project_number.h"
#include "cluster/role.h"
#include "control/algorithm_choice.h"
#include "control/manifest.h"
#include "jobs/prepare.h"
#include "jobs/trial.h"
#include "text/suggestion.h"
#include "validation/algorithm_job.h"
#include "wire/resource_name.h"

namespace trainyard::control {

namespace {

/// How many buckets' names are compared with one that is new: each takes some microseconds of the loop.
constexpr std::size_t kBucketsComparedMax = 100;
constexpr std::size_t kSlipMax = 3;  ///< characters more or less

/// Those that the name may be a slip of.
std::vector<std::string_view> NamesLike(std::string_view name, const std::vector<std::string>& others) {
  std::vector<std::string_view> like;
  for (const std::string& other : others) {
    if (other == name || other.size() + kSlipMax < name.size() || name.size() + kSlipMax < other.size())
      continue;
    if (other.front() == name.front() || other.back() == name.back()) like.push_back(other);
    if (like.size() == kBucketsComparedMax) break;
  }
  return like;
}

}  // namespace

JobMaker::JobMaker(storage::Buckets& buckets, const environment::Catalogue& catalogue, const Clock& clock,
                   Policy policy)
    : buckets_(buckets), catalogue_(catalogue), clock_(clock), policy_(std::move(policy)) {
  policy_.images = ImageRuntimes(catalogue_, std::move(policy_.images));
  for (const auto& [image, version] : policy_.images) context_.runtime_images.push_back(image);
  const bool waits = policy_.capacity.mode != placement::Capacity::Mode::kStrict;
  UseContainers(std::move(policy_.containers));
  context_.tuning = true;
  context_.mapped_images = policy_.mapped_images;
  context_.runtime_default = policy_.runtime_default;
  context_.gpus = waits || policy_.devices.Serves(placement::Device::Kind::kGpu);
  context_.tpus = waits || policy_.devices.Serves(placement::Device::Kind::kTpu);
  for (const environment::RuntimeVersion& version : catalogue_.versions()) {
    context_.runtimes.push_back({.version = version.version, .python_versions = version.pythons});
  }
}

void JobMaker::UseContainers(Containers containers) {
  policy_.containers = std::move(containers);
  context_.containers = policy_.containers.are_here;
  context_.no_containers = policy_.containers.lacking;
}

boost::asio::awaitable<void> JobMaker::LookForContainers() {
  const ImageRegistries* registries = policy_.registries;
  if (registries == nullptr) co_return;
  if (registries->resolve) co_return UseContainers({.are_here = true});  // another job found them
  if (!registries->look_for_containers) co_return;
  std::string lacking = co_await registries->look_for_containers();
  UseContainers({.are_here = registries->resolve != nullptr, .lacking = std::move(lacking)});
}

boost::asio::awaitable<Result<JobMaker::Made>> JobMaker::Make(std::string project, ml::v1::Job job) {
  const algorithms::v1::Algorithm* algorithm = jobs::AlgorithmOf(job.training_input(), policy_.mapped_images);
  if (!context_.containers && algorithm == nullptr && !jobs::NamedImages(job.training_input()).empty())
    co_await LookForContainers();
  TY_CO_RETURN_IF_ERROR(jobs::Validate(job, context_));
  Made made{.record = {}, .secrets = jobs::TakeSecrets(job)};
  const jobs::RoleImages containers =
      algorithm == nullptr ? ContainerImages(policy_.images, job.training_input()) : jobs::RoleImages();
  TY_CO_TRY(environment::Resolution runtime, co_await ResolveRuntime(job.training_input(), containers));
  v1::JobRecord& record = made.record;
  record = jobs::MakeRecord(std::move(project), job, runtime.version, clock_.Now(), containers);
  if (algorithm != nullptr)
    UseAlgorithm(*algorithm, record);
  else if (!runtime.note.empty())
    record.add_notes(runtime.note);
  if (HasGpus() && !runtime.version.empty() && AsksForGpus(job.training_input()) &&
      !catalogue_.RunsOnGpus(runtime.version))
    record.add_notes("runtime version " + runtime.version +
                     " has no CUDA libraries that can be installed: TensorFlow will use the CPU of replicas "
                     "with GPUs");
  TY_CO_RETURN_IF_ERROR(CheckFits(record));
  TY_CO_RETURN_IF_ERROR(co_await LookUpPackages(record));
  if (policy_.containers.are_here && policy_.registries != nullptr)
    TY_CO_RETURN_IF_ERROR(co_await LookUpImages(*policy_.registries, record));
  TY_CO_RETURN_IF_ERROR(co_await EnsureJobDir(record));
  if (job.training_input().has_hyperparameters()) jobs::MakeTuning(record);
  co_return made;
}

/// With strict capacity a job that can never run is refused at once; else it waits and says what for.
Status JobMaker::CheckFits(const v1::JobRecord& record) const {
  const placement::Gang gang = GangOf(record);
  const ml::v1::TrainingInput& input = record.job().training_input();
  if (Status fits = placement::CheckFits(policy_.capacity, gang); !fits) {
    if (input.scale_tier() != ml::v1::TrainingInput::CUSTOM) fits.error().field = "scale_tier";
    return fits;
  }
  if (policy_.capacity.mode != placement::Capacity::Mode::kStrict) return {};
  const std::optional<placement::DevicePool::Lack> lack = policy_.devices.LackOf(gang);
  if (!lack) return {};
  const bool is_tpu = cluster::IsTpu(gang.replicas[lack->replica].accelerator);
  const auto type = is_tpu ? replica::v1::WORKER : gang.replicas[lack->replica].type;
  return std::unexpected(FailedPrecondition("The job can never run on this machine. " + lack->reason,
                                            cluster::AcceleratorField(input, type)));
}

std::string JobMaker::RuntimeFor(const v1::JobRecord& job, const engine::Grant& grant) const {
  const bool gpus = std::ranges::any_of(
      grant.slots(), [](const engine::Slot& slot) { return !slot.devices().gpus().empty(); });
  if (!gpus || job.runtime_version().empty()) return {};
  const environment::Resolution now{job.runtime_version(), {}, {}};
  std::string variant = catalogue_.ForGpus(now, policy_.pythons).version;
  return variant == now.version ? std::string() : variant;
}

bool JobMaker::HasGpus() const {
  return std::ranges::any_of(policy_.devices.devices(), [](const placement::Device& device) {
    return device.kind == placement::Device::Kind::kGpu;
  });
}

Status JobMaker::CheckLabels(const ml::v1::Job& job) const { return jobs::ValidateLabels(job); }

/// A job that names no runtime version gets the server's default one: the original refused it since 2020, but
/// the commands of its documentation name none. Where the master runs a container, all do: nobody needs a
/// runtime version.
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

/// A package is what it was when the job was created: its checksum names the layer that it is installed into.
boost::asio::awaitable<Status> JobMaker::LookUpPackages(v1::JobRecord& record) {
  for (const std::string& uri : record.job().training_input().package_uris()) {
    TY_CO_TRY(wire::ObjectUri name, wire::ObjectUri::Parse(uri));
    auto object = co_await buckets_.Stat(name.bucket, name.object);
    if (!object && object.error().code != Code::kNotFound) co_return std::unexpected(object.error());
    if (!object) {
      co_return std::unexpected(FailedPrecondition("The provided GCS paths [" + uri +
                                                       "] cannot be read by service account " +
                                                       cluster::ServiceAccount(record.project()) + ". " +
                                                       object.error().message + ". Upload the package first.",
                                                   "package_uris"));
    }
    replica::v1::Manifest::Package& package = *record.add_packages();
    package.set_uri(uri);
    package.set_checksum(object->md5_hash());
  }
  co_return Status{};
}

/// A bucket that is made is said: its name may be a slip, and what the program writes is then looked for in
/// vain.
boost::asio::awaitable<Status> JobMaker::EnsureJobDir(v1::JobRecord& record) {
  const std::string& job_dir = record.job().training_input().job_dir();
  if (job_dir.empty()) co_return Status{};
  TY_CO_TRY(const wire::ObjectUri uri, wire::ObjectUri::Parse(job_dir));
  const auto present = co_await buckets_.GetBucket(uri.bucket);
  if (present) co_return Status{};
  const auto bucket = co_await buckets_.EnsureBucket(uri.bucket);
  if (!bucket) co_return std::unexpected(Error{bucket.error().code, bucket.error().message, "job_dir"});
  if (present.error().code != Code::kNotFound) co_return Status{};  // one of the real Cloud Storage
  const auto others = co_await buckets_.BucketNames();
  const std::string made =
      "The bucket gs://" + uri.bucket + " of the job's jobDir did not exist and was made";
  std::string meant;  // whoever may create jobs may list the buckets too (docs/security.md)
  if (others) meant = text::Suggest(uri.bucket, NamesLike(uri.bucket, *others));
  if (!meant.empty() && !co_await buckets_.GetBucket(meant)) meant.clear();
  if (meant.empty()) {
    record.add_remarks(made + ".");
  } else {
    record.add_notes(made + "; did you mean gs://" + meant + "?");
  }
  co_return Status{};
}

}  // namespace trainyard::control
