#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "programs/image/image.h"

/// Parsers for manifests, indexes and configs of registries and archives. Pure: any thread. Source: OCI image
/// spec (manifest.md, image-index.md, config.md); Docker's image manifest version 2 schema 2.
namespace trainyard::image {

struct Descriptor {
  std::string digest;  ///< checked by IsSha256
  std::int64_t size = 0;
  friend bool operator==(const Descriptor&, const Descriptor&) = default;
};

struct Manifest {
  Descriptor config;
  std::vector<Descriptor> layers;  ///< the lowest first
  /// The size of all layers as they are stored.
  [[nodiscard]] std::int64_t LayerBytes() const;
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

struct Config {
  std::string os;
  std::string architecture;           ///< "amd64"
  std::vector<std::string> diff_ids;  ///< of the layers, unpacked: checked by IsSha256
  container::ImageConfig program;
};

/// "amd64" for this machine: the name that images use.
[[nodiscard]] std::string ThisArchitecture();

/// Whether the text is a list of manifests for several architectures.
[[nodiscard]] bool IsIndex(std::string_view text);

/// The manifest for Linux on `architecture` in an index; if several fit, the first. kFailedPrecondition names
/// the architectures that exist.
[[nodiscard]] Result<Descriptor> ChooseManifest(std::string_view index, std::string_view architecture);

/// kFailedPrecondition: Docker's schema 1, not an image, encrypted layers, more than 127 layers. kDataLoss:
/// malformed.
[[nodiscard]] Result<Manifest> ParseManifest(std::string_view text);

/// kDataLoss: it cannot be read.
[[nodiscard]] Result<Config> ParseConfig(std::string_view text);

/// kFailedPrecondition unless the image is for Linux on `architecture`.
[[nodiscard]] Status CheckArchitecture(const Config& config, std::string_view architecture);

}  // namespace trainyard::image
