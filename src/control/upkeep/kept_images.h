#pragma once

#include <string>

#include "trainyard/control/v1/machine.pb.h"

namespace trainyard::control {

/// The stored images, most recently used first. Reads their records; blocking.
[[nodiscard]] control::v1::ImageList KeptImages(const std::string& images_dir);

}  // namespace trainyard::control
