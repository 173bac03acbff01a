#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "engine/local/node_settings.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::agent {

/// What an agent finds out about its node. It does so once, before it has a ticket in memory and before it
/// has threads, since it tries features in child processes.
struct NodeFacts {
  v1::Node node;                  ///< without name, port, GPUs and address, which are filled in elsewhere
  std::string container_address;  ///< path of the OCI runtime, or of the daemon's socket
  std::string doors_lacking;      ///< why connections cannot be redirected to other ports; empty: they can
  std::string gcs_lacking;        ///< why replicas cannot see buckets at /gcs; empty: they can
  engine::Isolations isolations;  ///< the isolation of attempts; none is started without it
};

/// Tells FindNodeFacts what to look for.
struct NodeQuestion {
  std::string environments_dir;
  bool has_runtimes =
      true;  ///< false: attempts never use its container runtimes, so these are not looked for
};

/// Inspects the node; takes some 100 ms, and up to kIndexWaitMax if the package index does not answer. Call
/// it in a process of one thread that ends soon (FindWayOutLacking). Needs no privileges. Call it while the
/// process is dumpable, since it uses files in /proc.
[[nodiscard]] Result<NodeFacts> FindNodeFacts(const NodeQuestion& question);

/// The same in a child process, which first runs `forget` so that it does not keep the caller's secret.
/// kInternal: the child process failed.
[[nodiscard]] Result<NodeFacts> FindNodeFactsApart(const NodeQuestion& question, void (*forget)());

/// How long a node's facts are cached: they seldom change, and finding them takes longer than the rest of an
/// agent's start.
inline constexpr std::chrono::minutes kNodeFactsKept{10};

/// Returns the facts cached in the file, if an agent of this account wrote them within kNodeFactsKept;
/// otherwise calls FindNodeFactsApart and caches its result there. A slot's share of the node (CPUs, memory)
/// never comes from the file. The file's directory belongs to the account alone.
[[nodiscard]] Result<NodeFacts> KeptNodeFacts(const std::string& file, const NodeQuestion& question,
                                              void (*forget)());

/// The numeric address at which other nodes reach this one: `own`, the local address of the connection to the
/// server; or, if that is a loopback address, the first other address of an interface that is up; or, if
/// there is none, the loopback address.
[[nodiscard]] std::string AddressForOthers(const std::string& own);

}  // namespace trainyard::agent
