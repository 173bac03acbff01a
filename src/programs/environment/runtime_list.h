#pragma once

#include <filesystem>
#include <string_view>

#include "programs/environment/available_pythons.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/runtime_version.h"
#include "trainyard/control/v1/runtimes.pb.h"

/// Descriptions of runtime versions, for servers and for commands without one. Blocking: reads the notes of
/// built versions; any thread.
namespace trainyard::environment {

/// Describes one version or tool; ListRuntimes sets whether it is the default.
[[nodiscard]] control::v1::Runtime DescribeRuntime(const std::filesystem::path& environments_dir,
                                                   const RuntimeVersion& runtime,
                                                   const AvailablePythons& available);

/// Lists all versions of the catalogue, then the tools that they refer to. `default_version`: that of jobs
/// that name none.
[[nodiscard]] control::v1::RuntimeList ListRuntimes(const std::filesystem::path& environments_dir,
                                                    const Catalogue& catalogue,
                                                    std::string_view default_version,
                                                    const AvailablePythons& available);

}  // namespace trainyard::environment
