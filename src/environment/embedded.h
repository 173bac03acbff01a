#pragma once

#include <string_view>

namespace trainyard::environment {

/// Python files that are compiled in. They live as long as the program.
[[nodiscard]] std::string_view EmbeddedSiteCustomize() noexcept;  ///< site/sitecustomize.py
[[nodiscard]] std::string_view EmbeddedLayerProbe() noexcept;     ///< layer_probe.py

}  // namespace trainyard::environment
