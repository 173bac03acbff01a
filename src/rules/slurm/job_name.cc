#include "rules/slurm/job_name.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace trainyard::slurm {

namespace {

using placement::TakeNumber;
using placement::TakePrefix;

constexpr std::string_view kCommentPrefix = "trainyard:";

}  // namespace

std::string NamePrefix(std::string_view installation) { return "ty-" + std::string(installation) + "-"; }

std::string JobName(std::string_view installation, const GangKey& gang) {
  return NamePrefix(installation) + std::to_string(gang.job_uid) + "-" + std::to_string(gang.try_number);
}

std::string Comment(const Submission& submission) {
  return std::string(kCommentPrefix) + std::to_string(submission.number);
}

std::optional<Submission> ParseNames(std::string_view installation, std::string_view name,
                                     std::string_view comment) {
  Submission found;
  const bool is_ours = TakePrefix(name, NamePrefix(installation)) && TakeNumber(name, found.gang.job_uid) &&
                       TakePrefix(name, "-") && TakeNumber(name, found.gang.try_number) && name.empty() &&
                       TakePrefix(comment, kCommentPrefix) && TakeNumber(comment, found.number) &&
                       comment.empty();
  if (!is_ours) return std::nullopt;
  return found;
}

OurJobs OursOf(std::string_view installation, std::vector<ListedJob> list) {
  std::vector<std::pair<Submission, std::size_t>> order;  // with the position in the list
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::optional<Submission> whose = ParseNames(installation, list[i].name, list[i].comment);
    if (whose) order.emplace_back(*whose, i);
  }
  std::ranges::sort(order);
  OurJobs ours;
  ours.whose.reserve(order.size());
  ours.jobs.reserve(order.size());
  for (const auto& [whose, place] : order) {
    ours.whose.push_back(whose);
    ours.jobs.push_back(std::move(list[place]));
  }
  return ours;
}

}  // namespace trainyard::slurm
