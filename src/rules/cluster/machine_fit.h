#pragma once

#include <string>
#include <string_view>

#include "rules/cluster/machine_type.h"

/// Which machine types and accelerators fit together, as words for errors. Pure: any thread.
namespace trainyard::cluster {

/// For a machine type that does not exist: "There are: a, b." with those of its series, or "Did you mean
/// 'a'?" with the nearest name; empty if no name is near.
[[nodiscard]] std::string MachineTypeHint(std::string_view unknown);

/// "1, 2, 4": how many accelerators of the type the machine type may have; empty: none.
[[nodiscard]] std::string AllowedCounts(std::string_view machine_type, AcceleratorConfig::Type type);

/// "a, b": the Compute Engine types, and those of Vertex AI, that may have exactly these accelerators; "none"
/// if there is no such type.
[[nodiscard]] std::string MachineTypesWith(const Accelerators& accelerators);

/// "a (1, 2), b (8)": all machine types that may have accelerators of the type, with how many; empty: none.
[[nodiscard]] std::string FitsOf(AcceleratorConfig::Type type);

}  // namespace trainyard::cluster
