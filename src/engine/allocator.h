#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "rules/placement/gang.h"
#include "rules/placement/plan.h"
#include "rules/placement/room_end.h"
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

/// What an allocator tells of a reservation, each in a turn of the loop of its own. Any of them may be null.
struct ReservationEvents {
  std::function<void(Grant grant)> on_grant;  ///< at most once
  /// What it waits for is known, or has become something else than a turn or another turn (Wait::is_turn).
  std::function<void()> on_wait;
  /// The room is taken back, or will not come: at most once, after on_grant or instead of it. What ran on a
  /// lost node is reported gone by its host (AttemptHost::OnGone); the job's runner ends the rest.
  std::function<void(Revocation revocation)> on_revoked;
};

/// Why a gang waits that no allocator has looked at yet: one sentence.
inline constexpr const char* kLookingForRoom = "The service is looking for room for the job.";

/// No room yet.
struct Pending {
  std::string reason;  ///< one sentence
};

/// Gives room to whole gangs, and says why not yet. One for a server. Loop thread only. What it can is data:
/// nobody asks for its name. Implementations: local (this machine), slurm (a cluster), fake (tests).
/// Conformance: testing/allocator_conformance.h. docs/adr/0026-two-seams.md.
class Allocator {
 public:
  struct Capabilities {
    bool shared_files = false;      ///< attempts see the server's own files
    bool assigns_devices = false;   ///< a grant says which devices a slot has
    bool own_queue = false;         ///< pending reservations outlive the server
    bool isolated_network = false;  ///< each replica has a network of its own, with the same port
  };

  virtual ~Allocator() = default;

  [[nodiscard]] virtual Capabilities capabilities() const = 0;

  /// Asks for room. Idempotent: a second call with the same key changes nothing but whom the allocator tells,
  /// and answers the grant if there is one. Grants of previous servers (`granted`) have to be asked for in
  /// one turn of the loop, before the first request without one is decided.
  virtual std::variant<Grant, Pending> Reserve(ReservationRequest request, ReservationEvents events) = 0;
  /// The job's runner goes away, the job does not: nobody is told any more. The reservation stays if it is
  /// granted or the allocator has a queue of its own.
  virtual void Detach(ReservationKey key) = 0;
  /// The job needs no room any more, pending or granted: all its replicas have ended. Its devices stay its
  /// own until ReleaseDevices. Nothing for a reservation that there is not.
  virtual void Release(ReservationKey key) = 0;
  /// Nothing of the reservation lives any more (proof: its supervisors are dead, their directories gone):
  /// others may have its devices.
  virtual void ReleaseDevices(ReservationKey key) = 0;

  /// Devices of an orphaned attempt: nobody else gets them until ReleaseDevices(attempt_id). `job_id` is
  /// what waiting jobs are told.
  virtual void HoldDevices(const std::string& attempt_id, const std::string& job_id,
                           const replica::v1::Devices& devices) = 0;
  virtual void ReleaseDevices(const std::string& attempt_id) = 0;

  /// Why and where the job waits; nothing if it doesn't, or if nobody has looked at it yet.
  [[nodiscard]] virtual std::optional<placement::Wait> WaitOf(ReservationKey key) const = 0;
};

}  // namespace trainyard::engine
