#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/async/system_clock.h"
#include "base/process/variables.h"
#include "base/wire/host_name.h"
#include "base/wire/time.h"
#include "cli/client_settings.h"
#include "cli/clients/client_environment.h"
#include "cli/clients/client_login.h"
#include "cli/clients/gcloud_submission.h"
#include "cli/clients/running_server.h"
#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"
#include "cli/jobs/job_warnings.h"
#include "net/front/google_names.h"
#include "programs/runtimes/google_channels.h"
#include "programs/sandbox/namespaces/file_view.h"
#include "programs/sandbox/namespaces/hosts_file.h"
#include "programs/sandbox/namespaces/led_command.h"
#include "programs/sandbox/namespaces/own_view.h"
#include "programs/sandbox/network/connect_door.h"

namespace trainyard::cli {
namespace {

/// How a command sees Google's names as a server of this machine: the replicas' recipe
/// (programs/runtimes/google_channels.h), for a user's own programs.
struct GoogleView {
  std::vector<replica::FileView::Bind> binds;  ///< the authorities that programs trust
  std::string hosts;                           ///< text of /etc/hosts
  std::vector<replica::ConnectDoor> doors;     ///< to the server's ports, where it could not have Google's
  VariableChanges variables;
};

struct OwnFiles {
  std::string credentials;  ///< for libraries, in place of the user's own; empty: the metadata server's are
  std::string token_file;   ///< for gcloud; empty: it sends none
  std::string boto_file;    ///< gsutil's settings; empty: those of the front
};

namespace v1 = replica::v1;

constexpr int kTlsPort = 443;
constexpr int kPlainPort = 80;

/// The manifest with the addresses that a replica would get, for a command that runs here.
v1::Manifest ManifestOf(const ServerNote& note, const std::string& project) {
  v1::Manifest manifest;
  manifest.set_project(project);
  v1::GoogleFront& front = *manifest.mutable_google_front();
  front.set_address(note.workstation.address);
  front.set_ca_bundle(note.workstation.ca_bundle);
  if (note.workstation.tls_port != kTlsPort) front.set_tls_port(note.workstation.tls_port);
  if (note.workstation.plain_port != kPlainPort) front.set_plain_port(note.workstation.plain_port);
  for (const std::string_view name : front::kTlsHosts) front.add_host_names(std::string(name));
  for (const std::string_view name : front::kUsersHosts) front.add_host_names(std::string(name));
  for (std::string& name : front::VertexHosts()) front.add_host_names(std::move(name));
  front.add_host_names(std::string(wire::kGoogleMetadataHost));
  front.add_host_names("metadata");  // its short form, which Google's machines resolve too
  return manifest;
}

/// Variables that `trainyard env` sets, or the user, and that lead past Google's names.
constexpr std::array<const char*, 4> kLeadingPast = {"GOOGLE_CLOUD_UNIVERSE_DOMAIN", "STORAGE_EMULATOR_HOST",
                                                     "GOOGLE_APPLICATION_CREDENTIALS", "BOTO_PATH"};
/// Variables that a replica needs and a user does not want: no prompts, and curl's settings file.
constexpr std::array<const char*, 2> kReplicasOnly = {"CLOUDSDK_CORE_DISABLE_PROMPTS", "CURL_HOME"};

void LogGcloudIn(const std::string& token_file, VariableChanges& variables) {
  variables["CLOUDSDK_AUTH_DISABLE_CREDENTIALS"] = std::nullopt;
  variables["CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"] = token_file;
}

constexpr const char* kJavaOptions = "JAVA_TOOL_OPTIONS";

/// The user's own options, and the archive with the trust store of Google's API client. The path has no
/// quotes: the option's quotes may be single ones.
std::string JavaOptions(const std::string& folder, const SettingSources& sources) {
  const std::string own = sources.variable(kJavaOptions).value_or("");
  return own + (own.empty() ? "" : " ") + "'-Xbootclasspath/a:" + folder + "/" +
         std::string(replica::kJavaArchive) + "'";
}

/// @param note  of a server that has a front for workstations.
/// @param own  files with which the command logs in. Looks at the machine's files.
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
  if (!stores.empty()) variables[kJavaOptions] = JavaOptions(folder, sources);
  for (const char* name : kLeadingPast) variables[name] = std::nullopt;
  for (const auto& [api, path] : kGcloudApis)
    variables[std::string(kGcloudOverride).append(api)] = std::nullopt;
  for (auto& [name, value] : replica::ChannelVariables(manifest, channels)) variables[name] = value;
  for (const char* name : kReplicasOnly) variables.erase(name);
  variables["CURL_CA_BUNDLE"] = front.ca_bundle();
  variables["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"] = front.ca_bundle();
  const std::string shared_boto = folder + "/" + std::string(replica::kUsersBotoFile);
  variables["BOTO_CONFIG"] = own.boto_file.empty() ? shared_boto : own.boto_file;
  variables["GCE_METADATA_HOST"] = variables["GCE_METADATA_ROOT"] = std::string(wire::kGoogleMetadataHost);
  variables["GCE_METADATA_IP"] = front.address();
  // The command does not use or change the login that gcloud has stored for this user.
  if (own.token_file.empty())
    variables["CLOUDSDK_AUTH_DISABLE_CREDENTIALS"] = "true";
  else
    LogGcloudIn(own.token_file, variables);
  variables["CLOUDSDK_ML_ENGINE_POLLING_INTERVAL"] = "1";
  variables["TRAINYARD_SERVER"] = note.url;
  variables["TRAINYARD_DATA"] = data_dir;
  if (!own.credentials.empty()) variables["GOOGLE_APPLICATION_CREDENTIALS"] = own.credentials;
  for (auto& [name, value] : WithoutProxies(sources, {".googleapis.com", ".google.internal"}))
    variables[name] = value;
  return view;
}

/// The front that a command uses. It is in the command's own variables: a `with` below it has
/// nothing to do.
constexpr const char* kWithin = "TRAINYARD_WITH";

Status CheckFront(const RunningServer& found) {
  if (!found.note) {
    return std::unexpected(FailedPrecondition(
        "The server at " + found.url + " (from: " + found.where + ") is not that of the data directory " +
        found.data_dir +
        ", where its certificate would be. Name its own: trainyard with --data DIR -- COMMAND"));
  }
  if (!found.note->workstation.address.empty()) return {};
  return std::unexpected(
      FailedPrecondition("The server at " + found.url +
                         " does not serve Google's host names: it was started with --google-front off, or "
                         "its first log lines say why. Restart it: trainyard serve --data " +
                         found.data_dir));
}

/// If the server requires login, its metadata server gives no token, and clients log in by files.
Result<OwnFiles> MakeOwnFiles(const RunningServer& found, const Arguments& arguments,
                              const SettingSources& sources, const std::string& project) {
  OwnFiles own;
  if (!found.asks_who) {
    TY_TRY(own.credentials, StandInCredentials(found, sources, Universe::kGoogles));
    return own;
  }
  TY_TRY(const ClientLogin login, MakeClientLogin(found, arguments, sources, Universe::kGoogles));
  own.token_file = login.token_file;
  own.credentials = login.account_file;
  const ClientBoto boto{
      .ca_file = found.note->workstation.ca_bundle, .project = project, .host = {}, .port = {}};
  TY_TRY(own.boto_file, WriteLoginBoto(found, login, boto, sources));
  return own;
}

/// gcloud does not show what the server says of a job that it created: this does, once it has ended.
void WarnOfSubmission(const LocalSession& session, const GcloudSubmission& submission,
                      const std::string& project, SysTime started) {
  const Result<ClientSession> opened = OpenSession(session, "trainyard");
  if (!opened) return;
  for (const std::string& id : submission.job_ids) {
    const JobReference name{submission.project.empty() ? project : submission.project, id};
    const Result<Json> job = CallJson(*opened->client, {.path = name.Path()});
    const Result<SysTime> created = wire::ParseTime(job ? TextAt(*job, "createTime") : "");
    if (created && *created >= started) return PrintJobWarnings(*opened->client, session.console, name);
  }
}

/// `with`: runs any program with Google's names meaning a server (docs/adr/0031-with.md).
ExitStatus RunWith(const LocalSession& session) {
  if (!session.arguments.passthrough || session.arguments.passthrough->empty())
    return std::unexpected(UsageError("COMMAND", "Must be specified: trainyard with -- COMMAND [ARGS]"));
  TY_TRY(const RunningServer found, FindRunningServer(session.arguments, session.sources));
  TY_RETURN_IF_ERROR(CheckFront(found));
  const std::string& address = found.note->workstation.address;
  if (session.sources.variable(kWithin) == address)
    return replica::RunLedCommand({.argv = *session.arguments.passthrough, .environment = OwnVariables()});
  const ClientSetting project = ProjectOf(found, session.arguments, session.sources);
  TY_TRY(const OwnFiles own, MakeOwnFiles(found, session.arguments, session.sources, project.value));
  GoogleView view = MakeGoogleView(*found.note, found.data_dir, project.value, own, session.sources);
  view.variables[kWithin] = address;
  TY_TRY(const replica::OwnView entered, replica::EnterOwnView({.binds = view.binds}, view.hosts));
  const SysTime started = std::chrono::floor<std::chrono::seconds>(SystemClock().Now());  // as createTime
  const std::vector<std::string>& argv = *session.arguments.passthrough;
  ExitStatus ended = replica::RunLedCommand({.argv = argv,
                                             .environment = OwnVariables(view.variables),
                                             .doors = std::move(view.doors),
                                             .gains_nothing = entered == replica::OwnView::kUserNamespace});
  if (const auto submission = FindGcloudSubmission(argv); submission && ended == 0)
    WarnOfSubmission(session, *submission, project.value, started);
  return ended;
}

constexpr auto kEnvFlags = WithCommonFlags(
    {{"--shell", "SHELL", "Shell to print the settings for: sh."},
     {"--unset", "", "Print commands that undo the settings and restore the previous values."}});

const Command kWithCommands[] = {
    {.spec = {.path = "env",
              .summary = "Print environment variables that point gcloud and client libraries at the server.",
              .flags = kEnvFlags,
              .examples = "env\nenv --unset"},
     .run = PrintClientEnvironment},
    {.spec = {.path = "with",
              .summary = "Run a command for which Google's host names lead to this server.",
              .passthrough = true,
              .flags = kCommonFlags,
              .examples = "with -- gsutil ls\nwith -- python3 submit.py"},
     .run = RunWith},
};

}  // namespace

std::span<const Command> ClientCommands() { return kWithCommands; }

}  // namespace trainyard::cli
