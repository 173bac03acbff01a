#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "rules/placement/device_pool.h"
#include "rules/placement/gang.h"
#include "rules/placement/quota_gate.h"
#include "rules/placement/wait.h"
#include "trainyard/replica/v1/replica.pb.h"

namespace trainyard::engine {

using replica::v1::Grant;
using replica::v1::Slot;

/// Names a reservation: the request of a job for room for one start of its whole gang.
struct ReservationKey {
  std::int64_t job_uid = 0;
  int try_number = 0;  ///< from 1; the next one after a revocation
  friend auto operator<=>(const ReservationKey&, const ReservationKey&) = default;
};

struct ReservationRequest {
  ReservationKey key;
  placement::Gang gang;
  /// The grant on record, from a previous server: the reservation keeps what it has.
  std::optional<Grant> granted{};
};

struct Revocation {
  placement::RoomEnd kind = placement::RoomEnd::kLost;
  std::string reason;  ///< one sentence
};

/// Why a gang waits that nobody has looked at yet: one sentence.
inline constexpr const char* kLookingForRoom = "The service is looking for room for the job.";

/// No room yet.
struct Pending {
  std::string reason;  ///< one sentence
};

/// What an engine tells of reservations, each in a turn of the loop of its own, and what it is told. Any of
/// them may be null.
struct EngineEvents {
  std::function<void(ReservationKey key, Grant grant)> on_grant;  ///< at most once
  /// What it waits for is known, or has become something else than a turn or another turn (Wait::is_turn).
  std::function<void(ReservationKey key)> on_wait;
  /// The room is taken back, or will not come: at most once, after on_grant or instead of it. What ran on a
  /// lost node is reported gone by its host (AttemptHost::OnGone).
  std::function<void(ReservationKey key, Revocation revocation)> on_lost;
  /// Who draws on which quotas of the engine, at any time: one without a queue of its own lines gangs up by
  /// it (placement::QuotaTurns). To others only those come whose quotas have room.
  const placement::QuotaGate* quotas = nullptr;
};

/// Gives room to whole gangs, and says why not yet. Admissions is the only one that talks to it. Loop thread
/// only. Implementations: local (this machine), slurm (a cluster), fake (tests). Conformance:
/// testing/engine_conformance.h. docs/adr/0026-two-seams.md, docs/adr/0062-admissions.md.
class Engine {
 public:
  virtual ~Engine() = default;

  /// From now on it tells this; an empty value: nobody.
  virtual void Tell(EngineEvents events) = 0;
  /// Whether pending reservations outlive the server. Such an engine orders them itself and
  /// knows no quotas.
  [[nodiscard]] virtual bool has_own_queue() const = 0;

  /// What the gang draws on quotas with, other than a place among the jobs.
  [[nodiscard]] virtual placement::QuotaDemand DemandOf(const placement::Gang& gang) const {
    return placement::AskedDemand(gang);
  }

  /// Asks for room. Idempotent: a second call with the same key changes nothing, and answers the grant if
  /// there is one. Grants of previous servers (`granted`) have to be asked for in one turn of the loop,
  /// before the first request without one is decided.
  virtual std::variant<Grant, Pending> Offer(ReservationRequest request) = 0;
  /// The job needs no room any more, pending or granted: all its replicas have ended. Its devices stay its
  /// own until Prove. Nothing for a reservation that there is not.
  virtual void Return(ReservationKey key) = 0;
  /// Nothing of the reservation lives any more (proof: its supervisors are dead, their directories gone):
  /// others may have its devices.
  virtual void Prove(ReservationKey) {}

  /// Nobody else gets the devices of an orphaned attempt until ProveOrphan. `job_id` is what waiting jobs are
  /// told. Only this machine has orphans with devices: on a cluster they hold what it gives.
  virtual void HoldForOrphan(const std::string& /*attempt_id*/, const std::string& /*job_id*/,
                             const replica::v1::Devices& /*devices*/) {}
  virtual void ProveOrphan(const std::string& /*attempt_id*/) {}

  /// Whether it has the reservation already, from a previous server.
  [[nodiscard]] virtual bool Keeps(ReservationKey) const { return false; }
  /// Why and where the job waits; nothing if it doesn't, or if nobody has looked at it yet.
  [[nodiscard]] virtual std::optional<placement::Wait> WaitOf(ReservationKey key) const = 0;
};

}  // namespace trainyard::engine
