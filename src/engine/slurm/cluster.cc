#include "engine/slurm/cluster.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/process/account_name.h"
#include "base/tls/certificate.h"
#include "base/tls/sha256.h"
#include "engine/local/keeper_starter.h"
#include "engine/slurm/slurm_rest.h"
#include "engine/slurm/slurm_tools.h"
#include "net/front/google_names.h"
#include "programs/environment/layout.h"
#include "programs/environment/uv.h"

namespace trainyard::engine {

namespace {

std::string Joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// All options that jobs may use: the general ones and those of each machine type.
std::vector<slurm::Options> AllOptions(const slurm::SlurmSettings& settings) {
  std::vector<slurm::Options> all{settings.options};
  for (const auto& [type, machine] : settings.machine_types) {
    slurm::Options options = slurm::WithOptionsOf(settings.options, machine.options);
    if (std::ranges::find(all, options) == all.end()) all.push_back(std::move(options));
  }
  return all;
}

/// Checks the partitions; an error also lists the existing ones.
Status CheckPartitions(const slurm::SlurmSettings& settings, std::span<const slurm::Node> nodes) {
  std::set<std::string> known;
  for (const slurm::Node& node : nodes) known.insert(node.partition);
  std::set<std::string> named;
  for (const slurm::Options& options : AllOptions(settings)) named.insert(options.partition);
  for (const auto& [region, partition] : settings.regions) named.insert(partition);
  for (const std::string& name : named) {
    if (name.empty() || known.contains(name)) continue;
    return std::unexpected(
        FailedPrecondition("Slurm has no partition '" + name + "'; it has " + Joined(known)));
  }
  return {};
}

/// Since 23.02 slurmrestd does not report which partition is the default, but job sizes are chosen for its
/// nodes.
Status CheckDefaultPartition(const slurm::EngineOptions& options, std::span<const slurm::Node> nodes) {
  if (options.slurm_rest.empty() || !options.slurm.options.partition.empty() || nodes.empty() ||
      std::ranges::any_of(nodes, &slurm::Node::default_partition))
    return {};
  return std::unexpected(FailedPrecondition(
      "slurmrestd does not say which partition is the default: set one with --slurm-partition"));
}

constexpr const char* kSettingsFolder = "runtimes.d";

Result<AgentProgram> OwnAgentProgram() {
  AgentProgram program;
  TY_TRY(program.file, OpenFile("/proc/self/exe", O_RDONLY));
  TY_TRY(program.sha256, tls::Sha256HexOfFile(program.file.get()));
  return program;
}

/// Adds the operator's own runtime versions to the welcome, since nodes build them, too.
void AddRuntimes(const std::string& environments_dir, ToAgent::Welcome& welcome) {
  for (const std::filesystem::path& file :
       PathsIn(std::filesystem::path(environments_dir) / kSettingsFolder)) {
    if (file.extension() != ".json") continue;
    if (auto text = ReadFile(file))
      (*welcome.mutable_runtime_definitions())[file.filename()] = *std::move(text);
  }
}

Result<ToAgent::Welcome> MakeWelcome(const slurm::EngineOptions& options, const Cluster::Place& place,
                                     const tls::TlsIdentity& identity) {
  ToAgent::Welcome welcome;
  if (place.google_front)
    for (const std::string_view name : front::kTlsHosts) welcome.add_front_host_names(std::string(name));
  TY_TRY(*welcome.mutable_ca_certificate_pem(), ReadFile(identity.ca_file));
  welcome.set_project(place.project);
  welcome.set_buckets_dir(options.node_buckets);
  if (!options.node_cache.empty()) {
    welcome.set_environments_dir(options.node_cache + "/environments");
    welcome.set_images_dir(options.node_cache + "/images");
  }
  AddRuntimes(place.environments_dir, welcome);
  return welcome;
}

Result<std::string> FingerprintOf(const tls::TlsIdentity& identity) {
  TY_TRY(const std::string pem, ReadFile(identity.ca_file));
  TY_TRY(const tls::Certificate certificate, tls::ParseCertificate(pem));
  return tls::Fingerprint(certificate.get());
}

}  // namespace

Result<std::unique_ptr<SlurmClient>> MakeSlurmClient(const slurm::EngineOptions& options) {
  if (options.slurm_rest.empty())
    return std::make_unique<SlurmTools>(SlurmToolOptions{.folder = options.slurm_tools});
  const uid_t account = ::geteuid();
  TY_TRY(http::Endpoint endpoint, http::Endpoint::Parse(options.slurm_rest));
  return std::make_unique<SlurmRest>(
      SlurmRestOptions{.endpoint = std::move(endpoint),
                       .owner = {.number = account, .name = AccountName(account)},
                       .token_file = options.slurm_rest_token_file});
}

Result<std::vector<slurm::Node>> CheckCluster(const slurm::EngineOptions& options,
                                              const SlurmClient& client) {
  SlurmAnswer<std::vector<slurm::Node>> nodes = client.Nodes();
  if (!nodes && nodes.error().failure == slurm::Failure::kMistake)
    return std::unexpected(FailedPrecondition("--engine slurm: " + nodes.error().words));
  if (!nodes) {
    Diagnose(DiagnosticLevel::kWarning,
             "Slurm does not answer: " + nodes.error().words + "; jobs wait until it does");
    return std::vector<slurm::Node>();
  }
  TY_RETURN_IF_ERROR(CheckPartitions(options.slurm, *nodes));
  TY_RETURN_IF_ERROR(CheckDefaultPartition(options, *nodes));
  for (const slurm::Options& asked : AllOptions(options.slurm)) {
    if (asked == slurm::Options()) continue;
    if (const SlurmAnswer<void> known = client.Check(asked); !known)
      return std::unexpected(
          FailedPrecondition("Slurm refuses the settings of the engine: " + known.error().words));
  }
  return *std::move(nodes);
}

Cluster::Cluster(boost::asio::io_context& loop, const tls::TlsIdentity& identity, AgentsAddress address,
                 AgentProgram program)
    : loop_(loop),
      identity_(identity),
      address_(std::move(address)),
      program_(std::move(program)),
      names_(loop.get_executor()),
      host_(loop.get_executor(), [this](const std::string& agent) { return engine_->MayLive(agent); }) {}

Result<std::unique_ptr<Cluster>> Cluster::Open(boost::asio::io_context& loop,
                                               const slurm::EngineOptions& options, const Place& place,
                                               const Clock& clock, const tls::TlsIdentity& identity) {
  if (!placement::Uses(options, placement::kSlurmEngine)) return nullptr;
  TY_TRY(std::unique_ptr<SlurmClient> client, MakeSlurmClient(options));
  TY_TRY(std::vector<slurm::Node> nodes, CheckCluster(options, *client));
  TY_TRY(AgentsAddress address, ListenForAgents(options, place.address_file, nodes));
  TY_TRY(AgentProgram program, OwnAgentProgram());
  TY_TRY(ToAgent::Welcome welcome, MakeWelcome(options, place, identity));
  slurm::Boot boot{.server_host = address.host,
                   .server_port = address.socket.port,
                   .certificate_sha256 = {},
                   .program_sha256 = program.sha256,
                   .program_path = OwnProgram(),
                   .ticket = {},
                   .node_dir = options.node_dir};
  TY_TRY(boot.certificate_sha256, FingerprintOf(identity));
  std::unique_ptr<Cluster> cluster(new Cluster(loop, identity, std::move(address), std::move(program)));
  cluster->named_targets_ = FindNamedTargets(
      environment::ToolVariables({place.environments_dir}, environment::ToolCache::kNone), place.image_map);
  TY_TRY(cluster->engine_, SlurmEngine::Open(loop.get_executor(), place.database,
                                             {.settings = options.slurm,
                                              .boot = std::move(boot),
                                              .clock = clock,
                                              .client = std::move(client),
                                              .nodes = std::move(nodes)},
                                             cluster->host_));
  cluster->desk_.emplace(AgentDesk{
      .slots = *cluster->engine_, .host = cluster->host_, .welcome = std::move(welcome), .relay = nullptr});
  return cluster;
}

Status Cluster::Start(Relay relay, http::ConnectionBudget& connections) {
  desk_->relay = std::move(relay);
  Diagnose(DiagnosticLevel::kInfo, "jobs run on the nodes of Slurm; agents connect to " + address_.host +
                                       ":" + std::to_string(address_.socket.port));
  TY_TRY(listener_, AgentsListener::Open(loop_, std::move(address_.socket), identity_, *desk_,
                                         std::move(program_), connections));
  engine_->Start();
  return {};
}

}  // namespace trainyard::engine
