#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "engine/engine.h"

namespace trainyard::engine {

/// A simulated cluster: nodes that each take a number of replicas, its own queue in the order of arrival,
/// nothing shared with the server. For tests of code that makes reservations. It queues, rejects, revokes and
/// loses nodes when told to. Loop thread only.
class FakeEngine final : public Engine {
 public:
  explicit FakeEngine(boost::asio::any_io_executor loop) : loop_(std::move(loop)) {}

  void Tell(EngineEvents events) override;
  [[nodiscard]] bool has_own_queue() const override { return true; }
  std::variant<Grant, Pending> Offer(ReservationRequest request) override;
  void Return(ReservationKey key) override;
  [[nodiscard]] bool Keeps(ReservationKey key) const override { return Find(key) != reservations_.end(); }
  [[nodiscard]] std::optional<placement::Wait> WaitOf(ReservationKey key) const override;

  void AddNode(const std::string& node, int replicas);
  /// Removes the node and revokes every grant with a slot on it.
  void LoseNode(const std::string& node);
  /// Revokes the job's grant, or rejects its request permanently while it waits.
  void Revoke(std::int64_t job_uid, const std::string& reason,
              placement::RoomEnd kind = placement::RoomEnd::kLost);
  /// Returns the reservations that were not requested since the latest Tell: a killed server left them for
  /// jobs that need no resources any more. Call it once the next server has taken over its jobs.
  void ReturnUnrequested();
  /// Stops granting until it is called with an empty reason.
  void Refuse(std::string reason);

 private:
  struct Reservation {
    ReservationRequest request;
    std::optional<Grant> grant{};
    std::string said{};     ///< the reason that on_wait was last called for
    bool requested = true;  ///< since the latest Tell
  };
  using Reservations = std::list<Reservation>;  ///< in the order of arrival

  Reservations::iterator Find(ReservationKey key);
  [[nodiscard]] Reservations::const_iterator Find(ReservationKey key) const;
  void Revoke(Reservations::iterator reservation, Revocation revocation);
  void PlanSoon();
  void Plan();
  bool Place(Reservation& reservation);
  [[nodiscard]] std::string ReasonOf(const Reservation& reservation) const;

  boost::asio::any_io_executor loop_;
  EngineEvents events_;
  std::map<std::string, int> nodes_;  ///< how many more replicas each node can take
  Reservations reservations_;
  std::string refusal_;
  int next_address_ = 1;
  /// Shared with callbacks that are posted to the executor: they do nothing once the object is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::engine
