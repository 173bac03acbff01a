#include "programs/image/skopeo_failure.h"

#include <array>
#include <optional>
#include <utility>

namespace trainyard::image {

namespace {

constexpr std::size_t kReasonLengthMax = 600;

/// What skopeo prints, what it means, and what to do. {registry} stands for the registry's name.
struct Row {
  std::string_view sign;
  Code code;
  std::string_view reason;
};

constexpr std::string_view kNoCredentials =
    "{registry} wants other credentials than it was given, or there is no such image (run: trainyard "
    "registries "
    "login {registry})";
constexpr std::string_view kTlsOrNot =
    "{registry} speaks without TLS; say --insecure-registry {registry} if that is as it should be";

/// The first matching row wins.
constexpr std::array kRows{
    Row{kRefusedConnection, Code::kFailedPrecondition,
        "{registry} leads to an address of the server's machine, or to one that only this machine reaches. "
        "If "
        "that is meant, the server's operator names the registry: trainyard serve --insecure-registry "
        "{registry} (without TLS), --image-map, or trainyard registries login {registry}"},
    Row{"connections cannot be watched on this machine", Code::kFailedPrecondition,
        "where users log in, registries are asked only where the kernel can watch connections (seccomp), "
        "which "
        "this machine does not allow"},
    Row{"no space left on device", Code::kResourceExhausted,
        "the disk is full; remove images that are not used (run: trainyard images remove --unused)"},
    Row{"disk quota exceeded", Code::kResourceExhausted,
        "the disk quota is used up; remove images that are not used (run: trainyard images remove --unused)"},
    Row{"toomanyrequests", Code::kUnavailable,
        "{registry} lets nobody pull so often; log in there, or wait (run: trainyard registries login "
        "{registry})"},
    Row{"Digest did not match", Code::kDataLoss,
        "{registry} sent something else than its digest promises; push the image again"},
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
        "{registry} does not take this user name and password (run: trainyard registries login {registry})"},
    Row{"unauthorized", Code::kPermissionDenied, kNoCredentials},
    Row{"authentication required", Code::kPermissionDenied, kNoCredentials},
    Row{"requested access to the resource is denied", Code::kPermissionDenied, kNoCredentials},
    Row{"denied:", Code::kPermissionDenied, kNoCredentials},
    Row{"403 (Forbidden)", Code::kPermissionDenied, kNoCredentials},
    Row{"server gave HTTP response to HTTPS client", Code::kFailedPrecondition, kTlsOrNot},
    Row{"first record does not look like a TLS handshake", Code::kFailedPrecondition, kTlsOrNot},
    Row{"x509:", Code::kFailedPrecondition,
        "{registry} shows a certificate that this machine does not trust; install its authority's "
        "certificate in "
        "/etc/containers/certs.d/{registry}/ca.crt"},
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
    Row{"connection reset by peer", Code::kUnavailable, "{registry} broke the connection off"},
    Row{"broken pipe", Code::kUnavailable, "{registry} broke the connection off"},
    Row{"invalid status code from registry 5", Code::kUnavailable, "{registry} has an error of its own"},
    Row{"received unexpected HTTP status: 5", Code::kUnavailable, "{registry} has an error of its own"},
    Row{"untarring file", Code::kInvalidArgument, "it is not a whole archive of an image"},
    Row{"loading tar component", Code::kInvalidArgument, "it is not a whole archive of an image"},
    Row{"archive/tar: invalid tar header", Code::kInvalidArgument, "it is not an archive of an image"},
    Row{"unexpected EOF", Code::kUnavailable, "{registry} broke off in the middle"},
    Row{": EOF", Code::kUnavailable, "{registry} broke the connection off"},
    Row{"no descriptor found for reference", Code::kNotFound, "there is no image of that name in it"},
    Row{"more than one image in oci", Code::kInvalidArgument, "it has several images; add :NAME"},
    Row{"\" not found", Code::kNotFound, "there is no image of that name in it"},
    Row{"no such file or directory", Code::kNotFound, "there is no such file or folder"},
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

/// The fatal line, else the last one.
std::string Said(const std::vector<std::string>& printed) {
  for (const std::string& line : printed)
    if (line.find("level=fatal") != std::string::npos) return Message(line);
  return printed.empty() ? "skopeo said nothing" : Message(printed.back());
}

}  // namespace

Error SkopeoFailure(const std::vector<std::string>& printed, std::string_view registry) {
  std::string said = Said(printed);
  for (const Row& row : kRows)
    if (said.find(row.sign) != std::string::npos) return {row.code, Filled(row.reason, registry), {}};
  if (said.size() > kReasonLengthMax) said = said.substr(0, kReasonLengthMax) + "...";
  return {Code::kInternal, "skopeo: " + std::move(said), {}};
}

}  // namespace trainyard::image
