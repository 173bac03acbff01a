#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::engine {

/// "HOST:PORT" in lower case: the package indexes and registries of images that the operator named, which may
/// be on the site's own networks.
using NamedTargets = std::set<std::string>;

/// Finds the targets in the settings of pip and uv (environment::ToolVariables) and in --image-map, and adds
/// the index that pip and uv use by default: a site's resolver may have its mirror under that name. Pure: any
/// thread. Source: pip's documentation, "index-url", "extra-index-url", "find-links", "trusted-host"; uv's,
/// "UV_INDEX".
[[nodiscard]] NamedTargets FindNamedTargets(
    const std::map<std::string, std::optional<std::string>>& tool_variables,
    const std::vector<std::pair<std::string, std::string>>& image_map);

}  // namespace trainyard::engine
