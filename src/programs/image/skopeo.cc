#include "programs/image/skopeo.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "base/process/run_program.h"
#include "base/process/run_tool.h"
#include "programs/image/credentials.h"
#include "programs/image/skopeo_failure.h"

namespace trainyard::image {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kManifestBytesMax = std::size_t{4} << 20;  // the limit of registries

Result<UniqueFd> MemoryFile() {
  UniqueFd file(::memfd_create("trainyard-skopeo", MFD_CLOEXEC));
  if (!file) return std::unexpected(ErrnoError(errno, "memfd_create"));
  return file;
}

Result<std::string> ReadFromStart(int descriptor) {
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t count = ::pread(descriptor, buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected(ErrnoError(errno, "read"));
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > kManifestBytesMax)
      return std::unexpected(Error{Code::kDataLoss, "its manifest is larger than 4 MiB", {}});
  }
}

/// `side`: "", "src-" or "dest-".
void AddAccess(std::vector<std::string>& words, const Reference& reference, const Access& access,
               const std::string& side) {
  if (!reference.IsRegistry()) return;
  if (!access.tls) words.push_back("--" + side + "tls-verify=false");
  if (access.auth_file.empty())
    words.push_back("--" + side + "no-creds");
  else
    words.insert(words.end(), {"--" + side + "authfile", access.auth_file});
}

}  // namespace

Access AccessTo(const Sources& sources, const Reference& reference) {
  if (!reference.IsRegistry()) return {};
  const std::string registry = reference.Registry();
  const bool plain =
      IsLoopbackRegistry(registry) || std::ranges::find(sources.insecure, registry) != sources.insecure.end();
  Access access{.tls = !plain,
                .auth_file = sources.auth_file.empty() ? FindAuthFile(sources.registries_dir, reference.name)
                                                       : sources.auth_file,
                .guarded = sources.guarded};
  if (!sources.guarded) return access;
  access.named = sources.insecure;
  if (NamesRegistry(sources.registries_dir, reference.name)) access.named.push_back(registry);
  for (const auto& [pattern, target] : sources.mapped) {
    const Result<Reference> named = ParseReference(target);
    if (named && named->IsRegistry()) access.named.push_back(named->Registry());
  }
  return access;
}

Status CheckRegistry(const Reference& reference, const Access& access) {
  const std::string registry = reference.Registry();
  if (!access.guarded || !IsLoopbackRegistry(registry)) return {};
  if (std::ranges::find(access.named, registry) != access.named.end()) return {};
  return std::unexpected(SkopeoFailure({std::string(kRefusedConnection)}, registry));
}

Result<Skopeo> Skopeo::Find(Options options) {
  if (const std::string program = FindProgram("skopeo"); !program.empty())
    return Skopeo(program, std::move(options));
  return std::unexpected(
      FailedPrecondition("images are pulled with skopeo, which is not installed (Debian, Ubuntu: apt-get "
                         "install skopeo; Fedora: dnf install "
                         "skopeo)"));
}

Skopeo Skopeo::WithStop(std::stop_token stop) const {
  Skopeo other = *this;
  other.options_.stop = std::move(stop);
  return other;
}

Status Skopeo::Run(std::vector<std::string> words, const Call& call) const {
  const bool knows_policy = words.front() != "login" && words.front() != "logout";
  std::vector<std::string> argv;
  if (call.access.guarded) {
    argv = {options_.guard, "connect-guard"};
    argv.insert(argv.end(), call.access.named.begin(), call.access.named.end());
    argv.emplace_back("--");
  }
  argv.insert(argv.end(), {program_, "--tmpdir", options_.temporary.string()});
  if (knows_policy) argv.emplace_back("--insecure-policy");  // signatures are not required
  argv.insert(argv.end(), words.begin(), words.end());
  ToolCommand command{.argv = std::move(argv),
                      .variables = {{"TMPDIR", options_.temporary.string()}},
                      .inherited = options_.lock_fd,
                      .input = call.input,
                      .output = call.output};
  TY_TRY(const ToolEnd end, RunTool(command, {}, {}, options_.stop));
  if (end.ok()) return {};
  if (end.signal != 0)
    return std::unexpected(Unavailable("skopeo was ended by signal " + std::to_string(end.signal)));
  return std::unexpected(SkopeoFailure(end.tail, call.registry));
}

Result<std::string> Skopeo::Inspect(const Reference& reference, const Access& access, bool config,
                                    std::chrono::milliseconds timeout) const {
  std::vector<std::string> words{"--command-timeout", std::to_string(timeout.count()) + "ms", "inspect",
                                 "--raw"};
  if (config) words.emplace_back("--config");
  if (reference.IsRegistry()) {
    if (!access.tls) words.emplace_back("--tls-verify=false");
    if (access.auth_file.empty())
      words.emplace_back("--no-creds");
    else
      words.insert(words.end(), {"--authfile", access.auth_file});
  }
  words.push_back(reference.ForSkopeo());
  TY_TRY(const UniqueFd output, MemoryFile());
  TY_RETURN_IF_ERROR(
      Run(std::move(words), {.registry = reference.Registry(), .access = access, .output = output.get()}));
  return ReadFromStart(output.get());
}

Status Skopeo::Pull(const Reference& reference, const Access& access, const fs::path& layout,
                    const fs::path& blobs) const {
  std::vector<std::string> words{"copy",
                                 "--quiet",
                                 "--remove-signatures",
                                 "--dest-oci-accept-uncompressed-layers",
                                 "--dest-shared-blob-dir",
                                 blobs.string()};
  AddAccess(words, reference, access, "src-");
  words.insert(words.end(), {reference.ForSkopeo(), "oci:" + layout.string() + ":image"});
  return Run(std::move(words), {.registry = reference.Registry(), .access = access});
}

Status Skopeo::Push(const Reference& source, const Access& source_access, const fs::path& source_blobs,
                    const Reference& destination, const Access& access) const {
  std::vector<std::string> words{"copy", "--quiet"};
  // Docker's own archives have manifests of another form.
  if (source.transport.starts_with("oci") && !destination.transport.starts_with("docker-"))
    words.emplace_back("--preserve-digests");
  if (!source_blobs.empty()) words.insert(words.end(), {"--src-shared-blob-dir", source_blobs.string()});
  AddAccess(words, source, source_access, "src-");
  AddAccess(words, destination, access, "dest-");
  words.insert(words.end(), {source.ForSkopeo(), destination.ForSkopeo()});
  return Run(std::move(words), {.registry = destination.Registry(), .access = access});
}

Status Skopeo::Login(const std::string& registry, const Access& access, const std::string& user,
                     const std::string& password) const {
  TY_TRY(const UniqueFd input, MemoryFile());
  TY_RETURN_IF_ERROR(WriteAll(input.get(), password));
  ::lseek(input.get(), 0, SEEK_SET);
  std::vector<std::string> words{"login", "--password-stdin", "--username",
                                 user,    "--authfile",       access.auth_file};
  if (!access.tls) words.emplace_back("--tls-verify=false");
  words.push_back(registry);
  return Run(std::move(words), {.registry = registry, .access = access, .input = input.get()});
}

Status Skopeo::Logout(const std::string& registry, const std::string& auth_file) const {
  return Run({"logout", "--authfile", auth_file, registry}, {.registry = registry});
}

}  // namespace trainyard::image
