#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "programs/attempt/attempt_dir.h"

namespace trainyard::replica {

/// A replica's own network: a namespace with its loopback and one link ("eth0") to the switch of its job, and
/// no route to anywhere else.
///
///     replica's namespace --veth--> switch's namespace (a bridge, one per job) <--veth-- other replicas
///     127.0.0.1:PORT  --relay process--> the server's Unix sockets
///
/// The switch has a namespace of its own as well, so that nothing of the machine is in it: no address, no
/// firewall rule. It is kept by the relays of the job's replicas, which live in it, and so everything is gone
/// with the last of them, however that ended.
///
/// Root owns all of them. Those of an ordinary user are owned by a user namespace per job, made with the
/// switch and found as that is, and so are made by children (network_owner.h). One thread (the supervisor's);
/// the destructor ends the relay.
class ReplicaNetwork {
 public:
  /// A port of the replica's loopback and the Unix socket of the server that it leads to.
  struct Door {
    int port;
    std::string socket;
  };
  struct Plan {
    const AttemptDir& dir;    ///< its siblings are the attempts of the same installation
    std::int64_t job_uid;     ///< whose switch
    std::string address;      ///< IPv4, in 10.77.0.0/16
    std::vector<Door> doors;  ///< ways to the server
    int lock_fd = -1;         ///< the attempt's lock: the relay keeps it; -1: none
  };

  /// Makes the namespace, plugs it into the switch, which is made if this replica is the first of its job,
  /// and starts the relay. The relay ends with the calling process.
  /// kPermissionDenied or kInternal: this machine does not allow it (the message says which step).
  [[nodiscard]] static Result<ReplicaNetwork> Create(const Plan& plan);
  ReplicaNetwork(ReplicaNetwork&& other) noexcept;
  ReplicaNetwork& operator=(ReplicaNetwork&&) = delete;
  ~ReplicaNetwork();

  /// Descriptors of the network's namespace, and of the user namespace that owns it; -1: the machine's does.
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

/// Whether this machine allows us to make isolated networks: tries it, in a process of its own.
/// kFailedPrecondition, with a sentence for the operator. Any thread, before there are others.
[[nodiscard]] Status CheckIsolatedNetworks();

}  // namespace trainyard::replica
