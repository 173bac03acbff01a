#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "rules/cluster/project_number.h"

namespace trainyard::control {

/// How many requests a project may make in any 60 seconds: jobs.create, and all others of the ml API
/// together. A sliding window each; a refused request does not count. Loop thread only. Memory: the times of
/// the requests within the window; projects without requests for one window are forgotten. Source: spec
/// cluster.md section 10 (Google's: 60 and 300).
class RequestQuota {
 public:
  enum class Kind { kCreate, kOther };
  static constexpr std::chrono::seconds kWindow{60};
  static constexpr int kLimitMax = 1'000'000;

  /// Absent: no limit.
  struct Limits {
    std::optional<int> creates;
    std::optional<int> others;

    /// "creates=60,other=300", either may be left out. kInvalidArgument with what is wrong.
    [[nodiscard]] static Result<Limits> Parse(std::string_view text);
  };

  /// `clock` outlives this.
  RequestQuota(const Clock& clock, Limits limits, cluster::NumberOf number_of = cluster::HashedNumber);

  struct Refusal {
    Error error;                       ///< kResourceExhausted, worded as Google's front end did
    std::chrono::seconds retry_after;  ///< until the next request is accepted, at least 1
  };
  /// Takes one request; a refusal if the project has made too many.
  [[nodiscard]] std::optional<Refusal> Take(const std::string& project, Kind kind);

 private:
  using Times = std::deque<SysTime>;
  using Projects = std::map<std::string, Times, std::less<>>;
  void ForgetQuietProjects(Projects& projects, SysTime now);

  const Clock& clock_;
  Limits limits_;
  cluster::NumberOf number_of_;
  Projects creates_;
  Projects others_;
  std::size_t projects_max_ = 0;  ///< look for projects without requests beyond that many
};

}  // namespace trainyard::control
