#include "cli/clients/google_view.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/wire/host_name.h"
#include "cli/clients/client_credentials.h"
#include "cli/clients/client_environment.h"
#include "net/front/google_names.h"
#include "programs/runtimes/google_channels.h"
#include "programs/sandbox/namespaces/hosts_file.h"

namespace trainyard::cli {

namespace {

namespace v1 = replica::v1;

constexpr int kTlsPort = 443;
constexpr int kPlainPort = 80;

/// What a replica is told of its front, for this one.
v1::Manifest ManifestOf(const ServerNote& note, const std::string& project) {
  v1::Manifest manifest;
  manifest.set_project(project);
  v1::GoogleFront& front = *manifest.mutable_google_front();
  front.set_address(note.workstation.address);
  front.set_ca_bundle(note.workstation.ca_bundle);
  if (note.workstation.tls_port != kTlsPort) front.set_tls_port(note.workstation.tls_port);
  if (note.workstation.plain_port != kPlainPort) front.set_plain_port(note.workstation.plain_port);
  for (const std::string_view name : front::kTlsHosts) front.add_host_names(std::string(name));
  front.add_host_names(std::string(wire::kGoogleMetadataHost));
  front.add_host_names("metadata");  // its short form, which Google's machines resolve too
  return manifest;
}

/// Variables that `trainyard env` sets, or the user, and that lead past Google's names.
constexpr std::array<const char*, 7> kLeadingPast = {"GOOGLE_CLOUD_UNIVERSE_DOMAIN",
                                                     "STORAGE_EMULATOR_HOST",
                                                     "CLOUDSDK_API_ENDPOINT_OVERRIDES_ML",
                                                     "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE",
                                                     "CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING",
                                                     "GOOGLE_APPLICATION_CREDENTIALS",
                                                     "BOTO_PATH"};
/// What suits a replica and no user: the answers of prompts, curl's own settings file.
constexpr std::array<const char*, 2> kReplicasOnly = {"CLOUDSDK_CORE_DISABLE_PROMPTS", "CURL_HOME"};

void LogGcloudIn(const std::string& token_file, VariableChanges& variables) {
  variables["CLOUDSDK_AUTH_DISABLE_CREDENTIALS"] = std::nullopt;
  variables["CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"] = token_file;
}

}  // namespace

GoogleView MakeGoogleView(const ServerNote& note, const std::string& data_dir, const std::string& project,
                          const OwnFiles& own, const SettingSources& sources) {
  const v1::Manifest manifest = ManifestOf(note, project);
  const v1::GoogleFront& front = manifest.google_front();
  const replica::Channels channels = {.names = true, .files = false};
  const std::string folder = front.ca_bundle().substr(0, front.ca_bundle().rfind('/'));
  GoogleView view{.binds = replica::ChannelBinds(manifest, channels),
                  .hosts = replica::HostsFile(sources.read_file("/etc/hosts").value_or(""), {}, front),
                  .doors = replica::FrontDoors(front),
                  .variables = {}};
  const auto stores = replica::JavaTrustStores(sources.variable("JAVA_HOME").value_or(""),
                                               sources.variable("PATH").value_or(""));
  for (replica::FileView::Bind& bind : replica::JavaBinds(folder, stores)) {
    if (std::ranges::find(view.binds, bind.to, &replica::FileView::Bind::to) == view.binds.end())
      view.binds.push_back(std::move(bind));
  }
  VariableChanges& variables = view.variables;
  for (const char* name : kLeadingPast) variables[name] = std::nullopt;
  for (auto& [name, value] : replica::ChannelVariables(manifest, channels)) variables[name] = value;
  for (const char* name : kReplicasOnly) variables.erase(name);
  variables["CURL_CA_BUNDLE"] = front.ca_bundle();
  const std::string shared_boto = folder + "/" + std::string(replica::kUsersBotoFile);
  variables["BOTO_CONFIG"] = own.boto_file.empty() ? shared_boto : own.boto_file;
  variables["GCE_METADATA_HOST"] = variables["GCE_METADATA_ROOT"] = std::string(wire::kGoogleMetadataHost);
  variables["GCE_METADATA_IP"] = front.address();
  // What gcloud keeps of its user's login stays out of it, and as it is.
  if (own.token_file.empty())
    variables["CLOUDSDK_AUTH_DISABLE_CREDENTIALS"] = "true";
  else
    LogGcloudIn(own.token_file, variables);
  for (const std::string_view api : {"IAM", "IAMCREDENTIALS", "CLOUDRESOURCEMANAGER", "SERVICEUSAGE"})
    variables[std::string(kGcloudOverride).append(api)] = note.url + "/";  // the front has no names for these
  variables["CLOUDSDK_ML_ENGINE_POLLING_INTERVAL"] = "1";
  variables["TRAINYARD_SERVER"] = note.url;
  variables["TRAINYARD_DATA"] = data_dir;
  if (!own.credentials.empty()) variables["GOOGLE_APPLICATION_CREDENTIALS"] = own.credentials;
  for (auto& [name, value] : WithoutProxies(sources, {".googleapis.com", ".google.internal"}))
    variables[name] = value;
  return view;
}

}  // namespace trainyard::cli
