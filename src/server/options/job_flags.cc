// The flags about jobs: their runtimes and containers, this machine, and who gets how much of it.
#include <cstdio>

#include "rules/jobs/images.h"
#include "server/options/flag.h"

namespace trainyard::server {
namespace {

using Options = ServeOptions;
using Choice = engine::ContainerChoice;
using Way = Choice::Way;
using Fallback = environment::FallbackPolicy;
template <auto... kPath>
using Containers = At<&Options::containers, kPath...>;

Result<std::string> ReadSocket(const std::string& text) {
  constexpr std::string_view kScheme = "unix://";
  return text.starts_with(kScheme) ? text.substr(kScheme.size()) : text;
}

/// Reads "PATTERN=REFERENCE"; a pattern has no '=', but a path may have one.
Result<std::pair<std::string, std::string>> ReadMapped(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return std::unexpected(InvalidArgument("", "'" + text + "' is not PATTERN=REFERENCE"));
  TY_RETURN_IF_ERROR(jobs::CheckImageReference(text.substr(equals + 1)));
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<std::string> ReadRegistry(const std::string& text) {
  if (!text.contains('/') && jobs::CheckImageReference(text + "/name")) return text;
  return std::unexpected(InvalidArgument("", "'" + text + "' is not HOST[:PORT]"));
}

/// Reads seconds.
Result<std::chrono::milliseconds> ReadPause(const std::string& text) {
  constexpr double kMax = 60;
  TY_TRY(const double seconds, ReadDecimal(text, kMax));
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
}

std::string PauseText(std::chrono::milliseconds pause) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(pause).count());
}

constexpr Flag kFlags[] = {
    {"--project", "PROJECT", "Project of clients that name none.", kText<At<&Options::project>>},
    {"--default-runtime", "VERSION", "Runtime version of jobs that name none.",
     kText<At<&Options::default_runtime>>},
    {"--runtime-fallback", "nearest|none",
     "When a runtime version cannot be built here: run with the nearest one and say so, or refuse.",
     kChoice<At<&Options::runtime_fallback>, Fallback::kNearest, Fallback::kNone>},
    {"--image-runtime", "IMAGE=RUNTIME",
     "Runtime version for Python packages that name this image, in which * stands for anything; may be given "
     "several times.",
     kEach<At<&Options::images>, control::ParseImageRuntime>},
    {"--container-engine", "auto|oci|api|off",
     "What runs images: an OCI runtime below this server (oci), a Docker or podman service (api), whichever "
     "is here, in this order (auto), or nothing (off).",
     kChoice<Containers<&ContainerOptions::choice, &Choice::way>, Way::kAuto, Way::kOci, Way::kApi,
             Way::kOff>},
    {"--container-runtime", "PATH", "The OCI runtime; crun or runc of the PATH if not given.",
     kText<Containers<&ContainerOptions::choice, &Choice::runtime>>},
    {"--engine-socket", "PATH",
     "Socket of the Docker or podman service; that of DOCKER_HOST, Docker's or podman's own if not given.",
     kParsed<Containers<&ContainerOptions::choice, &Choice::engine_socket>, ReadSocket>},
    {"--image-map", "PATTERN=REFERENCE",
     "Image to run in place of those that the pattern means, in which * stands for anything: "
     "gcr.io/p/trainer=registry.local/trainer:v2; may be given several times.",
     kEach<Containers<&ContainerOptions::image_map>, ReadMapped>},
    {"--insecure-registry", "HOST[:PORT]",
     "Registry that is spoken to without TLS, as those of this machine are anyway; may be given several "
     "times.",
     kEach<Containers<&ContainerOptions::insecure_registries>, ReadRegistry>},
    {"--images-max-gb", "GIGABYTES",
     "Size of the kept images above which those that have not run for longest are removed; 0: no limit.",
     kPrinted<Containers<&ContainerOptions::images_bytes_max>, ReadGigabytes, GigabytesText>},
    {"--images-max-age", "DAYS", "Days after its last run when an image is removed; 0: never.",
     kWhole<Containers<&ContainerOptions::images_age_max>, 0, 3650>},
    {"--capacity", "share|strict",
     "Replicas share this machine, or each gets the CPUs and memory of its machine type and jobs wait for "
     "them.",
     kChoice<At<&Options::capacity>, placement::Capacity::Mode::kShare, placement::Capacity::Mode::kStrict>},
    {"--accelerators", "TYPE=N,...",
     "Accelerators of this machine instead of those that are found: nvidia-tesla-t4=4,tpu-v2=8, or none.",
     kParsed<At<&Options::accelerators>, placement::ParseDeclaredDevices>},
    {"--accelerator-map", "TYPE=TYPE|any|none,...",
     "What stands for an accelerator that a job asks for: a type of this machine, any (of the same kind: the "
     "rule for types that are not named), or none: such jobs run without.",
     kParsed<At<&Options::accelerator_map>, placement::AcceleratorMap::Parse>},
    {"--network", "host|isolated",
     "The machine's own network, or a network per job and an address per replica.",
     kChoice<At<&Options::network>, replica::v1::Manifest::HOST, replica::v1::Manifest::ISOLATED>},
    {"--keeper", "SOCKET",
     "Socket of the keeper (trainyard-jobs.service), which then starts replicas' supervisors instead of this "
     "process; while it does not answer, jobs wait (default: this process starts them).",
     kAbsolutePath<At<&Options::keeper>>},
    {"--google-front", "on|off",
     "Replicas find this server's buckets under Google's host names (gs:// works in them), or off: there "
     "those names mean Google.",
     kChoice<At<&Options::google_front>, true, false>},
    {"--quota-requests", "creates=N,other=N",
     "Requests that a project may make in 60 seconds: jobs.create, and all others of the ml API (the "
     "original: creates=60,other=300).",
     kParsed<At<&Options::request_limits>, control::RequestQuota::Limits::Parse>},
    {"--quota-accelerators", "TYPE=N,...",
     "Accelerators that the unfinished jobs of a project may hold, by type: NVIDIA_TESLA_K80=2,TPU_V2=8.",
     kParsed<At<&Options::accelerator_quota>, jobs::ParseAcceleratorQuota>},
    {"--quota", "SUBJECT:RESOURCE[@ENGINE]=N",
     "What a project or a user may have at most: project:research:gpus=4, user:ann@example.com:jobs=8, "
     "project:*:bucket-bytes=1TiB (* is each one without its own), project:*:gpus@slurm=16 (on that engine "
     "alone); gpus and jobs that run at once wait, unfinished-jobs, bucket-bytes and log-bytes refuse; may "
     "be given several times.",
     kAll<At<&Options::shares, &ShareOptions::quotas>, placement::Quotas::Parse>},
    {"--project-weight", "PROJECT=WEIGHT",
     "A project that may use so many times what others may before they go first: research=2; may be given "
     "several times.",
     kAll<At<&Options::shares, &ShareOptions::weights>, placement::ParseProjectWeights>},
    {"--stop-grace", "SECONDS", "Seconds from SIGTERM to SIGKILL when a replica is stopped.",
     kWhole<At<&Options::stop_grace>, 0, 3600>},
    {"--restart-pause", "SECONDS",
     "Seconds before the second restart of a replica (the first is at once); each further pause is twice as "
     "long, up to 60 s.",
     kPrinted<At<&Options::restart_pause>, ReadPause, PauseText>},
    {"--loop-turn-max", "MILLISECONDS",
     "Milliseconds that one piece of work may hold up all others; what takes longer is named in the log and "
     "counted in /metrics.",
     kWhole<At<&Options::loop_turn_max>, 1, 3'600'000>},
};

}  // namespace

std::span<const Flag> JobFlags() { return kFlags; }

}  // namespace trainyard::server
