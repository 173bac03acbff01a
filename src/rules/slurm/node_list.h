#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// Reads sinfo's output: the nodes and their resources. Pure: any thread.

namespace trainyard::slurm {

/// Whether a list of nodes in Slurm's form ("node[1-3,07],gpu4", "rack[0-1]n[1-2]") names the node. Pure: any
/// thread. Source: scontrol(1), "show hostnames".
[[nodiscard]] bool NamesNode(std::string_view list, std::string_view node);

/// The fields of each node of each partition: sinfo's format, the same in all versions.
inline constexpr std::string_view kNodeFormat = "%P|%N|%c|%m|%l|%a|%t|%o|%G";

/// GPUs of one type on a node: "gpu:nvidia_tesla_t4:2" in Slurm.
struct NodeGpus {
  std::string type;  ///< empty: Slurm names none
  int count = 0;
  friend auto operator<=>(const NodeGpus&, const NodeGpus&) = default;
};

/// A node as a member of one partition.
struct Node {
  std::string partition;
  bool default_partition = false;
  bool partition_up = false;
  std::int64_t time_limit_minutes = 0;  ///< of the partition; 0: none
  std::string name;
  int cpus = 0;
  std::int64_t memory_mib = 0;
  std::string state;      ///< "idle", "mix", "alloc", "down*", "drain", ... in Slurm's short form
  std::string address{};  ///< its address in Slurm: a name or numeric
  std::vector<NodeGpus> gpus;
  friend bool operator==(const Node&, const Node&) = default;
};

/// Parses the output of `sinfo -N` with its header. kInternal: there is no header, or a line is malformed.
[[nodiscard]] Result<std::vector<Node>> ParseNodeList(std::string_view lines);

/// Whether a job may get the node now or later: it is not down, drained or failed.
[[nodiscard]] bool IsUsable(const Node& node);

/// One usable node of each kind, in the order of the list: nodes of a kind have the same partition and the
/// same sizes. A gang's request depends only on these, and a cluster of 10,000 nodes has few kinds.
[[nodiscard]] std::vector<Node> KindsOf(std::span<const Node> nodes);

/// Parses the GPUs in a node's Gres: "gpu:nvidia_tesla_t4:2(S:0-1),gpu:1,nic:4"; "(null)" has none.
[[nodiscard]] std::vector<NodeGpus> ParseGpus(std::string_view text);

/// "30", "1:30:00", "2-12:00:00", "infinite": parses sinfo's time limits; 0: none. -1: malformed.
[[nodiscard]] std::int64_t ParseTimeLimitMinutes(std::string_view text);

}  // namespace trainyard::slurm
