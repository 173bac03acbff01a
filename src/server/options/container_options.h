#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/local/container_support.h"

namespace CLI {
class App;
}  // namespace CLI

namespace trainyard::server {

/// Options about containers and their images: flags of `trainyard serve`.
struct ContainerOptions {
  engine::ContainerChoice choice;
  std::vector<std::pair<std::string, std::string>> image_map;  ///< pattern (jobs::MatchesImage), reference
  std::vector<std::string> insecure_registries;                ///< contacted without TLS
  std::int64_t images_bytes_max = 0;                           ///< the most that the cache keeps; 0: no limit
  std::chrono::hours images_age_max{0};                        ///< since an image ran last; 0: no limit
};

/// The flags and their texts. Lifetime: from AddTo to the App's parse, then ReadInto.
class ContainerFlags {
 public:
  void AddTo(CLI::App& app);
  /// Converts the texts. An error's field is the flag.
  [[nodiscard]] Status ReadInto(ContainerOptions& options) const;

 private:
  engine::ContainerChoice::Way way_ = engine::ContainerChoice::Way::kAuto;
  std::string runtime_;
  std::string engine_socket_;
  std::vector<std::string> image_map_;
  std::vector<std::string> insecure_registries_;
  double images_gb_max_ = 0;
  std::int64_t images_age_days_ = 30;
};

}  // namespace trainyard::server
