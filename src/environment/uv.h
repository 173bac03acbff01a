#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "environment/available_pythons.h"
#include "environment/layout.h"

namespace trainyard::environment {

/// The version that is installed where there is no uv.
inline constexpr std::string_view kUvVersion = "0.13.8";

/// uv from PATH or from ENVIRONMENTS_DIR/tools; empty if neither has it. No process.
[[nodiscard]] std::filesystem::path FindUv(const Layout& layout);

/// FindUv, else installs it with pip into ENVIRONMENTS_DIR/tools, using that interpreter. Serialised by a
/// lock there. The reason is pip's; a caller without uv goes on with venv and pip. Blocks; any thread.
[[nodiscard]] Result<std::filesystem::path> ObtainUv(const Layout& layout, const Python& python,
                                                     const std::function<void(std::string_view line)>& info,
                                                     const std::stop_token& stop);

/// Variables for uv and pip: caches below the environments directory, the system's certificates, nothing of a
/// virtual environment that this process may run in, and for uv the index that pip is configured to use (uv
/// reads its own settings only).
[[nodiscard]] std::map<std::string, std::optional<std::string>> ToolVariables(const Layout& layout);

}  // namespace trainyard::environment
