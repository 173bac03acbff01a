#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainyard/algorithms/v1/algorithm.pb.h"

/// The built-in algorithms: images of the original for which trainers of ours stand. Source: spec
/// algorithms.md. Pure: any thread.
namespace trainyard::algorithms {

/// The folder of the original's images: "gcr.io/cloud-ml-algos/linear_learner_cpu:latest". Source: spec
/// algorithms.md section 1.
inline constexpr std::string_view kImageFolder = "gcr.io/cloud-ml-algos/";

/// Reads one table (rules/algorithms/README.md has its form). kInvalidArgument with what is wrong with it:
/// not of the form, an unknown type, a name that is used twice or that no argument has, a default that its
/// own argument does not take.
[[nodiscard]] Result<v1::Algorithm> ParseAlgorithm(std::string_view json);

/// All, by name. They live as long as the program.
[[nodiscard]] const std::vector<v1::Algorithm>& Algorithms();

/// Null if there is none of that name.
[[nodiscard]] const v1::Algorithm* Find(std::string_view name);

/// Whose image it is, whatever its tag. Null for an image of another folder, and for one that is unknown
/// there.
[[nodiscard]] const v1::Algorithm* ForImage(std::string_view image_uri);

/// Whether it is one of the original's folder, known or not.
[[nodiscard]] bool IsAlgorithmImage(std::string_view image_uri);

/// What `python3 -m` runs for it.
[[nodiscard]] std::string ModuleOf(std::string_view name);

/// A file of the trainers' Python package.
struct PackageFile {
  std::string_view name;  ///< below the folder that PYTHONPATH names: "trainyard_algorithms/arguments.py"
  std::string_view bytes;
};
[[nodiscard]] std::span<const PackageFile> PackageFiles();

}  // namespace trainyard::algorithms
