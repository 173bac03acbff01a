#include "rules/slurm/job_name.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace trainyard::slurm {

namespace {

constexpr std::string_view kCommentPrefix = "trainyard:";

/// Reads a positive number at the beginning of the text.
template <class Number>
bool Take(std::string_view& text, Number& number) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 1) return false;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return true;
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

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
  const bool is_ours = TakePrefix(name, NamePrefix(installation)) && Take(name, found.gang.job_uid) &&
                       TakePrefix(name, "-") && Take(name, found.gang.try_number) && name.empty() &&
                       TakePrefix(comment, kCommentPrefix) && Take(comment, found.number) && comment.empty();
  if (!is_ours) return std::nullopt;
  return found;
}

std::string AgentPrefix(const Submission& submission) {
  return std::to_string(submission.gang.job_uid) + "-" + std::to_string(submission.gang.try_number) + "-" +
         std::to_string(submission.number) + "/";
}

std::string AgentName(const Submission& submission, int slot) {
  return AgentPrefix(submission) + std::to_string(slot);
}

std::optional<Submission> SubmissionOfAgent(std::string_view agent) {
  Submission found;
  const bool is_one = Take(agent, found.gang.job_uid) && TakePrefix(agent, "-") &&
                      Take(agent, found.gang.try_number) && TakePrefix(agent, "-") &&
                      Take(agent, found.number) && agent.starts_with("/");
  if (!is_one) return std::nullopt;
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
