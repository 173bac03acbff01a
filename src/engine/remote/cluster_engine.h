#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ranked_index.hpp>
#include <boost/multi_index_container.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "base/check.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "engine/remote/agent_session.h"
#include "engine/remote/agent_slots.h"
#include "engine/remote/remote_attempt_host.h"
#include "rules/placement/gang_rules.h"

namespace trainyard::engine {

/// The name of a reservation's gang in its cluster.
inline placement::GangKey KeyOf(const ReservationKey& key) {
  return {.job_uid = key.job_uid, .try_number = key.try_number};
}

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

/// The part of an engine that is the same for every cluster: reservations, grants made of the slots that
/// agents took, and which agents may connect. A derived class tells its rules what the cluster says, and does
/// what they decide. Loop thread only. docs/adr/0056-agents.md, docs/checklists/new-engine.md.
class ClusterEngine : public Engine, public SlotKeeper {
 public:
  /// Call it once all jobs of a previous server have requested their resources: what nobody requested is
  /// removed from the cluster.
  void Start();
  /// Whether the ticket is one of this cluster's.
  [[nodiscard]] bool Knows(const std::string& ticket) const { return slots_->Knows(ticket); }
  /// Whether a job of the region can get accelerators of the type here.
  [[nodiscard]] virtual bool OffersAccelerator(const std::string& region,
                                               ml::v1::AcceleratorConfig::Type type) = 0;

  // Engine
  void Tell(EngineEvents events) override { events_ = std::move(events); }
  [[nodiscard]] bool has_own_queue() const override { return true; }
  std::variant<Grant, Pending> Offer(ReservationRequest request) override;
  void Return(ReservationKey key) override;
  /// Whether the reservation was submitted, by this server or a previous one.
  [[nodiscard]] bool Keeps(ReservationKey key) const override;
  [[nodiscard]] std::optional<placement::Wait> WaitOf(ReservationKey key) const override;

  // SlotKeeper
  boost::asio::awaitable<Result<std::string>> TakeSlot(agent::v1::FromAgent::Hello hello,
                                                       AgentOrigin origin) override;
  void OnAttached(const std::string& agent) override;
  void OnDetached(const std::string& agent, mux::Ending ending) override;
  void OnTimeLimit(const std::string& agent) override;
  /// The agent does not answer to the request to end its attempt.
  void OnUnheard(const std::string& agent);
  [[nodiscard]] bool MayLive(const std::string& agent) const override;

 protected:
  struct Reservation {
    ReservationRequest request;
    std::optional<Grant> grant{};
    std::vector<std::string> notes{};  ///< of the last submission, for the job's log
  };
  struct Parts {
    boost::asio::any_io_executor loop;
    const Clock& clock;
    RemoteAttemptHost& host;  ///< told which agents have ended
    std::unique_ptr<AgentSlots> slots;
    placement::GangRules& rules;  ///< of the derived class, which may not exist yet
    std::string_view agent_mark;  ///< placement::AgentName's
  };
  explicit ClusterEngine(Parts parts);

  void Do(const placement::VoidTicket& action);
  void Do(const placement::GiveRoom& action);
  void Do(const placement::TakeBack& action);
  void Do(const placement::NothingLives& action);
  void Do(const placement::SayWait& action);
  void Do(const placement::Forget& action);
  /// Calls engine.Do for each action, in several turns of the loop if there are thousands.
  template <class Engine, class Action>
  boost::asio::awaitable<void> DoAll(Engine& engine, std::vector<Action> actions) {
    for (std::size_t i = 0; i < actions.size(); ++i) {
      if (i > 0 && i % kActionsMax == 0) co_await boost::asio::post(loop_, boost::asio::use_awaitable);
      std::visit([&engine](const auto& one) { engine.Do(one); }, actions[i]);
    }
  }

  [[nodiscard]] Reservation* Find(const placement::GangKey& key);
  /// "job NAME, OBJECT", for the server's log.
  [[nodiscard]] std::string NameOf(const placement::GangKey& key) const;
  /// The rules have something to do now.
  void Wake() { wake_.Set(); }
  [[nodiscard]] bool is_started() const noexcept { return started_; }
  [[nodiscard]] SysTime Now() const { return clock_.Now(); }
  [[nodiscard]] AgentSlots& slots() noexcept { return *slots_; }
  [[nodiscard]] const AgentSlots& slots() const noexcept { return *slots_; }
  [[nodiscard]] const std::string& installation() const noexcept { return slots_->installation(); }
  [[nodiscard]] const boost::asio::any_io_executor& loop() const noexcept { return loop_; }
  /// The number of the submission of a recorded grant; 0: the grant is not from this cluster.
  [[nodiscard]] static int NumberOf(const Grant& grant);

 private:
  /// The most actions in one turn of the loop, so that other work also runs when thousands of jobs end at
  /// once.
  static constexpr std::size_t kActionsMax = 1'000;

  // The derived class implements these.
  /// Its own group of tasks, which is destroyed first: tasks use members of both classes.
  [[nodiscard]] virtual TaskGroup& tasks() noexcept = 0;
  /// The engine starts.
  virtual void Begin() {}
  /// Tells the rules about a request; `known`: what is recorded of it, or null.
  virtual void Want(const ReservationRequest& request, const SubmissionRecord* known) = 0;
  /// Tells the rules about a submission that nobody requested.
  virtual void WantFormer(const SubmissionRecord& submitted) = 0;
  /// Does what the rules decide now, with DoAll.
  virtual boost::asio::awaitable<void> Act() = 0;
  /// Whether the cluster runs the submission on the node that the agent names. kPermissionDenied: it does
  /// not; other errors: it cannot be verified now.
  virtual boost::asio::awaitable<Status> CheckPlace(placement::Submission submission, int slot,
                                                    std::string node, AgentOrigin origin) = 0;
  /// Why the gang's last agent was rejected for now, as a sentence; empty: none was.
  [[nodiscard]] virtual std::string WhyRefused(const placement::GangKey& gang) const = 0;
  /// The gang's name in the cluster, for the server's log.
  [[nodiscard]] virtual std::string ObjectOf(const placement::GangKey& gang) const = 0;
  /// A note for the job's log: "Slurm runs it as ty-1f3a-17-1 on node1, node2."
  [[nodiscard]] virtual std::string PlaceNote(const placement::Submission& submission,
                                              const std::string& nodes) const = 0;
  /// The submission, or all of the gang's, is over.
  virtual void Drop(const placement::GangKey& gang) = 0;

  boost::asio::awaitable<void> Drive();
  [[nodiscard]] Grant MakeGrant(const SubmissionRecord& submitted, const Reservation& reservation) const;
  /// Calls `tell` in a separate turn of the loop, if the reservation still exists.
  void TellSoon(const ReservationKey& key, std::function<void(const EngineEvents&)> tell);

  boost::asio::any_io_executor loop_;
  const Clock& clock_;
  RemoteAttemptHost& host_;
  EngineEvents events_;
  std::unique_ptr<AgentSlots> slots_;
  placement::GangRules& rules_;
  std::string_view agent_mark_;
  std::map<ReservationKey, Reservation> reservations_;
  WaitingLine waiting_;  ///< those without a grant
  bool started_ = false;
  Event wake_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::engine
