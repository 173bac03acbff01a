#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "control/image_choice.h"
#include "control/runtime_choice.h"
#include "environment/catalogue.h"
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
  struct Policy {
    std::string runtime_default;  ///< for a job that names neither runtime version nor image
    environment::FallbackPolicy runtime_fallback = environment::FallbackPolicy::kNearest;
    std::vector<ImageRuntime> images{};     ///< the operator's
    environment::AvailablePythons pythons;  ///< what this machine had when the server started
    placement::Capacity capacity;
    placement::DevicePool devices;                      ///< all that the machine has
    ImageResolver resolve_image{};                      ///< null: this installation runs no containers
    std::string no_containers{};                        ///< a sentence: why not, and what would change it
    boost::asio::thread_pool* image_lookups = nullptr;  ///< where it runs; outlives the maker
  };

  /// All outlive it.
  JobMaker(storage::Buckets& buckets, const environment::Catalogue& catalogue, const Clock& clock,
           Policy policy);

  /// Errors: kInvalidArgument, kFailedPrecondition, kUnavailable with the field as the API names it.
  boost::asio::awaitable<Result<v1::JobRecord>> Make(std::string project, ml::v1::Job job);

  /// The rules for labels alone: what jobs.patch may change.
  [[nodiscard]] Status CheckLabels(const ml::v1::Job& job) const;

 private:
  [[nodiscard]] Result<environment::Resolution> ResolveRuntime(const ml::v1::TrainingInput& input,
                                                               const jobs::RoleImages& containers) const;
  [[nodiscard]] Status CheckFits(const v1::JobRecord& record) const;
  [[nodiscard]] bool HasGpus() const;
  boost::asio::awaitable<Status> LookUpPackages(v1::JobRecord& record);

  storage::Buckets& buckets_;
  const environment::Catalogue& catalogue_;
  const Clock& clock_;
  Policy policy_;
  jobs::ValidationContext context_;
};

}  // namespace trainyard::control
