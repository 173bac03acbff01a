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

/// Limits for projects and principals, set by the operator with --quota. Pure: any thread.
namespace trainyard::placement {

/// Resources of a quota. Accelerator types ("nvidia-tesla-t4") are resources, too.
inline constexpr std::string_view kGpusQuota = "gpus";  ///< of all types, allocated at the same time
inline constexpr std::string_view kJobsQuota =
    "jobs";  ///< running at the same time; a tuning job counts as one
inline constexpr std::string_view kUnfinishedJobsQuota = "unfinished-jobs";
inline constexpr std::string_view kBucketBytesQuota = "bucket-bytes";
inline constexpr std::string_view kLogBytesQuota = "log-bytes";

/// Engines, as quotas name them. GPUs and running jobs are counted separately for each engine.
inline constexpr std::string_view kLocalEngine = "local";
inline constexpr std::string_view kSlurmEngine = "slurm";
inline constexpr std::string_view kKubernetesEngine = "kubernetes";

inline constexpr std::string_view kProjectKind = "project:";
/// "project:research", as a quota names its subject.
[[nodiscard]] std::string ProjectSubject(std::string_view project);

/// A limit, and the quota that sets it.
struct QuotaLimit {
  std::int64_t limit = 0;
  std::string subject;   ///< as the operator wrote it: "project:*"
  std::string resource;  ///< "gpus"
  std::string
      engine{};  ///< applies only there; empty: to each engine separately, or to a resource without engines
  /// "project:*:gpus=4", "project:*:gpus@slurm=4"
  [[nodiscard]] std::string Text() const;
  friend bool operator==(const QuotaLimit&, const QuotaLimit&) = default;
};

/// The quotas of an installation. A value.
class Quotas {
 public:
  Quotas() = default;

  /// Each text is SUBJECT:RESOURCE=N or SUBJECT:RESOURCE@ENGINE=N. SUBJECT: project:P, user:U,
  /// serviceAccount:S, or project:* and so on for each subject without its own quota for the resource. N: a
  /// number; for bytes also 10GB, 1TiB. kInvalidArgument, field "--quota"; for a wrong name the message
  /// suggests the nearest one.
  [[nodiscard]] static Result<Quotas> Parse(std::span<const std::string> texts);

  [[nodiscard]] bool empty() const noexcept { return limits_.empty(); }
  [[nodiscard]] bool Limits(std::string_view resource) const;
  /// Whether any of them limits the resources of jobs on the engine.
  [[nodiscard]] bool HoldBackOn(std::string_view engine) const;
  /// The quota that applies: the subject's own for the engine, else its own for each engine, else the default
  /// of all subjects in the same order.
  /// @param subject  ProjectSubject, or a principal; an empty one has no quota.
  /// @param engine  the engine of the resource; empty: a resource without engines (bytes, unfinished jobs).
  [[nodiscard]] std::optional<QuotaLimit> Of(std::string_view subject, std::string_view resource,
                                             std::string_view engine = {}) const;
  /// All quotas that apply to the subject on any engine, by resource and engine.
  [[nodiscard]] std::vector<QuotaLimit> AllOf(std::string_view subject) const;
  /// All quotas as they were given, by subject.
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

/// "1000", "10GB", "1TiB": a number of bytes. Nullopt: not a number, or too large.
[[nodiscard]] std::optional<std::int64_t> ParseByteCount(std::string_view text);
/// "project P", "user ann@example.com".
[[nodiscard]] std::string SubjectText(std::string_view subject);
/// "1.5 GiB", "900 bytes".
[[nodiscard]] std::string BytesText(std::int64_t bytes);

}  // namespace trainyard::placement
