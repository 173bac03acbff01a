#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/clock.h"
#include "engine/remote/cluster_engine.h"
#include "engine/slurm/slot_claims.h"
#include "engine/slurm/slurm_cancels.h"
#include "engine/slurm/slurm_client.h"
#include "engine/slurm/slurm_nodes.h"
#include "rules/slurm/batch_script.h"
#include "rules/slurm/component.h"
#include "rules/slurm/gangs.h"
#include "rules/slurm/node_list.h"

namespace trainyard::engine {

/// Gets resources from Slurm: each gang becomes a Slurm job, whose one step runs an agent per slot.
/// slurm::Gangs decides what to do; this class does it. Loop thread only. docs/adr/0057-slurm.md.
class SlurmEngine final : public ClusterEngine {
 public:
  struct Options {
    slurm::SlurmSettings settings;
    slurm::Boot boot;  ///< without the ticket
    const Clock& clock;
    std::unique_ptr<SlurmClient> client;
    std::vector<slurm::Node> nodes{};  ///< from the client, just now; empty: Slurm did not answer
  };
  /// Blocking. `host` outlives it, and is told which agents have ended. Errors: those of the database.
  [[nodiscard]] static Result<std::unique_ptr<SlurmEngine>> Open(boost::asio::any_io_executor loop,
                                                                 const std::string& database, Options options,
                                                                 RemoteAttemptHost& host);

  /// The GPUs of the nodes as far as they are known; empty: Slurm has not answered yet. If the data is old,
  /// it is fetched again for the next call.
  [[nodiscard]] const slurm::PartitionGpus& Gpus();
  [[nodiscard]] bool OffersAccelerator(const std::string& region,
                                       ml::v1::AcceleratorConfig::Type type) override;

 private:
  friend class ClusterEngine;
  SlurmEngine(boost::asio::any_io_executor loop, Options options, RemoteAttemptHost& host,
              std::unique_ptr<AgentSlots> slots);

  // ClusterEngine
  [[nodiscard]] TaskGroup& tasks() noexcept override { return tasks_; }
  void Want(const ReservationRequest& request, const SubmissionRecord* known) override;
  void WantFormer(const SubmissionRecord& submitted) override;
  boost::asio::awaitable<void> Act() override;
  boost::asio::awaitable<Status> CheckPlace(slurm::Submission submission, int slot, std::string node,
                                            AgentOrigin origin) override;
  [[nodiscard]] std::string WhyRefused(const slurm::GangKey& gang) const override;
  [[nodiscard]] std::string ObjectOf(const slurm::GangKey& gang) const override;
  [[nodiscard]] std::string PlaceNote(const slurm::Submission& submission,
                                      const std::string& nodes) const override;
  void Drop(const slurm::GangKey& gang) override { claims_.Forget(gang); }

  using ClusterEngine::Do;
  void Do(const slurm::Submit& action) { tasks_.Spawn(SubmitOne(action.submission)); }
  void Do(const slurm::AskList& action) { tasks_.Spawn(AskOne(action)); }
  void Do(const slurm::CancelJobs& action) { tasks_.Spawn(CancelSome(action)); }

  boost::asio::awaitable<void> CancelSome(slurm::CancelJobs jobs);
  boost::asio::awaitable<void> SubmitOne(slurm::Submission submission);
  [[nodiscard]] slurm::BatchJob BatchOf(const slurm::Submission& submission,
                                        const slurm::GangRequest& request, std::string ticket);
  boost::asio::awaitable<void> AskOne(slurm::AskList action);

  Options options_;
  slurm::Gangs gangs_;
  SlurmNodes nodes_;
  SlotClaims claims_;
  /// For lists of all jobs. One thread, so that the memory for a long list is allocated by one thread only.
  boost::asio::thread_pool listing_{1};
  /// As many threads as Gangs submits and cancels at once, and one for other queries.
  boost::asio::thread_pool asking_{slurm::kSubmittingMax + SlurmCancels::kAtOnceMax + 1};
  SlurmCancels cancels_;
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
