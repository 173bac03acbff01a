#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/engine.h"
#include "rules/placement/quota_gate.h"
#include "rules/placement/quota_line.h"

namespace trainyard::engine {

/// What whoever asked for room is told, each in a turn of the loop of its own: see EngineEvents. Any of them
/// may be null.
struct ReservationEvents {
  std::function<void(Grant grant)> on_grant;
  std::function<void()> on_wait;
  std::function<void(Revocation revocation)> on_revoked;
};

/// Why no engine is asked at all, in the order in which jobs are told.
enum class Stop { kDrained, kDiskShort };

/// All reservations of a server: who asked, which engine has it, and why it waits. A gang goes to its engine
/// once no Stop is set and, where that engine has a queue of its own, its quotas have room. There a gang
/// draws on them from then on, also while it waits in the engine, or if the engine has kept it from a
/// previous server; in other engines from its grant on, and everywhere until Release. Which gangs go is
/// decided once per turn of the loop, in the order of placement::Queue. What has room keeps it, whatever is
/// set. Loop thread only. docs/adr/0062-admissions.md.
class Admissions {
 public:
  struct Options {
    struct Room {
      std::string_view name;          ///< as quotas name it
      Engine& engine;                 ///< outlives the admissions
      placement::QuotaGate quotas{};  ///< nobody draws yet
    };
    std::vector<Room> rooms;
    /// The name of the engine that a gang gets; a function of the gang. Null: there is one. Room that a job
    /// has on record stays where it is.
    std::function<std::string_view(const placement::Gang& gang)> engine_of{};
    placement::Naming naming{};  ///< in reasons
  };
  Admissions(boost::asio::any_io_executor loop, Options options);
  ~Admissions();
  Admissions(const Admissions&) = delete;
  Admissions& operator=(const Admissions&) = delete;

  /// From now on nothing new gets room. `why`: what those are told who wait. Again: the reason changes.
  void Set(Stop stop, placement::Shortage why);
  /// Those that were held go on, in the order of their jobs, if nothing else stops them.
  void Clear(Stop stop);

  /// Asks for room. Idempotent: a second call with the same key changes nothing but who is told, and answers
  /// the grant if there is one. Grants on record are asked for as with Engine::Offer.
  std::variant<Grant, Pending> Reserve(ReservationRequest request, ReservationEvents events);
  /// The job's runner goes away, the job does not: nobody is told any more. The reservation stays if it is
  /// granted, or if it stands in a queue of its engine's own.
  void Detach(ReservationKey key);
  /// As Engine::Return. Nothing for a reservation that there is not.
  void Release(ReservationKey key);
  /// As Engine::Prove and its neighbours.
  void Prove(ReservationKey key);
  void HoldForOrphan(const std::string& attempt_id, const std::string& job_id,
                     const replica::v1::Devices& devices);
  void ProveOrphan(const std::string& attempt_id);

  /// Why and where the job waits; nothing if it doesn't, or if nobody has looked at it yet. The position of
  /// one that a quota holds counts those that quotas of the same engine hold.
  [[nodiscard]] std::optional<placement::Wait> WaitOf(ReservationKey key) const;
  /// Jobs that have room and have not given it back, by uid.
  [[nodiscard]] std::vector<std::int64_t> Granted() const;
  [[nodiscard]] std::size_t waiting_count() const noexcept { return reservations_.size() - granted_count_; }

 private:
  enum class State { kStopped, kOverQuota, kAsked, kGranted };
  struct Lane;
  struct Reservation {
    ReservationRequest request;
    Lane* lane = nullptr;
    ReservationEvents events;
    placement::QuotaDemand demand;
    State state = State::kStopped;
    bool draws = false;         ///< on its quotas
    std::int64_t position = 0;  ///< of one that is stopped
  };
  struct Lane {
    Lane(const Options::Room& room, placement::Naming naming)
        : name(room.name), engine(room.engine), quotas(room.quotas), over_quota(quotas, naming) {}
    std::string_view name;
    Engine& engine;
    placement::QuotaGate quotas;  ///< with all that draw
    placement::QuotaLine over_quota;
    bool planning = false;
  };

  [[nodiscard]] EngineEvents Events(const Lane& lane);
  [[nodiscard]] Lane& LaneOf(const ReservationRequest& request) const;
  [[nodiscard]] Reservation* Find(ReservationKey key);
  std::variant<Grant, Pending> Go(Reservation& reservation);
  std::variant<Grant, Pending> Ask(Reservation& reservation);
  bool WaitsForQuota(Reservation& reservation);
  void Draw(Reservation& reservation);
  void Leave(Reservation& reservation);
  void HoldBack(Reservation& reservation, std::int64_t position);
  void TellSoon(ReservationKey key);
  void TellAnswer(ReservationKey key, std::variant<Grant, Pending> answer);
  void SetGranted(Reservation& reservation);
  void PlanSoon(Lane& lane);
  void PlanNow(Lane& lane);

  boost::asio::any_io_executor loop_;
  std::function<std::string_view(const placement::Gang& gang)> engine_of_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::map<Stop, placement::Shortage> stops_;
  std::map<std::int64_t, Reservation> reservations_;  ///< by job uid: a job has one at a time
  std::size_t granted_count_ = 0;
  /// Shared with callbacks that are posted to the executor: they do nothing once the object is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainyard::engine
