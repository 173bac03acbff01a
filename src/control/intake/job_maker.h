#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "control/accounts.h"
#include "control/intake/creator.h"
#include "control/intake/image_choice.h"
#include "control/intake/image_lookups.h"
#include "control/intake/job_dirs.h"
#include "control/intake/runtime_choice.h"
#include "engine/engine.h"
#include "programs/environment/catalogue.h"
#include "rules/cluster/project_number.h"
#include "rules/jobs/prepare.h"
#include "rules/notices/destination.h"
#include "rules/placement/plan.h"
#include "rules/validation/validate.h"
#include "stores/storage/buckets.h"
#include "trainyard/algorithms/v1/algorithm.pb.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::control {

/// Turns a request into a job's record: every check of jobs.create, in the documented order
/// (rules/validation/validate.h), then the look-ups: the runtime version, the packages, the images, the
/// buckets. Stores nothing. Loop thread only.
class JobMaker {
 public:
  /// The program that runs containers.
  struct Containers {
    bool are_here = false;
    std::string lacking{};  ///< a sentence: why there is none, and what would change that
  };
  struct Policy {
    std::string runtime_default;  ///< for a job that names neither runtime version nor image
    environment::FallbackPolicy runtime_fallback = environment::FallbackPolicy::kNearest;
    std::vector<ImageRuntime> images{};        ///< the operator's
    std::vector<std::string> mapped_images{};  ///< patterns (jobs::MatchesImage) of replaced images
    environment::AvailablePythons pythons;     ///< what this machine has, as last seen
    /// Looks at what it has now; blocks. Called if a job would not get its version. Null: nothing changes.
    std::function<environment::AvailablePythons()> look_at_pythons{};
    placement::Capacity capacity;
    placement::DevicePool devices;  ///< all devices of the machine
    /// The engine from which a gang requests resources, under its name in quotas. Null: this machine,
    /// placement::kLocalEngine.
    std::function<std::string_view(const placement::Gang& gang)> engine_of{};
    const ImageRegistries* registries = nullptr;  ///< null: no job has images
    Containers containers{};
    boost::asio::thread_pool* lookups = nullptr;  ///< the pool for look_at_pythons; outlives the maker
    BucketOwners bucket_owners{};
    cluster::NumberOf number_of = cluster::HashedNumber;
    Accounts accounts{};
    std::vector<notices::Destination> destinations{};  ///< of notices: a job's label may name them
  };

  /// All outlive it, `policy.registries` too.
  JobMaker(storage::Buckets& buckets, const environment::Catalogue& catalogue, const Clock& clock,
           Policy policy);

  JobMaker(const JobMaker&) = delete;
  JobMaker& operator=(const JobMaker&) = delete;

  struct NewJob {
    v1::JobRecord record;
    jobs::Secrets secrets;                              ///< they are not in the record
    placement::QuotaDemand demand{};                    ///< for the job, or for one trial of it
    std::string_view engine = placement::kLocalEngine;  ///< Policy::engine_of
  };
  /// Errors: kInvalidArgument, kFailedPrecondition, and kPermissionDenied or kNotFound for what `creator` may
  /// not use (packages, job-dir, service account, images of this machine, credentials of registries), with
  /// the field under its API name.
  boost::asio::awaitable<Result<NewJob>> Make(std::string project, ml::v1::Job job, Creator creator = {});

  /// The errors that Make would report, all of them: those of the rules, or if there are none, those of each
  /// look-up. Creates nothing, not even a bucket.
  struct Checked {
    jobs::Violations violations;
    std::vector<std::string> not_asked;  ///< sentences: what could not be looked up
    NewJob made;  ///< job, notes and remarks of the record show what would be created; incomplete if a rule
                  ///< is broken
  };
  boost::asio::awaitable<Checked> Check(std::string project, ml::v1::Job job, Creator creator);

  /// To call once a job that Make made is stored (JobDirs::Confirm).
  boost::asio::awaitable<Status> ConfirmBuckets(const ml::v1::TrainingInput& input) {
    return job_dirs_.Confirm(input);
  }
  [[nodiscard]] const std::vector<notices::Destination>& Destinations() const { return policy_.destinations; }

  /// The interpreters that this machine has now.
  boost::asio::awaitable<environment::AvailablePythons> LookAtPythons();

  /// The runtime version that suits the granted resources: with GPUs the GPU variant of its runtime version,
  /// if there is one that can be built. Empty: keep the present one. Pure.
  [[nodiscard]] std::string RuntimeFor(const v1::JobRecord& job, const engine::Grant& grant) const;

  /// The machine has another accelerator.
  void AddDevice(placement::Device device);

 private:
  boost::asio::awaitable<Result<environment::Resolution>> ResolveRuntime(const ml::v1::TrainingInput& input,
                                                                         const jobs::RoleImages& containers);
  [[nodiscard]] Result<environment::Resolution> ChooseFor(const ml::v1::TrainingInput& input) const;
  boost::asio::awaitable<void> LookForContainers();
  void UseContainers(Containers containers);
  void LookAtDevices();
  [[nodiscard]] Status CheckFits(const v1::JobRecord& record, const placement::Gang& gang) const;
  struct Start {
    const algorithms::v1::Algorithm* algorithm = nullptr;  ///< null: it runs the user's program
    jobs::RoleImages containers;
  };
  boost::asio::awaitable<void> LookForWhatRuns(const ml::v1::Job& job);
  [[nodiscard]] Start StartOf(const ml::v1::Job& validated) const;
  /// What Make and Check do with errors.
  struct Handling {
    std::function<Status(Status)> found;  ///< gets each step's result; an error from it ends the steps
    JobDirs::Absent absent = JobDirs::Absent::kMake;
    const ImageRegistries* registries = nullptr;  ///< used to look up images; null: no job has images
  };
  /// The steps after the rules, in the documented order. Fills in all of `made` except the secrets.
  boost::asio::awaitable<Status> LookUp(std::string project, const ml::v1::Job& job, const Creator& creator,
                                        const Handling& way, NewJob& made);
  [[nodiscard]] v1::JobRecord RecordOf(std::string project, const ml::v1::Job& job, const Start& start,
                                       const environment::Resolution& runtime) const;
  boost::asio::awaitable<Status> CheckServiceAccount(v1::JobRecord& record, const Creator& creator) const;
  boost::asio::awaitable<std::string> PermissionFor(std::string image) const;
  boost::asio::awaitable<Status> CheckImages(const v1::JobRecord& record, const Creator& creator) const;
  /// Registries that answer look-ups of Check from a cache. Null if there are none.
  [[nodiscard]] const ImageRegistries* RegistriesForChecks();

  storage::Buckets& buckets_;
  const environment::Catalogue& catalogue_;
  const Clock& clock_;
  Policy policy_;
  JobDirs job_dirs_;
  jobs::ValidationContext context_;
  std::shared_ptr<KeptLookUps> kept_look_ups_;  ///< shared with look-ups, which may outlive this
  ImageRegistries registries_for_checks_;
};

/// Whether an error is about the job; otherwise the look-up itself failed.
[[nodiscard]] bool IsVerdict(const Error& error);
/// A sentence: that creating the job may fail, too, because this look-up failed.
[[nodiscard]] std::string NotAsked(const Error& error);

}  // namespace trainyard::control
