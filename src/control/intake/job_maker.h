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
#include "control/intake/job_dirs.h"
#include "control/intake/kept_look_ups.h"
#include "control/intake/runtime_choice.h"
#include "engine/engine.h"
#include "programs/environment/catalogue.h"
#include "rules/cluster/project_number.h"
#include "rules/jobs/variables.h"
#include "rules/placement/plan.h"
#include "rules/validation/validate.h"
#include "stores/storage/buckets.h"
#include "trainyard/algorithms/v1/algorithm.pb.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::control {

/// Turns a request into a job's record: every check that jobs.create makes, in the documented order
/// (jobs/validate.h), then what has to be looked up: the runtime version, the packages, the images, the
/// buckets. Nothing is stored. Loop thread only.
class JobMaker {
 public:
  /// What runs containers.
  struct Containers {
    bool are_here = false;
    std::string lacking{};  ///< a sentence: why not, and what would change it
  };
  struct Policy {
    std::string runtime_default;  ///< for a job that names neither runtime version nor image
    environment::FallbackPolicy runtime_fallback = environment::FallbackPolicy::kNearest;
    std::vector<ImageRuntime> images{};  ///< the operator's
    std::vector<std::string>
        mapped_images{};                    ///< patterns (jobs::MatchesImage) of images that others stand for
    environment::AvailablePythons pythons;  ///< what this machine has, as far as is known
    /// Looks at what it has now; blocks. Asked where a job would not get what it names. Null: nothing
    /// changes.
    std::function<environment::AvailablePythons()> look_at_pythons{};
    placement::Capacity capacity;
    placement::DevicePool devices;  ///< all that the machine has
    /// Which engine a gang asks for room, as quotas name it. Null: this machine, placement::kLocalEngine.
    std::function<std::string_view(const placement::Gang& gang)> engine_of{};
    const ImageRegistries* registries = nullptr;  ///< null: no job has images; they look for containers again
    Containers containers{};
    boost::asio::thread_pool* lookups = nullptr;  ///< where look_at_pythons runs; outlives the maker
    BucketOwners bucket_owners{};
    cluster::NumberOf number_of = cluster::HashedNumber;
    Accounts accounts{};
  };

  /// All outlive it, `policy.registries` too.
  JobMaker(storage::Buckets& buckets, const environment::Catalogue& catalogue, const Clock& clock,
           Policy policy);

  JobMaker(const JobMaker&) = delete;
  JobMaker& operator=(const JobMaker&) = delete;

  struct Made {
    v1::JobRecord record;
    jobs::Secrets secrets;                              ///< the record does not have them
    placement::QuotaDemand demand{};                    ///< of the job, or of one trial of it
    std::string_view engine = placement::kLocalEngine;  ///< Policy::engine_of
  };
  /// Errors: kInvalidArgument, kFailedPrecondition, and kPermissionDenied or kNotFound for what `creator` may
  /// not use (its packages, its job-dir, its service account, images of this machine, credentials of
  /// registries), with the field as the
  /// API names it.
  boost::asio::awaitable<Result<Made>> Make(std::string project, ml::v1::Job job, Creator creator = {});

  /// What Make would say, with all that is wrong: what the rules find, or if they find nothing, what each
  /// look-up does. Nothing is made, no bucket either.
  struct Checked {
    jobs::Violations violations;
    std::vector<std::string> not_asked;  ///< sentences: what could not be looked up
    Made made;  ///< the record's job, notes and remarks tell what there would be; without the rest if a rule
                ///< is broken
  };
  boost::asio::awaitable<Checked> Check(std::string project, ml::v1::Job job, Creator creator);

  /// The interpreters that this machine has now.
  boost::asio::awaitable<environment::AvailablePythons> LookAtPythons();

  /// What suits the room that a job has got: with GPUs the GPU variant of its runtime version, if there is
  /// one that can be built. Empty: what it has. Pure.
  [[nodiscard]] std::string RuntimeFor(const v1::JobRecord& job, const engine::Grant& grant) const;

  /// The rules for labels alone: what jobs.patch may change.
  [[nodiscard]] Status CheckLabels(const ml::v1::Job& job) const;

 private:
  boost::asio::awaitable<Result<environment::Resolution>> ResolveRuntime(const ml::v1::TrainingInput& input,
                                                                         const jobs::RoleImages& containers);
  [[nodiscard]] Result<environment::Resolution> ChooseFor(const ml::v1::TrainingInput& input) const;
  boost::asio::awaitable<void> LookForContainers();
  void UseContainers(Containers containers);
  [[nodiscard]] Status CheckFits(const v1::JobRecord& record, const placement::Gang& gang) const;
  [[nodiscard]] bool HasGpus() const;
  struct Start {
    const algorithms::v1::Algorithm* algorithm = nullptr;  ///< null: a program of its own
    jobs::RoleImages containers;
  };
  boost::asio::awaitable<void> LookForWhatRuns(const ml::v1::Job& job);
  [[nodiscard]] Start StartOf(const ml::v1::Job& validated) const;
  /// What Make and Check do with what they find.
  struct Way {
    std::function<Status(Status)> found;  ///< of each step: an error that it returns ends the steps
    JobDirs::Absent absent = JobDirs::Absent::kMake;
    const ImageRegistries* registries = nullptr;  ///< asked for images; null: no job has images
  };
  /// The steps after the rules, in the documented order. Fills in all of `made` but the secrets.
  boost::asio::awaitable<Status> LookUp(std::string project, const ml::v1::Job& job, const Creator& creator,
                                        const Way& way, Made& made);
  [[nodiscard]] v1::JobRecord RecordOf(std::string project, const ml::v1::Job& job, const Start& start,
                                       const environment::Resolution& runtime) const;
  boost::asio::awaitable<Status> CheckServiceAccount(v1::JobRecord& record, const Creator& creator) const;
  boost::asio::awaitable<std::string> PermissionFor(std::string image) const;
  boost::asio::awaitable<Status> CheckImages(const v1::JobRecord& record, const Creator& creator) const;
  boost::asio::awaitable<Status> LookUpPackage(v1::JobRecord& record, std::string uri,
                                               const Creator& creator);
  /// The registries, which look-ups of Check ask at most once in a while. Null where there are none.
  [[nodiscard]] const ImageRegistries* RegistriesForChecks();

  storage::Buckets& buckets_;
  const environment::Catalogue& catalogue_;
  const Clock& clock_;
  Policy policy_;
  JobDirs job_dirs_;
  jobs::ValidationContext context_;
  std::shared_ptr<KeptLookUps> kept_look_ups_;  ///< with look-ups, which may outlive this
  ImageRegistries registries_for_checks_;
};

/// Whether an error says something of the job; else what was asked could not be asked.
[[nodiscard]] bool IsVerdict(const Error& error);
/// A sentence: that creating it may fail, too, for what could not be asked.
[[nodiscard]] std::string NotAsked(const Error& error);

}  // namespace trainyard::control
