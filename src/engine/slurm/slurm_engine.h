#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "engine/remote/remote_attempt_host.h"
#include "engine/remote/slot_keeper.h"
#include "engine/slurm/slot_claims.h"
#include "engine/slurm/slurm_cancels.h"
#include "engine/slurm/slurm_client.h"
#include "engine/slurm/slurm_nodes.h"
#include "engine/slurm/slurm_slots.h"
#include "engine/slurm/waiting_line.h"
#include "rules/slurm/batch_script.h"
#include "rules/slurm/component.h"
#include "rules/slurm/gangs.h"
#include "rules/slurm/node_list.h"

namespace trainyard::engine {

/// Room from Slurm: a gang is a job of Slurm, whose one step runs an agent per slot. What to do is decided by
/// slurm::Gangs; here it is done. Loop thread only. docs/adr/0057-slurm.md.
class SlurmEngine final : public Engine, public SlotKeeper {
 public:
  struct Options {
    slurm::SlurmSettings settings;
    slurm::Boot boot;  ///< but for the ticket
    const Clock& clock;
    std::unique_ptr<SlurmClient> client;
    std::vector<slurm::Node> nodes{};  ///< as the client has just said; empty: it did not answer
  };
  /// Blocking. `host` outlives it, and is told which agents end. Errors: those of the database.
  [[nodiscard]] static Result<std::unique_ptr<SlurmEngine>> Open(boost::asio::any_io_executor loop,
                                                                 const std::string& database, Options options,
                                                                 RemoteAttemptHost& host);

  /// Once all jobs of a previous server have asked for their room: what nobody asked for is cancelled.
  void Start();

  // Engine
  void Tell(EngineEvents events) override { events_ = std::move(events); }
  [[nodiscard]] bool has_own_queue() const override { return true; }
  std::variant<Grant, Pending> Offer(ReservationRequest request) override;
  void Return(ReservationKey key) override;
  /// Whether it has been submitted, by this server or a previous one.
  [[nodiscard]] bool Keeps(ReservationKey key) const override;
  [[nodiscard]] std::optional<placement::Wait> WaitOf(ReservationKey key) const override;

  /// What the nodes have as far as is known; empty: Slurm has not answered yet. What is old is asked for
  /// again, for the next call.
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

  boost::asio::awaitable<void> SubmitOne(slurm::Submission submission);
  [[nodiscard]] slurm::BatchJob BatchOf(const slurm::Submission& submission,
                                        const slurm::GangRequest& request, std::string ticket) const;
  boost::asio::awaitable<void> AskOne(slurm::AskList action);
  /// In a turn of its own, if somebody still wants to hear it.
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
  WaitingLine waiting_;  ///< those without room
  bool started_ = false;
  Event wake_;
  /// For lists of all jobs. What a long one takes stays with the thread that reads it.
  boost::asio::thread_pool listing_{1};
  /// As many as Gangs submits and cancels at once, and one for the other questions meanwhile.
  boost::asio::thread_pool asking_{slurm::kSubmittingMax + SlurmCancels::kAtOnceMax + 1};
  SlurmCancels cancels_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
