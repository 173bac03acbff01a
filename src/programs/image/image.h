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

/// Container images: where they come from, and what is kept of them. One directory per installation.
namespace trainyard::image {

/// An image in the cache, unpacked. It does not change while an ImageUse of it is held.
struct Image {
  std::string digest;  ///< of its manifest: "sha256:..."
  container::ImageConfig config;
  std::vector<std::string>
      layers;                   ///< absolute directories, the lowest first; overlayfs' own form of whiteouts
  std::int64_t size_bytes = 0;  ///< of the layers as they were pulled
};

/// A reference made definite.
struct ResolvedImage {
  std::string
      reference;       ///< mapped, with the digest instead of the tag: "docker.io/library/busybox@sha256:..."
  std::string digest;  ///< of the manifest for this machine's architecture
  std::int64_t size_bytes = 0;
};

/// Where references are looked for.
struct Sources {
  std::string images_dir;  ///< the cache
  std::vector<std::pair<std::string, std::string>>
      mapped;                         ///< --image-map: pattern (jobs::MatchesImage) and reference
  std::string auth_file;              ///< Docker's config.json form; empty: as FindAuthFile looks for it
  std::vector<std::string> insecure;  ///< registries spoken to without TLS; loopback ones always are
  std::string registries_dir;         ///< DATA/registries: what `registries login` wrote; empty: nothing
  /// Who names images has fewer rights than this process: a registry leads to no address of this machine, nor
  /// to one that only this machine reaches, unless `mapped`, `insecure` or the credentials name it.
  bool guarded = false;
};

struct PullHooks {
  std::function<void(std::string_view line)> info;  ///< progress, one line at a time; any thread
  environment::SayProgress progress = {};           ///< bytes that are here, then layers unpacked; any thread
  int lock_fd = -1;                                 ///< inherited by the tools that are started
  std::stop_token stop = {};                        ///< ends the pull: kCancelled
};

/// Resolves a reference: in the cache (by digest), then by `mapped`, then at the registry, an
/// OCI layout or archive (oci:PATH[:TAG], oci-archive:PATH, docker-archive:PATH), or the local engine's store
/// (docker-daemon:NAME, containers-storage:NAME). Blocks, at most `timeout`. Errors say what to do: kNotFound
/// (no such image or tag), kPermissionDenied (credentials), kFailedPrecondition (another architecture),
/// kUnavailable (the registry does not answer), kInvalidArgument. Loaded images (`images load`) are found by
/// name, too. How the image was found (TLS, the file with credentials) is noted in the cache, so pulling the
/// result needs nothing of `sources` but the cache's directory. `stop` ends it: kCancelled.
[[nodiscard]] Result<ResolvedImage> ResolveImage(const Sources& sources, const std::string& reference,
                                                 std::chrono::milliseconds timeout,
                                                 const std::stop_token& stop = {});

/// What answers for the reference after `mapped`: the registry, "HOST[:PORT]", or, for an image on this
/// machine, its transport, "docker-daemon:". Empty: it is no reference. Pure: any thread.
[[nodiscard]] std::string RegistryOf(const Sources& sources, const std::string& reference);

/// Whether the reference, after `mapped`, is of a registry for which this server keeps credentials. Reads a
/// few files.
[[nodiscard]] bool UsesCredentials(const Sources& sources, const std::string& reference);

/// What the reference was when a registry last said so, if that image is complete in the cache: for a
/// registry that does not answer now. Asks nobody; reads a few files.
[[nodiscard]] std::optional<ResolvedImage> FindPulled(const Sources& sources, const std::string& reference);

/// The image of that digest, if it is complete in the cache. Does not block.
[[nodiscard]] std::optional<Image> FindImage(const std::string& images_dir, const std::string& digest);

/// Pulls an image: layers in parallel, each verified by its digest, continuing where a previous pull ended.
/// Other processes that want the same image wait for this pull. Blocks. Errors as ResolveImage;
/// kResourceExhausted (no space), kDataLoss (a digest that does not match).
[[nodiscard]] Result<Image> PullImage(const Sources& sources, const ResolvedImage& image,
                                      const PullHooks& hooks);

}  // namespace trainyard::image
