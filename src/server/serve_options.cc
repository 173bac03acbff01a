#include "server/serve_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "engine/local/job_users.h"
#include "wire/host_name.h"
#include "wire/resource_name.h"

namespace trainyard::server {

namespace {

std::string DefaultDataDir() {
  if (const char* dir = std::getenv("TRAINYARD_DATA"); dir != nullptr && *dir != '\0') return dir;
  if (const char* dir = std::getenv("XDG_DATA_HOME"); dir != nullptr && *dir == '/')
    return std::string(dir) + "/trainyard";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : "/root") + "/.local/share/trainyard";
}

/// "HOST:PORT", "[::1]:PORT" or "PORT" alone.
bool SplitListen(const std::string& listen, ServeOptions& options) {
  std::size_t colon = listen.rfind(':');
  std::string host = colon == std::string::npos ? options.host : listen.substr(0, colon);
  std::string port = colon == std::string::npos ? listen : listen.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  char* end = nullptr;
  long number = std::strtol(port.c_str(), &end, 10);
  if (port.empty() || *end != '\0' || number < 0 || number > 65535 || host.empty()) return false;
  options.host = host;
  options.port = static_cast<std::uint16_t>(number);
  return true;
}

/// An error's field is the flag.
Status ReadQuotas(const std::string& request_limits, const std::string& accelerator_quota,
                  ServeOptions& options) {
  auto limits = control::RequestQuota::Limits::Parse(request_limits);
  if (!limits) return std::unexpected(InvalidArgument("--quota-requests", limits.error().message));
  auto quota = jobs::ParseAcceleratorQuota(accelerator_quota);
  if (!quota) return std::unexpected(InvalidArgument("--quota-accelerators", quota.error().message));
  options.request_limits = *limits;
  options.accelerator_quota = *std::move(quota);
  return {};
}

Status ReadHostNames(const std::vector<std::string>& names, ServeOptions& options) {
  for (const std::string& text : names) {
    const std::optional<std::string> name = wire::HostNameOf(text);
    if (!name || text.find(':') != std::string::npos)
      return std::unexpected(
          InvalidArgument("--host-name", "'" + text + "' is not a host's name without a port"));
    options.host_names.push_back(*name);
  }
  return {};
}

/// An error's field is the flag.
Status ReadAccelerators(const std::string& accelerators, const std::string& map, bool declared,
                        ServeOptions& options) {
  if (declared) {
    TY_TRY(options.accelerators, placement::ParseDeclaredDevices(accelerators));
  }
  TY_TRY(options.accelerator_map, placement::AcceleratorMap::Parse(map));
  return {};
}

/// An error's field is the flag.
Status ReadJobUsers(const std::string& text, ServeOptions& options) {
  if (text.empty()) return {};
  const auto users = engine::ParseJobUsers(text);
  if (!users) return std::unexpected(InvalidArgument("--job-users", users.error().message));
  options.job_uids = access::UidRange{.first = users->first, .count = users->count};
  return {};
}

void AddLogFlags(CLI::App& app, ServeOptions& options) {
  constexpr double kGigabyte = 1e9;
  constexpr double kGigabytesMax = 1e6;
  const auto add = [&app](const char* name, std::int64_t& bytes, const char* help, const char* shown) {
    app.add_option_function<double>(
           name, [&bytes](double gigabytes) { bytes = static_cast<std::int64_t>(gigabytes * kGigabyte); },
           help)
        ->check(CLI::Range(0.0, kGigabytesMax))
        ->default_str(shown);
  };
  add("--job-logs-max-gb", options.job_log_bytes_max,
      "size of a job's log above which the output of its programs is not kept; they go on, and the log says "
      "how "
      "much it lacks; 0: no limit",
      "10");
  add("--replica-logs-max-gb", options.replica_log_bytes_max,
      "the same for the output of one replica, from a start to its end; 0: no limit", "5");
}

/// "NAME=PATH"s. Whether the folder is there is seen when the buckets are opened.
Status ReadBucketDirs(const std::vector<std::string>& pairs, ServeOptions& options) {
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    const std::string name = pair.substr(0, equals);
    const std::string path = equals == std::string::npos ? std::string() : pair.substr(equals + 1);
    const auto refused = [&pair](const std::string& why) {
      return std::unexpected(InvalidArgument("--bucket-dir", "'" + pair + "' " + why));
    };
    if (!path.starts_with('/')) return refused("is not NAME=PATH with an absolute path");
    if (const Status valid = wire::ValidateBucketName(name); !valid)
      return refused("does not begin with a bucket's name: " + valid.error().message);
    if (std::ranges::find(options.real_buckets, name) != options.real_buckets.end())
      return refused("names a bucket that --real-bucket names, too");
    if (!options.bucket_dirs.emplace(name, path).second) return refused("names a bucket a second time");
  }
  return {};
}

}  // namespace

bool ParseServeOptions(int argc, char** argv, ServeOptions& options, int& exit_status) {
  CLI::App app("Serves the training API (ml v1), buckets (storage v1) and logs (logging v2) on this machine.",
               "trainyard serve");
  std::string listen = "127.0.0.1:8470";
  options.data_dir = DefaultDataDir();
  std::int64_t grace_seconds = options.stop_grace.count();
  std::int64_t turn_milliseconds = options.loop_turn_max.count();
  double restart_seconds = std::chrono::duration<double>(options.restart_pause).count();
  const std::map<std::string, environment::FallbackPolicy> fallbacks{
      {"nearest", environment::FallbackPolicy::kNearest}, {"none", environment::FallbackPolicy::kNone}};
  const std::map<std::string, placement::Capacity::Mode> capacities{
      {"share", placement::Capacity::Mode::kShare}, {"strict", placement::Capacity::Mode::kStrict}};
  std::string accelerators;
  std::string accelerator_map;
  std::string request_limits;
  std::string accelerator_quota;
  const std::map<std::string, replica::v1::Manifest::Network> networks{
      {"host", replica::v1::Manifest::HOST}, {"isolated", replica::v1::Manifest::ISOLATED}};
  std::vector<std::string> images;
  std::vector<std::string> bucket_dirs;
  app.add_option("--data", options.data_dir, "folder that holds jobs, logs, buckets and environments")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--listen", listen,
                 "address of the plain port; the TLS port is the next one; port 0 picks free ones")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  std::vector<std::string> host_names;
  app.add_option("--host-name", host_names,
                 "further name under which clients reach the server; requests for other names than those of "
                 "this machine (localhost) are refused; may be given several times")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_flag("--allow-local-users", options.local_users,
               "answer every account of this machine: each can then run programs as this one (default: this "
               "account and root)");
  std::string job_users;
  app.add_option("--job-users", job_users,
                 "numbers of users (and groups) that nobody has, as 1900000000-1999999999: each job's Python "
                 "package runs as others of them, not as root (needs root; then no containers run; default: "
                 "jobs run as the server)")
      ->type_name("FIRST-LAST");
  app.add_option("--project", options.project, "project of clients that name none")->capture_default_str();
  app.add_option("--default-runtime", options.default_runtime, "runtime version of jobs that name none")
      ->type_name("VERSION")
      ->capture_default_str();
  app.add_option(
         "--runtime-fallback", options.runtime_fallback,
         "when a runtime version cannot be built here: run with the nearest one and say so, or refuse")
      ->transform(CLI::CheckedTransformer(fallbacks, CLI::ignore_case))
      ->default_str("nearest");
  app.add_option("--image-runtime", images,
                 "runtime version for Python packages that name this image, in which * stands for anything; "
                 "may be given several times")
      ->type_name("IMAGE=RUNTIME")
      ->allow_extra_args(false);
  ContainerFlags containers;
  containers.AddTo(app);
  app.add_option("--capacity", options.capacity,
                 "replicas share this machine, or each gets the CPUs and memory of its machine type and jobs "
                 "wait for them")
      ->transform(CLI::CheckedTransformer(capacities, CLI::ignore_case))
      ->default_str("share");
  app.add_option(
         "--accelerators", accelerators,
         "accelerators of this machine instead of those that are found: nvidia-tesla-t4=4,tpu-v2=8, or none")
      ->type_name("TYPE=N,...");
  app.add_option(
         "--accelerator-map", accelerator_map,
         "what stands for an accelerator that a job asks for: a type of this machine, any (of the same "
         "kind: the rule for types that are not named), or none: such jobs run without")
      ->type_name("TYPE=TYPE|any|none,...");
  app.add_option("--network", options.network,
                 "the machine's own network, or a network per job and an address per replica")
      ->transform(CLI::CheckedTransformer(networks, CLI::ignore_case))
      ->default_str("host");
  app.add_option(
         "--google-front", options.google_front,
         "replicas find this server's buckets under Google's host names (gs:// works in them), or off: "
         "there those names mean Google")
      ->transform(CLI::CheckedTransformer(std::map<std::string, bool>{{"on", true}, {"off", false}}))
      ->default_str("on");
  app.add_option("--quota-requests", request_limits,
                 "requests that a project may make in 60 seconds: jobs.create, and all others of the ml API "
                 "(the original: creates=60,other=300)")
      ->type_name("creates=N,other=N");
  app.add_option(
         "--quota-accelerators", accelerator_quota,
         "accelerators that the unfinished jobs of a project may hold, by type: NVIDIA_TESLA_K80=2,TPU_V2=8")
      ->type_name("TYPE=N,...");
  app.add_option(
         "--bucket-dir", bucket_dirs,
         "bucket whose folder is elsewhere on this machine than in DATA/buckets; may be given several "
         "times")
      ->type_name("NAME=PATH")
      ->allow_extra_args(false);
  app.add_option(
         "--real-bucket", options.real_buckets,
         "bucket of the real Cloud Storage: requests for it are passed on; may be given several times")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--real-bucket-token", options.real_bucket_token,
                 "file with an access token for --real-bucket, read for each request (gcloud auth "
                 "print-access-token > FILE); without it only public buckets can be read")
      ->type_name("FILE");
  AddLogFlags(app, options);
  app.add_option("--stop-grace", grace_seconds, "seconds from SIGTERM to SIGKILL when a replica is stopped")
      ->check(CLI::Range(0, 3600))
      ->capture_default_str();
  app.add_option(
         "--restart-pause", restart_seconds,
         "seconds before the second restart of a replica (the first is at once); each further pause is twice "
         "as long, up to 60 s")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  app.add_option("--loop-turn-max", turn_milliseconds,
                 "milliseconds that one piece of work may hold up all others; what takes longer is named in "
                 "the log and counted in /metrics")
      ->check(CLI::Range(1, 3'600'000))
      ->capture_default_str();
  app.add_flag("!--no-create-buckets", options.create_buckets,
               "refuse job-dirs and uploads that name a bucket which is not there");
  app.add_flag("--verbose", options.verbose, "say more on stderr");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_status = app.exit(error);
    return false;
  }
  if (!SplitListen(listen, options)) {
    exit_status = app.exit(CLI::ValidationError("--listen", "'" + listen + "' is not HOST:PORT"));
    return false;
  }
  for (const std::string& image : images) {
    auto pair = control::ParseImageRuntime(image);
    if (!pair) {
      exit_status = app.exit(CLI::ValidationError("--image-runtime", pair.error().message));
      return false;
    }
    options.images.push_back(*std::move(pair));
  }
  if (Status read = containers.ReadInto(options.containers); !read) {
    exit_status = app.exit(CLI::ValidationError(read.error().field, read.error().message));
    return false;
  }
  if (Status dirs = ReadBucketDirs(bucket_dirs, options); !dirs) {
    exit_status = app.exit(CLI::ValidationError(dirs.error().field, dirs.error().message));
    return false;
  }
  if (Status users = ReadJobUsers(job_users, options); !users) {
    exit_status = app.exit(CLI::ValidationError(users.error().field, users.error().message));
    return false;
  }
  if (Status quotas = ReadQuotas(request_limits, accelerator_quota, options); !quotas) {
    exit_status = app.exit(CLI::ValidationError(quotas.error().field, quotas.error().message));
    return false;
  }
  if (Status hosts = ReadHostNames(host_names, options); !hosts) {
    exit_status = app.exit(CLI::ValidationError(hosts.error().field, hosts.error().message));
    return false;
  }
  Status devices = ReadAccelerators(accelerators, accelerator_map, app.count("--accelerators") > 0, options);
  if (!devices) {
    exit_status = app.exit(CLI::ValidationError(devices.error().field, devices.error().message));
    return false;
  }
  options.data_dir = std::filesystem::absolute(options.data_dir).lexically_normal().string();
  options.loop_turn_max = std::chrono::milliseconds(turn_milliseconds);
  options.stop_grace = std::chrono::seconds(grace_seconds);
  options.restart_pause =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(restart_seconds));
  return true;
}

}  // namespace trainyard::server
