#include "server/cluster/cluster.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "async/diagnostics.h"
#include "async/file.h"
#include "engine/local/keeper_starter.h"
#include "engine/slurm/slurm_tools.h"
#include "front/google_names.h"
#include "slurm/node_list.h"
#include "tls/certificate.h"
#include "tls/pinned_chain.h"
#include "tls/sha256.h"

namespace trainyard::server {

namespace {

constexpr const char* kSettingsFolder = "runtimes.d";

Result<AgentProgram> OwnAgentProgram() {
  AgentProgram program;
  TY_TRY(program.file, OpenFile("/proc/self/exe", O_RDONLY));
  TY_TRY(program.sha256, tls::Sha256HexOfFile(program.file.get()));
  return program;
}

std::string Joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// The operator's mistake is said at once; a controller that does not answer now is none, and has no nodes.
Result<std::vector<slurm::Node>> LookAtNodes(const engine::SlurmClient& client) {
  engine::SlurmAnswer<std::vector<slurm::Node>> nodes = client.Nodes();
  if (nodes) return *std::move(nodes);
  if (nodes.error().failure == slurm::Failure::kMistake)
    return std::unexpected(FailedPrecondition("--engine slurm: " + nodes.error().words));
  Diagnose(DiagnosticLevel::kWarning,
           "Slurm does not answer: " + nodes.error().words + "; jobs wait until it does");
  return std::vector<slurm::Node>();
}

Status CheckPartitions(const slurm::Settings& settings, std::span<const slurm::Node> nodes) {
  std::set<std::string> known;
  for (const slurm::Node& node : nodes) known.insert(node.partition);
  if (known.empty()) return {};
  std::vector<std::string> named{settings.options.partition};
  for (const auto& [region, partition] : settings.regions) named.push_back(partition);
  for (const auto& [type, machine] : settings.machine_types) named.push_back(machine.options.partition);
  for (const std::string& name : named) {
    if (name.empty() || known.contains(name)) continue;
    return std::unexpected(
        FailedPrecondition("Slurm has no partition '" + name + "'; it has " + Joined(known)));
  }
  return {};
}

/// The operator's own runtime versions, which nodes build, too.
void AddRuntimes(const DataDirectory& data, engine::ToAgent::Welcome& welcome) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(data.environments_dir()) / kSettingsFolder;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() != ".json") continue;
    if (auto text = ReadFile(entry->path()))
      (*welcome.mutable_runtime_definitions())[entry->path().filename()] = *std::move(text);
  }
}

Result<engine::ToAgent::Welcome> MakeWelcome(const ServeOptions& options, const DataDirectory& data,
                                             const tls::TlsIdentity& identity) {
  engine::ToAgent::Welcome welcome;
  if (options.google_front)
    for (const std::string_view name : front::kTlsHosts) welcome.add_front_host_names(std::string(name));
  TY_TRY(*welcome.mutable_ca_certificate_pem(), ReadFile(identity.ca_file));
  welcome.set_project(options.project);
  welcome.set_buckets_dir(options.engine.node_buckets);
  if (!options.engine.node_cache.empty()) {
    welcome.set_environments_dir(options.engine.node_cache + "/environments");
    welcome.set_images_dir(options.engine.node_cache + "/images");
  }
  AddRuntimes(data, welcome);
  return welcome;
}

Result<std::string> FingerprintOf(const tls::TlsIdentity& identity) {
  TY_TRY(const std::string pem, ReadFile(identity.ca_file));
  TY_TRY(const tls::Certificate certificate, tls::ParseCertificate(pem));
  return tls::Fingerprint(certificate.get());
}

}  // namespace

Cluster::Cluster(boost::asio::io_context& loop, const tls::TlsIdentity& identity, AgentsAddress address,
                 AgentProgram program)
    : loop_(loop),
      identity_(identity),
      address_(std::move(address)),
      program_(std::move(program)),
      host_(loop.get_executor(), [this](const std::string& agent) { return allocator_->MayLive(agent); }) {}

Result<std::unique_ptr<Cluster>> Cluster::Open(boost::asio::io_context& loop, const ServeOptions& options,
                                               const DataDirectory& data, const Clock& clock,
                                               const tls::TlsIdentity& identity) {
  if (!UsesSlurm(options.engine)) return nullptr;
  auto client =
      std::make_unique<engine::SlurmTools>(engine::SlurmToolOptions{.folder = options.engine.slurm_tools});
  TY_TRY(const std::vector<slurm::Node> nodes, LookAtNodes(*client));
  TY_RETURN_IF_ERROR(CheckPartitions(options.engine.slurm, nodes));
  TY_TRY(AgentsAddress address, ListenForAgents(options.engine, data, nodes));
  TY_TRY(AgentProgram program, OwnAgentProgram());
  TY_TRY(engine::ToAgent::Welcome welcome, MakeWelcome(options, data, identity));
  slurm::Boot boot{.server_host = address.host,
                   .server_port = address.socket.port,
                   .certificate_sha256 = {},
                   .program_sha256 = program.sha256,
                   .program_path = engine::OwnProgram(),
                   .ticket = {},
                   .node_dir = options.engine.node_dir};
  TY_TRY(boot.certificate_sha256, FingerprintOf(identity));
  std::unique_ptr<Cluster> cluster(new Cluster(loop, identity, std::move(address), std::move(program)));
  TY_TRY(cluster->allocator_, engine::SlurmAllocator::Open(loop.get_executor(), data.Path("engines.db"),
                                                           {.settings = options.engine.slurm,
                                                            .boot = std::move(boot),
                                                            .clock = clock,
                                                            .client = std::move(client)},
                                                           cluster->host_));
  cluster->desk_.emplace(engine::AgentDesk{.slots = *cluster->allocator_,
                                           .host = cluster->host_,
                                           .welcome = std::move(welcome),
                                           .relay = nullptr});
  return cluster;
}

Status Cluster::Start(Relay relay) {
  desk_->relay = std::move(relay);
  Diagnose(DiagnosticLevel::kInfo, "jobs run on the nodes of Slurm; agents connect to " + address_.host +
                                       ":" + std::to_string(address_.socket.port));
  TY_TRY(listener_,
         AgentsListener::Open(loop_, std::move(address_.socket), identity_, *desk_, std::move(program_)));
  allocator_->Start();
  return {};
}

}  // namespace trainyard::server
