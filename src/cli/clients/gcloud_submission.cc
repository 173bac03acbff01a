#include "cli/clients/gcloud_submission.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "rules/jobs/job_id.h"

namespace trainyard::cli {

std::optional<GcloudSubmission> FindGcloudSubmission(const std::vector<std::string>& argv) {
  constexpr std::array<std::string_view, 3> kSubmit = {"jobs", "submit", "training"};
  constexpr std::string_view kProject = "--project";
  if (argv.empty() || argv[0].substr(argv[0].rfind('/') + 1) != "gcloud") return std::nullopt;
  const auto end = std::ranges::find(argv, "--");  // what follows is the program's
  const auto submit = std::search(argv.begin(), end, kSubmit.begin(), kSubmit.end());
  if (submit == end || std::find(submit, end, "--stream-logs") != end) return std::nullopt;
  GcloudSubmission found;
  for (auto word = argv.begin(); word != end; ++word) {
    if (*word == kProject && word + 1 != end) found.project = *(word + 1);
    if (word->starts_with(std::string(kProject) + "=")) found.project = word->substr(kProject.size() + 1);
    if (word >= submit + kSubmit.size() && jobs::JobId::Parse(*word)) found.job_ids.push_back(*word);
  }
  return found;
}

}  // namespace trainyard::cli
