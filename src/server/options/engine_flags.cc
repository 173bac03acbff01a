// The flags about the cluster: docs/slurm.md.
#include <algorithm>

#include "rules/cluster/machine_type.h"
#include "rules/cluster/region.h"
#include "server/options/flag.h"
#include "server/options/rule_texts.h"

namespace trainyard::server {
namespace {

using engine::EngineOptions;
using Kind = EngineOptions::Kind;
using Settings = slurm::SlurmSettings;
template <auto... kPath>
using Engine = At<&ServeOptions::engine, kPath...>;
template <auto... kPath>
using Slurm = Engine<&EngineOptions::slurm, kPath...>;
template <auto... kPath>
using Sbatch = Slurm<&Settings::options, kPath...>;

constexpr int kCpusMax = 100'000;

/// Parses one "key:value" of a machine type.
Status ReadMachineKey(std::string_view pair, slurm::MachineOptions& machine) {
  const std::size_t colon = pair.find(':');
  const std::string_view key = pair.substr(0, colon);
  const std::string value(colon == std::string_view::npos ? "" : pair.substr(colon + 1));
  const auto refuse = [pair](const std::string& why) { return Refuse("'" + std::string(pair) + "' " + why); };
  using Text = std::string slurm::Options::*;
  static constexpr std::pair<std::string_view, Text> kTexts[] = {{"partition", &slurm::Options::partition},
                                                                 {"account", &slurm::Options::account},
                                                                 {"qos", &slurm::Options::qos},
                                                                 {"constraint", &slurm::Options::constraint}};
  if (value.empty()) return refuse("is not NAME:VALUE");
  if (key == "cpus") {
    const std::optional<std::int64_t> cpus = ReadCount(value, kCpusMax);
    if (!cpus) return refuse("is not a number of CPUs");
    machine.cpus = static_cast<int>(*cpus);
  } else if (key == "memory") {
    machine.memory_mib = ReadMebibytes(value);
    if (!machine.memory_mib) return refuse("is not a size such as 16G or 500M");
  } else if (const auto text = std::ranges::find(kTexts, key, &std::pair<std::string_view, Text>::first);
             text != std::end(kTexts)) {
    machine.options.*text->second = value;
  } else if (key == "option") {
    machine.options.lines.push_back(value);
  } else {
    return refuse("must begin with cpus, memory, partition, account, qos, constraint or option");
  }
  return {};
}

Result<std::string> ReadOptionLine(const std::string& line) {
  if (line.starts_with("-") && !line.contains('\n')) return line;
  return std::unexpected(
      InvalidArgument("", "'" + line + "' is not an option of sbatch, such as --exclusive"));
}

/// Whether the text is a single partition's name, without characters that have a meaning in Slurm's settings.
bool IsPartitionName(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  return !text.empty() && text.find_first_not_of(kLetters) == std::string_view::npos;
}

/// Sets the part after "slurm:", or the bare name of a partition.
Status AddPartition(const std::string& region, const std::string& where, engine::EngineOptions& options) {
  constexpr std::string_view kPrefix = "slurm:";
  const std::string partition = where.starts_with(kPrefix) ? where.substr(kPrefix.size()) : where;
  if (!IsPartitionName(partition))
    return Refuse("'" + where +
                  "' must be local, slurm, slurm:PARTITION, kubernetes, kubernetes:LABEL=VALUE or PARTITION");
  options.slurm.regions.emplace(region, partition);
  return {};
}

/// Parses "us-central1=gpu", "us-east1=slurm", "us-west1=slurm:gpu", "asia-east1=kubernetes:pool=gpu",
/// "europe-west1=local".
Status AddRegion(const std::string& text, engine::EngineOptions& options) {
  TY_TRY(const auto rule, SplitRule(text));
  const auto& [region, where] = rule;
  if (cluster::FindRegion(region) == nullptr)
    return Refuse("'" + region + "' is not a region of Google Cloud");
  const std::size_t colon = where.find(':');
  const std::string_view name = std::string_view(where).substr(0, colon);
  const bool has_part = colon != std::string::npos;
  const std::string part = has_part ? where.substr(colon + 1) : "";
  Kind kind = Kind::kSlurm;
  if (where == "local") {
    kind = Kind::kLocal;
  } else if (name == "kubernetes") {
    kind = Kind::kKubernetes;
    if (has_part) TY_RETURN_IF_ERROR(AddLabel(part, options.kubernetes.regions[region]));
  } else if (where != "slurm") {
    TY_RETURN_IF_ERROR(AddPartition(region, where, options));
  }
  if (options.regions.emplace(region, kind).second) return {};
  return Refuse("'" + region + "' is given twice");
}

/// Adds "n1-standard-8=cpus:4,memory:16G,partition:gpu".
Status AddMachine(const std::string& text, std::map<std::string, slurm::MachineOptions>& machines) {
  TY_TRY(const auto rule, SplitRule(text));
  if (!cluster::FindMachineType(rule.first)) return Refuse("'" + rule.first + "' is not a machine type");
  slurm::MachineOptions machine;
  std::string_view rest = rule.second;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    TY_RETURN_IF_ERROR(ReadMachineKey(pair, machine));
  }
  if (machines.emplace(rule.first, std::move(machine)).second) return {};
  return Refuse("'" + rule.first + "' is given twice");
}

Status AddAccelerator(const std::string& text, std::map<std::string, std::string>& accelerators) {
  TY_TRY(auto rule, SplitRule(text));
  accelerators.insert(std::move(rule));
  return {};
}

constexpr Flag kEngineFlags[] = {
    {"--engine", "local|slurm|kubernetes",
     "Where jobs run. local: on this machine. slurm: on the nodes of a Slurm cluster to which this account "
     "can submit. kubernetes: in pods of the cluster that the kubeconfig names.",
     kChoice<Engine<&EngineOptions::kind>, Kind::kLocal, Kind::kSlurm, Kind::kKubernetes>},
    {"--regions", "REGION=local|slurm|kubernetes|PARTITION",
     "Where jobs of a region run, if not where --engine says: on this machine, on Slurm, in a Slurm "
     "partition, on Kubernetes, or on its nodes with a label (kubernetes:LABEL=VALUE). Can be repeated.",
     kRules<Engine<>, AddRegion>},
    {"--slurm-partition", "NAME", "Slurm partition. Default: Slurm's default.",
     kText<Sbatch<&slurm::Options::partition>>},
    {"--slurm-account", "NAME", "Slurm account.", kText<Sbatch<&slurm::Options::account>>},
    {"--slurm-qos", "NAME", "Slurm quality of service.", kText<Sbatch<&slurm::Options::qos>>},
    {"--slurm-constraint", "FEATURES", "Features that the nodes must have.",
     kText<Sbatch<&slurm::Options::constraint>>},
    {"--slurm-option", "OPTION", "Additional option for sbatch, such as --exclusive. Can be repeated.",
     kEach<Sbatch<&slurm::Options::lines>, ReadOptionLine>},
    {"--slurm-nice", "N",
     "--nice value for a job with priority 0; a job with priority 1000 gets 0. With 0, job priorities have "
     "no effect in Slurm.",
     kWhole<Slurm<&Settings::nice>, 0, 1'000'000>},
    {"--slurm-sizes", "fit|strict",
     "fit: a machine type that is larger than the largest node gets the size of that node. strict: the job "
     "waits.",
     kChoice<Slurm<&Settings::sizes>, slurm::Sizes::kFit, slurm::Sizes::kStrict>},
    {"--slurm-machine", "TYPE=NAME:VALUE,...",
     "What a machine type requests from Slurm: n1-standard-8=cpus:4,memory:16G,partition:gpu (also account, "
     "qos, constraint, option). Can be repeated.",
     kRules<Slurm<&Settings::machine_types>, AddMachine>},
    {"--slurm-accelerator", "TYPE=GRES",
     "Slurm GPU type that is used for an accelerator type, or any: nvidia-tesla-k80=a100. Can be repeated. "
     "Default: the GPU type of the same name, or else any.",
     kRules<Slurm<&Settings::accelerators>, AddAccelerator>},
    {"--slurm-tools", "FOLDER", "Directory with sbatch, squeue, scancel and sinfo. Default: PATH.",
     kText<Engine<&EngineOptions::slurm_tools>>},
    {"--slurm-rest", "unix:/PATH|http://HOST:PORT|https://HOST:PORT",
     "Address of slurmrestd, which is used instead of sbatch and the other tools. Default: the tools are "
     "used.",
     kText<Engine<&EngineOptions::slurm_rest>>},
    {"--slurm-rest-token-file", "FILE",
     "File with this account's token for slurmrestd. It is read for each request.",
     kAbsolutePath<Engine<&EngineOptions::slurm_rest_token_file>>},
    {"--node-dir", "FOLDER",
     "Directory on the nodes for agents, environments and images. Default: /var/tmp/trainyard-UID.",
     kAbsolutePath<Engine<&EngineOptions::node_dir>>},
    {"--node-cache", "FOLDER",
     "Directory that all nodes share, for environments and images. Default: each node has its own.",
     kAbsolutePath<Engine<&EngineOptions::node_cache>>},
    {"--node-buckets", "FOLDER",
     "Path on the nodes of this server's DATA/buckets; /gcs shows it there. Default: none.",
     kAbsolutePath<Engine<&EngineOptions::node_buckets>>},
};

}  // namespace

std::span<const Flag> EngineFlags() { return kEngineFlags; }

}  // namespace trainyard::server
