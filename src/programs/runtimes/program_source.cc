#include "programs/runtimes/program_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/async/file.h"
#include "base/process/kernel_calls.h"
#include "base/result.h"
#include "programs/environment/build_content.h"
#include "programs/environment/build_lock.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/layout.h"
#include "programs/image/image.h"
#include "programs/runtimes/daemon_image.h"
#include "programs/runtimes/image_packages.h"
#include "programs/runtimes/oci_container.h"
#include "programs/sandbox/build_isolation.h"
#include "programs/sandbox/sandbox.h"

namespace trainyard::replica {

namespace {

namespace fs = std::filesystem;

constexpr const char* kResolverSettings = "/etc/resolv.conf";
constexpr const char* kHosts = "/etc/hosts";

/// The spec of the container that installs packages: like that of the container's program, without the
/// replica's own parts.
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

/// Reads both pipes until both have ended.
void PassOn(std::array<Pipe, 2>& pipes, InstallationLines& lines) {
  std::array<char, 16 << 10> buffer;  // NOLINT(*-member-init): filled by read
  while (pipes[0].read || pipes[1].read) {
    std::array<pollfd, 2> ready = {{{.fd = pipes[0].read ? pipes[0].read.get() : -1, .events = POLLIN},
                                    {.fd = pipes[1].read ? pipes[1].read.get() : -1, .events = POLLIN}}};
    if (poll(ready.data(), ready.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < ready.size(); ++i) {
      if (ready[i].revents == 0) continue;
      const ssize_t size = read(ready[i].fd, buffer.data(), buffer.size());
      if (size > 0) {
        lines.Take(i == 1, {buffer.data(), static_cast<std::size_t>(size)});
      } else if (size == 0 || errno != EINTR) {
        pipes[i].read.Reset();
      }
    }
  }
}

Result<Sandbox> Start(const OciContainer& container, const std::array<Pipe, 2>& pipes) {
  const Isolation best = geteuid() == 0 ? Isolation::kNamespaces : Isolation::kUserNamespaces;
  for (Isolation isolation = best;; isolation = Isolation::kUserNamespaces) {
    TY_TRY(SandboxPlan plan, PlanContainer(container, isolation));
    plan.isolation = isolation;
    plan.stdout_fd = pipes[0].write.get();
    plan.stderr_fd = pipes[1].write.get();
    plan.lock_fd = kLockFd;
    Result<Sandbox> sandbox = Sandbox::Start(plan);
    const bool refused = !sandbox && sandbox.error().code == Code::kPermissionDenied;
    if (!refused || isolation == Isolation::kUserNamespaces) return sandbox;
  }
}

Result<ToolEnd> RunInstallation(const OciContainer& container, InstallationLines& lines) {
  TY_TRY(Pipe out, MakePipe());
  TY_TRY(Pipe err, MakePipe());
  std::array<Pipe, 2> pipes = {std::move(out), std::move(err)};
  TY_TRY(Sandbox sandbox, Start(container, pipes));
  for (Pipe& pipe : pipes) pipe.write.Reset();
  PassOn(pipes, lines);
  const int status = sandbox.Reap().wait_status.value_or(SIGKILL);
  return ToolEnd{.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                 .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                 .tail = lines.End(status == 0)};
}

/// Cleans the container's files; no process of it may run any more. Without root its files belong to
/// subordinate ids, so setuid files grant nothing of ours.
Status Clean(const std::string& written, const PreparationHooks& hooks) {
  if (geteuid() != 0) return {};
  TY_TRY(const auto lines, environment::CleanContent(written, {.is_image_layer = true}));
  for (const std::string& line : lines) hooks.error(line);
  return {};
}

/// Moves the layer from the container's directory to its final place, atomically.
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
  InstallationLines lines(hooks, folder);
  auto end = RunInstallation(container, lines);
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

/// Adds the layer to the image; false: the layer does not exist.
bool AddPackageLayer(const v1::Manifest& manifest, image::Image& image) {
  std::string folder = PackageLayerFolder(manifest);
  if (access(folder.c_str(), F_OK) != 0) return false;
  image.layers.push_back(std::move(folder));
  return true;
}

/// Installs the manifest's packages in a container of the image, by an OCI runtime, and keeps the files that
/// it wrote as the directory PackageLayerFolder: one more layer of the image. Done once, under a lock; a kill
/// at any point leaves only files in the attempt's directory. Blocks. Errors: those of StagePackages, and
/// pip's.
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

bool RunsByDaemon(const v1::Manifest& manifest) {
  return manifest.program().container().runtime_kind() == v1::Manifest::CONTAINER_DAEMON;
}

bool RunsInPod(const v1::Manifest& manifest) {
  return manifest.program().container().runtime_kind() == v1::Manifest::POD_CONTAINER;
}

/// nullopt: CheckPodImage says why.
std::optional<PodImage> FindPodImage(const v1::Manifest& manifest) {
  const v1::Manifest::Container& container = manifest.program().container();
  if (!container.has_image_program() || HasImagePackages(manifest)) return std::nullopt;
  const v1::Manifest::ImageProgram& program = container.image_program();
  return PodImage{.config = {.entrypoint = {program.entrypoint().begin(), program.entrypoint().end()},
                             .command = {program.command().begin(), program.command().end()},
                             .stop_signal = program.stop_signal()}};
}

Status CheckPodImage(const v1::Manifest& manifest) {
  const std::string& image = manifest.program().container().image();
  if (HasImagePackages(manifest))
    return std::unexpected(
        FailedPrecondition("Python packages cannot be installed into the image " + image +
                           " in a pod: put the packages into the image and give containerCommand, or name a "
                           "runtimeVersion in place of the image"));
  return std::unexpected(FailedPrecondition("it is not known what the image " + image +
                                            " runs: an older server created the job; submit it again"));
}

environment::EnvironmentRequest EnvironmentOf(const v1::Manifest& manifest) {
  environment::EnvironmentRequest request{.environments_dir = manifest.places().environments_dir(),
                                          .runtime_version = manifest.program().runtime_version()};
  request.algorithms = manifest.program().built_in_algorithm();
  for (const auto& package : manifest.program().packages())
    request.packages.push_back({package.uri(), package.checksum()});
  return request;
}

/// The command that shows all output of the tools.
std::string ShownBy(const v1::Manifest& manifest) {
  return "trainyard jobs preparation " + manifest.job_id();
}

Status Pull(const v1::Manifest& manifest, const PreparationHooks& hooks) {
  const v1::Manifest::Container& container = manifest.program().container();
  const image::Sources sources{.images_dir = manifest.places().images_dir()};
  const image::ResolvedImage wanted{.reference = container.reference(), .digest = container.digest()};
  image::PullHooks pull{.info = hooks.info, .lock_fd = kLockFd, .stop = hooks.stop};
  if (hooks.progress)
    pull.progress = [&](environment::Progress progress) {
      progress.what += " " + container.image();
      hooks.progress(progress);
    };
  // Find ignores an image that it cannot mark as used; here the reason can be reported. The mark also keeps
  // the image from being removed meanwhile.
  const auto use = image::ImageUse::Begin(sources.images_dir, container.digest());
  const auto pulled =
      use ? image::PullImage(sources, wanted, pull) : Result<image::Image>(std::unexpected(use.error()));
  if (!pulled) {
    Error error = pulled.error();
    error.message = "cannot pull the image " + container.image() + ": " + error.message;
    return std::unexpected(std::move(error));
  }
  if (!HasImagePackages(manifest)) return {};
  TY_RETURN_IF_ERROR(NotePackageImage(manifest));
  return BuildPackageLayer(manifest, *pulled, hooks);
}

}  // namespace

std::optional<Prepared> InstalledPrograms::FindImage(const v1::Manifest& manifest) {
  const std::string& images_dir = manifest.places().images_dir();
  const std::string& digest = manifest.program().container().digest();
  if (!image_use_) {
    auto use = image::ImageUse::Begin(images_dir, digest);
    if (!use) return std::nullopt;  // it may be being removed; Prepare reports what is wrong
    image_use_.emplace(*std::move(use));
  }
  auto image = image::FindImage(images_dir, digest);
  if (!image || !HasImagePackages(manifest)) return image;
  if (!AddPackageLayer(manifest, *image)) return std::nullopt;
  // The note may be missing; without it the layer is only kept for longer.
  static_cast<void>(NotePackageImage(manifest));
  return image;
}

std::optional<Prepared> InstalledPrograms::Find(const v1::Manifest& manifest) {
  if (RunsByDaemon(manifest)) {
    auto image = FindDaemonImage(manifest);
    return image ? std::optional<Prepared>(*std::move(image)) : std::nullopt;
  }
  if (RunsInPod(manifest)) return FindPodImage(manifest);
  if (manifest.program().has_container()) return FindImage(manifest);
  const environment::EnvironmentRequest request = EnvironmentOf(manifest);
  // The mark comes first, so that nobody removes what is found. If it fails, this continues: Prepare reports
  // what is wrong.
  if (!runtime_use_) {
    if (auto use = environment::RuntimeUse::Begin(request.environments_dir, request.runtime_version))
      runtime_use_.emplace(*std::move(use));
  }
  if (!layer_use_ && !request.packages.empty()) {
    if (auto use = environment::LayerUse::Begin(request)) layer_use_.emplace(*std::move(use));
  }
  auto environment = environment::FindEnvironment(request);
  return environment ? std::optional<Prepared>(*std::move(environment)) : std::nullopt;
}

Status InstalledPrograms::Prepare(const v1::Manifest& manifest, const PreparationHooks& hooks) {
  if (RunsByDaemon(manifest)) return PrepareDaemonImage(manifest, hooks);
  if (RunsInPod(manifest)) return CheckPodImage(manifest);
  if (manifest.program().has_container()) return Pull(manifest, hooks);
  const std::string attempts = FolderOf(manifest.places().attempt_dir());
  const auto& hidden_dirs = manifest.places().hidden_dirs();
  std::vector<std::string> hidden(hidden_dirs.begin(), hidden_dirs.end());
  hidden.push_back(FolderOf(attempts));
  const BuildIsolation isolation(ReadIsolation(manifest.places().build_isolation()), std::move(hidden));
  if (const std::string lacks = isolation.Lacks(); !lacks.empty()) hooks.info(lacks);
  PreparationHooks isolated = hooks;
  isolated.isolation = &isolation;
  isolated.shown_by = ShownBy(manifest);
  auto made = environment::PrepareEnvironment(EnvironmentOf(manifest), isolated);
  if (!made) return std::unexpected(std::move(made).error());
  return {};
}

std::string PreparationOutput(const v1::Manifest& manifest) {
  std::string text;
  const auto add = [&text](const std::string& title, const fs::path& folder) {
    const auto output = ReadFile(environment::Layout::Output(folder));
    if (output && !output->empty()) text += (text.empty() ? "== " : "\n== ") + title + "\n" + *output;
  };
  const v1::Manifest::Program& program = manifest.program();
  if (HasImagePackages(manifest))
    add("Packages in the image " + program.container().image(), PackageLayerFolder(manifest));
  if (program.has_container()) return text;
  const environment::EnvironmentRequest request = EnvironmentOf(manifest);
  const environment::Layout layout{request.environments_dir};
  const auto runtime = environment::LoadRuntimeVersion(layout.root, request.runtime_version);
  if (!runtime) return text;
  add("Runtime version " + request.runtime_version, layout.Runtime(*runtime));
  if (!request.packages.empty()) add("Packages", layout.Layer(*runtime, request.packages));
  return text;
}

}  // namespace trainyard::replica
