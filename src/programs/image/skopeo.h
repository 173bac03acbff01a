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

/// skopeo, which reads and writes every place where images are. Each call is one process that dies with the
/// calling thread; errors are those of SkopeoFailure, and kFailedPrecondition if it is not installed.
/// Blocking; any thread.

namespace trainyard::image {

/// What it prints where a connection was refused it (programs/sandbox/network/connect_guard.h): nothing else
/// gives EACCES.
inline constexpr std::string_view kRefusedConnection = "connect: permission denied";

/// Why skopeo failed, from what it printed: a code, and one sentence that says what to do. Knows its words
/// (1.9 to 1.20) for a missing image, credentials, networks, full disks, digests and archives; else its last
/// line as it is, as kInternal. Pure: any thread.
/// @param registry  that was asked; empty if none was
[[nodiscard]] Error SkopeoFailure(const std::vector<std::string>& printed, std::string_view registry);

/// How to access one place.
struct RegistryAccess {
  bool tls = true;
  std::string auth_file;  ///< empty: without credentials
  bool guarded =
      false;  ///< Sources::guarded: connections are watched (programs/sandbox/network/connect_guard.h)
  std::vector<std::string> named{};  ///< registries, "HOST[:PORT]", that may be here all the same
  friend bool operator==(const RegistryAccess&, const RegistryAccess&) = default;
};

/// By Sources: whether connections are watched, no TLS for loopback and insecure registries; the file that
/// knows the registry (credentials.h).
[[nodiscard]] RegistryAccess AccessTo(const Sources& sources, const Reference& reference);
/// kFailedPrecondition: a registry that by its name is this machine, and may not be. The rest is seen when it
/// is asked.
[[nodiscard]] Status CheckRegistry(const Reference& reference, const RegistryAccess& access);

class Skopeo {
 public:
  struct Options {
    std::filesystem::path temporary;  ///< its own temporary files; must exist
    int lock_fd = -1;                 ///< inherited and kept open by it
    std::stop_token stop = {};
    std::string guard = "/proc/self/exe";  ///< the program that has `connect-guard`
  };
  /// Looks for it on PATH.
  [[nodiscard]] static Result<Skopeo> Find(Options options);

  /// The same, ended by another token.
  [[nodiscard]] Skopeo WithStop(std::stop_token stop) const;

  /// The manifest's or index's own bytes, or with `config` those of this machine's config.
  [[nodiscard]] Result<std::string> Inspect(const Reference& reference, const RegistryAccess& access,
                                            bool config, std::chrono::milliseconds timeout) const;

  /// Copies an image into a new OCI layout whose blobs are in `blobs` (BLOBS/sha256/HEX); those that are
  /// there are not fetched. Layers stay as they are, byte for byte.
  [[nodiscard]] Status Pull(const Reference& reference, const RegistryAccess& access,
                            const std::filesystem::path& layout, const std::filesystem::path& blobs) const;

  /// Copies anything anywhere, with the digests that it has. `source_blobs`: where an OCI layout's blobs are;
  /// empty: in it.
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
  /// What a call of skopeo is about. `output`: a descriptor for its stdout.
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
