#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "engine/local/node_settings.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::agent {

/// What an agent finds out about its node once, before it has a ticket in its memory and before it has
/// threads: it tries things in processes of its own.
struct NodeFacts {
  v1::Node node;                  ///< without name, port, GPUs and address, which others know
  std::string container_address;  ///< path of the OCI runtime, or of the daemon's socket
  std::string doors_lacking;      ///< why connections cannot be led to other ports; empty: they can
  std::string gcs_lacking;        ///< why replicas cannot see buckets at /gcs; empty: they can
  engine::Isolations isolations;  ///< what attempts have, and are not started without
};

/// Looks and tries; some 100 ms. Needs no rights, and is to be called while the process is dumpable: what it
/// tries is in /proc.
[[nodiscard]] NodeFacts FindNodeFacts(const std::string& environments_dir);

/// The same in a process of its own, which is given `forget` to run first: the caller's secret is to be none
/// of its. kInternal: it did not end well.
[[nodiscard]] Result<NodeFacts> FindNodeFactsApart(const std::string& environments_dir, void (*forget)());

/// How long a node's facts are kept: what is installed on it seldom changes, and to look takes longer than
/// all else of an agent's start.
inline constexpr std::chrono::minutes kNodeFactsKept{10};

/// Those in the file, if an agent of this account wrote them lately, else FindNodeFactsApart, which are kept
/// there. What a slot has of the node (CPUs, memory) is never from the file, which is in a folder of the
/// account alone.
[[nodiscard]] Result<NodeFacts> KeptNodeFacts(const std::string& file, const std::string& environments_dir,
                                              void (*forget)());

/// The node's numeric address for other nodes: `own`, which the connection to the server has, or if that is
/// the loopback's the first other one of an interface that is up; without any, the loopback is all there is.
[[nodiscard]] std::string AddressForOthers(const std::string& own);

}  // namespace trainyard::agent
