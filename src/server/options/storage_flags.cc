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
  if (!bucket_dirs.emplace(name, path).second) return refuse("names a bucket a second time");
  return {};
}

Result<std::string> ReadBackupDir(const std::string& path) {
  if (path.starts_with('/') && path.size() > 1 && !path.ends_with('/')) return path;
  return std::unexpected(InvalidArgument("", "name an absolute folder, without a slash at its end"));
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
      InvalidArgument("", "'" + text + "' is no number of bytes, as 512MiB, 2GB or 0 (never)"));
}

constexpr Flag kFlags[] = {
    {"--bucket-dir", "NAME=PATH",
     "Bucket whose folder is elsewhere on this machine than in DATA/buckets; may be given several times.",
     kRules<At<&Options::bucket_dirs>, AddBucketDir>},
    {"--real-bucket", "NAME",
     "Bucket of the real Cloud Storage: requests for it are passed on; may be given several times.",
     kEach<At<&Options::real_buckets>, ReadText>},
    {"--real-bucket-token", "FILE",
     "File with an access token for --real-bucket, read for each request (gcloud auth print-access-token > "
     "FILE); without it only public buckets can be read.",
     kText<At<&Options::real_bucket_token>>},
    {"--no-create-buckets", "", "Refuse job-dirs and uploads that name a bucket which is not there.",
     kSwitch<At<&Options::create_buckets>, true>},
    {"--backup-dir", "DIR",
     "Folder below which backups go that are asked for through the API (default: none are made so; "
     "`trainyard admin backup` on this machine names any folder).",
     kParsed<At<&Options::backup_dir>, ReadBackupDir>},
    {"--job-logs-max-gb", "GIGABYTES",
     "Size of a job's log above which the output of its programs is not kept; they go on, and the log says "
     "how much it lacks; 0: no limit.",
     kPrinted<At<&Options::job_log_bytes_max>, ReadGigabytes, GigabytesText>},
    {"--replica-logs-max-gb", "GIGABYTES",
     "The same for the output of one replica, from a start to its end; 0: no limit.",
     kPrinted<At<&Options::replica_log_bytes_max>, ReadGigabytes, GigabytesText>},
    {"--keep-jobs", "AGE",
     "How long jobs that have ended are kept, with their logs and trials: 90d, 12h, 30m, 45s, or never (none "
     "is removed).",
     kPrinted<Policy<&retention::Policy::jobs>, retention::ParseKeep, retention::KeepText>},
    {"--keep-logs", "AGE",
     "How long logs of jobs that have ended are kept, since their last line: 30d, 12h, or never (none is "
     "removed).",
     kPrinted<Policy<&retention::Policy::logs>, retention::ParseKeep, retention::KeepText>},
    {"--keep-environments", "AGE",
     "How long runtime versions and layers of packages are kept, since a program last began in them: 90d, "
     "12h, or never (none is removed).",
     kPrinted<Policy<&retention::Policy::environments>, retention::ParseKeep, retention::KeepText>},
    {"--keep-scratch", "AGE",
     "How long what killed builds and ended attempts left is kept, since it changed: 7d, 12h, or never.",
     kPrinted<Policy<&retention::Policy::scratch>, retention::ParseKeep, retention::KeepText>},
    {"--environments-max-gb", "GIGABYTES",
     "Size of runtime versions and layers above which those that have not run for longest are removed; 0: no "
     "limit.",
     kPrinted<Policy<&retention::Policy::environments_bytes>, ReadLimit, LimitText>},
    {"--queue-below-free", "BYTES",
     "Free space on the disk of --data below which no job and no replica begins: jobs stay QUEUED, restarts "
     "wait, and both say why; what runs goes on; 0: never.",
     kPrinted<Marks<&retention::DiskMarks::queue_below>, ReadBytes, ByteCountText>},
    {"--refuse-below-free", "BYTES",
     "Free space below which jobs are not created (429) and uploads are refused (507), and /readyz is 503; "
     "0: never.",
     kPrinted<Marks<&retention::DiskMarks::refuse_below>, ReadBytes, ByteCountText>},
};

}  // namespace

std::span<const Flag> StorageFlags() { return kFlags; }

std::string ByteCountText(std::int64_t bytes) {
  constexpr std::int64_t kThousand = 1'000;
  for (const auto& [name, unit] :
       {std::pair("GiB", std::int64_t{1} << 30), std::pair("MiB", std::int64_t{1} << 20),
        std::pair("GB", kThousand * kThousand * kThousand), std::pair("MB", kThousand * kThousand)})
    if (bytes > 0 && bytes % unit == 0) return std::to_string(bytes / unit) + name;
  return std::to_string(bytes);
}

}  // namespace trainyard::server
