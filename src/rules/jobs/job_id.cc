#include "rules/jobs/job_id.h"

#include <algorithm>

namespace trainyard::jobs {
namespace {

bool IsLetter(char c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z'); }
bool IsDigit(char c) { return '0' <= c && c <= '9'; }

}  // namespace

Result<JobId> JobId::Parse(std::string_view text) {
  constexpr std::string_view kField = "job.job_id";
  if (text.empty()) return std::unexpected(InvalidArgument(kField, "This field is required."));
  if (text.size() > kLengthMax) {
    return std::unexpected(InvalidArgument(
        kField, "A name should not be longer than " + std::to_string(kLengthMax) + " characters."));
  }
  const bool good = IsLetter(text.front()) &&
                    std::ranges::all_of(text, [](char c) { return IsLetter(c) || IsDigit(c) || c == '_'; });
  if (!good) {
    return std::unexpected(InvalidArgument(
        kField, "A name should start with a letter and contain only letters, numbers and underscores."));
  }
  return JobId(std::string(text));
}

}  // namespace trainyard::jobs
