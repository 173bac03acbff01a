#include "rules/kubernetes/pod.h"

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "base/wire/json_members.h"
#include "rules/kubernetes/object_name.h"

namespace trainyard::kubernetes {

namespace {

namespace json = boost::json;
using wire::ListIn;
using wire::ObjectIn;
using wire::TextIn;

Pod::Phase PhaseOf(std::string_view text) {
  constexpr std::array kPhases{
      std::pair("Pending", Pod::Phase::kPending), std::pair("Running", Pod::Phase::kRunning),
      std::pair("Succeeded", Pod::Phase::kSucceeded), std::pair("Failed", Pod::Phase::kFailed)};
  if (text.empty()) return Pod::Phase::kPending;  // nobody has written its status yet
  for (const auto& [name, phase] : kPhases)
    if (text == name) return phase;
  return Pod::Phase::kUnknown;
}

std::vector<Pod::Condition> ConditionsOf(const json::object& status) {
  std::vector<Pod::Condition> conditions;
  for (const json::value& item : ListIn(status, "conditions")) {
    const json::object* condition = item.if_object();
    if (condition == nullptr) continue;
    conditions.push_back({.type = TextIn(*condition, "type"),
                          .status = TextIn(*condition, "status"),
                          .reason = TextIn(*condition, "reason"),
                          .message = TextIn(*condition, "message")});
  }
  return conditions;
}

/// The status of the container of that name; null: there is none.
const json::object* Named(const json::array& statuses, std::string_view name) {
  for (const json::value& item : statuses)
    if (const json::object* status = item.if_object(); status != nullptr && TextIn(*status, "name") == name)
      return status;
  return nullptr;
}

/// The status of the agent's container: the one of that name, or else the first one. An operator's webhook
/// may have added others.
const json::object* AgentIn(const json::array& statuses) {
  if (const json::object* agent = Named(statuses, kAgentContainer)) return agent;
  for (const json::value& item : statuses)
    if (const json::object* status = item.if_object()) return status;
  return nullptr;
}

Pod::Waiting WaitingOf(const json::object& container) {
  const json::object& waiting = ObjectIn(ObjectIn(container, "state"), "waiting");
  return {.reason = TextIn(waiting, "reason"),
          .message = TextIn(waiting, "message"),
          .of_job = TextIn(container, "name") == kJobContainer};
}

/// The first container that says why it waits. While an init container cannot start, the others wait for
/// nothing but it.
Pod::Waiting CauseIn(const json::array& statuses) {
  for (const json::value& item : statuses) {
    const json::object* container = item.if_object();
    if (container == nullptr) continue;
    if (Pod::Waiting waiting = WaitingOf(*container); !waiting.message.empty()) return waiting;
  }
  return {};
}

std::optional<Pod::Terminated> TerminatedOf(const json::object& container) {
  const json::object& state = ObjectIn(container, "state");
  if (!state.contains("terminated")) return std::nullopt;
  const json::object& end = ObjectIn(state, "terminated");
  return Pod::Terminated{.exit_code = static_cast<int>(wire::NumberIn(end, "exitCode")),
                         .reason = TextIn(end, "reason"),
                         .message = TextIn(end, "message")};
}

/// The end of a container that ran before the others, and failed.
std::optional<Pod::Terminated> FailedIn(const json::array& statuses) {
  for (const json::value& item : statuses) {
    const json::object* container = item.if_object();
    if (container == nullptr) continue;
    const std::optional<Pod::Terminated> end = TerminatedOf(*container);
    if (end && end->exit_code != 0) return end;
  }
  return std::nullopt;
}

/// A pod with a container of the job's own ends with either of its two; the cluster waits for both. In a pod
/// that is being deleted, the job's ends first, and the agent hands over what is left.
void ReadJob(const json::object& job, Pod& pod) {
  std::optional<Pod::Terminated> end = TerminatedOf(job);
  pod.has_job = true;
  pod.job_runs = !end && pod.phase != Pod::Phase::kSucceeded && pod.phase != Pod::Phase::kFailed;
  pod.has_half = pod.terminated.has_value() || (end && !pod.is_deleted);
  if (!end || (pod.terminated && end->reason != kOutOfMemory)) return;
  pod.terminated = std::move(end);
  pod.terminated->of_job = true;
}

void ReadContainers(const json::object& status, Pod& pod) {
  const json::array& containers = ListIn(status, "containerStatuses");
  if (const json::object* agent = AgentIn(containers)) {
    pod.waiting = WaitingOf(*agent);
    pod.terminated = TerminatedOf(*agent);
  }
  if (const json::object* job = Named(containers, kJobContainer)) ReadJob(*job, pod);
  if (!pod.terminated) pod.terminated = FailedIn(ListIn(status, "initContainerStatuses"));
  for (const json::array* statuses : {&containers, &ListIn(status, "initContainerStatuses")})
    if (Pod::Waiting cause = CauseIn(*statuses); !cause.reason.empty()) pod.waiting = std::move(cause);
}

}  // namespace

Result<Pod> ParsePod(std::string_view json) {
  const std::optional<json::object> object = wire::ParseJsonObject(json);
  if (!object) return std::unexpected(Error{Code::kDataLoss, "the pod is no JSON object", {}});
  const json::object& metadata = ObjectIn(*object, "metadata");
  const std::string kind = TextIn(*object, "kind");
  // The pods of a list have no kind.
  if ((!kind.empty() && kind != "Pod") || TextIn(metadata, "name").empty())
    return std::unexpected(Error{Code::kDataLoss, "it is no pod: " + std::string(json.substr(0, 200)), {}});
  const json::object& status = ObjectIn(*object, "status");
  Pod pod{.name = TextIn(metadata, "name"),
          .uid = TextIn(metadata, "uid"),
          .node = TextIn(ObjectIn(*object, "spec"), "nodeName"),
          .queue = TextIn(ObjectIn(metadata, "labels"), kQueueLabel),
          .phase = PhaseOf(TextIn(status, "phase")),
          .reason = TextIn(status, "reason"),
          .message = TextIn(status, "message"),
          .conditions = ConditionsOf(status),
          .is_deleted = !TextIn(metadata, "deletionTimestamp").empty()};
  ReadContainers(status, pod);
  return pod;
}

}  // namespace trainyard::kubernetes
