#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "programs/image/image.h"

/// Images that come from files and go to registries. Blocking; any thread.
namespace trainyard::image {

/// An image inside a file or directory.
struct ArchivedImage {
  std::string reference;           ///< "oci-archive:/a/b.tar:NAME": for ResolveImage
  std::vector<std::string> names;  ///< "localhost/tiny:v1"; empty: it has none
};

/// Lists the images in an archive of `docker save`, podman, buildah or skopeo: an OCI layout (a directory, or
/// a tar of one) or a docker archive. Errors: kNotFound; kInvalidArgument if it is none of them.
[[nodiscard]] Result<std::vector<ArchivedImage>> LookIntoArchive(const std::string& path);

/// Loads an archive's image into the cache, where jobs find it by its names or digest, and where it stays
/// until it is removed explicitly. Errors as PullImage.
[[nodiscard]] Result<Image> LoadImage(const Sources& sources, const ArchivedImage& archived,
                                      const PullHooks& hooks);

/// Copies an image to a registry: `source` is in the cache (FindListed), or a reference to something that is
/// not a registry. Returns its reference there: "registry/name@sha256:...". Errors as ResolveImage.
[[nodiscard]] Result<std::string> PushImage(const Sources& sources, const std::string& source,
                                            const std::string& destination, const PullHooks& hooks);

}  // namespace trainyard::image
