#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "base/async/guarded.h"
#include "base/result.h"
#include "programs/image/cache.h"
#include "programs/image/image.h"
#include "programs/image/manifest.h"
#include "programs/image/skopeo.h"

namespace trainyard::image {

/// Pulls the layers of one image into the cache: skopeo fetches several at a time, and each is unpacked as
/// soon as it is complete, on other threads. May be run again after a failure: it continues where the last
/// run stopped. The unpacked directories appear under their names when all of them are complete and durable.
/// One thread.
class LayersPull {
 public:
  struct Place {
    const CacheLayout& layout;  ///< all references outlive the pull
    const Reference& reference;
    const RegistryAccess& access;
    const PullHooks& hooks;
    std::filesystem::path folder;  ///< of this pull: PULLS/HEX
  };
  LayersPull(Place place, Skopeo skopeo) : place_(std::move(place)), skopeo_(std::move(skopeo)) {}

  [[nodiscard]] Result<std::vector<LayerRecord>> Run(const Manifest& manifest, const Config& config);

  /// Whether trying again may help: the registry failed, or a blob was damaged here and has been removed.
  [[nodiscard]] bool CanTryAgain(const Error& error) const;

 private:
  class Watch;
  struct Layer {
    Descriptor blob;
    std::string diff_id;
  };
  /// The results of the threads. A layer is identified by its diff_id.
  struct Done {
    std::map<std::string, std::int64_t> unpacked;  ///< bytes
    std::vector<Error> errors;
    bool had_damaged_blob = false;
    std::size_t wanted = 0;  ///< layers of this fetch
    bool all_fetched = false;
  };

  [[nodiscard]] std::vector<Layer> Missing(const Manifest& manifest, const Config& config);
  [[nodiscard]] std::filesystem::path BlobOf(const Layer& layer) const;
  [[nodiscard]] std::filesystem::path FolderOf(const std::string& diff_id) const;
  void Unpack(const Layer& layer, std::stop_source& stop);
  void SayUnpacked();
  [[nodiscard]] Status Fetch(const std::vector<Layer>& missing);
  [[nodiscard]] Status Publish();
  [[nodiscard]] Result<std::vector<LayerRecord>> Records(const Manifest& manifest,
                                                         const Config& config) const;

  Place place_;
  Skopeo skopeo_;
  Guarded<Done> done_;
};

}  // namespace trainyard::image
