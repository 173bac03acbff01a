#include "control/intake/job_dirs.h"

#include <utility>
#include <vector>

#include "base/text/suggestion.h"
#include "base/wire/resource_name.h"
#include "base/wire/runs_bucket.h"
#include "control/intake/account_rights.h"
#include "control/intake/instance.h"
#include "rules/jobs/job_buckets.h"

namespace trainyard::control {

namespace {

/// How many buckets' names are compared with a new one: each takes some microseconds of the loop.
constexpr std::size_t kBucketsComparedMax = 100;
constexpr std::size_t kSlipMax = 3;  ///< edit distance

/// Existing names of which the new name may be a misspelling.
std::vector<std::string_view> NamesLike(std::string_view name, const std::vector<std::string>& others) {
  std::vector<std::string_view> like;
  for (const std::string& other : others) {
    if (other == name || other.size() + kSlipMax < name.size() || name.size() + kSlipMax < other.size())
      continue;
    if (other.front() == name.front() || other.back() == name.back()) like.push_back(other);
    if (like.size() == kBucketsComparedMax) break;
  }
  return like;
}

template <class T>
Status InJobDir(const Result<T>& bucket) {
  if (bucket) return {};
  return std::unexpected(Error{bucket.error().code, bucket.error().message, "job_dir"});
}

}  // namespace

boost::asio::awaitable<Status> JobDirs::Ensure(v1::JobRecord& record, const Creator& creator, Absent absent) {
  const std::string& job_dir = record.job().training_input().job_dir();
  if (job_dir.empty()) co_return Status{};
  TY_CO_TRY(wire::ObjectUri uri, wire::ObjectUri::Parse(job_dir));
  const auto present = co_await sources_.buckets.GetBucket(uri.bucket);
  const bool is_absent = !present && present.error().code == Code::kNotFound;
  if (is_absent && sources_.buckets.creates_on_use())
    co_return co_await MakeBucketOf(record, std::move(uri.bucket), creator, absent);
  iam::Resource bucket = iam::Resource::Bucket(uri.bucket);
  TY_CO_RETURN_IF_ERROR(co_await creator.Require("storage.objects.create", bucket, "job_dir"));
  if (present) TY_CO_RETURN_IF_ERROR(CheckAccount(record, uri.bucket, bucket, creator));
  if (absent == Absent::kOnlySay && (present || !is_absent)) co_return InJobDir(present);
  co_return InJobDir(
      co_await sources_.buckets.EnsureBucket(uri.bucket));  // the error says if none are created
}

/// An account that the job names is the user's choice: without its rights the job is refused. If it is the
/// project's, the job's log says what it lacks: the program may not need it.
Status JobDirs::CheckAccount(v1::JobRecord& record, const std::string& bucket, const iam::Resource& resource,
                             const Creator& creator) const {
  if (!creator.require) return {};
  const Status may =
      CheckAccountWrites(sources_.accounts, ServiceAccountOf(record, sources_.number_of), bucket, resource);
  if (may || !record.job().training_input().service_account().empty()) return may;
  record.add_warnings(may.error().message);
  return {};
}

/// Creating a bucket is reported: its name may be misspelled, and then the program's output would be hard to
/// find.
boost::asio::awaitable<Status> JobDirs::MakeBucketOf(v1::JobRecord& record, std::string bucket,
                                                     const Creator& creator, Absent absent) {
  iam::Resource project = iam::Resource::Project(record.project());
  TY_CO_RETURN_IF_ERROR(co_await creator.Require("storage.buckets.create", project, "job_dir"));
  TY_CO_RETURN_IF_ERROR(CheckAccount(record, bucket, project, creator));
  std::string said = "The bucket gs://" + bucket + " of the job's jobDir ";
  if (!creator.principal.empty())
    TY_CO_RETURN_IF_ERROR(InJobDir(wire::CheckRunsBucket(bucket, record.project())));
  if (absent == Absent::kMake) {
    // Not EnsureBucket: a bucket that another project has just created does not belong to this one.
    storage::v1::Bucket made;
    made.set_name(bucket);
    TY_CO_RETURN_IF_ERROR(InJobDir(co_await sources_.buckets.InsertBucket(std::move(made))));
    if (sources_.owners.set_project)
      TY_CO_RETURN_IF_ERROR(co_await sources_.owners.set_project(bucket, record.project()));
    said += "did not exist and was made";
  } else {
    said += "does not exist and would be made";
  }
  const std::string meant = co_await MeantBucket(std::move(bucket), record.project());
  if (!meant.empty())
    record.add_warnings(said + "; did you mean gs://" + meant + "?");
  else if (absent == Absent::kMake)
    record.add_remarks(said + ".");
  else
    record.add_notes(said + ".");
  co_return Status{};
}

boost::asio::awaitable<void> JobDirs::WarnOfUploaded(v1::JobRecord& record) {
  for (const jobs::NamedBucket& named : jobs::BucketsOf(record.job().training_input())) {
    if (!sources_.buckets.IsByUpload(named.bucket)) continue;
    const std::string meant = co_await MeantBucket(named.bucket, record.project());
    if (!meant.empty()) record.add_warnings(jobs::UploadedBucketWarning(named, meant));
  }
}

boost::asio::awaitable<Status> JobDirs::Confirm(const ml::v1::TrainingInput& input) {
  for (const jobs::NamedBucket& named : jobs::BucketsOf(input))
    if (sources_.buckets.IsByUpload(named.bucket))
      TY_CO_RETURN_IF_ERROR(co_await sources_.buckets.ConfirmBucket(named.bucket));
  co_return Status{};
}

/// Not one that only an upload made, which may be misspelled itself. A principal that may create jobs of a
/// project may know its buckets' names (docs/security.md), and no others.
boost::asio::awaitable<std::string> JobDirs::MeantBucket(std::string name, std::string project) {
  auto others = co_await sources_.buckets.BucketNames();
  if (!others) co_return std::string();
  std::erase_if(*others, [&](const std::string& other) { return sources_.buckets.IsByUpload(other); });
  if (sources_.owners.project_of)
    std::erase_if(*others,
                  [&](const std::string& other) { return sources_.owners.project_of(other) != project; });
  std::string meant(text::Suggest(name, NamesLike(name, *others)));
  if (!meant.empty() && !co_await sources_.buckets.GetBucket(meant)) meant.clear();
  co_return meant;
}

}  // namespace trainyard::control
