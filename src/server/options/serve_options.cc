#include "server/options/serve_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "server/options/serve_keys.h"
#include "server/options/serve_texts.h"
#include "server/options/serve_usage.h"

namespace trainyard::server {

namespace {

/// `variable`: the environment variable that the path comes from; empty: the home directory.
struct DefaultDataDir {
  std::string path;
  std::string variable;
};

DefaultDataDir FindDefaultDataDir() {
  if (const char* dir = std::getenv("TRAINYARD_DATA"); dir != nullptr && *dir != '\0')
    return {dir, "TRAINYARD_DATA"};
  if (const char* dir = std::getenv("XDG_DATA_HOME"); dir != nullptr && *dir == '/')
    return {std::string(dir) + "/trainyard", "XDG_DATA_HOME"};
  const char* home = std::getenv("HOME");
  return {std::string(home != nullptr ? home : "/root") + "/.local/share/trainyard", ""};
}

void AddLogFlags(CLI::App& app, ServeOptions& options) {
  constexpr double kGigabyte = 1e9;
  constexpr double kGigabytesMax = 1e6;
  const auto add = [&app](const char* name, std::int64_t& bytes, const char* help, const char* shown) {
    app.add_option_function<double>(
           name, [&bytes](double gigabytes) { bytes = static_cast<std::int64_t>(gigabytes * kGigabyte); },
           help)
        ->check(CLI::Range(0.0, kGigabytesMax).description(""))
        ->type_name("GIGABYTES")
        ->default_str(shown);
  };
  add("--job-logs-max-gb", options.job_log_bytes_max,
      "size of a job's log above which the output of its programs is not kept; they go on, and the log says "
      "how much it lacks; 0: no limit",
      "10");
  add("--replica-logs-max-gb", options.replica_log_bytes_max,
      "the same for the output of one replica, from a start to its end; 0: no limit", "5");
}

void AddDoorFlags(CLI::App& app, ServeTexts& texts, ServeOptions& options) {
  app.add_option("--config", options.config_file,
                 "file of settings, whose keys are these flags: `trainyard config show` prints one. A flag "
                 "that is given replaces its key")
      ->check([](const std::string& path) { return std::string(path.empty() ? "name a file" : ""); })
      ->type_name("FILE")
      ->configurable(false);
  app.add_option("--data", options.data_dir, "folder that holds jobs, logs, buckets and environments")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option(
         "--listen", texts.listen,
         "address of the plain port; the TLS port is the next one; port 0 picks free ones; at an address "
         "that other machines reach (with --auth on) it is the TLS port, and the plain one is the "
         "loopback's next")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--metrics-listen", texts.metrics_listen,
                 "further address, plain HTTP, that answers /metrics (without names of jobs), /healthz and "
                 "/readyz to everybody who reaches it, and nothing else; PORT alone is the loopback's")
      ->type_name("HOST:PORT");
  app.add_option("--host-name", texts.host_names,
                 "further name under which clients reach the server; requests for other names than those of "
                 "this machine (localhost) are refused; may be given several times")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_flag("--allow-local-users", options.local_users,
               "answer every account of this machine: each can then run programs as this one (default: this "
               "account and root)");
  app.add_option("--tls-certificate", options.tls_certificate,
                 "file with the certificate of the TLS port, and those above it, in PEM; read again by "
                 "trainyard admin reload (default: one that the installation's own authority signs)")
      ->type_name("FILE");
  app.add_option("--tls-key", options.tls_key, "file with the private key of --tls-certificate, in PEM")
      ->type_name("FILE");
  app.add_option(
         "--auth", options.auth,
         "on: whoever asks shows a token and may do what policies say (the first administrator's is in "
         "DATA/admin-token); off: every process of this account may do everything")
      ->transform(CLI::Validator(OneOf<bool>({{"on", true}, {"off", false}}), ""))
      ->type_name("on|off")
      ->default_str("off");
  texts.access.AddTo(app);
  app.add_option("--job-users", texts.job_users,
                 "numbers of users (and groups) that nobody has, as 1900000000-1999999999: each job's Python "
                 "package runs as others of them, not as root (needs root; then no containers run; default: "
                 "jobs run as the server)")
      ->type_name("FIRST-LAST");
}

void AddRuntimeFlags(CLI::App& app, ServeTexts& texts, ServeOptions& options) {
  app.add_option("--project", options.project, "project of clients that name none")
      ->type_name("PROJECT")
      ->capture_default_str();
  app.add_option("--default-runtime", options.default_runtime, "runtime version of jobs that name none")
      ->type_name("VERSION")
      ->capture_default_str();
  app.add_option(
         "--runtime-fallback", options.runtime_fallback,
         "when a runtime version cannot be built here: run with the nearest one and say so, or refuse")
      ->transform(CLI::Validator(
          OneOf<environment::FallbackPolicy>({{"nearest", environment::FallbackPolicy::kNearest},
                                              {"none", environment::FallbackPolicy::kNone}}),
          ""))
      ->type_name("nearest|none")
      ->default_str("nearest");
  app.add_option("--image-runtime", texts.images,
                 "runtime version for Python packages that name this image, in which * stands for anything; "
                 "may be given several times")
      ->type_name("IMAGE=RUNTIME")
      ->allow_extra_args(false);
  texts.containers.AddTo(app);
}

void AddMachineFlags(CLI::App& app, ServeTexts& texts, ServeOptions& options) {
  app.add_option("--capacity", options.capacity,
                 "replicas share this machine, or each gets the CPUs and memory of its machine type and jobs "
                 "wait for them")
      ->transform(
          CLI::Validator(OneOf<placement::Capacity::Mode>({{"share", placement::Capacity::Mode::kShare},
                                                           {"strict", placement::Capacity::Mode::kStrict}}),
                         ""))
      ->type_name("share|strict")
      ->default_str("share");
  app.add_option(
         "--accelerators", texts.accelerators,
         "accelerators of this machine instead of those that are found: nvidia-tesla-t4=4,tpu-v2=8, or none")
      ->type_name("TYPE=N,...");
  app.add_option(
         "--accelerator-map", texts.accelerator_map,
         "what stands for an accelerator that a job asks for: a type of this machine, any (of the same "
         "kind: the rule for types that are not named), or none: such jobs run without")
      ->type_name("TYPE=TYPE|any|none,...");
  app.add_option("--network", options.network,
                 "the machine's own network, or a network per job and an address per replica")
      ->transform(CLI::Validator(
          OneOf<replica::v1::Manifest::Network>(
              {{"host", replica::v1::Manifest::HOST}, {"isolated", replica::v1::Manifest::ISOLATED}}),
          ""))
      ->type_name("host|isolated")
      ->default_str("host");
  app.add_option(
         "--keeper", options.keeper,
         "socket of the keeper (trainyard-jobs.service), which then starts replicas' supervisors instead of "
         "this process; while it does not answer, jobs wait (default: this process starts them)")
      ->type_name("SOCKET");
  app.add_option(
         "--google-front", options.google_front,
         "replicas find this server's buckets under Google's host names (gs:// works in them), or off: "
         "there those names mean Google")
      ->transform(CLI::Validator(OneOf<bool>({{"on", true}, {"off", false}}), ""))
      ->type_name("on|off")
      ->default_str("on");
  app.add_option("--quota-requests", texts.request_limits,
                 "requests that a project may make in 60 seconds: jobs.create, and all others of the ml API "
                 "(the original: creates=60,other=300)")
      ->type_name("creates=N,other=N");
  app.add_option(
         "--quota-accelerators", texts.accelerator_quota,
         "accelerators that the unfinished jobs of a project may hold, by type: NVIDIA_TESLA_K80=2,TPU_V2=8")
      ->type_name("TYPE=N,...");
  texts.shares.AddTo(app);
}

void AddBucketFlags(CLI::App& app, ServeTexts& texts, ServeOptions& options) {
  app.add_option(
         "--bucket-dir", texts.bucket_dirs,
         "bucket whose folder is elsewhere on this machine than in DATA/buckets; may be given several "
         "times")
      ->type_name("NAME=PATH")
      ->allow_extra_args(false);
  app.add_option("--backup-dir", options.backup_dir,
                 "folder below which backups go that are asked for through the API (default: none are made "
                 "so; `trainyard admin backup` on this machine names any folder)")
      ->check([](const std::string& path) {
        const bool is_named = path.starts_with('/') && path.size() > 1 && !path.ends_with('/');
        return std::string(is_named ? "" : "name an absolute folder, without a slash at its end");
      })
      ->type_name("DIR");
  app.add_option(
         "--real-bucket", options.real_buckets,
         "bucket of the real Cloud Storage: requests for it are passed on; may be given several times")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--real-bucket-token", options.real_bucket_token,
                 "file with an access token for --real-bucket, read for each request (gcloud auth "
                 "print-access-token > FILE); without it only public buckets can be read")
      ->type_name("FILE");
}

void AddTimeFlags(CLI::App& app, ServeTexts& texts) {
  app.add_option("--stop-grace", texts.grace_seconds,
                 "seconds from SIGTERM to SIGKILL when a replica is stopped")
      ->check(CLI::Range(0, 3600).description(""))
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option(
         "--restart-pause", texts.restart_seconds,
         "seconds before the second restart of a replica (the first is at once); each further pause is twice "
         "as long, up to 60 s")
      ->check(CLI::Range(0.0, 60.0).description(""))
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--loop-turn-max", texts.turn_milliseconds,
                 "milliseconds that one piece of work may hold up all others; what takes longer is named in "
                 "the log and counted in /metrics")
      ->check(CLI::Range(1, 3'600'000).description(""))
      ->type_name("MILLISECONDS")
      ->capture_default_str();
}

/// Adds all flags with their defaults. `texts` and `options` outlive the App's parse.
void AddFlags(CLI::App& app, ServeTexts& texts, ServeOptions& options) {
  options.data_dir = FindDefaultDataDir().path;
  texts.grace_seconds = options.stop_grace.count();
  texts.turn_milliseconds = options.loop_turn_max.count();
  texts.restart_seconds = std::chrono::duration<double>(options.restart_pause).count();
  AddDoorFlags(app, texts, options);
  AddRuntimeFlags(app, texts, options);
  AddMachineFlags(app, texts, options);
  texts.engine.AddTo(app);
  AddBucketFlags(app, texts, options);
  AddLogFlags(app, options);
  texts.retention.AddTo(app);
  AddTimeFlags(app, texts);
  app.add_flag("!--no-create-buckets", options.create_buckets,
               "refuse job-dirs and uploads that name a bucket which is not there");
  app.add_flag("--verbose", options.verbose, "say more on stderr");
}

}  // namespace

Result<std::optional<ServeOptions>> ReadServeFlags(const std::vector<std::string>& words) {
  CLI::App app;
  ServeTexts texts;
  ServeOptions options;
  AddFlags(app, texts, options);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return std::unexpected(ExplainUsage(app, error));
  }
  texts.declares_accelerators = app.count("--accelerators") > 0;
  TY_RETURN_IF_ERROR(texts.ReadInto(options));
  return options;
}

std::vector<cli::ServeFlag> DescribeServeFlags() {
  CLI::App app;
  ServeTexts texts;
  ServeOptions options;
  AddFlags(app, texts, options);
  return FlagsOf(app);
}

std::vector<configuration::Key> ConfigurationKeys() {
  CLI::App app;
  ServeTexts texts;
  ServeOptions options;
  AddFlags(app, texts, options);
  std::vector<configuration::Key> keys = KeysOf(app);
  std::ranges::find(keys, "data", &configuration::Key::name)->variable = FindDefaultDataDir().variable;
  return keys;
}

}  // namespace trainyard::server
