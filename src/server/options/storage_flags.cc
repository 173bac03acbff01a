// The flags about what is kept: buckets, backups, logs, and for how long.
#include <utility>

#include "base/wire/resource_name.h"
#include "server/options/flag.h"

namespace trainyard::server {
namespace {

using Options = ServeOptions;
template <auto... kPath>
using Policy = At<&Options::retention, &RetentionOptions::policy, kPath...>;
template <auto... kPath>
using Marks = At<&Options::retention, &RetentionOptions::marks, kPath...>;

Result<std::string> ReadText(const std::string& text) { return text; }

/// Reads "NAME=PATH". Whether the directory exists is checked when the buckets are opened.
Status AddBucketDir(const std::string& pair, std::map<std::string, std::string>& bucket_dirs) {
  const std::size_t equals = pair.find('=');
  const std::string name = pair.substr(0, equals);
  const std::string path = equals == std::string::npos ? std::string() : pair.substr(equals + 1);
  const auto refuse = [&pair](const std::string& why) -> Status {
    return std::unexpected(InvalidArgument("", "'" + pair + "' " + why));
  };
  if (!path.starts_with('/')) return refuse("is not NAME=PATH with an absolute path");
  if (const Status valid = wire::ValidateBucketName(name); !valid)
    return refuse("does not begin with a bucket's name: " + valid.error().message);
  if (!bucket_dirs.emplace(name, path).second) return refuse("names a bucket that is given twice");
  return {};
}

Result<std::string> ReadBackupDir(const std::string& path) {
  if (path.starts_with('/') && path.size() > 1 && !path.ends_with('/')) return path;
  return std::unexpected(InvalidArgument("", "must be an absolute path without a slash at its end"));
}

/// Reads gigabytes; 0: no limit.
Result<std::optional<std::int64_t>> ReadLimit(const std::string& text) {
  TY_TRY(const std::int64_t bytes, ReadGigabytes(text));
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

std::string LimitText(std::optional<std::int64_t> bytes) { return GigabytesText(bytes.value_or(0)); }

Result<std::int64_t> ReadBytes(const std::string& text) {
  if (const std::optional<std::int64_t> bytes = placement::ParseByteCount(text)) return *bytes;
  return std::unexpected(
      InvalidArgument("", "'" + text + "' is not a size such as 512MiB, 2GB or 0 (no limit)"));
}

constexpr Flag kStorageFlags[] = {
    {"--bucket-dir", "NAME=PATH", "Directory of a bucket that is not in DATA/buckets. Can be repeated.",
     kRules<At<&Options::bucket_dirs>, AddBucketDir>},
    {"--real-bucket", "NAME",
     "Bucket of Google Cloud Storage. Requests for it are forwarded. Can be repeated.",
     kEach<At<&Options::real_buckets>, ReadText>},
    {"--real-bucket-token", "FILE",
     "File with an access token for --real-bucket, which is read for each request (gcloud auth "
     "print-access-token > FILE). Without it, only public buckets can be read.",
     kText<At<&Options::real_bucket_token>>},
    {"--no-create-buckets", "", "Reject job directories and uploads that name a bucket that does not exist.",
     kSwitch<At<&Options::create_buckets>, true>},
    {"--backup-dir", "DIR",
     "Directory for backups that are requested through the API. Default: the API makes no backups "
     "(`trainyard admin backup` on this machine can use any directory).",
     kParsed<At<&Options::backup_dir>, ReadBackupDir>},
    {"--job-logs-max-gb", "GIGABYTES",
     "Size limit of a job's log. If it is exceeded, further output of the job's programs is dropped, and the "
     "log says how much is missing. The programs continue. 0: no limit.",
     kPrinted<At<&Options::job_log_bytes_max>, ReadGigabytes, GigabytesText>},
    {"--replica-logs-max-gb", "GIGABYTES",
     "The same limit for the output of one replica between its start and its end. 0: no limit.",
     kPrinted<At<&Options::replica_log_bytes_max>, ReadGigabytes, GigabytesText>},
    {"--keep-jobs", "AGE",
     "How long finished jobs are kept, with their logs and trials: 90d, 12h, 30m, 45s or never (never "
     "removed).",
     kPrinted<Policy<&retention::Policy::jobs>, retention::ParseKeep, retention::KeepText>},
    {"--keep-logs", "AGE",
     "How long the logs of finished jobs are kept after their last line: 30d, 12h or never (never removed).",
     kPrinted<Policy<&retention::Policy::logs>, retention::ParseKeep, retention::KeepText>},
    {"--keep-environments", "AGE",
     "How long runtime versions and package layers are kept after a program last started in them: 90d, 12h "
     "or never (never removed).",
     kPrinted<Policy<&retention::Policy::environments>, retention::ParseKeep, retention::KeepText>},
    {"--keep-scratch", "AGE",
     "How long files of killed builds and finished attempts are kept after their last change: 7d, 12h or "
     "never.",
     kPrinted<Policy<&retention::Policy::scratch>, retention::ParseKeep, retention::KeepText>},
    {"--environments-max-gb", "GIGABYTES",
     "Size limit of runtime versions and package layers. If it is exceeded, the least recently used ones are "
     "removed. 0: no limit.",
     kPrinted<Policy<&retention::Policy::environments_bytes>, ReadLimit, LimitText>},
    {"--queue-below-free", "BYTES",
     "No job or replica starts while the disk of --data has less free space than this. Jobs stay QUEUED and "
     "restarts wait; both report the reason. Running jobs continue. 0: no limit.",
     kPrinted<Marks<&retention::DiskMarks::queue_below>, ReadBytes, ByteCountText>},
    {"--refuse-below-free", "BYTES",
     "With less free space than this, jobs cannot be created (429), uploads are rejected (507), and /readyz "
     "returns 503. 0: no limit.",
     kPrinted<Marks<&retention::DiskMarks::refuse_below>, ReadBytes, ByteCountText>},
};

}  // namespace

std::span<const Flag> StorageFlags() { return kStorageFlags; }

std::string ByteCountText(std::int64_t bytes) {
  constexpr std::int64_t kThousand = 1'000;
  for (const auto& [name, unit] :
       {std::pair("GiB", std::int64_t{1} << 30), std::pair("MiB", std::int64_t{1} << 20),
        std::pair("GB", kThousand * kThousand * kThousand), std::pair("MB", kThousand * kThousand)})
    if (bytes > 0 && bytes % unit == 0) return std::to_string(bytes / unit) + name;
  return std::to_string(bytes);
}

}  // namespace trainyard::server
