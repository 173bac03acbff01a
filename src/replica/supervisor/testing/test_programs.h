#pragma once

#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "programs/runtimes/program_source.h"
#include "replica/supervisor/testing/test_image.h"

namespace trainyard::replica {

/// A runtime version is a directory of environments_dir with a "bin/python"; "slow" and similar ones have a
/// "prepare" script that creates it: its output is logged, its exit status decides. Images of pods are as
/// elsewhere.
class TestPrograms final : public ProgramSource {
 public:
  std::optional<Prepared> Find(const v1::Manifest& manifest) override {
    if (RunsInPod(manifest)) return installed_.Find(manifest);
    if (manifest.program().has_container())
      return ReadTestImage(manifest.places().images_dir(), manifest.program().container().digest());
    const std::string python = RuntimeFolder(manifest) + "/bin/python";
    if (!std::filesystem::exists(python)) return std::nullopt;
    return environment::Environment{.python = python, .variables = {{"FROM_ENVIRONMENT", "yes"}}};
  }

  Status Prepare(const v1::Manifest& manifest, const PreparationHooks& hooks) override {
    if (RunsInPod(manifest)) return installed_.Prepare(manifest, hooks);
    const std::string folder = RuntimeFolder(manifest);
    // The second one comes too soon to be sent.
    for (const int done : {1, 2})
      hooks.progress({.what = "Installing packages", .done = done, .total = 2, .unit = "packages"});
    for (const auto& package : manifest.program().packages()) {
      hooks.info("Downloading the package: " + package.uri());
      TY_RETURN_IF_ERROR(hooks.download(package.uri(), folder + "/package"));
    }
    const int status = std::system((folder + "/prepare").c_str());
    constexpr int kShell = 128;
    if (WIFSIGNALED(status) || WEXITSTATUS(status) == kShell + SIGKILL)
      return std::unexpected(Error{Code::kAborted, "pip: it was killed (signal 9)", {}});
    if (status != 0)
      return std::unexpected(FailedPrecondition("pip: No matching distribution found for nosuchpkg"));
    hooks.error("WARNING: pip is old");
    return {};
  }

 private:
  static bool RunsInPod(const v1::Manifest& manifest) {
    return manifest.program().container().runtime_kind() == v1::Manifest::POD_CONTAINER;
  }
  static std::string RuntimeFolder(const v1::Manifest& manifest) {
    return manifest.places().environments_dir() + "/" + manifest.program().runtime_version();
  }

  InstalledPrograms installed_;
};

}  // namespace trainyard::replica
