#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <string_view>

#include "base/result.h"

/// Reads YAML from outside: the only place that passes text to yaml-cpp.
namespace trainyard::wire {

inline constexpr std::size_t kYamlBytesMax = std::size_t{4} << 20;
/// Nodes after aliases are expanded: a few lines can mean billions of nodes.
inline constexpr std::size_t kYamlNodesMax = 100'000;
/// Nesting of sequences and mappings after aliases are expanded, so that walking the nodes may be recursive.
inline constexpr std::size_t kYamlDepthMax = 100;
inline constexpr std::size_t kYamlScalarBytesMax = std::size_t{1} << 20;

/// The first document of the text; a null node if there is none. The result is a finite tree within the
/// limits above: no alias is inside of what it refers to. kInvalidArgument: "line 2, column 3: REASON". Pure:
/// any thread.
[[nodiscard]] Result<YAML::Node> LoadYaml(std::string_view text);

}  // namespace trainyard::wire
