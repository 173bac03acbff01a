#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The names of what is asked of a cluster, and of the agents that come from there. Pure: any thread.
namespace trainyard::placement {

/// A gang's request for resources, like engine::ReservationKey.
struct GangKey {
  std::int64_t job_uid = 0;
  int try_number = 0;
  friend auto operator<=>(const GangKey&, const GangKey&) = default;
};

/// One request to a cluster for a gang. A gang is submitted again when the cluster has lost it, or could not
/// place it.
struct Submission {
  GangKey gang;
  int number = 0;  ///< from 1
  friend auto operator<=>(const Submission&, const Submission&) = default;
};

/// The beginning of a slot's name in an agent's name: it says which cluster the agent comes from.
inline constexpr std::string_view kPodMark = "pod-";

/// "17-1-2/0", or "17-1-2/pod-0" with kPodMark: the server's name for the agent of a slot
/// (replica::v1::Slot.agent).
[[nodiscard]] std::string AgentName(const Submission& submission, int slot, std::string_view mark = {});
/// "17-1-2/": the prefix of the names of all agents of a submission.
[[nodiscard]] std::string AgentPrefix(const Submission& submission);
/// The submission in an agent's name; nullopt: not an agent's name.
[[nodiscard]] std::optional<Submission> SubmissionOfAgent(std::string_view agent);
/// The slot in an agent's name; -1: not an agent's name.
[[nodiscard]] int SlotOfAgent(std::string_view agent);

/// Reads a positive number at the beginning of the text, and removes it.
bool TakeNumber(std::string_view& text, std::int64_t& number);
bool TakeNumber(std::string_view& text, int& number);
bool TakePrefix(std::string_view& text, std::string_view prefix);

}  // namespace trainyard::placement
