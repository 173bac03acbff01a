#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "rules/placement/wait.h"

/// What the API server says about a pod, and what that means for a job. Pure: any thread. Source: spec
/// kubernetes.md section 5.
namespace trainyard::kubernetes {

/// The name of the agent's container in our pods.
inline constexpr std::string_view kAgentContainer = "agent";

/// The name of the container with the job's own image, beside the agent's.
inline constexpr std::string_view kJobContainer = "job";

/// The reason of a container that the kernel ended for its memory.
inline constexpr std::string_view kOutOfMemory = "OOMKilled";

/// A pod as the last answer or event showed it.
struct Pod {
  enum class Phase { kPending, kRunning, kSucceeded, kFailed, kUnknown };
  struct Condition {
    std::string type;    ///< "PodScheduled", "DisruptionTarget"
    std::string status;  ///< "True", "False", "Unknown"
    std::string reason{};
    std::string message{};
    friend bool operator==(const Condition&, const Condition&) = default;
  };
  /// What its agent's container waits for, or another one that cannot start; an empty reason: nothing.
  struct Waiting {
    std::string reason{};
    std::string message{};
    bool of_job = false;  ///< it is the container with the job's own image
    friend bool operator==(const Waiting&, const Waiting&) = default;
  };
  struct Terminated {
    int exit_code = 0;
    std::string reason{};  ///< "Completed", "Error", "OOMKilled", "StartError"
    std::string message{};
    bool of_job = false;  ///< it is the container with the job's own image
    friend bool operator==(const Terminated&, const Terminated&) = default;
  };
  std::string name;
  std::string uid;
  std::string node{};   ///< empty: no node yet
  std::string queue{};  ///< Kueue's, in which it waits; empty: none
  Phase phase = Phase::kPending;
  std::string reason{};   ///< status.reason: "Evicted", "DeadlineExceeded"
  std::string message{};  ///< status.message
  std::vector<Condition> conditions{};
  Waiting waiting{};
  /// The end of its agent's container, of the job's own, or of the one that prepares it: the first that
  /// ended.
  std::optional<Terminated> terminated{};
  bool has_job = false;     ///< it has a container with the job's own image
  bool job_runs = false;    ///< that container may have processes
  bool has_half = false;    ///< one of these two containers has ended: the other one is of no use
  bool is_deleted = false;  ///< it has a deletionTimestamp: it is going
  friend bool operator==(const Pod&, const Pod&) = default;

  [[nodiscard]] bool has_node() const noexcept { return !node.empty(); }
  /// Its processes have ended: it is Succeeded or Failed, or only half of it is left.
  [[nodiscard]] bool has_ended() const noexcept {
    return phase == Phase::kSucceeded || phase == Phase::kFailed || has_half;
  }
};

/// Reads a pod of a list, or the object of an event. kDataLoss: the text is no pod.
[[nodiscard]] Result<Pod> ParsePod(std::string_view json);

/// Why a pod without a node has none: "No node fits: 2 nodes have too few free CPUs, ..." Empty reason: the
/// scheduler has not said anything yet.
[[nodiscard]] placement::Shortage WhyUnplaced(const Pod& pod);
/// How much the scheduler has said about a pod without a node.
enum class SaidOfNodes {
  kNothing,
  kOfGang,  ///< only that its PodGroup cannot be placed as a whole
  kWhy,     ///< which nodes lack what
};
[[nodiscard]] SaidOfNodes WhatIsSaid(const Pod& pod);
/// Whether the pod is behind gates: the scheduler does not look at it.
[[nodiscard]] bool IsGated(const Pod& pod);
/// Whether the scheduler has said that the pod cannot be placed now.
[[nodiscard]] bool IsUnschedulable(const Pod& pod);

/// Begins StartWait's advice where the node itself goes on trying; a job that is given up has no use for it.
inline constexpr std::string_view kTriesAgain = "The node tries again. ";

/// What a pod that has a node and does not run waits for.
struct StartWait {
  placement::Shortage words;
  /// The pod will never start as it is: its image's name is none, or may not be pulled.
  bool is_final = false;
};
/// nullopt: it runs, has ended, or there is nothing to say.
[[nodiscard]] std::optional<StartWait> WhyNotStarted(const Pod& pod);

/// How a pod's end counts for its job.
struct PodEnd {
  placement::RoomEnd kind = placement::RoomEnd::kLost;
  std::string reason;  ///< one sentence, which names the pod or its node
  friend bool operator==(const PodEnd&, const PodEnd&) = default;
};
/// Why the pod ended, or is being deleted; `pod` is the last state that was seen. `is_gone`: it exists no
/// more. Call it only for a pod that has ended, is being deleted or is gone.
[[nodiscard]] PodEnd EndOf(const Pod& pod, bool is_gone);

}  // namespace trainyard::kubernetes
