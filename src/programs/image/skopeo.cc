#include "programs/image/skopeo.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "base/process/run_program.h"
#include "base/process/run_tool.h"
#include "programs/image/credentials.h"

namespace trainyard::image {

namespace {

constexpr std::size_t kReasonLengthMax = 600;

/// A message of skopeo, what it means, and what to do. {registry} is replaced by the registry's name.
struct Row {
  std::string_view sign;
  Code code;
  std::string_view reason;
};

constexpr std::string_view kNoCredentials =
    "{registry} requires other credentials, or there is no such image (run: trainyard "
    "registries "
    "login {registry})";
constexpr std::string_view kTlsOrNot =
    "{registry} does not use TLS; pass --insecure-registry {registry} if that is intended";

/// The first matching row wins.
constexpr std::array kRows{
    Row{kRefusedConnection, Code::kFailedPrecondition,
        "{registry} has an address of the server's machine, or one that only this machine can reach. If that "
        "is intended, the server's operator can allow the registry: trainyard serve --insecure-registry "
        "{registry} (without TLS), --image-map, or trainyard registries login {registry}"},
    Row{"connections cannot be watched on this machine", Code::kFailedPrecondition,
        "with logins enabled, the server contacts registries only if the kernel can watch connections "
        "(seccomp), which this machine does not allow"},
    Row{"no space left on device", Code::kResourceExhausted,
        "the disk is full; remove images that are not used (run: trainyard images remove --unused)"},
    Row{"disk quota exceeded", Code::kResourceExhausted,
        "the disk quota is used up; remove images that are not used (run: trainyard images remove --unused)"},
    Row{"toomanyrequests", Code::kUnavailable,
        "{registry} limits how often images are pulled; log in there, or wait (run: trainyard registries "
        "login {registry})"},
    Row{"Digest did not match", Code::kDataLoss,
        "{registry} sent data that does not match its digest; push the image again"},
    Row{"does not match provided manifest digest", Code::kDataLoss,
        "{registry} sent a manifest that does not match its digest; push the image again"},
    Row{"manifest unknown", Code::kNotFound, "there is no such image or tag in {registry}"},
    Row{"name unknown", Code::kNotFound, "there is no such image in {registry}"},
    Row{"repository name not known", Code::kNotFound, "there is no such image in {registry}"},
    Row{"blob unknown", Code::kDataLoss, "{registry} has lost a layer of it; push the image again"},
    Row{"Error fetching blob: invalid status code from registry 404", Code::kDataLoss,
        "{registry} has lost a layer of it; push the image again"},
    Row{"fetching blob: invalid status code from registry 404", Code::kDataLoss,
        "{registry} has lost a layer of it; push the image again"},
    Row{"invalid username/password", Code::kPermissionDenied,
        "{registry} rejects this user name and password (run: trainyard registries login {registry})"},
    Row{"unauthorized", Code::kPermissionDenied, kNoCredentials},
    Row{"authentication required", Code::kPermissionDenied, kNoCredentials},
    Row{"requested access to the resource is denied", Code::kPermissionDenied, kNoCredentials},
    Row{"denied:", Code::kPermissionDenied, kNoCredentials},
    Row{"403 (Forbidden)", Code::kPermissionDenied, kNoCredentials},
    Row{"server gave HTTP response to HTTPS client", Code::kFailedPrecondition, kTlsOrNot},
    Row{"first record does not look like a TLS handshake", Code::kFailedPrecondition, kTlsOrNot},
    Row{"x509:", Code::kFailedPrecondition,
        "{registry} has a certificate that this machine does not trust; install its authority's certificate "
        "in /etc/containers/certs.d/{registry}/ca.crt"},
    Row{"Cannot connect to the Docker daemon", Code::kUnavailable,
        "no Docker daemon answers on this machine; start it, or push the image to a registry"},
    Row{"No such image", Code::kNotFound, "the Docker daemon has no such image"},
    Row{"does not resolve to an image ID", Code::kNotFound, "podman's store has no such image"},
    Row{"no such host", Code::kUnavailable, "there is no host named {registry}"},
    Row{"connection refused", Code::kUnavailable, "{registry} does not answer: connection refused"},
    Row{"network is unreachable", Code::kUnavailable, "{registry} cannot be reached: no network"},
    Row{"no route to host", Code::kUnavailable, "{registry} cannot be reached: no route to it"},
    Row{"i/o timeout", Code::kUnavailable, "{registry} does not answer: timeout"},
    Row{"context deadline exceeded", Code::kUnavailable, "{registry} does not answer in time"},
    Row{"TLS handshake timeout", Code::kUnavailable, "{registry} does not answer: timeout"},
    Row{"connection reset by peer", Code::kUnavailable, "{registry} closed the connection"},
    Row{"broken pipe", Code::kUnavailable, "{registry} closed the connection"},
    Row{"invalid status code from registry 5", Code::kUnavailable, "{registry} has an internal error"},
    Row{"received unexpected HTTP status: 5", Code::kUnavailable, "{registry} has an internal error"},
    Row{"untarring file", Code::kInvalidArgument, "the image archive is incomplete"},
    Row{"loading tar component", Code::kInvalidArgument, "the image archive is incomplete"},
    Row{"archive/tar: invalid tar header", Code::kInvalidArgument, "it is not an image archive"},
    Row{"unexpected EOF", Code::kUnavailable, "{registry} closed the connection too early"},
    Row{": EOF", Code::kUnavailable, "{registry} closed the connection"},
    Row{"no descriptor found for reference", Code::kNotFound, "there is no image of that name in it"},
    Row{"more than one image in oci", Code::kInvalidArgument, "it has several images; add :NAME"},
    Row{"\" not found", Code::kNotFound, "there is no image of that name in it"},
    Row{"no such file or directory", Code::kNotFound, "there is no such file or directory"},
    Row{"permission denied", Code::kPermissionDenied, "this user may not read it"},
    Row{"invalid reference format", Code::kInvalidArgument, "it is not the name of an image"},
};

/// msg="..." of its log line, without the quoting.
std::string Message(std::string_view line) {
  constexpr std::string_view kKey = "msg=\"";
  const std::size_t begin = line.find(kKey);
  if (begin == std::string_view::npos) return std::string(line);
  std::string message;
  for (std::size_t i = begin + kKey.size(); i < line.size() && line[i] != '"'; ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) ++i;
    message += line[i];
  }
  return message;
}

std::string Filled(std::string_view text, std::string_view registry) {
  constexpr std::string_view kHole = "{registry}";
  std::string filled;
  for (std::size_t at = text.find(kHole); at != std::string_view::npos; at = text.find(kHole)) {
    filled += text.substr(0, at);
    filled += registry.empty() ? "the source" : registry;
    text.remove_prefix(at + kHole.size());
  }
  return filled + std::string(text);
}

/// The line with the fatal error, otherwise the last one.
std::string Said(const std::vector<std::string>& printed) {
  for (const std::string& line : printed)
    if (line.find("level=fatal") != std::string::npos) return Message(line);
  return printed.empty() ? "skopeo printed no message" : Message(printed.back());
}

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
void AddAccess(std::vector<std::string>& words, const Reference& reference, const RegistryAccess& access,
               const std::string& side) {
  if (!reference.IsRegistry()) return;
  if (!access.tls) words.push_back("--" + side + "tls-verify=false");
  if (access.auth_file.empty())
    words.push_back("--" + side + "no-creds");
  else
    words.insert(words.end(), {"--" + side + "authfile", access.auth_file});
}

}  // namespace

Error SkopeoFailure(const std::vector<std::string>& printed, std::string_view registry) {
  std::string said = Said(printed);
  for (const Row& row : kRows)
    if (said.find(row.sign) != std::string::npos) return {row.code, Filled(row.reason, registry), {}};
  if (said.size() > kReasonLengthMax) said = said.substr(0, kReasonLengthMax) + "...";
  return {Code::kInternal, "skopeo: " + std::move(said), {}};
}

RegistryAccess AccessTo(const Sources& sources, const Reference& reference) {
  if (!reference.IsRegistry()) return {};
  const std::string registry = reference.Registry();
  const bool plain =
      IsLoopbackRegistry(registry) || std::ranges::find(sources.insecure, registry) != sources.insecure.end();
  RegistryAccess access{.tls = !plain,
                        .auth_file = sources.auth_file.empty()
                                         ? FindAuthFile(sources.registries_dir, reference.name)
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

Status CheckRegistry(const Reference& reference, const RegistryAccess& access) {
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

Result<std::string> Skopeo::Inspect(const Reference& reference, const RegistryAccess& access, bool config,
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

Status Skopeo::Pull(const Reference& reference, const RegistryAccess& access, const fs::path& layout,
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

Status Skopeo::Push(const Reference& source, const RegistryAccess& source_access,
                    const fs::path& source_blobs, const Reference& destination,
                    const RegistryAccess& access) const {
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

Status Skopeo::Login(const std::string& registry, const RegistryAccess& access, const std::string& user,
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
