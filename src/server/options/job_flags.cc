// The flags about jobs: their runtimes and containers, this machine, and who gets how much of it.
#include <cstdio>

#include "rules/jobs/images.h"
#include "rules/placement/quota.h"
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

Result<std::int64_t> ReadWarm(const std::string& text) {
  if (text == "auto") return Options::kAutomatic;
  if (text == "off") return 0;
  if (const auto bytes = placement::ParseByteCount(text); bytes && *bytes > 0) return *bytes;
  return std::unexpected(InvalidArgument("", "'" + text + "' is not off, auto or a size like 4GiB"));
}

std::string WarmText(std::int64_t bytes) {
  if (bytes == Options::kAutomatic) return "auto";
  return bytes == 0 ? "off" : ByteCountText(bytes);
}

std::string PauseText(std::chrono::milliseconds pause) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(pause).count());
}

constexpr Flag kFlags[] = {
    {"--project", "PROJECT", "Project for clients that do not name one.", kText<At<&Options::project>>},
    {"--default-runtime", "VERSION", "Runtime version for jobs that do not name one.",
     kText<At<&Options::default_runtime>>},
    {"--runtime-fallback", "nearest|none",
     "What happens if a runtime version cannot be built on this machine. nearest: the job runs with the "
     "nearest version and says so. none: the job is rejected.",
     kChoice<At<&Options::runtime_fallback>, Fallback::kNearest, Fallback::kNone>},
    {"--image-runtime", "IMAGE=RUNTIME",
     "Runtime version for Python packages whose job names this image; * matches anything. Can be repeated.",
     kEach<At<&Options::images>, control::ParseImageRuntime>},
    {"--container-engine", "auto|oci|api|off",
     "What runs container images. oci: an OCI runtime that the server starts. api: a Docker or podman "
     "service. auto: the first of these that is available. off: nothing.",
     kChoice<Containers<&ContainerOptions::choice, &Choice::way>, Way::kAuto, Way::kOci, Way::kApi,
             Way::kOff>},
    {"--container-runtime", "PATH", "Path of the OCI runtime. Default: crun or runc from PATH.",
     kText<Containers<&ContainerOptions::choice, &Choice::runtime>>},
    {"--engine-socket", "PATH",
     "Socket of the Docker or podman service. Default: DOCKER_HOST, or else the default socket of Docker or "
     "podman.",
     kParsed<Containers<&ContainerOptions::choice, &Choice::engine_socket>, ReadSocket>},
    {"--image-map", "PATTERN=REFERENCE",
     "Image to run instead of those that match the pattern; * matches anything: "
     "gcr.io/p/trainer=registry.local/trainer:v2. Can be repeated.",
     kEach<Containers<&ContainerOptions::image_map>, ReadMapped>},
    {"--insecure-registry", "HOST[:PORT]",
     "Registry to contact without TLS. Registries on this machine never need TLS. Can be repeated.",
     kEach<Containers<&ContainerOptions::insecure_registries>, ReadRegistry>},
    {"--images-max-gb", "GIGABYTES",
     "Size limit of the image cache. If it is exceeded, the least recently used images are removed. 0: no "
     "limit.",
     kPrinted<Containers<&ContainerOptions::images_bytes_max>, ReadGigabytes, GigabytesText>},
    {"--images-max-age", "DAYS", "Remove an image this many days after its last use. 0: never.",
     kWhole<Containers<&ContainerOptions::images_age_max>, 0, 3650>},
    {"--capacity", "share|strict",
     "share: replicas share this machine. strict: each replica reserves the CPUs and memory of its machine "
     "type, and jobs wait until they are free.",
     kChoice<At<&Options::capacity>, placement::Capacity::Mode::kShare, placement::Capacity::Mode::kStrict>},
    {"--accelerators", "TYPE=N,...",
     "Accelerators of this machine, instead of those that are detected: nvidia-tesla-t4=4,tpu-v2=8, or none.",
     kParsed<At<&Options::accelerators>, placement::ParseDeclaredDevices>},
    {"--accelerator-map", "TYPE=TYPE|any|none|cpu,...",
     "Which accelerator is used if a job asks for a given type: a type of this machine, any (any accelerator "
     "of the same kind; the default for types that are not listed), none (such jobs run without one) or, for "
     "TPUs, cpu (TensorFlow's TPUStrategy trains on the CPU).",
     kParsed<At<&Options::accelerator_map>, placement::AcceleratorMap::Parse>},
    {"--network", "host|isolated",
     "host: replicas use this machine's network. isolated: each job gets its own network and each replica "
     "its own address.",
     kChoice<At<&Options::network>, replica::v1::Manifest::HOST, replica::v1::Manifest::ISOLATED>},
    {"--keeper", "SOCKET",
     "Socket of the keeper (trainyard-jobs.service), which then starts the replicas' supervisors instead of "
     "this process. Jobs wait while it does not answer. Default: this process starts them.",
     kAbsolutePath<At<&Options::keeper>>},
    {"--warm-interpreters", "off|auto|SIZE",
     "How much memory interpreters may have that have already imported what the jobs of a runtime version "
     "import: programs then start in them. auto: an eighth of this machine's memory. off: each program "
     "starts "
     "a Python of its own.",
     kPrinted<At<&Options::warm_bytes_max>, ReadWarm, WarmText>},
    {"--google-front", "on|off",
     "on: Google's host names lead replicas to this server's buckets, so gs:// works in them. off: these "
     "names lead to Google.",
     kChoice<At<&Options::google_front>, true, false>},
    {"--quota-requests", "creates=N,other=N",
     "How many requests a project may make in 60 seconds: jobs.create, and all other requests of the ml API "
     "(Google's limits: creates=60,other=300).",
     kParsed<At<&Options::request_limits>, control::RequestQuota::Limits::Parse>},
    {"--quota-accelerators", "TYPE=N,...",
     "How many accelerators of each type the unfinished jobs of a project may use: "
     "NVIDIA_TESLA_K80=2,TPU_V2=8.",
     kParsed<At<&Options::accelerator_quota>, jobs::ParseAcceleratorQuota>},
    {"--quota", "SUBJECT:RESOURCE[@ENGINE]=N",
     "Limit for a project or a user: project:research:gpus=4, user:ann@example.com:jobs=8, "
     "project:*:bucket-bytes=1TiB (* means each project without a limit of its own), project:*:gpus@slurm=16 "
     "(on that engine only). Jobs that exceed gpus or jobs (running at the same time) wait; requests that "
     "exceed unfinished-jobs, bucket-bytes or log-bytes are rejected. Can be repeated.",
     kAll<At<&Options::shares, &ShareOptions::quotas>, placement::Quotas::Parse>},
    {"--project-weight", "PROJECT=WEIGHT",
     "A project with weight 2 may use twice as much as others before jobs of the others start first: "
     "research=2. Can be repeated.",
     kAll<At<&Options::shares, &ShareOptions::weights>, placement::ParseProjectWeights>},
    {"--stop-grace", "SECONDS", "Seconds between SIGTERM and SIGKILL when a replica is stopped.",
     kWhole<At<&Options::stop_grace>, 0, 3600>},
    {"--restart-pause", "SECONDS",
     "Seconds to wait before the second restart of a replica; the first restart is immediate. The pause "
     "doubles each time, up to 60 s.",
     kPrinted<At<&Options::restart_pause>, ReadPause, PauseText>},
    {"--loop-turn-max", "MILLISECONDS",
     "Milliseconds that one piece of work may block all others. Work that takes longer is logged and counted "
     "in /metrics.",
     kWhole<At<&Options::loop_turn_max>, 1, 3'600'000>},
};

}  // namespace

std::span<const Flag> JobFlags() { return kFlags; }

}  // namespace trainyard::server
