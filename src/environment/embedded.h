#pragma once

#include <span>
#include <string_view>

namespace trainyard::environment {

/// One file of data/runtimes, compiled in.
struct EmbeddedRuntime {
  std::string_view version;  ///< the file's stem
  std::string_view json;
};

/// Texts that are compiled in (embed.cmake). They live as long as the program.
[[nodiscard]] std::span<const EmbeddedRuntime> EmbeddedRuntimes() noexcept;
[[nodiscard]] std::string_view EmbeddedSiteCustomize() noexcept;  ///< site/sitecustomize.py
[[nodiscard]] std::string_view EmbeddedLayerProbe() noexcept;     ///< layer_probe.py

}  // namespace trainyard::environment
