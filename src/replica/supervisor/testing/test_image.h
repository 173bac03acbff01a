#pragma once

#include <optional>
#include <string>
#include <vector>

#include "programs/image/image.h"

namespace trainyard::replica {

/// A handmade image that looks as if it had been pulled: busybox with its commands, in a directory of layers.
class TestImage {
 public:
  /// Creates the lowest layer: /bin with busybox, /etc/passwd with root and "bob" (1000).
  TestImage(std::string images_dir, std::string digest);

  container::ImageConfig config;
  /// Adds a file to the layer; creates layers up to that number.
  void AddFile(int layer, const std::string& path, const std::string& text, bool executable = false);
  /// Marks in the layer that a file of a lower one is deleted.
  void AddWhiteout(int layer, const std::string& path);
  /// Writes what ReadTestImage reads.
  void Write() const;
  [[nodiscard]] std::string Layer(int layer) const;

 private:
  std::string folder_;
};

[[nodiscard]] std::optional<image::Image> ReadTestImage(const std::string& images_dir,
                                                        const std::string& digest);

/// Path of a program on this machine; empty: it is not installed.
[[nodiscard]] std::string FindTool(const std::string& name);

}  // namespace trainyard::replica
