#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "base/clock.h"
#include "engine/kubernetes/kube_client.h"
#include "engine/kubernetes/kube_nodes.h"
#include "engine/kubernetes/pod_watch.h"
#include "engine/remote/cluster_engine.h"
#include "rules/kubernetes/pod_gangs.h"
#include "rules/kubernetes/pod_request.h"
#include "rules/kubernetes/settings.h"

namespace trainyard::engine {

/// Gets resources from Kubernetes: each gang becomes a Secret with its ticket and a pod per slot, in which an
/// agent runs. kubernetes::PodGangs decides what to do; this class does it. Loop thread only.
/// docs/adr/0103-kubernetes.md.
class KubernetesEngine final : public ClusterEngine {
 public:
  struct Options {
    kubernetes::KubernetesSettings settings;
    kubernetes::GangScheduler scheduler = kubernetes::GangScheduler::kTurns;
    kubernetes::Boot boot;
    std::vector<std::string> front_names{};  ///< kubernetes::Batch's
    const Clock& clock;
    std::unique_ptr<KubeClient> client;
  };
  /// Blocking. `host` outlives it, and is told which agents have ended. Errors: those of the database.
  [[nodiscard]] static Result<std::unique_ptr<KubernetesEngine>> Open(boost::asio::any_io_executor loop,
                                                                      const std::string& database,
                                                                      Options options,
                                                                      RemoteAttemptHost& host);

  [[nodiscard]] bool OffersAccelerator(const std::string& region,
                                       ml::v1::AcceleratorConfig::Type type) override;

 private:
  friend class ClusterEngine;
  /// A submission whose objects are being created: kept until all of them are known to exist.
  struct Making {
    std::string ticket;
    kubernetes::PodsRequest request;
  };
  KubernetesEngine(boost::asio::any_io_executor loop, Options options, RemoteAttemptHost& host,
                   std::unique_ptr<AgentSlots> slots);

  // ClusterEngine
  [[nodiscard]] TaskGroup& tasks() noexcept override { return tasks_; }
  void Begin() override;
  void Want(const ReservationRequest& request, const SubmissionRecord* known) override;
  void WantFormer(const SubmissionRecord& submitted) override;
  boost::asio::awaitable<void> Act() override;
  boost::asio::awaitable<Status> CheckPlace(placement::Submission submission, int slot, std::string node,
                                            AgentOrigin origin) override;
  [[nodiscard]] std::string WhyRefused(const placement::GangKey& gang) const override;
  [[nodiscard]] std::string ObjectOf(const placement::GangKey& gang) const override;
  [[nodiscard]] std::string PlaceNote(const placement::Submission& submission,
                                      const std::string& nodes) const override;
  void Drop(const placement::GangKey& gang) override;

  using ClusterEngine::Do;
  void Do(const kubernetes::Create& action) { tasks_.Spawn(CreateGang(action.submission)); }
  void Do(const kubernetes::Remove& action);
  void Do(const kubernetes::LookForScaleUp& action) { tasks_.Spawn(LookForScaleUp(action)); }
  void Do(const kubernetes::AskQueue& action) { tasks_.Spawn(AskQueue(action.submission)); }
  void Do(const kubernetes::ListPods&) { watch_->ListSoon(); }

  boost::asio::awaitable<void> CreateGang(placement::Submission submission);
  /// Creates what does not exist yet. nullopt: the job needs it no longer.
  boost::asio::awaitable<std::optional<KubeAnswer<void>>> Make(placement::Submission submission);
  [[nodiscard]] kubernetes::Batch BatchOf(const placement::Submission& submission,
                                          const placement::Gang& gang) const;
  boost::asio::awaitable<void> RemoveGang(kubernetes::Remove action);
  boost::asio::awaitable<void> AskQueue(placement::Submission submission);
  boost::asio::awaitable<void> LeaveQueue(std::string workload);
  /// Warns once of what the account may not do with Workloads.
  void TellAboutQueue(const std::string& what, const kubernetes::Refusal& refusal);
  boost::asio::awaitable<void> LookForScaleUp(kubernetes::LookForScaleUp action);
  [[nodiscard]] PodWatchHandlers Handlers();

  Options options_;
  kubernetes::PodGangs gangs_;
  KubeNodes nodes_;
  std::map<placement::Submission, Making> making_;
  std::set<placement::Submission> removing_;
  std::set<std::string> told_about_queue_;             ///< warnings that were given
  std::map<placement::GangKey, std::string> refused_;  ///< why the gang's last agent was rejected for now
  Event changed_;                                      ///< wakes waiting checks whenever pods have changed
  Event never_;                                        ///< for pauses
  /// As many threads as Gangs creates at once, and some for deletions and other questions.
  boost::asio::thread_pool asking_{kubernetes::kCreatingMax + 3};
  std::optional<PodWatch> watch_;  ///< from Begin on
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
