#include "cli/clients/client_environment.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "base/async/file.h"
#include "cli/clients/client_login.h"
#include "cli/clients/running_server.h"
#include "net/front/boto_file.h"

namespace trainyard::cli {
namespace {

/// The names that the printed lines set, and before a name what it had.
constexpr const char* kNames = "TRAINYARD_ENV";
constexpr const char* kReplaced = "TRAINYARD_REPLACED_";
constexpr std::string_view kOwnTls = "https://localhost:";  // the rest of *.localhost is there, too
constexpr const char* kCredentials = "GOOGLE_APPLICATION_CREDENTIALS";

std::string WithoutScheme(const std::string& url) {
  std::size_t scheme = url.find("://");
  return scheme == std::string::npos ? url : url.substr(scheme + 3);
}

std::string Port(const std::string& url) {
  std::string authority = WithoutScheme(url);
  std::size_t colon = authority.rfind(':');
  return colon == std::string::npos ? "443" : authority.substr(colon + 1);
}

std::string Host(const std::string& url) {
  const std::string authority = WithoutScheme(url);
  return authority.substr(0, authority.rfind(':'));
}

/// Writes the certificates that the user's programs trust already together with the server's, because the
/// variables below replace a program's own list.
std::string WriteBundle(const SettingSources& sources, const std::string& ca_file,
                        const std::string& folder) {
  std::string bundle = folder + "/bundle.pem";
  std::optional<std::string> ours = sources.read_file(ca_file);
  if (!ours) return ca_file;
  std::optional<std::string> trusted;
  std::optional<std::string> named = sources.variable("REQUESTS_CA_BUNDLE");
  if (named && *named != bundle && *named != ca_file) trusted = sources.read_file(*named);
  for (const char* path : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"})
    if (!trusted) trusted = sources.read_file(path);
  std::string text = trusted.value_or("") + *ours;
  if (sources.read_file(bundle) == text) return bundle;
  return WriteFileAtomically(bundle, text) ? bundle : ca_file;
}

/// gsutil's settings; its own are those of the real Cloud Storage.
Result<std::string> WriteBoto(const SettingSources& sources, const RunningServer& found,
                              const std::string& ca_file, const std::string& project,
                              const ClientLogin& login) {
  const std::string& tls_url = IsOnLoopback(found) ? found.tls_url : found.url;
  const std::string host = Host(tls_url);
  const std::string port = Port(tls_url);
  if (!login.token.empty()) {
    return WriteLoginBoto(found, login, {.ca_file = ca_file, .project = project, .host = host, .port = port},
                          sources);
  }
  const std::string text =
      front::BotoFile({.ca_bundle = ca_file, .project = project, .host = host, .port = port});
  std::string path = found.data_dir + "/run/client-boto.cfg";
  if (sources.read_file(path) != text) TY_RETURN_IF_ERROR(WriteFileAtomically(path, text));
  return path;
}

/// Whether *.localhost resolves without the network.
bool ResolvesLocalhostNames(const SettingSources& sources) {
  std::string hosts = sources.read_file("/etc/hosts").value_or("");
  std::string name_services = sources.read_file("/etc/nsswitch.conf").value_or("");
  return hosts.find("ml.localhost") != std::string::npos ||
         name_services.find("myhostname") != std::string::npos ||
         name_services.find("resolve [") != std::string::npos;
}

std::string Export(const std::string& name, const std::string& value) {
  std::string line = "export " + name + "='";
  for (const char c : value) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return line + "'\n";
}

/// The names that earlier lines have set. They become words of a shell: nothing else passes.
std::vector<std::string> NamesSet(const SettingSources& sources) {
  constexpr const char* kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
  std::vector<std::string> names;
  std::istringstream words(sources.variable(kNames).value_or(""));
  for (std::string name; words >> name;)
    if (name.find_first_not_of(kLetters) == std::string::npos) names.push_back(name);
  return names;
}

bool IsSet(const SettingSources& sources, const std::string& name) {
  const std::vector<std::string> names = NamesSet(sources);
  return std::ranges::find(names, name) != names.end();
}

/// The metadata server that commands of `trainyard with` see; empty: there is none.
std::string FrontsMetadata(const ServerNote& note) {
  const auto& [address, tls_port, plain_port, ca_bundle] = note.workstation;
  if (address.empty() || plain_port == 0) return {};
  return address + ":" + std::to_string(plain_port);
}

/// The files that the variables name, and the files that they replace.
Result<ClientEnvironment> MakeEnvironment(const RunningServer& found, const SettingSources& sources,
                                          const std::string& project, const ClientLogin& login) {
  ClientEnvironment environment{.url = found.url, .tls_url = found.tls_url, .project = project};
  environment.token_file = login.token_file;
  environment.credentials = login.account_file;
  if (found.note) environment.data_dir = found.data_dir;
  if (found.note && login.token_file.empty()) environment.gcloud_metadata = FrontsMetadata(*found.note);
  if (found.ca_file.empty() || (IsOnLoopback(found) && found.tls_url.empty())) return environment;
  const std::string folder = found.note ? FolderOf(found.ca_file) : login.folder;
  if (folder.empty()) return environment;
  environment.ca_file = WriteBundle(sources, found.ca_file, folder);
  TY_TRY(environment.boto_file, WriteBoto(sources, found, environment.ca_file, project, login));
  if (login.account_file.empty()) {
    TY_TRY(environment.credentials, StandInCredentials(found, sources, Universe::kServers));
  }
  return environment;
}

void WarnOfServer(const RunningServer& found, const SettingSources& sources, const Console& console) {
  if (!found.elsewhere.empty())
    console.Warn("the server at " + found.url + " (from: " + found.where +
                 ") is not that of the data directory " + found.data_dir + ", which is at " +
                 found.elsewhere + "; trainyard env --data " + found.data_dir + " names that one");
  const std::string universe = OwnUniverse(found.url, found.tls_url);
  if (found.asks_who && universe.empty())
    console.Warn("discovery.build('ml', 'v1') needs client_options={'api_endpoint': '" + found.url +
                 "'}; without it, requests go to Google");
  else if (found.asks_who)
    console.Warn("google-cloud-storage needs client_options={'universe_domain': '" + universe +
                 "'}, or run the program with trainyard with -- COMMAND");
  if (!IsOnLoopback(found)) return;
  if (!found.note)
    console.Warn(
        "the server's certificate is not in this machine's data directory: discovery.build('ml', 'v1') "
        "without arguments and gsutil will not work; all other clients will");
  else if (!universe.empty() && !ResolvesLocalhostNames(sources))
    console.Warn(
        "ml.localhost may not resolve on this machine; for discovery.build('ml', 'v1') without arguments run "
        "the program with trainyard with -- COMMAND, or add this line to /etc/hosts: 127.0.0.1 ml.localhost "
        "storage.localhost");
}

/// Google's credentials are passed over; their user is told once.
void WarnOfCredentials(const ClientEnvironment& environment, const SettingSources& sources,
                       const Console& console) {
  if (environment.ca_file.empty() || IsSet(sources, kCredentials)) return;
  const std::string instead = environment.credentials.empty() ? "removed" : "replaced by the server's";
  if (const auto named = sources.variable(kCredentials))
    console.Warn(std::string(kCredentials) + " names [" + *named +
                 "], a key for Google that cannot be used for this server. It is " + instead +
                 " in this shell; trainyard env --unset restores it");
  else if (const auto file = DefaultCredentialsFile(sources))
    console.Warn("the credentials in [" + *file +
                 "] are for Google and cannot be used for this server, so GOOGLE_APPLICATION_CREDENTIALS was "
                 "set to other credentials; trainyard env --unset removes it");
}

/// Gives one variable the value that it had before.
std::string TakeBack(const std::string& name, const SettingSources& sources) {
  const std::string replaced = kReplaced + name;
  const auto had = sources.variable(replaced.c_str());
  return had ? Export(name, *had) + "unset " + replaced + "\n" : "unset " + name + "\n";
}

}  // namespace

std::string OwnUniverse(const std::string& url, const std::string& tls_url) {
  const bool has_own_names = url.starts_with("http://") && tls_url.starts_with(kOwnTls);
  return has_own_names ? "localhost:" + Port(tls_url) : std::string();
}

VariableList ClientVariables(const ClientEnvironment& environment) {
  const std::string& url = environment.url;
  std::string authority = WithoutScheme(url);
  VariableList variables{
      {"TRAINYARD_SERVER", url},
      {"CLOUDSDK_CORE_PROJECT", environment.project},
      {"CLOUDSDK_ML_ENGINE_POLLING_INTERVAL", "1"},
      {"GOOGLE_CLOUD_PROJECT", environment.project},
  };
  for (const auto& [api, path] : kGcloudApis)
    variables.emplace_back(std::string(kGcloudOverride).append(api), url + std::string(path));
  const bool is_on_loopback = url.starts_with("http://");
  if (is_on_loopback) {
    for (const char* name : {"GCE_METADATA_HOST", "GCE_METADATA_IP"}) variables.emplace_back(name, authority);
    // gcloud reads this one only; libraries read it if GCE_METADATA_HOST is not set. In a universe other than
    // Google's, gcloud requires more flags, and does not find the account that it keeps from `with`.
    variables.emplace_back("GCE_METADATA_ROOT",
                           environment.gcloud_metadata.empty() ? authority : environment.gcloud_metadata);
  }
  if (environment.token_file.empty()) {
    variables.emplace_back("CLOUDSDK_AUTH_DISABLE_CREDENTIALS", "true");
    variables.emplace_back("STORAGE_EMULATOR_HOST", url);
  } else {
    variables.emplace_back("CLOUDSDK_AUTH_ACCESS_TOKEN_FILE", environment.token_file);
    variables.emplace_back("API_ENDPOINT_OVERRIDE", url);  // storage.Client() of late versions
  }
  if (!environment.data_dir.empty()) variables.emplace_back("TRAINYARD_DATA", environment.data_dir);
  const std::string universe = OwnUniverse(url, environment.tls_url);
  const bool has_tls = !environment.ca_file.empty() && (!environment.tls_url.empty() || !is_on_loopback);
  if (!environment.token_file.empty() && !has_tls)
    variables.emplace_back(kCredentials, environment.credentials);
  if (!has_tls) return variables;  // without the certificate every https request would fail
  if (!universe.empty()) variables.emplace_back("GOOGLE_CLOUD_UNIVERSE_DOMAIN", universe);
  variables.emplace_back("HTTPLIB2_CA_CERTS", environment.ca_file);
  variables.emplace_back("REQUESTS_CA_BUNDLE", environment.ca_file);
  variables.emplace_back("NODE_EXTRA_CA_CERTS", environment.ca_file);
  variables.emplace_back("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", environment.ca_file);
  // Before the boto file's, for the gsutil that comes with gcloud.
  variables.emplace_back("CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", environment.ca_file);
  if (!environment.boto_file.empty()) variables.emplace_back("BOTO_CONFIG", environment.boto_file);
  variables.emplace_back(
      kCredentials, environment.credentials.empty() ? std::nullopt : std::optional(environment.credentials));
  return variables;
}

VariableList WithoutProxies(const SettingSources& sources, const std::vector<std::string>& hosts) {
  constexpr std::array<const char*, 6> kProxies = {"HTTP_PROXY",  "http_proxy", "HTTPS_PROXY",
                                                   "https_proxy", "ALL_PROXY",  "all_proxy"};
  const bool has_proxy =
      std::ranges::any_of(kProxies, [&](const char* name) { return sources.variable(name).has_value(); });
  if (!has_proxy) return {};
  const auto upper = sources.variable("NO_PROXY");
  std::string list = upper ? *upper : sources.variable("no_proxy").value_or("");
  for (const std::string& host : hosts) {
    if (("," + list + ",").find("," + host + ",") == std::string::npos)
      list += (list.empty() ? "" : ",") + host;
  }
  return {{"NO_PROXY", list}, {"no_proxy", list}};
}

std::string PrintSettings(const VariableList& variables, const SettingSources& sources) {
  const std::vector<std::string> before = NamesSet(sources);
  std::vector<std::string> names = before;
  std::string out;
  for (const auto& [name, value] : variables) {
    const auto had = sources.variable(name.c_str());
    const bool is_ours = std::ranges::find(before, name) != before.end();
    if (!value && !had && !is_ours) continue;
    if (!is_ours) {
      names.push_back(name);
      if (had) out += Export(kReplaced + name, *had);
    }
    out += value ? Export(name, *value) : "unset " + name + "\n";
  }
  // What another server's settings had and these do not have would go on leading there.
  for (const std::string& name : before) {
    if (std::ranges::find(variables, name, &VariableList::value_type::first) != variables.end()) continue;
    out += TakeBack(name, sources);
    std::erase(names, name);
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : " ") + name;
  return out + Export(kNames, list);
}

SettingSources BeforeSettings(const SettingSources& sources) {
  SettingSources before = sources;
  before.variable = [sources](const char* name) {
    return sources.variable(IsSet(sources, name) ? (std::string(kReplaced) + name).c_str() : name);
  };
  return before;
}

std::string PrintUnset(const SettingSources& sources) {
  std::string out;
  for (const std::string& name : NamesSet(sources)) out += TakeBack(name, sources);
  return out.empty() ? out : out + "unset " + kNames + "\n";
}

ExitStatus PrintClientEnvironment(const LocalSession& session) {
  if (std::string shell = session.arguments.Value("--shell").value_or("sh"); shell != "sh")
    return std::unexpected(
        UsageError("--shell", "Must be sh (which also works for bash, zsh and dash); received: " + shell));
  if (session.arguments.IsOn("--unset")) {
    const std::string lines = PrintUnset(ProcessSettingSources());
    if (lines.empty()) session.console.Status("No variable of this shell was set by trainyard env.\n");
    session.console.Out(lines);
    return 0;
  }
  TY_TRY(const RunningServer found, FindRunningServer(session.arguments, session.sources));
  const ClientSetting project = ProjectOf(found, session.arguments, session.sources);
  TY_TRY(const ClientLogin login,
         MakeClientLogin(found, session.arguments, session.sources, Universe::kServers));
  TY_TRY(const ClientEnvironment environment, MakeEnvironment(found, session.sources, project.value, login));
  VariableList variables = ClientVariables(environment);
  for (auto& variable : WithoutProxies(session.sources, {"localhost", ".localhost", "127.0.0.1"}))
    variables.push_back(std::move(variable));
  session.console.Out(
      "# Server " + found.url + " (from: " + found.where + "), project " + project.value +
      " (from: " + project.source + ").\n" +
      "# For programs that ignore these variables (older clients, Java, R): trainyard with -- COMMAND\n" +
      PrintSettings(variables, ProcessSettingSources()));
  WarnOfServer(found, session.sources, session.console);
  WarnOfCredentials(environment, session.sources, session.console);
  return 0;
}

}  // namespace trainyard::cli
