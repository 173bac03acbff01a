#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "base/result.h"
#include "control/accounts.h"
#include "control/intake/creator.h"
#include "rules/cluster/project_number.h"
#include "stores/storage/buckets.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// The buckets of a new job: ensures that of its jobDir, and finds names that may be misspelled. Loop thread
/// only.
class JobDirs {
 public:
  struct Sources {
    storage::Buckets& buckets;
    const BucketOwners& owners;
    const Accounts& accounts;
    const cluster::NumberOf& number_of;
  };
  /// What `sources` refers to outlives it.
  explicit JobDirs(const Sources& sources) : sources_(sources) {}

  /// What to do about a missing bucket, if the operator allows creating it.
  enum class Absent { kMake, kOnlySay };
  /// Adds a warning, a note or a remark to the record if the bucket is missing. kPermissionDenied, kNotFound
  /// with field "job_dir"; kFailedPrecondition (CheckAccountWrites). Does nothing for a job without jobDir.
  boost::asio::awaitable<Status> Ensure(v1::JobRecord& record, const Creator& creator, Absent absent);

  /// Adds a warning for each of the job's buckets that only an upload made, if its name is near that of
  /// another bucket. gcloud uploads a package before it creates the job, and the upload makes a mistyped
  /// bucket: Ensure finds nothing missing then.
  boost::asio::awaitable<void> WarnOfUploaded(v1::JobRecord& record);
  /// The job was created, so it was warned of once: its buckets count as requested.
  boost::asio::awaitable<Status> Confirm(const ml::v1::TrainingInput& input);

 private:
  boost::asio::awaitable<Status> MakeBucketOf(v1::JobRecord& record, std::string bucket,
                                              const Creator& creator, Absent absent);
  boost::asio::awaitable<std::string> MeantBucket(std::string name, std::string project);

  [[nodiscard]] Status CheckAccount(v1::JobRecord& record, const std::string& bucket,
                                    const iam::Resource& resource, const Creator& creator) const;

  Sources sources_;
};

}  // namespace trainyard::control
