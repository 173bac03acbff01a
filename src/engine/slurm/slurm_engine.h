#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ranked_index.hpp>
#include <boost/multi_index_container.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "engine/remote/agent_session.h"
#include "engine/remote/remote_attempt_host.h"
#include "engine/slurm/slot_claims.h"
#include "engine/slurm/slurm_cancels.h"
#include "engine/slurm/slurm_client.h"
#include "engine/slurm/slurm_nodes.h"
#include "engine/slurm/slurm_slots.h"
#include "rules/slurm/batch_script.h"
#include "rules/slurm/component.h"
#include "rules/slurm/gangs.h"
#include "rules/slurm/node_list.h"

namespace trainyard::engine {

/// Reservations without a grant, in the order of their jobs. Each operation takes logarithmic time, since
/// each job's state names its position, even if 100,000 jobs wait. A value; one thread.
class WaitingLine {
 public:
  /// Does nothing if it is already there.
  void Add(const ReservationKey& key) { keys_.insert(key); }
  /// Does nothing if it is not there.
  void Remove(const ReservationKey& key) { keys_.erase(key); }
  /// The position, from 1. The reservation must be there.
  [[nodiscard]] std::int64_t PositionOf(const ReservationKey& key) const {
    const auto found = keys_.find(key);
    TY_CHECK(found != keys_.end());
    return static_cast<std::int64_t>(keys_.rank(found)) + 1;
  }

 private:
  using ByKey = boost::multi_index::ranked_unique<boost::multi_index::identity<ReservationKey>>;
  boost::multi_index_container<ReservationKey, boost::multi_index::indexed_by<ByKey>> keys_;
};

/// Gets resources from Slurm: each gang becomes a Slurm job, whose one step runs an agent per slot.
/// slurm::Gangs decides what to do; this class does it. Loop thread only. docs/adr/0057-slurm.md.
class SlurmEngine final : public Engine, public SlotKeeper {
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

  /// Call it once all jobs of a previous server have requested their resources: submissions that nobody
  /// requested are cancelled.
  void Start();

  // Engine
  void Tell(EngineEvents events) override { events_ = std::move(events); }
  [[nodiscard]] bool has_own_queue() const override { return true; }
  std::variant<Grant, Pending> Offer(ReservationRequest request) override;
  void Return(ReservationKey key) override;
  /// Whether the reservation was submitted, by this server or a previous one.
  [[nodiscard]] bool Keeps(ReservationKey key) const override;
  [[nodiscard]] std::optional<placement::Wait> WaitOf(ReservationKey key) const override;

  /// The GPUs of the nodes as far as they are known; empty: Slurm has not answered yet. If the data is old,
  /// it is fetched again for the next call.
  [[nodiscard]] const slurm::PartitionGpus& Gpus();

  // SlotKeeper
  boost::asio::awaitable<Result<std::string>> TakeSlot(agent::v1::FromAgent::Hello hello,
                                                       AgentOrigin origin) override;
  void OnAttached(const std::string& agent) override;
  void OnDetached(const std::string& agent, mux::Ending ending) override;
  void OnTimeLimit(const std::string& agent) override;
  [[nodiscard]] bool MayLive(const std::string& agent) const override;

 private:
  struct Reservation {
    ReservationRequest request;
    std::optional<Grant> grant{};
    std::vector<std::string> notes{};  ///< of the last submission, for the job's log
  };
  SlurmEngine(boost::asio::any_io_executor loop, Options options, RemoteAttemptHost& host,
              std::unique_ptr<SlurmSlots> slots);
  void Want(const ReservationRequest& request);

  boost::asio::awaitable<void> Drive();
  void Do(const slurm::Submit& action);
  void Do(const slurm::AskList& action);
  void Do(const slurm::CancelJobs& action);
  void Do(const slurm::VoidTicket& action);
  void Do(const slurm::GiveRoom& action);
  void Do(const slurm::TakeBack& action);
  void Do(const slurm::NothingLives& action);
  void Do(const slurm::SayWait& action);
  void Do(const slurm::Forget& action);

  boost::asio::awaitable<void> CancelSome(slurm::CancelJobs jobs);
  boost::asio::awaitable<void> SubmitOne(slurm::Submission submission);
  [[nodiscard]] slurm::BatchJob BatchOf(const slurm::Submission& submission,
                                        const slurm::GangRequest& request, std::string ticket) const;
  boost::asio::awaitable<void> AskOne(slurm::AskList action);
  /// Calls `tell` in a separate turn of the loop, if the reservation still exists.
  void TellSoon(const ReservationKey& key, std::function<void(const EngineEvents&)> tell);
  [[nodiscard]] Reservation* Find(const slurm::GangKey& key);
  [[nodiscard]] std::string NameOf(const slurm::GangKey& key) const;

  boost::asio::any_io_executor loop_;
  Options options_;
  RemoteAttemptHost& host_;
  EngineEvents events_;
  std::unique_ptr<SlurmSlots> slots_;
  slurm::Gangs gangs_;
  std::map<ReservationKey, Reservation> reservations_;
  SlurmNodes nodes_;
  SlotClaims claims_;
  WaitingLine waiting_;  ///< those without a grant
  bool started_ = false;
  Event wake_;
  /// For lists of all jobs. One thread, so that the memory for a long list is allocated by one thread only.
  boost::asio::thread_pool listing_{1};
  /// As many threads as Gangs submits and cancels at once, and one for other queries.
  boost::asio::thread_pool asking_{slurm::kSubmittingMax + SlurmCancels::kAtOnceMax + 1};
  SlurmCancels cancels_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
