#include "rules/placement/submission.h"

#include <charconv>

namespace trainyard::placement {

namespace {

template <class Number>
bool Take(std::string_view& text, Number& number) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 1) return false;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return true;
}

}  // namespace

bool TakeNumber(std::string_view& text, std::int64_t& number) { return Take(text, number); }
bool TakeNumber(std::string_view& text, int& number) { return Take(text, number); }

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::string AgentPrefix(const Submission& submission) {
  return std::to_string(submission.gang.job_uid) + "-" + std::to_string(submission.gang.try_number) + "-" +
         std::to_string(submission.number) + "/";
}

std::string AgentName(const Submission& submission, int slot, std::string_view mark) {
  return AgentPrefix(submission) + std::string(mark) + std::to_string(slot);
}

std::optional<Submission> SubmissionOfAgent(std::string_view agent) {
  Submission found;
  const bool is_one = Take(agent, found.gang.job_uid) && TakePrefix(agent, "-") &&
                      Take(agent, found.gang.try_number) && TakePrefix(agent, "-") &&
                      Take(agent, found.number) && agent.starts_with("/");
  if (!is_one) return std::nullopt;
  return found;
}

int SlotOfAgent(std::string_view agent) {
  const std::size_t slash = agent.find('/');
  if (slash == std::string_view::npos) return -1;
  std::string_view slot = agent.substr(slash + 1);
  TakePrefix(slot, kPodMark);
  int number = -1;
  const auto [rest, error] = std::from_chars(slot.data(), slot.data() + slot.size(), number);
  return error == std::errc() && rest == slot.data() + slot.size() ? number : -1;
}

}  // namespace trainyard::placement
