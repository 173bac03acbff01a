#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "control/creator.h"
#include "control/image_choice.h"
#include "control/runtime_choice.h"
#include "engine/allocator.h"
#include "environment/catalogue.h"
#include "jobs/variables.h"
#include "placement/plan.h"
#include "storage/buckets.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/ml/v1/ml.pb.h"
#include "validation/validate.h"

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
    placement::DevicePool devices;                ///< all that the machine has
    const ImageRegistries* registries = nullptr;  ///< null: no job has images; they look for containers again
    Containers containers{};
    boost::asio::thread_pool* lookups = nullptr;  ///< where look_at_pythons runs; outlives the maker
    BucketOwners bucket_owners{};
  };

  /// All outlive it, `policy.registries` too.
  JobMaker(storage::Buckets& buckets, const environment::Catalogue& catalogue, const Clock& clock,
           Policy policy);

  struct Made {
    v1::JobRecord record;
    jobs::Secrets secrets;            ///< the record does not have them
    placement::QuotaDemand demand{};  ///< of the job, or of one trial of it
  };
  /// Errors: kInvalidArgument, kFailedPrecondition, and kPermissionDenied or kNotFound for what `creator` may
  /// not use (its packages, its job-dir, its service account, images of this machine, credentials of
  /// registries), with the field as the
  /// API names it.
  boost::asio::awaitable<Result<Made>> Make(std::string project, ml::v1::Job job, Creator creator = {});

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
  [[nodiscard]] Status CheckFits(const v1::JobRecord& record) const;
  [[nodiscard]] bool HasGpus() const;
  static boost::asio::awaitable<Status> CheckServiceAccount(v1::JobRecord& record, const Creator& creator);
  boost::asio::awaitable<std::string> PermissionFor(std::string image) const;
  boost::asio::awaitable<Status> CheckImages(const v1::JobRecord& record, const Creator& creator) const;
  boost::asio::awaitable<Status> LookUpPackages(v1::JobRecord& record, const Creator& creator);
  boost::asio::awaitable<Status> EnsureJobDir(v1::JobRecord& record, const Creator& creator);
  boost::asio::awaitable<Status> MakeBucketOf(v1::JobRecord& record, std::string bucket,
                                              const Creator& creator);
  boost::asio::awaitable<std::string> MeantBucket(std::string name, std::string project);

  storage::Buckets& buckets_;
  const environment::Catalogue& catalogue_;
  const Clock& clock_;
  Policy policy_;
  jobs::ValidationContext context_;
};

}  // namespace trainyard::control
