#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace trainyard::image {

/// Where an image is, in parts. A value.
struct Reference {
  std::string transport;  ///< "docker" (a registry), "oci", "oci-archive", "docker-archive", "docker-daemon",
                          ///< "containers-storage"
  std::string name;       ///< "docker.io/library/busybox", or the path of a layout or archive
  std::string tag;        ///< "latest"; of a layout or archive the name inside, or empty
  std::string digest;     ///< "sha256:...", or empty

  [[nodiscard]] bool IsRegistry() const { return transport == "docker"; }
  /// "docker.io"; empty unless IsRegistry().
  [[nodiscard]] std::string Registry() const;
  /// As people write it: "docker.io/library/busybox:latest", "oci:/a/b:v1"; the digest instead of a
  /// registry's tag, behind all else elsewhere.
  [[nodiscard]] std::string Print() const;
  /// In the form that skopeo takes. It has no place for the digest of what is not in a registry: the reader
  /// must compare it.
  [[nodiscard]] std::string ForSkopeo() const;
  friend bool operator==(const Reference&, const Reference&) = default;
};

/// Reads a reference as Docker does: "busybox" is docker.io/library/busybox:latest. What is not a registry's
/// begins with its transport. kInvalidArgument. Pure: any thread. Source: jobs::CheckImageReference.
[[nodiscard]] Result<Reference> ParseReference(std::string_view text);

/// Whether the registry, "HOST[:PORT]", is on this machine (wire::IsLoopbackName): such registries are used
/// without TLS.
[[nodiscard]] bool IsLoopbackRegistry(std::string_view registry);

/// "sha256:" and 64 lower-case hexadecimal digits: what may be part of a path. Pure: any thread.
[[nodiscard]] bool IsSha256(std::string_view digest);

}  // namespace trainyard::image
