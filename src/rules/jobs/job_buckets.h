#pragma once

#include <string>
#include <vector>

#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::jobs {

/// A bucket that a job names, and the field of the training input that names it first.
struct NamedBucket {
  std::string bucket;
  std::string field;  ///< "jobDir", "packageUris", "workerConfig.packageUris" or "args"
  friend bool operator==(const NamedBucket&, const NamedBucket&) = default;
};

/// Each bucket of the job once: that of its jobDir, those of its packages, and those that its arguments name
/// by gs:// URLs, also within an argument (--data=gs://a/x,gs://b/y). Pure: any thread.
[[nodiscard]] std::vector<NamedBucket> BucketsOf(const ml::v1::TrainingInput& input);

/// The warning that a bucket of a job may be misspelled: it exists only because of an upload, and `meant` is
/// a bucket with nearly the same name. Pure: any thread.
[[nodiscard]] std::string UploadedBucketWarning(const NamedBucket& named, const std::string& meant);

}  // namespace trainyard::jobs
