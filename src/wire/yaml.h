#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <string_view>

#include "base/result.h"

/// YAML of others: the one place that hands text to yaml-cpp.
namespace trainyard::wire {

inline constexpr std::size_t kYamlBytesMax = std::size_t{4} << 20;
/// Nodes once the aliases are written out: a few lines can stand for billions of nodes.
inline constexpr std::size_t kYamlNodesMax = 100'000;
/// Sequences and mappings within each other, aliases written out: whoever walks the nodes may call itself.
inline constexpr std::size_t kYamlDepthMax = 100;
inline constexpr std::size_t kYamlScalarBytesMax = std::size_t{1} << 20;

/// The first document of the text; a null node if there is none. What it returns is a finite tree within the
/// limits above: no alias stands within what it refers to. kInvalidArgument: "line 2, column 3: REASON".
/// Pure: any thread.
[[nodiscard]] Result<YAML::Node> LoadYaml(std::string_view text);

}  // namespace trainyard::wire
