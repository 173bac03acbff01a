#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace trainyard::jobs {

/// A job's id; it exists only if it is valid: letters, digits and '_', starting with a letter, at most 128
/// characters, case-sensitive. Source: public pages "overview" and "starting a training job"; spec api.md
/// section 3. Pure: any thread.
class JobId {
 public:
  static constexpr std::size_t kLengthMax = 128;

  /// kInvalidArgument with field "job.job_id".
  [[nodiscard]] static Result<JobId> Parse(std::string_view text);
  [[nodiscard]] const std::string& value() const noexcept { return value_; }
  friend bool operator==(const JobId&, const JobId&) = default;

 private:
  explicit JobId(std::string value) : value_(std::move(value)) {}
  std::string value_;
};

}  // namespace trainyard::jobs
