#pragma once

#include <boost/asio/thread_pool.hpp>

#include "control/intake/image_lookups.h"

namespace trainyard::control {

/// A registry of images that answers or does not. It has every image but kMissing. Loop thread only.
class SimulatedRegistry {
 public:
  static constexpr const char* kImage = "registry/trainer";
  static constexpr const char* kMissing = "registry/missing";

  SimulatedRegistry();
  [[nodiscard]] const ImageRegistries& registries() const noexcept { return registries_; }
  void SetSilent(bool is_silent) { is_silent_ = is_silent; }

 private:
  boost::asio::thread_pool pool_{1};  ///< simulated time does its work
  ImageRegistries registries_;
  bool is_silent_ = false;
};

}  // namespace trainyard::control
