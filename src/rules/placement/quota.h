#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// What a project or a principal may have at most, as the operator says with --quota. Pure: any thread.
namespace trainyard::placement {

/// Resources of a quota. The types of accelerators ("nvidia-tesla-t4") are resources besides.
inline constexpr std::string_view kGpusQuota = "gpus";  ///< of all types, held at once
inline constexpr std::string_view kJobsQuota =
    "jobs";  ///< that have room at once; a tuning job counts as one
inline constexpr std::string_view kUnfinishedJobsQuota = "unfinished-jobs";
inline constexpr std::string_view kBucketBytesQuota = "bucket-bytes";
inline constexpr std::string_view kLogBytesQuota = "log-bytes";

/// Engines, as quotas name them. What jobs hold (GPUs, places among the jobs) each counts by itself.
inline constexpr std::string_view kLocalEngine = "local";
inline constexpr std::string_view kSlurmEngine = "slurm";

inline constexpr std::string_view kProjectKind = "project:";
/// "project:research", as a quota names its subject.
[[nodiscard]] std::string ProjectSubject(std::string_view project);

/// A limit, and the quota that says so.
struct QuotaLimit {
  std::int64_t limit = 0;
  std::string subject;   ///< as the operator wrote it: "project:*"
  std::string resource;  ///< "gpus"
  std::string engine{};  ///< it alone; empty: each engine by itself, or what no engine has
  /// "project:*:gpus=4", "project:*:gpus@slurm=4"
  [[nodiscard]] std::string Text() const;
  friend bool operator==(const QuotaLimit&, const QuotaLimit&) = default;
};

/// The quotas of an installation. A value.
class Quotas {
 public:
  Quotas() = default;

  /// Each text is SUBJECT:RESOURCE=N or SUBJECT:RESOURCE@ENGINE=N. SUBJECT: project:P, user:U,
  /// serviceAccount:S, or project:* and so on for each one that has no quota of its own for the resource. N:
  /// a number; of bytes also 10GB, 1TiB. kInvalidArgument, field "--quota", with the nearest name for one
  /// that is wrong.
  [[nodiscard]] static Result<Quotas> Parse(std::span<const std::string> texts);

  [[nodiscard]] bool empty() const noexcept { return limits_.empty(); }
  [[nodiscard]] bool Limits(std::string_view resource) const;
  /// Whether any of them limits what jobs hold on the engine.
  [[nodiscard]] bool HoldBackOn(std::string_view engine) const;
  /// The first that there is: the subject's own for the engine, its own for each engine, then in the same way
  /// that of each subject.
  /// @param subject  ProjectSubject, or a principal; an empty one has no quota.
  /// @param engine  where the resource is held; empty: it is none that engines have (bytes, unfinished jobs).
  [[nodiscard]] std::optional<QuotaLimit> Of(std::string_view subject, std::string_view resource,
                                             std::string_view engine = {}) const;
  /// All that apply to the subject on any engine, by resource and engine.
  [[nodiscard]] std::vector<QuotaLimit> AllOf(std::string_view subject) const;
  /// All, as they were given, by subject.
  [[nodiscard]] std::vector<QuotaLimit> all() const;

 private:
  struct Key {
    std::string subject;
    std::string resource;
    std::string engine;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::map<Key, std::int64_t> limits_;
};

/// "1000", "10GB", "1TiB": a number of bytes. Nothing: it is none, or too large.
[[nodiscard]] std::optional<std::int64_t> ParseByteCount(std::string_view text);
/// "project P", "user ann@example.com".
[[nodiscard]] std::string SubjectText(std::string_view subject);
/// "1.5 GiB", "900 bytes".
[[nodiscard]] std::string BytesText(std::int64_t bytes);

}  // namespace trainyard::placement
