#include "server/options/engine_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "net/http/client_request.h"
#include "rules/cluster/machine_type.h"
#include "rules/cluster/region.h"
#include "rules/placement/device.h"
#include "server/options/serve_usage.h"

namespace trainyard::server {

namespace {

constexpr int kCpusMax = 100'000;
constexpr int kNiceMax = 1'000'000;
constexpr int kPortMax = 65'535;

/// Splits "NAME=REST".
Result<std::pair<std::string, std::string>> SplitRule(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    return std::unexpected(InvalidArgument("", "'" + text + "' is not NAME=VALUE"));
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

std::optional<std::int64_t> Number(std::string_view text, std::int64_t most) {
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size() || number < 1 || number > most)
    return std::nullopt;
  return number;
}

/// Parses "16G", "500M", "500", as --mem of sbatch.
std::optional<std::int64_t> Mebibytes(std::string_view text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  std::int64_t factor = 1;
  if (text.ends_with('T')) factor = std::int64_t{1} << 20;
  if (text.ends_with('G')) factor = std::int64_t{1} << 10;
  if (text.ends_with('T') || text.ends_with('G') || text.ends_with('M')) text.remove_suffix(1);
  const std::optional<std::int64_t> number = Number(text, kMost / factor);
  if (!number) return std::nullopt;
  return *number * factor;
}

/// Parses one "key:value" of a machine type.
Status ReadMachineKey(std::string_view pair, slurm::MachineOptions& machine) {
  const std::size_t colon = pair.find(':');
  const std::string_view key = pair.substr(0, colon);
  const std::string value(colon == std::string_view::npos ? "" : pair.substr(colon + 1));
  const auto refuse = [pair](const std::string& why) -> Status {
    return std::unexpected(InvalidArgument("", "'" + std::string(pair) + "' " + why));
  };
  if (value.empty()) return refuse("is not NAME:VALUE");
  if (key == "cpus") {
    const std::optional<std::int64_t> cpus = Number(value, kCpusMax);
    if (!cpus) return refuse("is not a number of CPUs");
    machine.cpus = static_cast<int>(*cpus);
  } else if (key == "memory") {
    machine.memory_mib = Mebibytes(value);
    if (!machine.memory_mib) return refuse("is not a size such as 16G or 500M");
  } else if (key == "partition") {
    machine.options.partition = value;
  } else if (key == "account") {
    machine.options.account = value;
  } else if (key == "qos") {
    machine.options.qos = value;
  } else if (key == "constraint") {
    machine.options.constraint = value;
  } else if (key == "option") {
    machine.options.lines.push_back(value);
  } else {
    return refuse("begins with none of cpus, memory, partition, account, qos, constraint, option");
  }
  return {};
}

/// Parses "HOST", "HOST:PORT" or "[::1]:PORT".
bool SplitAddress(const std::string& text, slurm::EngineOptions& options) {
  std::string host = text;
  const std::size_t colon = text.rfind(':');
  const bool has_port =
      colon != std::string::npos && (text.find(':') == colon || text.find("]:") != std::string::npos);
  if (has_port) {
    const std::optional<std::int64_t> port = Number(std::string_view(text).substr(colon + 1), kPortMax);
    if (!port) return false;
    options.agent_port = static_cast<std::uint16_t>(*port);
    host = text.substr(0, colon);
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  options.agent_host = host;
  return !host.empty();
}

Status CheckOptionLines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (line.starts_with("-") && line.find('\n') == std::string::npos) continue;
    return std::unexpected(
        InvalidArgument("--slurm-option", "'" + line + "' is no option of sbatch, as --exclusive"));
  }
  return {};
}

/// Whether the text is a single partition's name, without characters that have a meaning in Slurm's settings.
bool IsPartitionName(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  return !text.empty() && text.find_first_not_of(kLetters) == std::string_view::npos;
}

/// Parses "us-central1=gpu", "us-east1=slurm", "us-west1=slurm:gpu", "europe-west1=local".
Status ReadRegion(const std::string& text, slurm::EngineOptions& options) {
  constexpr std::string_view kPrefix = "slurm:";
  TY_TRY(const auto rule, SplitRule(text));
  if (cluster::FindRegion(rule.first) == nullptr)
    return std::unexpected(InvalidArgument("", "'" + rule.first + "' is no region of the original"));
  std::string_view partition = rule.second;
  const bool is_local = partition == "local";
  if (is_local || partition == "slurm") partition = {};
  const bool is_named = !partition.empty();
  if (partition.starts_with(kPrefix)) partition.remove_prefix(kPrefix.size());
  if (is_named && !IsPartitionName(partition))
    return std::unexpected(
        InvalidArgument("", "'" + rule.second + "' is none of local, slurm, slurm:PARTITION, PARTITION"));
  const auto kind = is_local ? slurm::EngineOptions::Kind::kLocal : slurm::EngineOptions::Kind::kSlurm;
  if (!options.regions.emplace(rule.first, kind).second)
    return std::unexpected(InvalidArgument("", "'" + rule.first + "' is named a second time"));
  if (is_named) options.slurm.regions.emplace(rule.first, partition);
  return {};
}

/// Rejects options that do not work with slurmrestd, or only with it.
Status CheckRest(const slurm::EngineOptions& options) {
  if (options.slurm_rest.empty()) {
    if (options.slurm_rest_token_file.empty()) return {};
    return std::unexpected(InvalidArgument("--slurm-rest-token-file", "needs --slurm-rest"));
  }
  const auto refuse = [](std::string why) -> Status {
    return std::unexpected(InvalidArgument("--slurm-rest", std::move(why)));
  };
  if (const auto endpoint = http::Endpoint::Parse(options.slurm_rest); !endpoint)
    return refuse(endpoint.error().message);
  if (!options.slurm_tools.empty())
    return refuse("cannot be given with --slurm-tools: Slurm is asked one way");
  const auto has_lines = [](const auto& machine) { return !machine.second.options.lines.empty(); };
  if (!options.slurm.options.lines.empty() || std::ranges::any_of(options.slurm.machine_types, has_lines))
    return refuse("cannot be given with options of sbatch (--slurm-option): slurmrestd does not read them");
  return {};
}

/// Adds the flags about how Slurm is accessed.
void AddWaysToAsk(CLI::App& app, slurm::EngineOptions& options) {
  app.add_option("--slurm-tools", options.slurm_tools,
                 "folder with sbatch, squeue, scancel, sinfo (default: PATH)")
      ->type_name("FOLDER");
  app.add_option("--slurm-rest", options.slurm_rest,
                 "address of slurmrestd, which is asked instead of sbatch and the other tools (default: "
                 "these are run)")
      ->type_name("unix:/PATH|http://HOST:PORT|https://HOST:PORT");
  app.add_option("--slurm-rest-token-file", options.slurm_rest_token_file,
                 "file with this account's token for slurmrestd; it is read for each question")
      ->type_name("FILE");
}

}  // namespace

Status ReadSlurmMachine(const std::string& text, slurm::SlurmSettings& settings) {
  TY_TRY(const auto rule, SplitRule(text));
  if (!cluster::FindMachineType(rule.first))
    return std::unexpected(InvalidArgument("", "'" + rule.first + "' is no machine type"));
  slurm::MachineOptions machine;
  std::string_view rest = rule.second;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    TY_RETURN_IF_ERROR(ReadMachineKey(pair, machine));
  }
  if (!settings.machine_types.emplace(rule.first, std::move(machine)).second)
    return std::unexpected(InvalidArgument("", "'" + rule.first + "' is mapped a second time"));
  return {};
}

void EngineFlags::AddTo(CLI::App& app) {
  app.add_option(
         "--engine", given_.kind,
         "where jobs run: on this machine (local), or on the nodes of a Slurm cluster that this account "
         "may submit to (slurm)")
      ->transform(
          CLI::Validator(OneOf<slurm::EngineOptions::Kind>({{"local", slurm::EngineOptions::Kind::kLocal},
                                                            {"slurm", slurm::EngineOptions::Kind::kSlurm}}),
                         ""))
      ->type_name("local|slurm")
      ->default_str("local");
  app.add_option("--regions", regions_,
                 "where jobs of a region run, if not where --engine says: on this machine, on Slurm, or in a "
                 "partition of it; may be given several times")
      ->type_name("REGION=local|slurm|PARTITION")
      ->allow_extra_args(false);
  app.add_option(
         "--agent-listen", agent_listen_,
         "address at which nodes reach this server, with TLS (default: the machine's own on the way to "
         "the nodes, and a port that is chosen once)")
      ->type_name("HOST[:PORT]");
  app.add_option("--slurm-partition", given_.slurm.options.partition,
                 "partition of Slurm (default: Slurm's own default)")
      ->type_name("NAME");
  app.add_option("--slurm-account", given_.slurm.options.account, "account of Slurm")->type_name("NAME");
  app.add_option("--slurm-qos", given_.slurm.options.qos, "quality of service of Slurm")->type_name("NAME");
  app.add_option("--slurm-constraint", given_.slurm.options.constraint, "features that nodes must have")
      ->type_name("FEATURES");
  app.add_option("--slurm-option", given_.slurm.options.lines,
                 "further option of sbatch, as --exclusive; may be given several times")
      ->type_name("OPTION")
      ->allow_extra_args(false);
  app.add_option(
         "--slurm-nice", given_.slurm.nice,
         "--nice of a job of priority 0; one of priority 1000 gets 0; 0: priorities mean nothing to Slurm")
      ->check(CLI::Range(0, kNiceMax).description(""))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--slurm-sizes", given_.slurm.sizes,
                 "fit: a machine type larger than the largest node gets that node's size; strict: it waits")
      ->transform(CLI::Validator(
          OneOf<slurm::Sizes>({{"fit", slurm::Sizes::kFit}, {"strict", slurm::Sizes::kStrict}}), ""))
      ->type_name("fit|strict")
      ->default_str("fit");
  app.add_option(
         "--slurm-machine", machine_types_,
         "what a machine type asks Slurm for: n1-standard-8=cpus:4,memory:16G,partition:gpu (also account, "
         "qos, constraint, option); may be given several times")
      ->type_name("TYPE=NAME:VALUE,...")
      ->allow_extra_args(false);
  app.add_option(
         "--slurm-accelerator", accelerators_,
         "Slurm's GPU type that stands for an accelerator, or any: nvidia-tesla-k80=a100; may be given "
         "several times (default: the type of that name, else any)")
      ->type_name("TYPE=GRES")
      ->allow_extra_args(false);
  AddWaysToAsk(app, given_);
  app.add_option("--node-dir", given_.node_dir,
                 "folder of nodes for agents, environments and images (default: /var/tmp/trainyard-UID)")
      ->type_name("FOLDER");
  app.add_option("--node-cache", given_.node_cache,
                 "folder that all nodes share, for environments and images (default: each node has its own)")
      ->type_name("FOLDER");
  app.add_option(
         "--node-buckets", given_.node_buckets,
         "folder under which nodes see this server's DATA/buckets: what /gcs shows there (default: none)")
      ->type_name("FOLDER");
}

Status EngineFlags::ReadInto(slurm::EngineOptions& options) const {
  options = given_;
  if (!agent_listen_.empty() && !SplitAddress(agent_listen_, options))
    return std::unexpected(InvalidArgument("--agent-listen", "'" + agent_listen_ + "' is not HOST[:PORT]"));
  for (const std::string& text : machine_types_) {
    const Status read = ReadSlurmMachine(text, options.slurm);
    if (!read) return std::unexpected(InvalidArgument("--slurm-machine", read.error().message));
  }
  for (const std::string& text : accelerators_) {
    auto rule = SplitRule(text);
    if (!rule) return std::unexpected(InvalidArgument("--slurm-accelerator", rule.error().message));
    options.slurm.accelerators.insert(*std::move(rule));
  }
  for (const std::string& text : regions_) {
    const Status read = ReadRegion(text, options);
    if (!read) return std::unexpected(InvalidArgument("--regions", read.error().message));
  }
  TY_RETURN_IF_ERROR(CheckOptionLines(options.slurm.options.lines));
  for (const auto& [flag, path] :
       {std::pair("--node-dir", &options.node_dir), std::pair("--node-cache", &options.node_cache),
        std::pair("--node-buckets", &options.node_buckets),
        std::pair("--slurm-rest-token-file", &options.slurm_rest_token_file)}) {
    if (!path->empty() && !path->starts_with('/'))
      return std::unexpected(InvalidArgument(flag, "'" + *path + "' is not an absolute path"));
  }
  return CheckRest(options);
}

}  // namespace trainyard::server
