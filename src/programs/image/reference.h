#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct evp_md_ctx_st;

namespace trainyard::image {

/// A reference to an image, split into its parts. A value.
struct Reference {
  std::string transport;  ///< "docker" (a registry), "oci", "oci-archive", "docker-archive", "docker-daemon",
                          ///< "containers-storage"
  std::string name;       ///< "docker.io/library/busybox", or the path of a layout or archive
  std::string tag;        ///< "latest"; for a layout or archive: the name inside, or empty
  std::string digest;     ///< "sha256:...", or empty

  [[nodiscard]] bool IsRegistry() const { return transport == "docker"; }
  /// "docker.io"; empty unless IsRegistry().
  [[nodiscard]] std::string Registry() const;
  /// The text as people write it: "docker.io/library/busybox:latest", "oci:/a/b:v1". A digest replaces a
  /// registry's tag; for other transports it follows at the end.
  [[nodiscard]] std::string Print() const;
  /// The text in skopeo's form. That form cannot express the digest of an image that is not in a registry, so
  /// the caller must compare the digest.
  [[nodiscard]] std::string ForSkopeo() const;
  friend bool operator==(const Reference&, const Reference&) = default;
};

/// Parses a reference as Docker does: "busybox" is docker.io/library/busybox:latest. References to anything
/// but a registry begin with the transport. kInvalidArgument: it is no reference. Pure: any thread. Source:
/// jobs::CheckImageReference.
[[nodiscard]] Result<Reference> ParseReference(std::string_view text);

/// Whether the registry, "HOST[:PORT]", is on this machine (wire::IsLoopbackName): such registries are used
/// without TLS.
[[nodiscard]] bool IsLoopbackRegistry(std::string_view registry);

/// "sha256:" and 64 lower-case hexadecimal digits: such text is safe as part of a path. Pure: any thread.
[[nodiscard]] bool IsSha256(std::string_view digest);

/// SHA-256 of the added bytes, in the form of a digest: "sha256:...". One thread.
class Digester {
 public:
  Digester();
  Digester(Digester&&) noexcept = default;
  Digester& operator=(Digester&&) noexcept = default;
  ~Digester() = default;

  void Add(std::string_view bytes);
  /// Call once.
  [[nodiscard]] std::string Finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const noexcept;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

[[nodiscard]] std::string Sha256(std::string_view bytes);
/// The digest of a file, which may be large. Errors: those of open(2) and read(2).
[[nodiscard]] Result<std::string> Sha256OfFile(const std::string& path);

}  // namespace trainyard::image
