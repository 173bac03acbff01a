#include "rules/algorithms/algorithm.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/wire/json.h"
#include "rules/algorithms/check_arguments.h"
#include "rules/algorithms/package_files.h"
#include "rules/jobs/images.h"

namespace trainyard::algorithms {
namespace {

constexpr std::string_view kPackage = "trainyard_algorithms";
constexpr std::string_view kTables = "trainyard_algorithms/tables/";
constexpr std::string_view kTypes[] = {"flag", "bool", "int", "float", "string", "path", "ints", "floats"};

Error Bad(std::string message) { return InvalidArgument({}, std::move(message)); }

Status CheckArgument(const v1::Algorithm& algorithm, const v1::Argument& argument) {
  const std::string name = "argument '" + argument.name() + "'";
  if (std::ranges::find(kTypes, argument.type()) == std::end(kTypes))
    return std::unexpected(Bad(name + " has no type that there is: '" + argument.type() + "'"));
  if (argument.help().empty()) return std::unexpected(Bad(name + " has no help"));
  if (!argument.needs().empty() && FindArgument(algorithm, argument.needs()) == nullptr)
    return std::unexpected(Bad(name + " requires what there is not"));
  for (const auto& [other, value] : argument.required_when())
    if (FindArgument(algorithm, other) == nullptr)
      return std::unexpected(Bad(name + " is required by what there is not"));
  if (!argument.has_default_()) return {};
  const Status good = CheckValue(argument, DefaultOf(argument));
  return good ? Status{}
              : std::unexpected(Bad(name + " has a default that it does not take: " + good.error().message));
}

std::vector<v1::Algorithm> ReadTables() {
  std::vector<v1::Algorithm> all;
  for (const auto& file : package::Files()) {
    if (!file.name.starts_with(kTables)) continue;
    Result<v1::Algorithm> read = ParseAlgorithm(file.bytes);
    TY_CHECK(read.has_value());  // algorithm_test.cc reports which one and why
    all.push_back(*std::move(read));
  }
  std::ranges::sort(all, {}, &v1::Algorithm::name);
  return all;
}

}  // namespace

Result<v1::Algorithm> ParseAlgorithm(std::string_view json) {
  v1::Algorithm algorithm;
  TY_RETURN_IF_ERROR(wire::ParseJson(json, algorithm));
  if (algorithm.name().empty() || algorithm.images().empty() || algorithm.framework().empty() ||
      algorithm.model().empty())
    return std::unexpected(Bad("name, images, framework and model must be given"));
  if (algorithm.workers() != "none" && algorithm.workers() != "at_least_one")
    return std::unexpected(Bad("\"workers\" must be none or at_least_one"));
  std::set<std::string> names;
  for (const v1::Argument& argument : algorithm.arguments()) {
    for (const std::string& alias : argument.aliases())
      if (!names.insert(alias).second) return std::unexpected(Bad("the name '" + alias + "' is used twice"));
    if (argument.name().empty() || !names.insert(argument.name()).second)
      return std::unexpected(Bad("the name '" + argument.name() + "' is used twice"));
    TY_RETURN_IF_ERROR(CheckArgument(algorithm, argument));
  }
  for (const v1::Sum& sum : algorithm.sums())
    for (const std::string& name : sum.arguments())
      if (!names.contains(name)) return std::unexpected(Bad("a sum has '" + name + "', which there is not"));
  return algorithm;
}

const std::vector<v1::Algorithm>& Algorithms() {
  static const std::vector<v1::Algorithm> kAll = ReadTables();
  return kAll;
}

const v1::Algorithm* Find(std::string_view name) {
  const auto found = std::ranges::find(Algorithms(), name, &v1::Algorithm::name);
  return found == Algorithms().end() ? nullptr : &*found;
}

const v1::Algorithm* ForImage(std::string_view image_uri) {
  if (!IsAlgorithmImage(image_uri)) return nullptr;  // most jobs: they need no tables
  const auto is_image = [image_uri](const std::string& name) {
    return jobs::MatchesImage(std::string(kImageFolder) + name, image_uri);
  };
  const auto found = std::ranges::find_if(Algorithms(), [&](const v1::Algorithm& algorithm) {
    return std::ranges::any_of(algorithm.images(), is_image);
  });
  return found == Algorithms().end() ? nullptr : &*found;
}

bool IsAlgorithmImage(std::string_view image_uri) { return image_uri.starts_with(kImageFolder); }

std::string ModuleOf(std::string_view name) { return std::string(kPackage) + "." + std::string(name); }

std::span<const PackageFile> PackageFiles() {
  static const std::vector<PackageFile> kFiles = [] {
    std::vector<PackageFile> files;
    for (const auto& file : package::Files()) files.push_back({file.name, file.bytes});
    return files;
  }();
  return kFiles;
}

}  // namespace trainyard::algorithms
