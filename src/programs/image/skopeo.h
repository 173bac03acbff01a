#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "programs/image/image.h"
#include "programs/image/reference.h"

/// Runs skopeo, which reads and writes images in registries, archives and local stores. Each call is one
/// process that dies with the calling thread; errors are those of SkopeoFailure, and kFailedPrecondition if
/// it is not installed. Blocking; any thread.

namespace trainyard::image {

/// skopeo prints this if the guard refused a connection (programs/sandbox/network/connect_guard.h): nothing
/// else causes EACCES.
inline constexpr std::string_view kRefusedConnection = "connect: permission denied";

/// Why skopeo failed, from what it printed: a code, and one sentence that says what to do. Knows its messages
/// (versions 1.9 to 1.20) about missing images, credentials, networks, full disks, digests and archives; for
/// others it returns its last line unchanged, as kInternal. Pure: any thread.
/// @param registry  the registry that was contacted; empty if none was
[[nodiscard]] Error SkopeoFailure(const std::vector<std::string>& printed, std::string_view registry);

/// How to access one registry or other store of images.
struct RegistryAccess {
  bool tls = true;
  std::string auth_file;  ///< empty: without credentials
  bool guarded =
      false;  ///< Sources::guarded: connections are watched (programs/sandbox/network/connect_guard.h)
  std::vector<std::string> named{};  ///< registries, "HOST[:PORT]", that may be on this machine
  friend bool operator==(const RegistryAccess&, const RegistryAccess&) = default;
};

/// Decides from Sources: whether connections are watched, whether TLS is used (not for loopback and insecure
/// registries), and which file has credentials for the registry (credentials.h).
[[nodiscard]] RegistryAccess AccessTo(const Sources& sources, const Reference& reference);
/// kFailedPrecondition: the registry's name means this machine, which is not allowed. Addresses are checked
/// when it connects.
[[nodiscard]] Status CheckRegistry(const Reference& reference, const RegistryAccess& access);

class Skopeo {
 public:
  struct Options {
    std::filesystem::path temporary;  ///< its own temporary files; must exist
    int lock_fd = -1;                 ///< inherited and kept open by skopeo
    std::stop_token stop = {};
    std::string guard = "/proc/self/exe";  ///< the program that has `connect-guard`
  };
  /// Looks for it on PATH.
  [[nodiscard]] static Result<Skopeo> Find(Options options);

  /// The same, stopped by another token.
  [[nodiscard]] Skopeo WithStop(std::stop_token stop) const;

  /// Returns the bytes of the manifest or index, or with `config` those of the config for this machine.
  [[nodiscard]] Result<std::string> Inspect(const Reference& reference, const RegistryAccess& access,
                                            bool config, std::chrono::milliseconds timeout) const;

  /// Copies an image into a new OCI layout whose blobs are in `blobs` (BLOBS/sha256/HEX); existing blobs are
  /// not fetched again. Layers are stored unchanged, byte for byte.
  [[nodiscard]] Status Pull(const Reference& reference, const RegistryAccess& access,
                            const std::filesystem::path& layout, const std::filesystem::path& blobs) const;

  /// Copies an image from anywhere to anywhere and keeps its digests. `source_blobs`: the directory of an OCI
  /// layout's blobs; empty: inside the layout.
  [[nodiscard]] Status Push(const Reference& source, const RegistryAccess& source_access,
                            const std::filesystem::path& source_blobs, const Reference& destination,
                            const RegistryAccess& access) const;

  /// Logs in at the registry, and writes `auth_file` if the registry accepts. The password is passed through
  /// a pipe.
  [[nodiscard]] Status Login(const std::string& registry, const RegistryAccess& access,
                             const std::string& user, const std::string& password) const;
  [[nodiscard]] Status Logout(const std::string& registry, const std::string& auth_file) const;

 private:
  Skopeo(std::string program, Options options) : program_(std::move(program)), options_(std::move(options)) {}
  /// The parameters of one call of skopeo. `output`: a descriptor for its stdout.
  struct Call {
    std::string registry{};
    RegistryAccess access{};
    int input = -1;
    int output = -1;
  };
  [[nodiscard]] Status Run(std::vector<std::string> words, const Call& call) const;

  std::string program_;
  Options options_;
};

}  // namespace trainyard::image
