#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <string>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "base/result.h"
#include "trainyard/replica/v1/replica.pb.h"

/// Finds what runs containers on this machine. Reads the machine; blocking.
namespace trainyard::engine {

/// The operator's choice of a container runtime.
struct ContainerChoice {
  enum class Way {
    kAuto,  ///< an OCI runtime, else a container daemon's socket, else none
    kOci,
    kApi,
    kOff,
  };
  Way way = Way::kAuto;
  std::string runtime;        ///< path or name of crun or runc; empty: whichever is found
  std::string engine_socket;  ///< empty: DOCKER_HOST, Docker's own, podman's
};

struct ContainerSupport {
  replica::v1::Manifest::ContainerRuntime kind =
      replica::v1::Manifest::CONTAINER_RUNTIME_UNSPECIFIED;  ///< unspecified: nothing runs containers
  std::string address;  ///< path of the OCI runtime, or of the daemon's socket
  std::string shown;    ///< "crun 1.8.1", "the service at /var/run/docker.sock"
  std::string lacking;  ///< if nothing does: a sentence that says why, and what to do
};

/// Finds, according to the choice, an OCI runtime that answers to --version, or a container daemon that
/// answers a ping at its socket. If replicas have isolated networks, only an OCI runtime can be used.
/// kFailedPrecondition: the operator asks for one (by a way, a path or a socket) that does not work. If jobs
/// have separate users (`job_users`) they cannot be containers: then none is found.
[[nodiscard]] Result<ContainerSupport> FindContainerSupport(const ContainerChoice& choice,
                                                            replica::v1::Manifest::Network network,
                                                            bool job_users);

/// Prints one line for the operator: what runs containers, or why nothing does.
void SayContainerSupport(const ContainerSupport& containers);

/// Looks for a container runtime for all jobs that need one: one look at a time, whose result all callers get
/// that ask while it is under way. Loop thread only; looks run on a pool. The destructor waits for the
/// current look.
class ContainerProbe {
 public:
  /// Blocks for seconds if an engine's socket exists and nobody answers.
  using Look = std::function<Result<ContainerSupport>()>;
  /// Called once for each look, on the loop, before the callers of Ask resume.
  using Take = std::function<void(const Result<ContainerSupport>& found)>;

  /// `pool` and what `take` changes outlive it.
  ContainerProbe(boost::asio::any_io_executor loop, boost::asio::thread_pool& pool, Look look, Take take);

  /// Returns when a look has ended, at the latest after `wait_max`; the look then continues for later
  /// callers.
  boost::asio::awaitable<void> Ask(std::chrono::milliseconds wait_max);

 private:
  boost::asio::awaitable<void> Run();

  boost::asio::thread_pool& pool_;
  Look look_;
  Take take_;
  bool looking_ = false;
  Event ended_;  ///< the last look
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
