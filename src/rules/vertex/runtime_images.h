#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trainyard::vertex {

/// A runtime version of this server with its Python.
struct Runtime {
  std::string version;  ///< "2.11"
  std::string python;   ///< "3.7"; empty: the version's own default
  friend bool operator==(const Runtime&, const Runtime&) = default;
};

/// The runtime version that runs packages in place of a pre-built image for training
/// ("us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-8:latest", also of europe, asia and
/// gcr.io/cloud-aiplatform). Nullopt for any other image. Pure: any thread. Source: spec vertex.md section 5.
[[nodiscard]] std::optional<Runtime> RuntimeOf(std::string_view image);

/// A pre-built image with that runtime version; empty if there is none. Pure: any thread.
[[nodiscard]] std::string ImageOf(std::string_view runtime_version);

/// Whether it is the image of a reduction server, which cannot be downloaded outside of Google. Pure: any
/// thread. Source: spec vertex.md section 5.
[[nodiscard]] bool IsReductionServer(std::string_view image);

}  // namespace trainyard::vertex
