#include "programs/runtimes/oci_packages.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "base/async/file.h"
#include "programs/environment/build_content.h"
#include "programs/environment/build_lock.h"
#include "programs/runtimes/image_packages.h"
#include "programs/runtimes/oci_container.h"

namespace trainyard::replica {

namespace {

namespace fs = std::filesystem;

constexpr const char* kResolverSettings = "/etc/resolv.conf";
constexpr const char* kHosts = "/etc/hosts";

struct Pipe {
  UniqueFd ours;
  UniqueFd theirs;
};

Result<Pipe> OpenPipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(ErrnoError(errno, "pipe"));
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// As the container's program gets them, but for the replica's own.
container::Spec MakeSpec(const image::Image& image, PackageInstallation installation) {
  container::Spec spec{.args = std::move(installation.argv),
                       .environment = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
                       .user = {.home = "/root"}};
  for (const std::string& text : image.config.environment) {
    if (text.starts_with("PATH=")) spec.environment.clear();
    spec.environment.push_back(text);
  }
  spec.environment.emplace_back("HOME=/root");
  for (const char* file : {kResolverSettings, kHosts}) {
    if (access(file, R_OK) == 0)
      spec.binds.push_back({.source = file, .destination = file, .read_only = true});
  }
  for (FileView::Bind& bind : installation.binds)
    spec.binds.push_back({std::move(bind.from), std::move(bind.to), bind.read_only});
  return spec;
}

/// Reads both until both have ended.
void PassOn(std::array<Pipe, 2>& pipes, InstallationLines& lines) {
  std::array<char, 16 << 10> buffer;  // NOLINT(*-member-init): filled by read
  while (pipes[0].ours || pipes[1].ours) {
    std::array<pollfd, 2> ready = {{{.fd = pipes[0].ours ? pipes[0].ours.get() : -1, .events = POLLIN},
                                    {.fd = pipes[1].ours ? pipes[1].ours.get() : -1, .events = POLLIN}}};
    if (poll(ready.data(), ready.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < ready.size(); ++i) {
      if (ready[i].revents == 0) continue;
      const ssize_t size = read(ready[i].fd, buffer.data(), buffer.size());
      if (size > 0) {
        lines.Take(i == 1, {buffer.data(), static_cast<std::size_t>(size)});
      } else if (size == 0 || errno != EINTR) {
        pipes[i].ours.Reset();
      }
    }
  }
}

Result<Sandbox> Start(const OciContainer& container, const std::array<Pipe, 2>& pipes) {
  const Isolation best = geteuid() == 0 ? Isolation::kNamespaces : Isolation::kUserNamespaces;
  for (Isolation isolation = best;; isolation = Isolation::kUserNamespaces) {
    TY_TRY(SandboxPlan plan, PlanContainer(container, isolation));
    plan.isolation = isolation;
    plan.stdout_fd = pipes[0].theirs.get();
    plan.stderr_fd = pipes[1].theirs.get();
    plan.lock_fd = kLockFd;
    Result<Sandbox> sandbox = Sandbox::Start(plan);
    const bool refused = !sandbox && sandbox.error().code == Code::kPermissionDenied;
    if (!refused || isolation == Isolation::kUserNamespaces) return sandbox;
  }
}

Result<ToolEnd> RunInstallation(const OciContainer& container, const PreparationHooks& hooks) {
  TY_TRY(Pipe out, OpenPipe());
  TY_TRY(Pipe err, OpenPipe());
  std::array<Pipe, 2> pipes = {std::move(out), std::move(err)};
  TY_TRY(Sandbox sandbox, Start(container, pipes));
  for (Pipe& pipe : pipes) pipe.theirs.Reset();
  InstallationLines lines(hooks);
  PassOn(pipes, lines);
  const int status = sandbox.Reap().wait_status.value_or(SIGKILL);
  return ToolEnd{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                 .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                 .tail = lines.End()};
}

/// Nothing of the container runs any more. Without root its files are accounts' of its own, and setuid gives
/// nobody anything that is ours.
Status Clean(const std::string& written, const PreparationHooks& hooks) {
  if (geteuid() != 0) return {};
  TY_TRY(const auto lines, environment::CleanContent(written, {.is_image_layer = true}));
  for (const std::string& line : lines) hooks.error(line);
  return {};
}

/// From the container's directory to where it is kept: there as a whole or not at all.
Status Keep(const std::string& written, const std::string& folder, const PreparationHooks& hooks) {
  TY_RETURN_IF_ERROR(Clean(written, hooks));
  TY_TRY(const UniqueFd directory, OpenFile(written, O_RDONLY | O_DIRECTORY));
  if (syncfs(directory.get()) != 0) return std::unexpected(ErrnoError(errno, "syncfs " + written));
  if (rename(written.c_str(), folder.c_str()) != 0)
    return std::unexpected(ErrnoError(errno, "rename to " + folder));
  return SyncDirectory(fs::path(folder).parent_path());
}

Status Build(const v1::Manifest& manifest, const image::Image& image, const std::string& folder,
             const PreparationHooks& hooks) {
  TY_TRY(PackageInstallation installation, StagePackages(manifest, hooks));
  const OciContainer container{.runtime = manifest.program().container().runtime_address(),
                               .folder = manifest.places().attempt_dir() + "/package_container",
                               .image = image,
                               .spec = MakeSpec(image, std::move(installation))};
  auto end = RunInstallation(container, hooks);
  Status done;
  if (const std::string failure = ContainerFailure(container.folder, end ? end->exit_code : 0);
      !failure.empty()) {
    done = std::unexpected(NoPythonFailure(manifest, failure));
  } else if (!end) {
    done = std::unexpected(end.error());
  } else if (!end->ok()) {
    done = std::unexpected(PackageFailure(manifest, *end));
  } else {
    done = Keep(WritableLayer(container.folder), folder, hooks);
  }
  RemoveContainerFolder(container.folder);
  return done;
}

}  // namespace

bool AddPackageLayer(const v1::Manifest& manifest, image::Image& image) {
  std::string folder = PackageLayerFolder(manifest);
  if (access(folder.c_str(), F_OK) != 0) return false;
  image.layers.push_back(std::move(folder));
  return true;
}

Status BuildPackageLayer(const v1::Manifest& manifest, const image::Image& image,
                         const PreparationHooks& hooks) {
  const std::string folder = PackageLayerFolder(manifest);
  std::error_code error;
  if (fs::exists(folder, error)) return {};
  TY_RETURN_IF_ERROR(MakeFolders(fs::path(folder).parent_path()));
  const auto waiting = [&hooks] {
    hooks.info("Waiting for another replica, which is installing the same packages.");
  };
  TY_TRY(const auto lock, environment::BuildLock::Acquire(folder + ".lock", waiting, hooks.stop));
  if (fs::exists(folder, error)) return {};
  return Build(manifest, image, folder, hooks);
}

}  // namespace trainyard::replica
