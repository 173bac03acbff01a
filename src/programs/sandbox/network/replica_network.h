#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "programs/attempt/attempt_dir.h"

namespace trainyard::replica {

/// A replica's isolated network: a namespace with a loopback and one link ("eth0") to the switch of its job,
/// and no route to anywhere else.
///
///     replica's namespace --veth--> switch's namespace (a bridge, one per job) <--veth-- other replicas
///     127.0.0.1:PORT  --relay process--> the server's Unix sockets
///
/// The switch also has a separate namespace, so that it contains nothing of the machine: no address, no
/// firewall rule. The relays of the job's replicas run in it and keep it alive, so everything disappears with
/// the last of them, however that ends.
///
/// If the server is root, root owns all namespaces. Otherwise a user namespace per job owns them; it is made
/// with the switch and found in the same way, and children do the work in it (network_owner.h). One thread
/// (the supervisor's); the destructor ends the relay.
class ReplicaNetwork {
 public:
  /// A port of the replica's loopback and the Unix socket of the server that it leads to.
  struct Door {
    int port;
    std::string socket;
  };
  struct Plan {
    const AttemptDir& dir;    ///< attempts of the same installation are next to it
    std::int64_t job_uid;     ///< the job that the switch belongs to
    std::string address;      ///< IPv4, in 10.77.0.0/16
    std::vector<Door> doors;  ///< connections to the server
    int lock_fd = -1;         ///< the attempt's lock, which the relay keeps open; -1: none
  };

  /// Makes the namespace, connects it to the switch, which is made if this replica is the first of its job,
  /// and starts the relay. The relay ends with the calling process. kPermissionDenied or kInternal: this
  /// machine does not allow it (the message says which step).
  [[nodiscard]] static Result<ReplicaNetwork> Create(const Plan& plan);
  ReplicaNetwork(ReplicaNetwork&& other) noexcept;
  ReplicaNetwork& operator=(ReplicaNetwork&&) = delete;
  ~ReplicaNetwork();

  /// Descriptors of the network namespace, and of the user namespace that owns it; -1: the machine's owns it.
  [[nodiscard]] int network() const noexcept { return network_.get(); }
  [[nodiscard]] int owner() const noexcept { return owner_.get(); }

 private:
  static Result<ReplicaNetwork> CreateAsRoot(const Plan& plan);
  static Result<ReplicaNetwork> CreateAsUser(const Plan& plan);
  ReplicaNetwork(UniqueFd network, UniqueFd owner, pid_t relay)
      : network_(std::move(network)), owner_(std::move(owner)), relay_(relay) {}

  UniqueFd network_;
  UniqueFd owner_;
  pid_t relay_ = -1;
};

/// Whether this machine allows us to make isolated networks: tries it in a child process.
/// kFailedPrecondition, with a sentence for the operator. Call it before there are other threads.
[[nodiscard]] Status CheckIsolatedNetworks();

}  // namespace trainyard::replica
