#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "programs/environment/environment.h"
#include "programs/environment/layout.h"
#include "programs/environment/runtime_version.h"

namespace trainyard::environment {

/// layer_probe.py, which is compiled in: it finds out what a package or a layer still needs. The text lives
/// as long as the program.
[[nodiscard]] std::string_view EmbeddedLayerProbe() noexcept;
/// leave_out_cuda.py (RuntimeVersion::without_cuda), likewise.
[[nodiscard]] std::string_view EmbeddedLeaveOutCuda() noexcept;

/// Installs a job's packages, in their order, into a layer over a complete runtime, unless the layer exists.
/// The layer is a separate virtual environment whose sys.path continues with the runtime's, so it contains
/// only packages that the runtime lacks or has in another version, and its contents take precedence
/// (docs/adr/0007-package-layers.md). Logs what it does in the original's words (spec/lifecycle.md section 6,
/// rows 9 and 10). Errors: those of the download, otherwise as BuildRuntime. Blocks.
[[nodiscard]] Status BuildLayer(const Layout& layout, const RuntimeVersion& runtime,
                                const std::vector<EnvironmentRequest::Package>& packages,
                                const PreparationHooks& hooks);

}  // namespace trainyard::environment
