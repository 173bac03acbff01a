#pragma once

#include <string_view>

namespace trainyard::slurm {

/// Whether a list of nodes as Slurm prints it ("node[1-3,07],gpu4", "rack[0-1]n[1-2]") names the node. Pure:
/// any thread. Source: scontrol(1), "show hostnames".
[[nodiscard]] bool NamesNode(std::string_view list, std::string_view node);

}  // namespace trainyard::slurm
