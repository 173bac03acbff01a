#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

#include "base/result.h"

/// Reads untrusted YAML. Only this code passes text to yaml-cpp.
namespace trainyard::wire {

inline constexpr std::size_t kYamlBytesMax = std::size_t{4} << 20;
/// Nodes after aliases are expanded: a few lines can mean billions of nodes.
inline constexpr std::size_t kYamlNodesMax = 100'000;
/// Nesting of sequences and mappings after aliases are expanded, so that walking the nodes may be recursive.
inline constexpr std::size_t kYamlDepthMax = 100;
inline constexpr std::size_t kYamlScalarBytesMax = std::size_t{1} << 20;

/// The first document of the text; a null node if there is none. The result is a finite tree within the
/// limits above: no alias is inside the node that it refers to. kInvalidArgument: "line 2, column 3: REASON".
/// Pure: any thread.
[[nodiscard]] Result<YAML::Node> LoadYaml(std::string_view text);

/// Why a text cannot be read. Lines and columns are counted from 1; 0: the text as a whole.
struct YamlMistake {
  int line = 0;
  int column = 0;
  std::string reason;
  friend bool operator==(const YamlMistake&, const YamlMistake&) = default;
};

/// Like LoadYaml, for a file that people edit, so ignored parts are errors: nothing may follow the document.
/// Aliases are errors too, so that each node's mark is its position in the text. Pure: any thread.
[[nodiscard]] std::expected<YAML::Node, YamlMistake> LoadOnlyDocument(std::string_view text);

}  // namespace trainyard::wire
