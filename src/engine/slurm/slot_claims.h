#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/async/name_lookup.h"
#include "base/async/task_group.h"
#include "base/result.h"
#include "engine/remote/agent_session.h"
#include "engine/slurm/slurm_client.h"
#include "engine/slurm/slurm_nodes.h"
#include "rules/slurm/claims.h"

namespace trainyard::engine {

/// How long an agent waits for a job list that says that its job runs; after that it has to reconnect. Less
/// than an agent waits for its first answer (agent::kConnectWaitMax).
inline constexpr std::chrono::seconds kClaimMax{8};
/// The pause between two queries about one submission whose agents connect.
inline constexpr std::chrono::seconds kClaimPause{1};
/// The most such queries at once; further submissions wait for the next list of all jobs.
inline constexpr int kClaimsAskedMax = 32;

/// Checks whether agents connect from the nodes on which Slurm runs their job. The ticket is in the job's
/// script, which every process of the account can read, so it is accepted only from the right node. Loop
/// thread only; the constructor's references outlive it.
class SlotClaims {
 public:
  SlotClaims(boost::asio::any_io_executor loop, const SlurmClient& client, SlurmNodes& nodes,
             std::string installation);

  void OnSubmitted(const slurm::Submission& submission, std::int64_t id, int components) {
    claims_.OnSubmitted(submission, id, components);
  }
  /// See slurm::Claims. Waiting checks are repeated.
  std::vector<slurm::CancelJobs> OnListed(bool all, slurm::OurJobs& ours);
  void Forget(const slurm::GangKey& gang);

  /// Waits up to kClaimMax for Slurm to report that the whole submission runs. kPermissionDenied: it runs on
  /// other nodes, or the submission is no longer current; kUnavailable: it cannot be verified now, or the
  /// agent has disconnected.
  boost::asio::awaitable<Status> Check(slurm::Submission submission, std::string node, AgentOrigin origin,
                                       std::function<bool()> is_current);
  /// Why the gang's last agent was rejected for now, as a sentence; empty: none was.
  [[nodiscard]] std::string WhyRefused(const slurm::GangKey& gang) const;

 private:
  boost::asio::awaitable<Status> CheckRuns(slurm::Submission submission, std::string node, AgentOrigin origin,
                                           std::function<bool()> is_current);
  boost::asio::awaitable<Status> CheckPlace(slurm::Submission submission, std::string node,
                                            boost::asio::ip::address from);
  void AskFor(const slurm::Submission& submission);
  boost::asio::awaitable<void> Ask(std::int64_t id);

  const SlurmClient& client_;
  SlurmNodes& nodes_;
  std::string installation_;
  slurm::Claims claims_;
  std::map<slurm::Submission, std::chrono::steady_clock::time_point> asked_;
  std::map<slurm::GangKey, std::string> refused_;
  int asking_now_ = 0;
  Event listed_;  ///< wakes waiting checks whenever a list has come
  boost::asio::thread_pool asking_{2};
  NameLookup names_;  ///< of nodes; apart from those of builds, which users choose
  TaskGroup tasks_;
};

/// Whether `from` is one of the node's addresses. If the node is the server's own machine, all of its
/// addresses count as the same place: NodeAddr may be 127.0.1.1, and a connection comes from 127.0.0.1. Any
/// thread, if `is_own` allows that.
[[nodiscard]] bool IsPlaceOf(std::span<const boost::asio::ip::address> node,
                             const boost::asio::ip::address& from,
                             const std::function<bool(const boost::asio::ip::address&)>& is_own);

}  // namespace trainyard::engine
