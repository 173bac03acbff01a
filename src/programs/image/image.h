#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "programs/environment/progress.h"
#include "rules/container/program.h"

/// Container images: resolving, pulling and caching them. One cache directory per installation.
namespace trainyard::image {

/// An image in the cache, unpacked. It does not change while an ImageUse of it is held.
struct Image {
  std::string digest;  ///< of its manifest: "sha256:..."
  container::ImageConfig config;
  std::vector<std::string>
      layers;                   ///< absolute directories, the lowest first; overlayfs' own form of whiteouts
  std::int64_t size_bytes = 0;  ///< of the layers as they were pulled
};

/// A reference that was resolved to a digest.
struct ResolvedImage {
  std::string
      reference;       ///< mapped, with the digest instead of the tag: "docker.io/library/busybox@sha256:..."
  std::string digest;  ///< of the manifest for this machine's architecture
  std::int64_t size_bytes = 0;
  container::ImageConfig program{};  ///< what it runs by itself
};

/// The sources in which references are resolved.
struct Sources {
  std::string images_dir;  ///< the cache
  std::vector<std::pair<std::string, std::string>>
      mapped;                         ///< --image-map: pattern (jobs::MatchesImage) and reference
  std::string auth_file;              ///< Docker's config.json form; empty: as FindAuthFile looks for it
  std::vector<std::string> insecure;  ///< registries contacted without TLS, in addition to loopback ones
  std::string registries_dir;         ///< DATA/registries: credentials of `registries login`; empty: none
  /// Users who name images have fewer rights than this process, so registries must not lead to addresses of
  /// this machine or to addresses that only this machine can reach, unless `mapped`, `insecure` or the
  /// credentials name the registry.
  bool guarded = false;
};

struct PullHooks {
  std::function<void(std::string_view line)> info;  ///< progress, one line at a time; any thread
  environment::SayProgress progress = {};           ///< bytes downloaded, then layers unpacked; any thread
  int lock_fd = -1;                                 ///< inherited by the tools that are started
  std::stop_token stop = {};                        ///< ends the pull: kCancelled
};

/// Resolves a reference: in the cache (by digest), then by `mapped`, then at the registry, an
/// OCI layout or archive (oci:PATH[:TAG], oci-archive:PATH, docker-archive:PATH), or the local engine's store
/// (docker-daemon:NAME, containers-storage:NAME). Blocks, at most `timeout`. Errors say what to do: kNotFound
/// (no such image or tag), kPermissionDenied (credentials), kFailedPrecondition (another architecture),
/// kUnavailable (the registry does not answer), kInvalidArgument. Loaded images (`images load`) are found by
/// name, too. How the image was found (TLS, the file with credentials) is noted in the cache, so pulling the
/// result needs only the cache's directory from `sources`. `stop` ends it: kCancelled.
[[nodiscard]] Result<ResolvedImage> ResolveImage(const Sources& sources, const std::string& reference,
                                                 std::chrono::milliseconds timeout,
                                                 const std::stop_token& stop = {});

/// The origin of the reference after `mapped`: the registry, "HOST[:PORT]", or, for an image on this machine,
/// its transport, "docker-daemon:". Empty: it is no reference. Pure: any thread.
[[nodiscard]] std::string RegistryOf(const Sources& sources, const std::string& reference);

/// Whether the reference, after `mapped`, names a registry for which this server has credentials. Reads a few
/// files.
[[nodiscard]] bool UsesCredentials(const Sources& sources, const std::string& reference);

/// The image to which a registry last resolved the reference, if it is complete in the cache: for use when
/// the registry does not answer. Contacts no registry; reads a few files.
[[nodiscard]] std::optional<ResolvedImage> FindPulled(const Sources& sources, const std::string& reference);

/// The image of that digest, if it is complete in the cache. Does not block.
[[nodiscard]] std::optional<Image> FindImage(const std::string& images_dir, const std::string& digest);

/// Pulls an image: layers in parallel, each verified by its digest, continuing where a previous pull ended.
/// Other processes that want the same image wait for this pull. Blocks. Errors as ResolveImage;
/// kResourceExhausted (no space), kDataLoss (a digest that does not match).
[[nodiscard]] Result<Image> PullImage(const Sources& sources, const ResolvedImage& image,
                                      const PullHooks& hooks);

}  // namespace trainyard::image
