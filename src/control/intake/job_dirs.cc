#include "control/intake/job_dirs.h"

#include <utility>
#include <vector>

#include "base/text/suggestion.h"
#include "base/wire/resource_name.h"
#include "base/wire/runs_bucket.h"

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
  const auto present = co_await buckets_.GetBucket(uri.bucket);
  const bool is_absent = !present && present.error().code == Code::kNotFound;
  if (is_absent && buckets_.creates_on_use())
    co_return co_await MakeBucketOf(record, std::move(uri.bucket), creator, absent);
  iam::Resource bucket = iam::Resource::Bucket(uri.bucket);
  TY_CO_RETURN_IF_ERROR(co_await creator.Require("storage.objects.create", std::move(bucket), "job_dir"));
  if (absent == Absent::kOnlySay && (present || !is_absent)) co_return InJobDir(present);
  co_return InJobDir(co_await buckets_.EnsureBucket(uri.bucket));  // the error says if none are created
}

/// Creating a bucket is reported: its name may be misspelled, and then the program's output would be hard to
/// find.
boost::asio::awaitable<Status> JobDirs::MakeBucketOf(v1::JobRecord& record, std::string bucket,
                                                     const Creator& creator, Absent absent) {
  iam::Resource project = iam::Resource::Project(record.project());
  TY_CO_RETURN_IF_ERROR(co_await creator.Require("storage.buckets.create", std::move(project), "job_dir"));
  std::string said = "The bucket gs://" + bucket + " of the job's jobDir ";
  if (!creator.principal.empty())
    TY_CO_RETURN_IF_ERROR(InJobDir(wire::CheckRunsBucket(bucket, record.project())));
  if (absent == Absent::kMake) {
    // Not EnsureBucket: a bucket that another project has just created does not belong to this one.
    storage::v1::Bucket made;
    made.set_name(bucket);
    TY_CO_RETURN_IF_ERROR(InJobDir(co_await buckets_.InsertBucket(std::move(made))));
    if (owners_.set_project) TY_CO_RETURN_IF_ERROR(co_await owners_.set_project(bucket, record.project()));
    said += "did not exist and was made";
  } else {
    said += "does not exist and would be made";
  }
  const std::string meant = co_await MeantBucket(std::move(bucket), record.project());
  if (!meant.empty())
    record.add_notes(said + "; did you mean gs://" + meant + "?");
  else if (absent == Absent::kMake)
    record.add_remarks(said + ".");
  else
    record.add_notes(said + ".");
  co_return Status{};
}

/// A principal that may create jobs of a project may know its buckets' names (docs/security.md), and no
/// others.
boost::asio::awaitable<std::string> JobDirs::MeantBucket(std::string name, std::string project) {
  auto others = co_await buckets_.BucketNames();
  if (!others) co_return std::string();
  if (owners_.project_of)
    std::erase_if(*others, [&](const std::string& other) { return owners_.project_of(other) != project; });
  std::string meant(text::Suggest(name, NamesLike(name, *others)));
  if (!meant.empty() && !co_await buckets_.GetBucket(meant)) meant.clear();
  co_return meant;
}

}  // namespace trainyard::control
