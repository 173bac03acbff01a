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

#include "engine/attempt_host.h"
#include "engine/engine.h"
#include "rules/placement/quota_gate.h"
#include "rules/placement/quota_line.h"

namespace trainyard::engine {

/// Callbacks of a reservation. Each is called in its own turn of the loop: see EngineEvents. Any of them may
/// be null.
struct ReservationEvents {
  std::function<void(Grant grant)> on_grant;
  std::function<void()> on_wait;
  std::function<void(Revocation revocation)> on_revoked;
};

/// Reasons for which no engine is asked at all, except that kTakingOver holds nobody back from an engine with
/// its own queue: not all jobs of a previous server have asked yet, and those would come after new ones. If
/// several apply, jobs are told the first.
enum class Stop { kDrained, kDiskShort, kTakingOver };

/// All reservations of a server: who requested each, which engine handles it, and why it waits. A gang is
/// passed to its engine once no Stop is set and, if that engine has its own queue, once its quotas allow it.
/// With such an engine the gang counts against its quotas from then on, also while it waits in the engine's
/// queue or if the engine kept it from a previous server. With other engines it counts from its grant on. In
/// both cases it counts until Release. Which gangs are passed on is decided once per turn of the loop, in the
/// order of placement::Queue. A Stop never takes resources from a gang that already has them. Loop thread
/// only. docs/adr/0062-admissions.md.
class Admissions {
 public:
  struct Options {
    struct Room {
      std::string_view name;          ///< the engine's name in quotas
      Engine& engine;                 ///< outlives the admissions
      placement::QuotaGate quotas{};  ///< nothing counts against them yet
    };
    std::vector<Room> rooms;
    /// Returns the name of the engine for a gang; it must depend on the gang alone. Null: there is only one
    /// engine. A job with a recorded grant stays with the engine of that grant.
    std::function<std::string_view(const placement::Gang& gang)> engine_of{};
    placement::Naming naming{};  ///< in reasons
  };
  Admissions(boost::asio::any_io_executor loop, Options options);
  ~Admissions();
  Admissions(const Admissions&) = delete;
  Admissions& operator=(const Admissions&) = delete;

  /// From now on no new reservation is granted. `why` is the reason shown to waiting jobs. A second call for
  /// the same Stop replaces the reason.
  void Set(Stop stop, placement::Shortage why);
  /// Lifts the stop: reservations that it held back proceed in the order of their jobs, unless something else
  /// stops them.
  void Clear(Stop stop);

  /// Requests resources. Idempotent: a second call with the same key only replaces the callbacks, and returns
  /// the grant if there is one. Recorded grants are requested as with Engine::Offer.
  std::variant<Grant, Pending> Reserve(ReservationRequest request, ReservationEvents events);
  /// Whether a reservation of the gang that is not granted leaves nothing behind when the server ends, so
  /// that it may be made before the job is stored.
  [[nodiscard]] bool ForgetsWithServer(const placement::Gang& gang) const;
  /// Called when the job's runner ends but the job does not: its callbacks are not called any more. The
  /// reservation is kept if it is granted or if it waits in its engine's own queue.
  void Detach(ReservationKey key);
  /// As Engine::Return. Does nothing if there is no such reservation.
  void Release(ReservationKey key);
  /// As the functions of Engine with these names.
  void Prove(ReservationKey key);
  void HoldForOrphan(const AttemptRef& attempt, const std::string& job_id,
                     const replica::v1::Devices& devices);
  void ProveOrphan(const AttemptRef& attempt);

  /// Why the job waits and its position in the queue; empty if it does not wait, or if it has not been
  /// considered yet. The position of a job that waits for a quota counts only jobs of the same engine that
  /// wait for quotas.
  [[nodiscard]] std::optional<placement::Wait> WaitOf(ReservationKey key) const;
  /// The uids of jobs that have a grant and have not returned it.
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
    bool draws = false;         ///< it counts against its quotas
    std::int64_t position = 0;  ///< only while it is stopped
  };
  struct Lane {
    Lane(const Options::Room& room, placement::Naming naming)
        : name(room.name), engine(room.engine), quotas(room.quotas), over_quota(quotas, naming) {}
    std::string_view name;
    Engine& engine;
    placement::QuotaGate quotas;  ///< with every gang that counts against them
    placement::QuotaLine over_quota;
    bool planning = false;
  };

  [[nodiscard]] EngineEvents Events(const Lane& lane);
  [[nodiscard]] Lane& LaneOf(const ReservationRequest& request) const;
  [[nodiscard]] const placement::Shortage* StopOf(const Lane& lane) const;
  [[nodiscard]] Lane* FindLane(std::string_view engine) const;
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
