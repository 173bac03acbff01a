#include "engine/slurm/cluster.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/tls/certificate.h"
#include "base/tls/sha256.h"
#include "engine/local/keeper_starter.h"
#include "engine/slurm/check_cluster.h"
#include "net/front/google_names.h"
#include "programs/environment/layout.h"
#include "programs/environment/uv.h"

namespace trainyard::engine {

namespace {

constexpr const char* kSettingsFolder = "runtimes.d";

Result<AgentProgram> OwnAgentProgram() {
  AgentProgram program;
  TY_TRY(program.file, OpenFile("/proc/self/exe", O_RDONLY));
  TY_TRY(program.sha256, tls::Sha256HexOfFile(program.file.get()));
  return program;
}

/// Adds the operator's own runtime versions to the welcome, since nodes build them, too.
void AddRuntimes(const std::string& environments_dir, ToAgent::Welcome& welcome) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(environments_dir) / kSettingsFolder;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() != ".json") continue;
    if (auto text = ReadFile(entry->path()))
      (*welcome.mutable_runtime_definitions())[entry->path().filename()] = *std::move(text);
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

Cluster::Cluster(boost::asio::io_context& loop, const tls::TlsIdentity& identity, AgentsAddress address,
                 AgentProgram program)
    : loop_(loop),
      identity_(identity),
      address_(std::move(address)),
      program_(std::move(program)),
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
