#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainyard/algorithms/v1/algorithm.pb.h"

/// The built-in algorithms: Google's images that our own trainers replace. Source: spec algorithms.md. Pure:
/// any thread.
namespace trainyard::algorithms {

/// The folder of Google's images: "gcr.io/cloud-ml-algos/linear_learner_cpu:latest". Source: spec
/// algorithms.md section 1.
inline constexpr std::string_view kImageFolder = "gcr.io/cloud-ml-algos/";

/// Reads one table (its format is in rules/algorithms/README.md). kInvalidArgument with the mistake:
/// malformed, an unknown type, a name that is used twice or that no argument has, a default that is not valid
/// for its argument.
[[nodiscard]] Result<v1::Algorithm> ParseAlgorithm(std::string_view json);

/// All algorithms, ordered by name, in static storage.
[[nodiscard]] const std::vector<v1::Algorithm>& Algorithms();

/// Finds an algorithm by name; null if there is none.
[[nodiscard]] const v1::Algorithm* Find(std::string_view name);

/// The algorithm of an image; the tag is ignored. Null if the image is in another folder or unknown.
[[nodiscard]] const v1::Algorithm* ForImage(std::string_view image_uri);

/// Whether the image is in Google's folder, known or not.
[[nodiscard]] bool IsAlgorithmImage(std::string_view image_uri);

/// The module of its trainer, for `python3 -m`.
[[nodiscard]] std::string ModuleOf(std::string_view name);

/// A file of the trainers' Python package.
struct PackageFile {
  std::string_view name;  ///< relative to the directory in PYTHONPATH: "trainyard_algorithms/arguments.py"
  std::string_view bytes;
};
[[nodiscard]] std::span<const PackageFile> PackageFiles();

}  // namespace trainyard::algorithms
