#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "base/result.h"
#include "control/intake/creator.h"
#include "stores/storage/buckets.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// The location of a new job's files: ensures the bucket of its jobDir. Loop thread only.
class JobDirs {
 public:
  /// Both outlive it.
  JobDirs(storage::Buckets& buckets, const BucketOwners& owners) : buckets_(buckets), owners_(owners) {}

  /// What to do about a missing bucket, if the operator allows creating it.
  enum class Absent { kMake, kOnlySay };
  /// Adds a note or a remark to the record if the bucket is missing. kPermissionDenied, kNotFound with field
  /// "job_dir". Does nothing for a job without jobDir.
  boost::asio::awaitable<Status> Ensure(v1::JobRecord& record, const Creator& creator, Absent absent);

 private:
  boost::asio::awaitable<Status> MakeBucketOf(v1::JobRecord& record, std::string bucket,
                                              const Creator& creator, Absent absent);
  boost::asio::awaitable<std::string> MeantBucket(std::string name, std::string project);

  storage::Buckets& buckets_;
  const BucketOwners& owners_;
};

}  // namespace trainyard::control
