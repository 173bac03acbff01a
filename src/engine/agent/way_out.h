#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "net/http/client_request.h"

namespace trainyard::agent {

/// How long a node's own way to the package index may take to answer.
inline constexpr std::chrono::seconds kIndexWaitMax{3};

/// The index where pip and uv look for packages first; empty: they have none, or only directories.
/// `tool_variables`: environment::ToolVariables. Pure: any thread. Source: uv's documentation,
/// "UV_DEFAULT_INDEX", "UV_INDEX_URL"; pip's, "index-url".
[[nodiscard]] std::optional<http::Endpoint> FindIndex(
    const std::map<std::string, std::optional<std::string>>& tool_variables);

/// Why builds on this node have to download through the server; empty: the index answers here, or the tools
/// have a proxy or no index. A default route alone says nothing: behind it there may be nobody. Looks up the
/// index and connects to it within `wait_max`. After that a thread may still wait for the system's resolver,
/// which has no deadline: call it in a process that ends soon.
[[nodiscard]] std::string FindWayOutLacking(
    const std::map<std::string, std::optional<std::string>>& tool_variables,
    std::chrono::milliseconds wait_max = kIndexWaitMax);

}  // namespace trainyard::agent
