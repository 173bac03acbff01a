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

/// Identifies a reservation: a job's request for the resources of one start of its whole gang.
struct ReservationKey {
  std::int64_t job_uid = 0;
  int try_number = 0;  ///< from 1; one more after each revocation
  friend auto operator<=>(const ReservationKey&, const ReservationKey&) = default;
};

struct ReservationRequest {
  ReservationKey key;
  placement::Gang gang;
  /// The recorded grant, made by a previous server: the reservation keeps its resources.
  std::optional<Grant> granted{};
};

struct Revocation {
  placement::RoomEnd kind = placement::RoomEnd::kLost;
  std::string reason;  ///< one sentence
};

/// The reason shown for a gang that has not been considered yet: one sentence.
inline constexpr const char* kLookingForRoom = "The service is looking for resources for the job.";

/// The request is not granted yet.
struct Pending {
  std::string reason;  ///< one sentence
};

/// The callbacks through which an engine reports on reservations, each called in its own turn of the loop,
/// and the quotas that it may read. Any of them may be null.
struct EngineEvents {
  std::function<void(ReservationKey key, Grant grant)> on_grant;  ///< at most once
  /// The reason for its wait is known or has changed. A change of its position alone (Wait::is_turn) is not
  /// reported.
  std::function<void(ReservationKey key)> on_wait;
  /// The grant is revoked, or the request will never be granted: called at most once, after on_grant or
  /// instead of it. Attempts on a lost node are reported gone by their host (AttemptHost::OnGone).
  std::function<void(ReservationKey key, Revocation revocation)> on_lost;
  /// The current use of the engine's quotas; may be read at any time. An engine without its own queue orders
  /// gangs by it (placement::QuotaTurns). Engines with their own queue only receive gangs whose quotas allow
  /// them.
  const placement::QuotaGate* quotas = nullptr;
};

/// Allocates resources to whole gangs, or says why a gang has to wait. Only Admissions calls it. Loop thread
/// only. Implementations: local (this machine), slurm (a cluster), fake (tests). Conformance:
/// testing/engine_conformance.h. docs/adr/0026-two-seams.md, docs/adr/0062-admissions.md.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Sets the callbacks; with an empty value nobody is told.
  virtual void Tell(EngineEvents events) = 0;
  /// Whether pending reservations outlive the server. Such an engine orders them itself and ignores quotas.
  [[nodiscard]] virtual bool has_own_queue() const = 0;

  /// What the gang counts against quotas, apart from the limit on the number of jobs.
  [[nodiscard]] virtual placement::QuotaDemand DemandOf(const placement::Gang& gang) const {
    return placement::AskedDemand(gang);
  }

  /// Requests resources. Idempotent: a second call with the same key changes nothing, and returns the grant
  /// if there is one. All grants of previous servers (`granted`) must be requested in one turn of the loop,
  /// before the first request without a grant is decided.
  virtual std::variant<Grant, Pending> Offer(ReservationRequest request) = 0;
  /// Returns the resources or withdraws the pending request: all replicas of the job have ended. Its devices
  /// stay reserved for it until Prove. Does nothing if there is no such reservation.
  virtual void Return(ReservationKey key) = 0;
  /// No process of the reservation lives any more (proof: its supervisors are dead and their directories
  /// removed): its devices become free for others.
  virtual void Prove(ReservationKey) {}

  /// Reserves the devices of an orphaned attempt until ProveOrphan. Waiting jobs are told that `job_id` uses
  /// them. Only this machine has orphans with devices: on a cluster they keep what the cluster allocated to
  /// them.
  virtual void HoldForOrphan(const std::string& /*attempt_id*/, const std::string& /*job_id*/,
                             const replica::v1::Devices& /*devices*/) {}
  virtual void ProveOrphan(const std::string& /*attempt_id*/) {}

  /// Whether the engine already has the reservation, from a previous server.
  [[nodiscard]] virtual bool Keeps(ReservationKey) const { return false; }
  /// Why the job waits and its position in the queue; empty if it does not wait, or if it has not been
  /// considered yet.
  [[nodiscard]] virtual std::optional<placement::Wait> WaitOf(ReservationKey key) const = 0;
};

}  // namespace trainyard::engine
