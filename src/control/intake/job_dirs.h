#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "base/result.h"
#include "control/intake/creator.h"
#include "stores/storage/buckets.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::control {

/// Where the files of a new job are to be: the bucket of its jobDir. Loop thread only.
class JobDirs {
 public:
  /// Both outlive it.
  JobDirs(storage::Buckets& buckets, const BucketOwners& owners) : buckets_(buckets), owners_(owners) {}

  /// What becomes of a bucket that there is not, where the operator wants such buckets made.
  enum class Absent { kMake, kOnlySay };
  /// The record has a note or a remark then. kPermissionDenied, kNotFound with field "job_dir". Nothing for a
  /// job without jobDir.
  boost::asio::awaitable<Status> Ensure(v1::JobRecord& record, const Creator& creator, Absent absent);

 private:
  boost::asio::awaitable<Status> MakeBucketOf(v1::JobRecord& record, std::string bucket,
                                              const Creator& creator, Absent absent);
  boost::asio::awaitable<std::string> MeantBucket(std::string name, std::string project);

  storage::Buckets& buckets_;
  const BucketOwners& owners_;
};

}  // namespace trainyard::control
