#pragma once

#include <optional>
#include <string>
#include <vector>

#include "programs/image/image.h"

namespace trainyard::replica {

/// An image made by hand, as if it had been pulled: busybox with its commands, in a directory of layers.
class TestImage {
 public:
  /// Makes the lowest layer: /bin with busybox, /etc/passwd with root and "bob" (1000).
  TestImage(std::string images_dir, std::string digest);

  container::ImageConfig config;
  /// Adds a file to the layer; new layers are made up to that number.
  void AddFile(int layer, const std::string& path, const std::string& text, bool executable = false);
  /// Says in the layer that a file of a lower one is gone.
  void AddWhiteout(int layer, const std::string& path);
  /// What ReadTestImage finds.
  void Write() const;
  [[nodiscard]] std::string Layer(int layer) const;

 private:
  std::string folder_;
};

[[nodiscard]] std::optional<image::Image> ReadTestImage(const std::string& images_dir,
                                                        const std::string& digest);

/// Path of a program of this machine; empty: it is not installed.
[[nodiscard]] std::string FindTool(const std::string& name);

}  // namespace trainyard::replica
