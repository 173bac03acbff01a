#include "replica/program_source.h"

namespace trainyard::replica {

namespace {

environment::EnvironmentRequest EnvironmentOf(const v1::Manifest& manifest) {
  environment::EnvironmentRequest request{.environments_dir = manifest.places().environments_dir(),
                                          .runtime_version = manifest.program().runtime_version()};
  for (const auto& package : manifest.program().packages())
    request.packages.push_back({package.uri(), package.checksum()});
  return request;
}

}  // namespace

std::optional<Prepared> InstalledPrograms::Find(const v1::Manifest& manifest) {
  const environment::EnvironmentRequest request = EnvironmentOf(manifest);
  // First, so that nobody removes what is found. Without it things go on: preparing says what is wrong.
  if (!runtime_use_) {
    if (auto use = environment::RuntimeUse::Begin(request.environments_dir, request.runtime_version))
      runtime_use_.emplace(*std::move(use));
  }
  auto environment = environment::FindEnvironment(request);
  return environment ? std::optional<Prepared>(*std::move(environment)) : std::nullopt;
}

Status InstalledPrograms::Prepare(const v1::Manifest& manifest, const PreparationHooks& hooks) {
  auto made = environment::PrepareEnvironment(EnvironmentOf(manifest), hooks);
  if (!made) return std::unexpected(std::move(made).error());
  return {};
}

}  // namespace trainyard::replica
