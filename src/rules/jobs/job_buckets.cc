#include "rules/jobs/job_buckets.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace trainyard::jobs {

namespace {

constexpr std::string_view kScheme = "gs://";
constexpr std::string_view kBucketCharacters = "abcdefghijklmnopqrstuvwxyz0123456789._-";

/// Adds the buckets of all gs:// URLs in the text that are not listed yet.
void AddBuckets(std::string_view text, const char* field, std::vector<NamedBucket>& buckets) {
  for (std::size_t at = text.find(kScheme); at != std::string_view::npos; at = text.find(kScheme, at)) {
    at += kScheme.size();
    const std::size_t end = std::min(text.find_first_not_of(kBucketCharacters, at), text.size());
    const std::string bucket(text.substr(at, end - at));
    if (!bucket.empty() && std::ranges::find(buckets, bucket, &NamedBucket::bucket) == buckets.end())
      buckets.push_back({.bucket = bucket, .field = field});
  }
}

}  // namespace

std::vector<NamedBucket> BucketsOf(const ml::v1::TrainingInput& input) {
  std::vector<NamedBucket> buckets;
  AddBuckets(input.job_dir(), "jobDir", buckets);
  for (const auto& [uris, field] :
       {std::pair{&input.package_uris(), "packageUris"},
        std::pair{&input.master_config().package_uris(), "masterConfig.packageUris"},
        std::pair{&input.worker_config().package_uris(), "workerConfig.packageUris"},
        std::pair{&input.parameter_server_config().package_uris(), "parameterServerConfig.packageUris"},
        std::pair{&input.evaluator_config().package_uris(), "evaluatorConfig.packageUris"}})
    for (const std::string& uri : *uris) AddBuckets(uri, field, buckets);
  for (const std::string& argument : input.args()) AddBuckets(argument, "args", buckets);
  return buckets;
}

std::string UploadedBucketWarning(const NamedBucket& named, const std::string& meant) {
  return "The bucket gs://" + named.bucket + " of the job's " + named.field +
         " did not exist until a file was uploaded to it; did you mean gs://" + meant +
         "? If the name is right, ignore this: it is said once.";
}

}  // namespace trainyard::jobs
