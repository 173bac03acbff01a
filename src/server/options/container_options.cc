#include "server/options/container_options.h"

#include <CLI/CLI.hpp>

#include "rules/jobs/image_reference.h"
#include "server/options/serve_usage.h"

namespace trainyard::server {

namespace {

constexpr double kGigabyte = 1e9;
constexpr std::int64_t kDaysMax = 3650;
constexpr double kGigabytesMax = 1e6;

using Way = engine::ContainerChoice::Way;
using Mapped = std::pair<std::string, std::string>;

/// Parses "PATTERN=REFERENCE"; a pattern has no '=', but a path may have one.
Result<Mapped> ParseMapped(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return std::unexpected(InvalidArgument("--image-map", "'" + text + "' is not PATTERN=REFERENCE"));
  Mapped mapped(text.substr(0, equals), text.substr(equals + 1));
  if (Status good = jobs::CheckImageReference(mapped.second); !good)
    return std::unexpected(InvalidArgument("--image-map", good.error().message));
  return mapped;
}

Status CheckRegistry(const std::string& text) {
  if (text.find('/') == std::string::npos && jobs::CheckImageReference(text + "/name")) return {};
  return std::unexpected(InvalidArgument("--insecure-registry", "'" + text + "' is not HOST[:PORT]"));
}

}  // namespace

void ContainerFlags::AddTo(CLI::App& app) {
  app.add_option(
         "--container-engine", way_,
         "what runs images: an OCI runtime below this server (oci), a Docker or podman service (api), "
         "whichever is here, in this order (auto), or nothing (off)")
      ->transform(CLI::Validator(
          OneOf<Way>({{"auto", Way::kAuto}, {"oci", Way::kOci}, {"api", Way::kApi}, {"off", Way::kOff}}), ""))
      ->type_name("auto|oci|api|off")
      ->default_str("auto");
  app.add_option("--container-runtime", runtime_, "the OCI runtime; crun or runc of the PATH if not given")
      ->type_name("PATH");
  app.add_option(
         "--engine-socket", engine_socket_,
         "socket of the Docker or podman service; that of DOCKER_HOST, Docker's or podman's own if not "
         "given")
      ->type_name("PATH");
  app.add_option("--image-map", image_map_,
                 "image to run in place of those that the pattern means, in which * stands for anything: "
                 "gcr.io/p/trainer=registry.local/trainer:v2; may be given several times")
      ->type_name("PATTERN=REFERENCE")
      ->allow_extra_args(false);
  app.add_option("--insecure-registry", insecure_registries_,
                 "registry that is spoken to without TLS, as those of this machine are anyway; may be given "
                 "several times")
      ->type_name("HOST[:PORT]")
      ->allow_extra_args(false);
  app.add_option(
         "--images-max-gb", images_gb_max_,
         "size of the kept images above which those that have not run for longest are removed; 0: no limit")
      ->check(CLI::Range(0.0, kGigabytesMax).description(""))
      ->type_name("GIGABYTES")
      ->capture_default_str();
  app.add_option("--images-max-age", images_age_days_,
                 "days after its last run when an image is removed; 0: never")
      ->check(CLI::Range(std::int64_t{0}, kDaysMax).description(""))
      ->type_name("DAYS")
      ->capture_default_str();
}

Status ContainerFlags::ReadInto(ContainerOptions& options) const {
  options.choice = {.way = way_, .runtime = runtime_, .engine_socket = engine_socket_};
  if (engine_socket_.starts_with("unix://"))
    options.choice.engine_socket.erase(0, std::string_view("unix://").size());
  for (const std::string& text : image_map_) {
    TY_TRY(Mapped mapped, ParseMapped(text));
    options.image_map.push_back(std::move(mapped));
  }
  for (const std::string& registry : insecure_registries_) TY_RETURN_IF_ERROR(CheckRegistry(registry));
  options.insecure_registries = insecure_registries_;
  options.images_bytes_max = static_cast<std::int64_t>(images_gb_max_ * kGigabyte);
  options.images_age_max = std::chrono::days(images_age_days_);
  return {};
}

}  // namespace trainyard::server
