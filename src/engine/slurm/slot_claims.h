#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "base/result.h"
#include "engine/remote/slot_keeper.h"
#include "engine/slurm/slurm_client.h"
#include "engine/slurm/slurm_nodes.h"
#include "rules/slurm/claims.h"

namespace trainyard::engine {

/// An agent waits so long for a list that says that its job runs; then it comes again. Less than an agent
/// waits for its first answer (agent::kConnectWaitMax).
inline constexpr std::chrono::seconds kClaimMax{8};
/// Between two questions for one submission because its agents come.
inline constexpr std::chrono::seconds kClaimPause{1};
/// Such questions at once; where more submissions begin, the lists of all jobs tell the rest.
inline constexpr int kClaimsAskedMax = 32;

/// Whether agents come from where Slurm says that their job is: the ticket stands in the job's script, which
/// all of the account can read, and so it is worth something only together with the place. Loop thread only;
/// what is given outlives it.
class SlotClaims {
 public:
  SlotClaims(boost::asio::any_io_executor loop, const SlurmClient& client, SlurmNodes& nodes,
             std::string installation);

  void OnSubmitted(const slurm::Submission& submission, std::int64_t id, int components) {
    claims_.OnSubmitted(submission, id, components);
  }
  /// See slurm::Claims. Whoever waits looks again.
  std::vector<slurm::CancelJobs> OnListed(bool all, slurm::OurJobs& ours);
  void Forget(const slurm::GangKey& gang);

  /// Waits up to kClaimMax for Slurm to say that all of the submission runs. kPermissionDenied: on other
  /// nodes, or it is no longer current; kUnavailable: it cannot be verified now, or the agent has gone.
  boost::asio::awaitable<Status> Check(slurm::Submission submission, std::string node, AgentOrigin origin,
                                       std::function<bool()> is_current);
  /// Why the gang's last agent had to wait, a sentence; empty: none had to.
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
  Event listed_;  ///< set for whoever waits, whenever a list has come
  boost::asio::thread_pool asking_{2};
  /// For nodes' names: the system's resolver may take long.
  boost::asio::thread_pool resolving_{2};
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
